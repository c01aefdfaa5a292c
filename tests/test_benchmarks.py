"""Benchmarks run, compare like with like, and print no time of a wrong result."""

import json
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from by_path import module_at
from child import ROOT, python

from course_lib.measurements.ablation import STEPS, ablation

SCRIPT = ROOT / "benchmarks" / "emulator.py"


@pytest.fixture(scope="module")
def benchmark():
    return module_at(SCRIPT)


@pytest.mark.parametrize("wrong", [np.nan, 1.001, -1.0])
def test_a_wrong_result_ends_the_benchmark(benchmark, wrong: float) -> None:
    expected = np.ones(3)
    benchmark.must_be_right(np.ones(3, np.float32), expected, "somebody")
    with pytest.raises(SystemExit, match="somebody: wrong result"):
        benchmark.must_be_right(np.array([1, 1, wrong], np.float32), expected, "somebody")


def test_the_kernels_are_right_and_free_of_findings(benchmark) -> None:
    for case in benchmark.CASES:
        row = benchmark.Row(case, 70, "everything", benchmark.EVERYTHING, False, repeats=1)
        assert len(benchmark.run_ours(row)) == 1


@pytest.mark.long
def test_the_quick_benchmark_runs_side_by_side() -> None:
    done = python(SCRIPT, "--quick", NUMBA_DISABLE_PERFORMANCE_WARNINGS="1")
    rows = [line.split("|") for line in done.stdout.splitlines() if "everything" in line]
    assert len(rows) == 3
    for row in rows:
        ratio_of_processor_times = row[6].split(",")[1].strip()
        assert float(ratio_of_processor_times.removesuffix("x")) > 0  # how much: see there


GROWTH = SCRIPT.with_name("emulator_growth.py")


@pytest.mark.parametrize(
    "size", [pytest.param(512, marks=pytest.mark.slow), pytest.param(1024, marks=pytest.mark.long)]
)
def test_a_large_product_stays_under_a_gibibyte(size: int) -> None:
    """So does one of 1024, where one of 512 with a quarter of the elements takes a quarter."""
    run = json.loads(python(GROWTH, "--matmul", size).stdout)
    assert 3 * size**2 * 4 < run["peak"] < (1 << 30) * (size / 1024) ** 2


@pytest.mark.slow
def test_the_benchmark_of_a_class_runs() -> None:
    done = python(SCRIPT.with_name("grading_class.py"), "10", "--lessons", "00")
    assert done.stdout.startswith("10 notebooks, 10 answers")


THIRTY = ROOT / "benchmarks" / "thirty_kernels.py"
STORED = THIRTY.with_suffix(".json")


@pytest.fixture(scope="module")
def thirty():
    return module_at(THIRTY)


@pytest.mark.slow
def test_there_are_thirty_and_each_runs_without_an_error(thirty, monkeypatch) -> None:
    assert len(thirty.CASES) == 30
    monkeypatch.setattr(thirty, "REPEATS", 1)
    for name in thirty.CASES:
        arrays, seconds = thirty.ours(name, thirty.EVERYTHING)
        assert seconds >= 0 and any(each.any() for each in arrays if each.dtype.names is None)


def test_the_page_shows_the_stored_run(thirty) -> None:
    stored = json.loads(STORED.read_text())
    rows = [thirty.Row(**row) for row in stored["rows"]]
    assert [row.kernel for row in rows] == list(thirty.CASES)
    page = (ROOT / "docs" / "emulator.md").read_text()
    assert thirty.table(rows) in page
    assert thirty.verdict(rows) in page


@pytest.mark.slow
def test_a_kernel_runs_beside_the_simulator() -> None:
    done = python(THIRTY, "--only", "Needleman", NUMBA_DISABLE_PERFORMANCE_WARNINGS="1")
    assert "| Needleman-Wunsch |" in done.stdout and "nan" not in done.stdout


WHAT_BINDS = ROOT / "benchmarks" / "what_binds.py"

# A contestant of one kernel, and one whose library launches two: the longer one is the product.
NCU = """\
==PROF== Connected to process 4711
launched: tiled
launched: cuBLAS float32
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","fill","gpu__time_duration.sum","ns","9,000,000"
"1","_Z23between_two_contestants","gpu__time_duration.sum","ns","1,000"
"2","_Z5tiled","gpu__time_duration.sum","ns","17,559,000"
"2","_Z5tiled","sm__cycles_elapsed.avg.per_second","hz","1,978,000,000"
"2","_Z5tiled","lts__t_bytes.sum","byte","16,283,120,736"
"2","_Z5tiled","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","10.4"
"3","_Z23between_two_contestants","gpu__time_duration.sum","ns","1,000"
"4","splitk","gpu__time_duration.sum","ns","2,000"
"5","sgemm","gpu__time_duration.sum","ns","2,683,000"
"5","sgemm","sm__cycles_elapsed.avg.per_second","hz","1,976,000,000"
"5","sgemm","lts__t_bytes.sum","byte","3,395,224,000"
"5","sgemm","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","n/a"
"""


@pytest.fixture(scope="module")
def what_binds():
    return module_at(WHAT_BINDS)


def test_each_kernel_belongs_to_the_contestant_before_it(what_binds, capsys):
    found = what_binds.by_contestant(NCU)
    assert list(found) == ["tiled", "cuBLAS float32"]
    assert found["cuBLAS float32"]["gpu__time_duration.sum"] == 2_683_000
    what_binds.show(found, {"DRAM": what_binds.SHARES["DRAM"]})
    assert capsys.readouterr().out.splitlines() == [
        "|  | ms | clock, MHz | GB through L2 | DRAM |",
        "|---|---|---|---|---|",
        "| tiled | 17.559 | 1978 | 16.28 | 10 |",
        "| cuBLAS float32 | 2.683 | 1976 | 3.40 | nan |",
    ]
    found = what_binds.by_contestant(NCU)
    tiled = what_binds.as_stored(found["tiled"])
    assert tiled.pop("busy") == {"DRAM": 0.104}
    assert tiled == pytest.approx({"ms": 17.559, "mhz": 1978, "l2_gb": 16.283}, rel=1e-4)
    assert what_binds.as_stored(found["cuBLAS float32"])["busy"] == {}


TMA_ABLATION = ROOT / "benchmarks" / "tma_ablation.py"


@pytest.fixture(scope="module")
def tma_ablation() -> ModuleType:
    return module_at(TMA_ABLATION)


def test_under_load_only_what_follows_the_warm_up_counts(tma_ablation, monkeypatch):
    """A GPU that takes 1 ms for a product, and 2 ms once it has worked for two seconds."""
    now = 0.0

    class Event:
        def record(self) -> None:
            self.at = now

        def synchronize(self) -> None: ...

        def elapsed_time(self, later: "Event") -> float:
            return later.at - self.at

    def launch() -> None:
        nonlocal now
        now += 1.0 if now < tma_ablation.WARM_UP_MS else 2.0

    monkeypatch.setattr(tma_ablation, "cuda", SimpleNamespace(event=Event))
    assert tma_ablation.loaded_ms(launch, ms=1.0) == 2.0
    assert now >= tma_ablation.WARM_UP_MS + tma_ablation.COUNTED_MS


@pytest.mark.parametrize("size", [4096, 8192])
def test_what_is_stored_has_every_step(size: int) -> None:
    found = ablation(size)
    assert [each.name for each in found.steps] == [*STEPS, "cublas_f32"]
    assert all(0.5 < each.share[0] <= each.share[1] < 1.5 for each in found.steps)
    assert all(each.name in str(found) for each in found.steps)
    assert [each.result for each in found.steps[-3:]] == ["bfloat16", "bfloat16", "float32"]


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(KeyError, match=r"there are: .*4096"):
        ablation(77)
    with pytest.raises(KeyError, match="there are: H200"):
        ablation(4096, device="T4")
