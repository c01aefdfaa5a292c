"""The profile of all rungs, as far as it can be tried without a GPU: reading and showing it."""

from pathlib import Path

import pytest
from by_path import module_at

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "what_binds.py"

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
def benchmark():
    return module_at(SCRIPT)


def test_each_kernel_belongs_to_the_contestant_before_it(benchmark, capsys):
    found = benchmark.by_contestant(NCU)
    assert list(found) == ["tiled", "cuBLAS float32"]
    assert found["cuBLAS float32"]["gpu__time_duration.sum"] == 2_683_000
    benchmark.show(found, {"DRAM": benchmark.SHARES["DRAM"]})
    assert capsys.readouterr().out.splitlines() == [
        "|  | ms | clock, MHz | GB through L2 | DRAM |",
        "|---|---|---|---|---|",
        "| tiled | 17.559 | 1978 | 16.28 | 10 |",
        "| cuBLAS float32 | 2.683 | 1976 | 3.40 | nan |",
    ]
    found = benchmark.by_contestant(NCU)
    tiled = benchmark.as_stored(found["tiled"])
    assert tiled.pop("busy") == {"DRAM": 0.104}
    assert tiled == pytest.approx({"ms": 17.559, "mhz": 1978, "l2_gb": 16.283}, rel=1e-4)
    assert benchmark.as_stored(found["cuBLAS float32"])["busy"] == {}
