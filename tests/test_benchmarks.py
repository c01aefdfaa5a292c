"""The benchmarks run, compare like with like, and never print a time for a wrong result."""

import json

import numpy as np
import pytest
from by_path import module_at
from child import ROOT, python

pytest.importorskip("numba")

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
