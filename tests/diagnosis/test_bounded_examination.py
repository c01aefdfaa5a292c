"""No answer costs more than a few seconds or a few hundred megabytes; budgets decide, no clock."""

import sys

import pytest
from costly_answers import costly_answers, kernel
from counted_work import counted_calls
from sampling import marks

from course_lib.checking import LONGEST_SENTENCE, MOST_FINDINGS, examine_source
from course_lib.diagnosis.report import Report
from course_lib.wording.sentences import Line, facts_of

resource = pytest.importorskip("resource", reason="there is no such count on Windows")
ANSWERS = costly_answers()
MOST_CALLS = 15_000_000  # 4.3 million at most of those not marked `long`, in November 2026
MEGABYTES = 400
ENDLESS = "Does the condition of this loop ever become false?"
UNITS = 1 << 20 if sys.platform == "darwin" else 1 << 10  # of ru_maxrss in a megabyte
SLOW_ONE_IN = 18


def judged(name: str) -> Report:
    exercise, text = ANSWERS[name]
    return examine_source(exercise, text, seed=3, debug=True)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(n, slow=SLOW_ONE_IN)) for n, name in enumerate(ANSWERS)]
)
def test_it_ends(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with counted_calls(MOST_CALLS):
        report = judged(name)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MEGABYTES * UNITS
    assert not report.passed
    assert not report.needs_review, str(report)
    assert len(report.findings) <= MOST_FINDINGS
    assert all(len(each.message) <= LONGEST_SENTENCE + 9 for each in report.findings)


def test_an_endless_loop_is_named() -> None:
    [error] = judged("matmul_naive: endless").errors
    assert error.code == "timeout"
    assert error.line == 8
    assert facts_of(error.message)["line"] == Line(8)
    assert error.hint == ENDLESS


ONE_THREAD = """
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    if cuda.grid(2)[0] == 0 and cuda.grid(2)[1] == 0:
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                total = np.float32(0)
                for k in range(A.shape[1]):
                    total += A[i, k] * B[k, j]
                C[i, j] = total
"""


@pytest.mark.slow
def test_a_loop_that_ends_is_not_said_to_be_endless() -> None:
    [error] = examine_source("matmul_naive", ONE_THREAD, debug=True).errors
    assert error.code == "timeout"
    facts = facts_of(error.message)
    assert facts["turns"] == "2" and facts["budget"] == "the 15000 steps of this launch"
    assert error.hint != ENDLESS


def test_all_launches_together_have_a_budget() -> None:
    """Each launch alone stays within its own; the answer is right, and hardly ever ends."""
    text = ANSWERS["matmul_naive: endless"][1].replace(
        "    while True:\n        pass",
        "    col, row = cuda.grid(2)\n"
        "    if row < C.shape[0] and col < C.shape[1]:\n"
        "        x = float32(0)\n"
        "        for i in range(6000 if A.shape[0] > 1 else 1):\n"
        "            x = float32(i)\n"
        "        x = float32(0)\n"
        "        for k in range(A.shape[1]):\n"
        "            x += A[row, k] * B[k, col]\n"
        "        C[row, col] = x",
    )
    report = examine_source("matmul_naive", text, debug=True)
    assert [each.code for each in report.errors] == ["timeout"]
    # What was left for the last launch would tell of the steps, so of the inputs, before.
    [error] = examine_source("matmul_naive", text.replace("6000", "2000"), debug=True).errors
    assert facts_of(error.message)["budget"] == "the 70000 steps of all launches together"


NESTED = [
    ("(A[0, 0] + ", "1", ")"),
    ("A[int(", "0", "), 0]"),
    ("(A[0, 0] > 0 and ", "True", ")"),
    ("(1 if A[0, 0] > 5 else ", "2", ")"),
]


@pytest.mark.parametrize(
    ("levels", "opening", "inside", "closing"),
    [
        pytest.param(levels, *parts, marks=marks(number + turn, slow=3))
        for number, parts in enumerate(NESTED)
        for turn, levels in enumerate((30, 44, 58))
    ],
)
def test_how_deep_the_caller_is_does_not_matter(
    levels: int, opening: str, inside: str, closing: str
) -> None:
    """Depth is counted; if Python's own limit decided, a notebook would judge otherwise."""
    text = kernel(f"x = {opening * levels}{inside}{closing * levels}\nC[0, 0] = 1")

    def from_below(frames: int) -> Report:
        if frames:
            return from_below(frames - 1)
        return examine_source("matmul_naive", text, debug=True)

    assert from_below(0) == from_below(250)
