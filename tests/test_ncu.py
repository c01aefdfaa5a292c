"""Nsight Compute beside the emulator, as far as it can be tried without a GPU."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")
from numba import cuda, float32

import course_lib
from course_lib.compiled_counts import NotCounted
from course_lib.compiled_counts import emulate as profiles
from course_lib.emulator import AsCompiled, emulate
from course_lib.host import runtime
from course_lib.intrinsics import load4, store4, unroll, unrolled
from course_lib.machine_code import CompilerMissing
from course_lib.measurements.ncu import names, stored
from course_lib.ncu import METRICS, NoCounters, counters_of, reading, stored_report
from course_lib.ncu.kernel_file import NotToBeWritten, kernel_file, launch_from, write_launch
from course_lib.ncu.reading import parse_ncu
from course_lib.ncu.report import _same
from course_lib.shown_answers import ours
from course_lib.wording.errors import PlainError

DOCS = Path(__file__).resolve().parent.parent / "docs"
FACTOR, LOW, SIZES = np.float32(3), -float("inf"), (4, 2.5)
HEADER = '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
SECTORS = METRICS["global_store_sectors"]


@pytest.fixture(autouse=True)
def lesson(monkeypatch):
    """A lesson on a machine without a compiler."""
    course_lib.start()
    as_compiled(monkeypatch, CompilerMissing("Compiling a kernel needs numba-cuda."))


def as_compiled(monkeypatch, found) -> None:
    """Let a launch be counted as compiled so; or let an error say why it can't be."""

    def recount(kept, profile, cc):
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(profiles, "_recount", recount)


@cuda.jit(device=True)
def scaled(x):
    return x * FACTOR


again = scaled


@cuda.jit
def uses_much(a, out, plus):
    i = cuda.grid(1)
    if i < a.shape[0] and a[i] > LOW:
        out[i] = again(a[i]) + plus + SIZES[1]


@cuda.jit
@unrolled
def wide(a, out):
    four = load4(a, 4 * cuda.threadIdx.x)
    for k in unroll(2):
        store4(out, 4 * cuda.threadIdx.x + 64 * k, four)


def made_in_a_function(width):
    @cuda.jit
    def in_a_closure(a, out):
        tile = cuda.shared.array(width, float32)
        tile[cuda.threadIdx.x] = a[cuda.threadIdx.x]
        out[cuda.threadIdx.x] = tile[cuda.threadIdx.x]

    return in_a_closure


def by_the_child(folder, kernel, launch, arguments):
    """What a launch in the child process would leave in the arrays; here on the emulator."""
    name = getattr(kernel, "py_func", kernel).__name__
    write_launch(folder, kernel_file(kernel), name, launch, arguments)
    launch_from(folder)
    return reading._results(folder)


X = np.arange(64, dtype=np.float32)


@pytest.mark.parametrize(
    ("kernel", "launch", "arguments"),
    [
        (uses_much, (2, 32), (X, X * 0, 5)),
        (wide, (1, 16), (X, np.zeros(128, np.float32))),
        (made_in_a_function(64), ((1, 1), (64,)), (X, X * 0)),
        (ours("turn_directly"), ((2, 1), (32, 32)), (X.reshape(1, 64), X.reshape(64, 1) * 0)),
        (ours("one_tile_product"), (1, (16, 16)), (np.eye(16, dtype=np.float32),) * 3),
    ],
    ids=lambda each: getattr(getattr(each, "py_func", None), "__name__", None),
)
def test_a_kernel_computes_the_same_from_its_file(kernel, launch, arguments, tmp_path) -> None:
    found = by_the_child(tmp_path, kernel, launch, [np.copy(each) for each in arguments])
    expected = [np.copy(each) if isinstance(each, np.ndarray) else each for each in arguments]
    emulate(kernel)[launch](*expected)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_what_cannot_be_written_is_named() -> None:
    table = {1: 2}

    @cuda.jit
    def looks_up(out):
        out[0] = table[1]

    with pytest.raises(NotToBeWritten, match="looks_up uses table, which is of type dict"):
        kernel_file(looks_up)
    made = {"cuda": cuda}
    exec("@cuda.jit\ndef from_nowhere(out):\n    out[0] = 1\n", made)
    with pytest.raises(NotToBeWritten, match="from_nowhere cannot be found"):
        kernel_file(made["from_nowhere"])


def test_without_a_gpu_one_sentence_says_so_and_a_stored_report_is_shown() -> None:
    report = transposed("transpose, no tile")
    assert report.note.startswith("There is no GPU here. So the columns beside the emulator's are")
    assert stored("transpose, no tile").label in report.text()
    assert report.counted["global_store_sectors"] == 1_048_576
    alone = transposed()
    assert alone.note.endswith("So the emulator's counters stand alone.") and not alone.counted
    assert "not read" in alone.text()


def transposed(stored=""):
    A, B = np.ones((2, 64, 64), np.float32)
    return course_lib.ncu_report(ours("turn_directly"), stored)[(2, 2), (32, 32)](A, B)


def test_a_compilers_counts_stand_between_or_what_is_not_followed_is_said(monkeypatch) -> None:
    as_compiled(monkeypatch, AsCompiled(global_store_sectors=7))
    report = transposed("transpose, no tile")
    assert re.search(r"^ +emulator +as compiled +GPU$", report.text(), re.MULTILINE)
    assert re.search(r"global_store_sectors +4,096 +7 +1,048,576  x 1\.5e\+05", report.text())
    assert "the GPU's column is a stored report" in report.note
    alone = transposed()
    assert alone.note.endswith("only the emulator's counters and those as compiled stand here.")
    assert re.search(r"global_store_sectors +4,096 +7 +not read$", alone.text(), re.MULTILINE)
    as_compiled(monkeypatch, NotCounted("turn_directly can't be counted: X is not followed here."))
    report = transposed("transpose, no tile")
    assert report.note.endswith("turn_directly can't be counted: X is not followed here.")
    assert not report.compiled


def test_a_report_that_is_not_there_or_of_no_kernel_is_refused():
    with pytest.raises(PlainError, match="takes a kernel"):
        course_lib.ncu_report("no kernel")[1, 32]()
    text = stored_report("transpose, tile").text()
    assert re.search(r"shared_load_wavefronts +1,048,576 +1,048,576 +1,050,066  \+ 1,490", text)
    with pytest.raises(KeyError, match="transpose, padded"):
        stored("transpose")


@pytest.fixture
def gpu_with_ncu(monkeypatch, tmp_path):
    """A machine with a GPU whose `ncu` is a script: it launches, and prints what is given."""

    def make(printed: str, status: int = 0) -> None:
        script = tmp_path / "ncu"
        script.write_text(
            f"#!{sys.executable}\n"
            "import pathlib, sys\n"
            "import course_lib\n"
            "from course_lib.ncu.kernel_file import launch_from\n"
            "course_lib.start()\n"
            "launch_from(pathlib.Path(sys.argv[-1]))\n"
            f"print({printed!r})\n"
            f"sys.exit({status})\n"
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        monkeypatch.setattr(runtime, "on_gpu", lambda: True)
        monkeypatch.setattr(runtime, "device_name", lambda: "NVIDIA X")
        monkeypatch.setattr(runtime, "compute_capability", lambda: "7.5")

    return make


def test_the_gpus_own_counts_stand_beside_the_emulators_and_another_result_is_said(gpu_with_ncu):
    row = '"0","1","_ZN6turn_directlyE","{}","","{}"\n'
    metrics = {next(iter(SECTORS)): "4,096", "gpu__time_duration.sum": "1500", "x": "n/a"}
    gpu_with_ncu(HEADER + "".join(row.format(*each) for each in metrics.items()))
    A, B = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    report = course_lib.ncu_report(ours("turn_directly"), stored="softmax")[(2, 2), (32, 32)](A, B)
    assert (report.note, report.heading) == ("", "NVIDIA X, this launch")
    assert report.counted == {"global_store_sectors": 4096} and report.seen == {"time": 1500}
    assert re.search(r"global_store_sectors +4,096 +4,096  equal", report.text(names=True))
    assert next(iter(SECTORS)) in report.text(names=True)
    assert np.array_equal(A, B)
    assert _same([np.ones(4)], [np.ones(4)]) == ""
    assert "differs from the emulator's" in _same([np.ones(4)], [np.zeros(4)])


@pytest.mark.parametrize(("printed", "status", "why"), [
    ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", 1, "ERR_NVGPUCTRPERM"),
    ("==ERROR== Failed to find metric x", 1, "could not profile .*Failed to find metric x"),
    ("==WARNING== No kernels were profiled.", 0, "No kernels were profiled"),
    ("", 1, "it printed nothing"),
])  # fmt: skip
def test_why_there_is_no_report_is_one_sentence(printed, status, why) -> None:
    with pytest.raises(NoCounters, match=why):
        reading.judged(printed, status, "turn_directly")


def test_a_gpu_without_ncu_is_named(monkeypatch) -> None:
    monkeypatch.setattr(runtime, "on_gpu", lambda: True)
    monkeypatch.setattr(reading.shutil, "which", lambda name: None)
    monkeypatch.setattr(reading, "USUAL_PLACES", ())
    with pytest.raises(NoCounters, match="no `ncu` here"):
        reading.find_ncu()


def test_counters_are_added_up_from_all_their_metrics() -> None:
    metrics = dict.fromkeys(METRICS["flops"], 1.0)
    assert counters_of(metrics) == {"flops": 8, "float64_flops": 4}
    assert counters_of({}) == {}
    rows = '"0","1","k","a","","1,024"\n"0","1","k","b","","n/a"\n"1","1","other","a","","7"\n'
    # What the program printed to stderr comes after the table.
    warning = "\nsite.py:748: NumbaPerformanceWarning: low occupancy.\n  warn(errors, message)"
    for printed in ("", warning):
        assert parse_ncu(HEADER + rows + printed, "k") == {"a": 1024}


# Counters of a page's rows that other traffic through the same memory does not touch.
EXACT = ("shared_load_requests", "shared_store_wavefronts", "global_store_sectors")


def test_stored_reports_are_those_of_the_pages() -> None:
    page = (DOCS / "shared_memory_measured.md").read_text(encoding="utf-8")
    counters = (DOCS / "counters.md").read_text(encoding="utf-8")
    rows = {"copy": "copy", "transpose, no tile": "no tile", "transpose, tile": "tile",
            "transpose, padded": "`pad=1`"}  # fmt: skip
    for name, row in rows.items():  # the page has another launch: other traffic differs
        counts = stored(name).counts
        requests, stores, sectors = (f"{counts[each]:,}" for each in EXACT)
        assert re.search(rf"\| {row} \| {requests} \| .* \| {stores} \| 0 \| {sectors} \|", page)
    told = re.findall(r"\| ([\w ]+) \| `(\w+)` \| [\d,]+ \| ([\d,]+) \|", counters)
    told = [row for row in told if row[0] in names()]
    assert len(told) == 4
    for name, counter, value in told:
        found = float(value.replace(",", ""))  # other traffic differs from launch to launch
        assert stored(name).counts[counter] == pytest.approx(found, rel=0.01, abs=2000)
