"""Exercises and tasks that are one entry are judged as all others are."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sampling import few

from course_lib.checking import (
    JUDGES,
    TypedAnswer,
    examine_source,
    load_program,
    names_around,
    nobody,
)
from course_lib.curriculum import EXERCISES, TASKS, Exercise, Task
from course_lib.diagnosis.number_patterns import ideas_of
from course_lib.diagnosis.places import FINDERS
from course_lib.diagnosis.report import Report
from course_lib.problems.table import check_reference, problem_of
from course_lib.registry.entry_checks import BadEntry

POINTS = {"right": 4, "bounds": 2, "coalesced": 2, "float32": 2}
MAT_SCALE_ROWS = Exercise(
    id="mat_scale_rows", title="Scale each row", lesson="00", parameters=("A", "s", "B"),
    output="B", points=POINTS, reference=lambda A, s: A * s[:, None], shapes=("M,N", "M", "M,N"),
    formula="B[row, column] = s[row] * A[row, column]",
)  # fmt: skip
SAXPY = Exercise(
    id="saxpy", title="A multiple of one vector, and another", lesson="00",
    parameters=("a", "x", "y", "z"), output="z", block=(128,), points=POINTS,
    reference=lambda a, x, y: a * x + y, shapes=("", "n", "n", "n"), formula="z = a * x + y",
)  # fmt: skip
ROW_SUMS = Exercise(
    id="row_sums", title="The sum of each row", lesson="00", parameters=("A", "y"), output="y",
    block=(64,), points={"right": 5, "bounds": 3, "float32": 2}, reference=lambda A: A.sum(axis=1),
    shapes=("M,N", "M"), formula="y[row] = the sum of row `row` of A",
)  # fmt: skip

HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\n"
SCALE = HEAD + (
    "def mat_scale_rows(A, s, B):\n"
    "    col, row = cuda.grid(2)\n"
    "    if row < A.shape[0] and col < A.shape[1]:\n"
    "        B[row, col] = s[row] * A[row, col]\n"
)
SUM = HEAD + (
    "def row_sums(A, y):\n"
    "    i = cuda.grid(1)\n"
    "    if i < A.shape[0]:\n"
    "        total = float32(0)\n"
    "        for k in range(A.shape[1]):\n"
    "            total += A[i, k]\n"
    "        y[i] = total\n"
)
AXPY = HEAD + (
    "def saxpy(a, x, y, z):\n"
    "    i = cuda.grid(1)\n"
    "    if i < x.shape[0]:\n"
    "        z[i] = a * x[i] + y[i]\n"
)
RIGHT = {"mat_scale_rows": SCALE, "row_sums": SUM, "saxpy": AXPY}

# The change, the code that it must be told, and the line to blame.
WRONG: list[tuple[str, str, str, str, int]] = [
    ("mat_scale_rows", "col, row = ", "row, col = ", "wrong-index", 6),
    ("mat_scale_rows", "s[row]", "s[col]", "wrong-index", 8),
    ("mat_scale_rows", "A[row, col]", "A[col, row]", "wrong-index", 8),
    ("mat_scale_rows", "B[row, col]", "B[0, col]", "wrong-index", 8),
    ("mat_scale_rows", "s[row] * ", "", "wrong-formula", 8),
    ("mat_scale_rows", "s[row] * ", "2.0 * ", "wrong-formula", 8),
    ("mat_scale_rows", "row < A.shape[0] and ", "", "wrong-bounds-check", 7),
    ("mat_scale_rows", "row < A", "row <= A", "wrong-bounds-check", 7),
    ("mat_scale_rows", "B[row, col] = ", "B[row, col] += ", "uninitialised-read", 8),
    ("mat_scale_rows", "B[row, col] = s[row] * A[row, col]", "pass", "missing-answer", 5),
    ("saxpy", "a * x[i]", "x[i]", "wrong-formula", 8),
    ("saxpy", "x[i] +", "x[i - 1] +", "wrong-index", 8),
    ("saxpy", "x.shape[0]", "x.shape[0] - 1", "wrong-bounds-check", 7),
    ("saxpy", "+ y", "- y", "wrong-formula", 8),
    ("row_sums", "float32(0)", "0.0", "float64-arithmetic", 8),
    ("row_sums", "A[i, k]", "A[k, i]", "wrong-index", 10),
    (
        "row_sums",
        "            total",
        "            if A[i, k] == 0:\n                break\n            total",
        "wrong-loop-bound",
        10,
    ),
    ("saxpy", "a * x[i]", "float32(1 // 2) * a * x[i] * float32(2)", "wrong-formula", 8),
]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for exercise in (MAT_SCALE_ROWS, SAXPY, ROW_SUMS):
        monkeypatch.setitem(EXERCISES, exercise.id, exercise)


def judged(exercise: str, text: str, seed: int = 0) -> Report:
    return examine_source(exercise, text, seed=seed, debug=True)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 60), marks=pytest.mark.long)])
@pytest.mark.parametrize("exercise", RIGHT)
def test_right_answers_pass(exercise: str, seeds: range) -> None:
    reports = {seed: judged(exercise, RIGHT[exercise], seed) for seed in seeds}
    wrong = {
        seed: str(report)
        for seed, report in reports.items()
        if not (report.passed and report.numbers_right and report.points == report.max_points)
    }
    assert not wrong


@pytest.mark.parametrize(("exercise", "old", "new", "code", "line"), few(WRONG, 1))
def test_wrong_answers_are_told_why(
    exercise: str, old: str, new: str, code: str, line: int
) -> None:
    for seed in (0, 5):
        report = judged(exercise, RIGHT[exercise].replace(old, new), seed)
        assert not report.passed
        assert (report.errors[0].code, report.errors[0].line) == (code, line), str(report)


def test_its_formula_and_sizes_stand_in_the_verdict() -> None:
    text = str(judged("mat_scale_rows", SCALE))
    assert "B[row, column] = s[row] * A[row, column] on all 10 shapes" in text
    wrong = judged("mat_scale_rows", SCALE.replace("row < A", "row <= A"))
    assert "This happened on M = " in wrong.errors[0].message


def outer(A: np.ndarray, s: np.ndarray) -> np.ndarray:
    return A.T * s


@pytest.mark.parametrize(("changes", "words"), [
    ({"reference": outer}, "for M = 3, N = 5 `reference` gives shape (5, 3), and by `shapes`"),
    ({"reference": lambda A, s: A * s}, "for M = 3, N = 5 `reference` fails (ValueError: "),
    ({"reference": lambda A: A}, "for M = 3, N = 5 `reference` fails (TypeError: "),
    ({"reference": lambda A, s: "text"}, "for M = 3, N = 5 `reference` fails (ValueError: "),
    ({"reference": lambda A, s: np.log(A) * s[:, None]}, "numbers that are not finite"),
    ({"reference": None, "shapes": ()}, "there is no `reference`"),
])  # fmt: skip
def test_a_reference_that_does_not_fit_is_told_at_its_line(
    monkeypatch: pytest.MonkeyPatch, changes: dict, words: str
) -> None:
    line = inspect.currentframe().f_lineno + 1
    bad = replace(MAT_SCALE_ROWS, **changes)
    monkeypatch.setitem(EXERCISES, bad.id, bad)
    with pytest.raises(BadEntry, match=re.escape(words)) as told:
        check_reference(bad)
    assert str(told.value).startswith(f"{Path(__file__).name}, line {line}: mat_scale_rows: ")
    # Whoever tries an answer is told the same, and nobody loses points for it.
    report = examine_source(bad.id, SCALE)
    assert report.needs_review and report.findings[0].message == str(told.value)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda each: each.id)
def test_the_courses_own_references_fit(exercise: Exercise) -> None:
    check_reference(exercise)


SUM_OF_SMALLER = Exercise(
    id="sum_of_smaller", title="The smaller of two, summed", lesson="00",
    parameters=("x", "z", "y"), output="y", block=(64,),
    points={"right": 5, "bounds": 3, "float32": 2},
    reference=lambda x, z: np.minimum(x[:, None], z).sum(axis=1), shapes=("M", "N", "M"),
    formula="y[i] = the sum of min(x[i], z[j]) over j",
)  # fmt: skip


@pytest.mark.parametrize("seed", [1, 3])
def test_a_sum_of_equal_terms_may_drift(seed: int) -> None:
    report = examine_source(SUM_OF_SMALLER, HEAD + (
        "def sum_of_smaller(x, z, y):\n"
        "    i = cuda.grid(1)\n"
        "    if i < y.shape[0]:\n"
        "        total = float32(0)\n"
        "        for j in range(z.shape[0]):\n"
        "            total += min(x[i], z[j])\n"
        "        y[i] = total\n"
    ), seed=seed)  # fmt: skip
    assert report.passed, report


def test_a_loop_that_ends_too_soon_may_only_leave_out_a_turn() -> None:
    positive = replace(ROW_SUMS, reference=lambda A: np.maximum(A, 0).sum(axis=1))
    skips = "            if A[i, k] < 0:\n                break\n            total"
    report = examine_source(positive, SUM.replace("            total", skips))
    error = report.errors[0]
    assert (error.code, error.line) == ("wrong-loop-bound", 11), str(report)
    assert "leave out this turn alone" in error.message


Array = np.ndarray


def counts_of(x: Array) -> Array:
    """How many numbers fall into each of 16 bins, an eighth wide, around 0."""
    bins = np.clip(np.floor(8 * x) + 8, 0, 15).astype(int)
    return np.bincount(bins, minlength=16).astype(float)


def without_neighbours(A: Array) -> Array:
    """Each element minus the mean of its four neighbours; 0 lies outside."""
    padded = np.pad(A, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return A - around / 4


COUNTS = """\
import math

from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    counts = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    if t < 16:
        counts[t] = float32(0)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        b = int(math.floor(x[i] * float32(8))) + 8
        b = min(max(b, 0), 15)
        cuda.atomic.add(counts, b, float32(1))
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, counts[t])
"""
HISTOGRAM = Task(
    id="histogram", title="Counts in 16 bins", lesson="07", parameters=("x", "out"), output="out",
    grid=(4,), block=(64,), shapes=("N", "16"), reference=counts_of, before=0.0,
    asks=("bounds", "shared-memory", "race-free", "float32"),
    formula="out[b] = how many numbers fall into bin b",
    hints=("Each block counts by itself first.",),
    given='@cuda.jit\ndef histogram(x, out):\n    """Count."""\n    ...\n', answer=COUNTS, par=11,
)  # fmt: skip
STENCIL = Exercise(
    id="stencil5", title="Each element minus the mean of its four neighbours", lesson="07",
    parameters=("A", "B"), output="B", block=(16, 16), shapes=("M,N", "M,N"),
    reference=without_neighbours,
    points={"right": 4, "bounds": 1, "shared-memory": 2, "race-free": 2, "float32": 1},
    formula="B = A minus the mean of its neighbours",
)  # fmt: skip
EDGES_FETCH_THE_HALO = """\
from numba import cuda, float32

P = 18  # cells in a row of the tile


@cuda.jit
def stencil5(A, B):
    s = cuda.shared.array(324, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    m, n = A.shape
    at = (y + 1) * P + x + 1
    s[at] = A[i, j] if i < m and j < n else float32(0)
    if y == 0:
        s[at - P] = A[i - 1, j] if 0 < i and j < n else float32(0)
    if y == 15:
        s[at + P] = A[i + 1, j] if i < m - 1 and j < n else float32(0)
    if x == 0:
        s[at - 1] = A[i, j - 1] if i < m and 0 < j else float32(0)
    if x == 15:
        s[at + 1] = A[i, j + 1] if i < m and j < n - 1 else float32(0)
    cuda.syncthreads()
    if i >= m or j >= n:
        return
    quarter = float32(0.25)
    B[i, j] = s[at] - quarter * (s[at - P] + s[at - 1] + s[at + 1] + s[at + P])
"""


@pytest.mark.parametrize("seed", [0, 1, 2, 23])
def test_what_the_output_holds_before_is_the_same_in_every_launch(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far beyond the usual sizes as well, with this seed and that."""
    monkeypatch.setitem(TASKS, HISTOGRAM.id, HISTOGRAM)
    report = examine_source(HISTOGRAM.id, COUNTS, seed=seed)
    assert report.passed, report


@pytest.mark.parametrize("seed", few(range(3)))
def test_an_element_of_ones_own_may_count_for_more_than_what_is_read_of_others(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXERCISES, STENCIL.id, STENCIL)
    report = examine_source(STENCIL.id, EDGES_FETCH_THE_HALO, seed=seed)
    assert report.passed, report


@pytest.mark.parametrize(("old", "new", "code"), [
    ("cuda.gridsize(1)", "cuda.blockDim.x", "wrong-loop-bound"),
    ("int(math.floor(x[i] * float32(8)))", "int(x[i] * float32(8))", "wrong-index"),
])  # fmt: skip
def test_what_goes_wrong_with_counts_is_told_at_its_line(
    old: str, new: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TASKS, HISTOGRAM.id, HISTOGRAM)
    text = COUNTS.replace(old, new)
    found = examine_source(HISTOGRAM.id, text).errors[0]
    line = next(n for n, line in enumerate(text.splitlines(), 1) if new in line)
    assert (found.code, found.line) == (code, line), str(found)


ALONG_Y = replace(TASKS["split_k"], wrong_ideas=())
ALONG_Z = replace(
    ALONG_Y, block=(16, 16, 1), grid=("N", 1, 4),
    answer=ALONG_Y.answer.replace("blockIdx.y", "blockIdx.z"),
)  # fmt: skip
IMPORTS = "from numba import cuda, float32\n"
# What is changed in the answer, and the code that it is told.
SLIPS = {
    "A.shape[1] + 3) // 4": ("A.shape[1]) // 4", "wrong-loop-bound"),
    "range(part * length, min((part + 1) * length,": ("range(0, min(length,", "wrong-index"),
    "part * length, min": ("part, min", "wrong-loop-bound"),
    "total += A": ("total = A", "accumulator-error"),
    "        cuda.atomic": ("            cuda.atomic", "accumulator-error"),
}


def judged_third_axis(task: Task, old: str, new: str) -> Report:
    text = IMPORTS + task.answer.replace(old, new)
    program = load_program(text, surroundings=names_around(""))
    return JUDGES[task.kind].of_text(task, TypedAnswer(program, ""), None, 0, nobody)


@pytest.mark.parametrize("slip", few(SLIPS))
def test_the_cause_is_the_same_along_z(slip: str) -> None:
    new, code = SLIPS[slip]
    along_y, along_z = (judged_third_axis(task, slip, new).findings for task in (ALONG_Y, ALONG_Z))
    assert [str(each) for each in along_z] == [str(each) for each in along_y]
    assert along_z[0].code == code


def test_a_right_answer_passes_along_z() -> None:
    assert judged_third_axis(ALONG_Z, "", "").passed


KERNELS = [entry for entry in (*EXERCISES.values(), *TASKS.values()) if entry.kind.is_launched]


@pytest.mark.parametrize("entry", KERNELS, ids=lambda entry: entry.id)
def test_of_a_wrong_idea(entry) -> None:  # type: ignore[no-untyped-def]
    for idea in ideas_of(entry, problem_of(entry)):
        assert not idea.place or idea.place[0] in FINDERS
