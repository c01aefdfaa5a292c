"""Benchmarks run, compare like with like, and agree with their lists, results and pages."""

import json
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from by_path import module_at
from child import ROOT, python
from every_case import every_case

from course_lib.measurements.ablation import STEPS, ablation

pytest.importorskip("numba.cuda")

BENCHMARKS = ROOT / "benchmarks"
LANGUAGE = BENCHMARKS / "language"
sys.path.insert(0, str(LANGUAGE))

from cut_out import Missing, Style, cut_out, found_in  # noqa: E402
from recipes import NoLaunch, recipe_for  # noqa: E402

SCRIPT = BENCHMARKS / "emulator.py"


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


THIRTY = BENCHMARKS / "thirty_kernels.py"
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
    assert thirty.table(rows) in page and thirty.verdict(rows) in page


@pytest.mark.slow
def test_a_kernel_runs_beside_the_simulator() -> None:
    done = python(THIRTY, "--only", "Needleman", NUMBA_DISABLE_PERFORMANCE_WARNINGS="1")
    assert "| Needleman-Wunsch |" in done.stdout and "nan" not in done.stdout


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


def test_each_kernel_belongs_to_the_contestant_before_it(capsys):
    what_binds = module_at(BENCHMARKS / "what_binds.py")
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
    tiled = what_binds.as_stored(found["tiled"])
    assert tiled.pop("busy") == {"DRAM": 0.104}
    assert tiled == pytest.approx({"ms": 17.559, "mhz": 1978, "l2_gb": 16.283}, rel=1e-4)
    assert what_binds.as_stored(found["cuBLAS float32"])["busy"] == {}


def test_under_load_only_what_follows_the_warm_up_counts(monkeypatch):
    """A GPU that takes 1 ms for a product, and 2 ms once it has worked for two seconds."""
    tma_ablation = module_at(BENCHMARKS / "tma_ablation.py")
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


gpu_tests = module_at(BENCHMARKS / "gpu_tests.py")
SAID = {
    "passed": "passed",
    "course_lib.wording.errors.LaunchRefused: f.py:3: k did not run. …": "refused",
    "course_lib.wording.errors.NoGpuHere: The PCI_BUS_ID of a device needs a GPU": "refused",
    "course_lib.wording.errors.LaunchFailed: f.py:3: in k: … [race-write-after-write]": "finding",
    "course_lib.wording.errors.LaunchFailed: f.py:3: in k: … [timeout]": "out of time",
    "Failed: Timeout (>120.0s) from pytest-timeout.": "out of time",
    "AssertionError: Arrays are not almost equal": "failed",
}


@every_case("said", SAID)
def test_what_an_outcome_is_called(said: str) -> None:
    assert gpu_tests.kind_of(said) == SAID[said]


def test_the_stored_run_is_of_the_list_and_on_the_page():
    runs = json.loads((BENCHMARKS / "gpu_tests.json").read_text(encoding="utf-8"))
    listed = {project.name: project for project in gpu_tests.PROJECTS}
    assert runs.keys() == listed.keys()
    for name, run in runs.items():
        assert run["version"] == listed[name].version
        files = {row["test"].partition("::")[0] for row in run["tests"]}
        assert files <= set(listed[name].files)
    page = (ROOT / "docs" / "own_kernels.md").read_text(encoding="utf-8")
    assert gpu_tests.table(runs) in page


FILES = {
    "sums.py": """
import torch
from numba import cuda
from .helpers import doubled
from . import helpers as here
SIZE = 4
unused = torch.zeros(SIZE)

@cuda.jit("void(float32[:])")
def kernel(out: torch.Tensor):
    rows: torch.Tensor = out
    rows[0] = doubled(SIZE) + here.LIMIT

@cuda.jit
def of_a_device(x):
    return x

def made(n):
    @cuda.jit
    def inner(out):
        out[0] = n
    return inner
""",
    "helpers.py": """
from numba import cuda
LIMIT = 3

@cuda.jit(device=True)
def doubled(x):
    return 2 * x
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_kernels_are_found_and_cut_out_with_what_they_need(project: Path) -> None:
    first, second = found_in(FILES["sums.py"], "sums.py")
    assert (first.kernel, first.closes_over) == ("kernel", ())
    assert (second.kernel, second.closes_over) == ("made.inner", ("n",))
    text = cut_out(project, "sums.py", "kernel", first.sha, set(), Style.WRITTEN).text
    assert "def doubled" in text and "LIMIT = 3" in text and "SIZE = 4" in text
    assert "torch.zeros" not in text and "of_a_device" not in text
    compile(text, "cut", "exec")
    plain = cut_out(project, "sums.py", "kernel", first.sha, set(), Style.PLAIN).text
    assert "void(" not in plain


def test_a_name_that_nobody_explains(project: Path) -> None:
    inner = found_in(FILES["sums.py"], "sums.py")[1]
    (project / "sums.py").write_text(FILES["sums.py"].replace("def made(n)", "def made(other)"))
    with pytest.raises(Missing, match="n in"):
        cut_out(project, "sums.py", "made.inner", inner.sha, set(), Style.WRITTEN)


def test_list_results_recipes_and_costs_agree_and_every_finding_was_judged() -> None:
    listed = json.loads((LANGUAGE / "kernels_of_public_projects.json").read_text())
    results = json.loads((LANGUAGE / "results_of_public_projects.json").read_text())
    measured = [each for each in listed["kernels"] if each["measured"]]
    assert Counter(each["sha"] for each in results) == Counter(each["sha"] for each in measured)
    assert {each["project"] for each in listed["kernels"]} == set(listed["projects"])
    for each in measured:
        try:
            recipe_for(each["project"], each["file"], each["kernel"])
        except NoLaunch as reason:
            assert str(reason)
    kernels = json.loads((LANGUAGE / "costs_of_public_kernels.json").read_text())
    listed = json.loads((LANGUAGE / "kernels_of_public_projects.json").read_text())["kernels"]
    assert len(kernels) == 60
    assert {each["sha"] for each in kernels} <= {each["sha"] for each in listed}
    assert max(Counter(each["project"] for each in kernels).values()) <= 8
    assert all(each["launches"] for each in kernels)
    verdicts = Counter(found["read"] for each in kernels for found in each["findings"])
    assert verdicts == {"true": 190}
