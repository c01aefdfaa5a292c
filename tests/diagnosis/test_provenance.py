"""Wrong numbers are traced to the cells and lines that they come from."""

from __future__ import annotations

import pytest

from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.answer import Answer
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.provenance import facts
from course_lib.diagnosis.provenance.facts import AxisForm, Fact, SumTerms
from course_lib.diagnosis.provenance.suspects import explained
from course_lib.diagnosis.provenance.tables import Experiment, experiment
from course_lib.emulator import load_program

EXCHANGED = (AxisForm("other axis", (1, 0)), AxisForm("other axis", (0, 0)))

SUM = """
from numba import cuda
@cuda.jit
def mat_add(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = A[i, j] + B[i, j]
"""
SCATTERED = ("scattered", ())
PRODUCT = """
from numba import cuda, float32
@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[i, k] * B[k, j]
        C[i, j] = acc
"""
TILED = """
from numba import cuda, float32
TILE = 16
@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    acc = float32(0)
    for k0 in range(0, A.shape[1], TILE):
        a[y, x] = A[i, k0 + x] if i < A.shape[0] and k0 + x < A.shape[1] else float32(0)
        b[y, x] = B[k0 + y, j] if j < B.shape[1] and k0 + y < B.shape[0] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += a[y, k] * b[k, x]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = acc
"""
TRANSPOSE = """
from numba import cuda, float32
@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    if top + y < A.shape[0] and left + x < A.shape[1]:
        tile[y, x] = A[top + y, left + x]
    cuda.syncthreads()
    if left + y < B.shape[0] and top + x < B.shape[1]:
        B[left + y, top + x] = tile[x, y]
"""
TEXTS = {
    "mat_add": SUM,
    "matmul_naive": PRODUCT,
    "matmul_tiled": TILED,
    "transpose_tiled": TRANSPOSE,
}


def begun(exercise: str, old: str, new: str) -> Experiment | None:
    """The experiment with an answer in which one thing is another."""
    assert old in TEXTS[exercise]
    text = TEXTS[exercise].replace(old, new)
    launcher = Launcher(EXERCISES[exercise], Answer(load_program(text).kernel(exercise)), None, 0)
    trials = [launcher.run(case) for case in launcher.cases() if not case.further]
    return experiment(launcher, trials)


def told(exercise: str, old: str, new: str) -> tuple[Fact, list[str]]:
    """The first fact, and the lines to suspect as they are written."""
    found = begun(exercise, old, new)
    assert found is not None
    fact = explained(found)[0]
    lines = TEXTS[exercise].replace(old, new).splitlines()
    return fact, [lines[number - 1].strip() for number in fact.lines]


def test_right_numbers_have_no_cause() -> None:
    assert begun("mat_add", "A", "A") is None


@pytest.mark.parametrize(
    ("exercise", "old", "new", "kind", "arrays"),
    [
        ("mat_add", "< C.shape[0] and", "< C.shape[0] - 1 and", facts.UNWRITTEN, ("C",)),
        ("mat_add", "C[i, j] =", "C[i, j] +=", facts.BEFORE, ("C",)),
        ("mat_add", "+ B[i, j]", "+ B[i, j] + 2", facts.START, ("C",)),
        ("mat_add", "+ B[i, j]", "+ A[i, j]", facts.ALIAS, ("A", "B")),
        ("mat_add", "A[i, j] + B[i, j]", "A[i, j]", facts.INDEPENDENT, ("B",)),
        ("mat_add", "A[i, j] + B[i, j]", "A[i, j] - B[i, j]", facts.TIMES, ("B",)),
        ("matmul_naive", "float32(0)", "float32(3)", facts.START, ("C",)),
        ("matmul_naive", "acc += A[i, k] *", "acc += A[i, k] +", facts.WEIGHTED, ("A", "B")),
        ("matmul_naive", "B[k, j]", "B[k - 1, j]", facts.PAIRED, ("A", "B")),
        ("matmul_naive", "range(A.shape[1])", "range(B.shape[0] + 1)", facts.NOT_FINITE, ("C",)),
    ],
)
def test_kinds(exercise: str, old: str, new: str, kind: str, arrays: tuple[str, ...]) -> None:
    fact, lines = told(exercise, old, new)
    assert (fact.kind, fact.arrays) == (kind, arrays)
    text = TEXTS[exercise].replace(old, new)
    changed = [
        line.strip() for line in text.splitlines() if line not in TEXTS[exercise].splitlines()
    ]
    assert changed[0] in lines[:2]


@pytest.mark.parametrize(
    ("exercise", "old", "new", "kind", "forms", "suspected"),
    [
        (
            "transpose_tiled",
            "B[left + y, top + x] =",
            "B[top + x, left + y] =",
            facts.MOVED,
            EXCHANGED,
            "B[",
        ),
        ("mat_add", "B[i, j]", "B[j, i]", facts.READS_OTHER, EXCHANGED, "C["),
        (
            "mat_add",
            "B[i, j]",
            "B[i, 0]",
            facts.READS_OTHER,
            (AxisForm("same"), AxisForm("fixed", (0,))),
            "C[",
        ),
        (
            "mat_add",
            "B[i, j]",
            "B[i, j - 1]",
            facts.READS_OTHER,
            (AxisForm("same"), AxisForm("rolled", (-1, 17))),
            "C[",
        ),
        (
            "matmul_tiled",
            "A[i, k0 + x] if",
            "A[i, x] if",
            facts.READS_OTHER,
            (AxisForm("same"), AxisForm("wrapped", (16,))),
            "a[y, x]",
        ),
    ],
)
def test_indices(
    exercise: str, old: str, new: str, kind: str, forms: tuple[AxisForm, ...], suspected: str
) -> None:
    fact, lines = told(exercise, old, new)
    assert (fact.kind, fact.forms) == (kind, forms)
    assert lines[0].startswith(suspected)


@pytest.mark.parametrize(
    ("exercise", "old", "new", "kind", "terms"),
    [
        ("matmul_naive", "range(A.shape[1])", "range(1, A.shape[1])", facts.MISSING, ("first", ())),
        (
            "matmul_naive",
            "range(A.shape[1])",
            "range(A.shape[1] - 2)",
            facts.MISSING,
            ("from", (29,)),
        ),
        ("matmul_naive", "acc += A", "acc = A", facts.ONLY, ("last", ())),
        (
            "matmul_tiled",
            "range(0, A.shape[1], TILE)",
            "range(0, A.shape[1] - TILE, TILE)",
            facts.MISSING,
            ("from", (16,)),
        ),
        (
            "matmul_tiled",
            "        acc += a",
            "        acc += a[y, k] * b[k, x] + a",
            facts.TIMES,
            ("up to", (31,)),
        ),
        ("matmul_naive", "range(A.shape[1])", "range(0, A.shape[1], 3)", facts.MISSING, SCATTERED),
        (
            "matmul_naive",
            "            acc += A[i, k] * B[k, j]",
            "            if k % 16:\n                acc += A[i, k] * B[k, j]",
            facts.MISSING,
            ("every", (0, 16)),
        ),
        # Two terms always lie at one distance; that makes no series of them.
        (
            "matmul_naive",
            "            acc += A[i, k] * B[k, j]",
            "            if k != 11 and k != 22:\n                acc += A[i, k] * B[k, j]",
            facts.MISSING,
            SCATTERED,
        ),
    ],
)
def test_terms(
    exercise: str, old: str, new: str, kind: str, terms: tuple[str, tuple[int, ...]]
) -> None:
    fact, lines = told(exercise, old, new)
    assert (fact.kind, fact.arrays, fact.terms) == (kind, ("A", "B"), SumTerms(*terms, 31))
    assert lines[0].startswith(("for", "acc", "if"))
