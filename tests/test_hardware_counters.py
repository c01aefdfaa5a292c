"""The comparison with Nsight Compute, as far as it can be tried without a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from by_path import module_at

pytest.importorskip("numba")
BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"

# What ncu prints: its own lines first, then a table with one row for each metric of each launch.
NCU = """\
==PROF== Connected to process 4711
==PROF== Profiling "tiled": 0%....50%....100% - 1 pass
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","4711","_ZN6kernels5tiledE","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","4,096"
"0","4711","_ZN6kernels5tiledE","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum","inst","1000"
"0","4711","_ZN6kernels5tiledE","smsp__sass_thread_inst_executed_op_fadd_pred_on.sum","inst","24"
"1","4711","other","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","7"
"""


@pytest.fixture(scope="module")
def benchmark():
    return module_at(BENCHMARKS / "hardware_counters.py")


def test_the_table_of_ncu_is_read(benchmark) -> None:
    metrics = benchmark.parse_ncu(NCU, "tiled")
    assert metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4096
    assert benchmark.parse_ncu("==ERROR== no kernels were profiled", "tiled") == {}


def test_metrics_are_added_up_and_judged(benchmark) -> None:
    profile = benchmark.run_on_emulator("tiled matmul", 32)
    rows = {
        row.counter: row for row in benchmark.compare(profile, benchmark.parse_ncu(NCU, "tiled"))
    }
    assert rows["flops"].hardware == 2 * 1000 + 24
    assert rows["flops"].emulator == 2 * 32**3
    assert rows["flops"].verdict.startswith("x ")
    equal = benchmark.Comparison("flops", 5, 5.0)
    assert (equal.verdict, benchmark.Comparison("flops", 5, None).verdict) == ("equal", "")


def test_the_unpadded_transpose_conflicts_and_the_padded_does_not(benchmark) -> None:
    unpadded = benchmark.run_on_emulator("unpadded transpose", 64)
    padded = benchmark.run_on_emulator("tiled transpose", 64)
    assert unpadded.shared_load_bank_conflicts == 31 * (64 * 64 // 32)
    assert padded.shared_load_bank_conflicts == 0


@pytest.mark.parametrize("name", ["naive transpose", "unpadded transpose"])
def test_the_transposes_are_right(benchmark, name: str) -> None:
    case = benchmark.ALL_CASES[name]
    source, output = case.arrays(40)
    grid, block = case.launch(40)
    benchmark.emulate(case.kernel)[grid, block](source, output)
    assert np.array_equal(output, source.T)


def test_without_ncu_one_sentence_says_so(benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark.shutil, "which", lambda name: None)
    with pytest.raises(benchmark.NoCounters, match="no `ncu` here"):
        benchmark.read_hardware("tiled matmul", 32)
