"""A fault is traced to its cause, and what only follows from a cause is dropped."""

from __future__ import annotations

import ast

from course_lib.diagnosis.faults.indices import explain_float64
from course_lib.diagnosis.faults.outside import explain_outside
from course_lib.diagnosis.faults.traced import keep_causes, once
from course_lib.diagnosis.source.source import Source, Threads
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

SHAPES = {"A": (33, 37), "B": (37, 19), "C": (33, 19)}
LAUNCH = Threads((), (), shapes=SHAPES)
REACH = {"A": (48, 48), "B": (48, 32), "C": (48, 32)}


def source(body: str) -> Source:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    tree = ast.parse(f"def kernel(A, B, C):\n{lines}\n").body[0]
    return Source((tree,), ("A", "B", "C"))  # type: ignore[arg-type]


def outside(array: str, index: int, axis: int, line: int, verb: str = "read") -> Finding:
    """A fault as the emulator reports it."""
    message = say(
        "thread (0, 1) {verb}s {array}, but …", verb=verb, array=array, place=(axis, index)
    )
    return finding(f"out-of-bounds-{verb}", message, line, cell=array)


def test_without_a_test_the_fault_stays_what_it_is() -> None:
    kernel = source("col, row = cuda.grid(2)\nC[row, col] = A[row, col]")
    fault = outside("A", 33, 0, 3)
    assert explain_outside(fault, REACH, kernel, {}, LAUNCH) == fault


def test_a_test_that_lets_the_thread_through_is_to_blame() -> None:
    kernel = source("col, row = cuda.grid(2)\nif row <= C.shape[0]:\n    C[row, col] = A[row, col]")
    found = explain_outside(outside("A", 33, 0, 4), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-bounds-check", 3)


def test_a_bound_that_is_an_index_as_well_is_not_to_blame() -> None:
    kernel = source(
        "last = A.shape[1] + 1\nfor k in range(last):\n    C[0, 0] += A[0, k]\nC[0, last] = 0"
    )
    found = explain_outside(outside("A", 37, 1, 4), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-loop-bound", 3)


def test_a_loop_that_runs_too_far_is_to_blame() -> None:
    kernel = source("for k in range(A.shape[1] + 1):\n    C[0, 0] += A[0, k]")
    found = explain_outside(outside("A", 37, 1, 3), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-loop-bound", 2)


def test_the_bound_of_the_loop_may_be_a_variable() -> None:
    kernel = source("last = A.shape[1] + 1\nfor k in range(last):\n    C[0, 0] += A[0, k]")
    found = explain_outside(outside("A", 37, 1, 4), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-loop-bound", 2)


def test_a_shifted_step_is_a_wrong_index() -> None:
    kernel = source("for k in range(A.shape[1]):\n    C[0, 0] += A[0, k + 1]")
    found = explain_outside(outside("A", 37, 1, 3), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-index", 3)


def test_what_no_test_could_let_through_is_a_wrong_index() -> None:
    kernel = source("i = cuda.grid(1)\nif i < C.shape[1]:\n    C[0, i * 16] = 1")
    found = explain_outside(outside("C", 160, 1, 4, "write"), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-index", 4)
    assert "i * 16" in found.message


def test_a_sum_is_float64_from_its_first_value_on() -> None:
    kernel = source("acc = 0.0\nfor k in range(3):\n    acc += A[0, k]\nC[0, 0] = acc")
    found = explain_float64(finding("float64-arithmetic", "…", 4), kernel)
    assert (found.line, found.severity) == (2, "error")


def test_a_float64_number_on_the_line_itself_is_to_blame() -> None:
    kernel = source("acc = np.float32(0)\nacc += 0.5 * A[0, 0]\nC[0, 0] = acc")
    assert explain_float64(finding("float64-arithmetic", "…", 3), kernel).line == 3


RACE = finding("race-read-after-write", "…", 9, other_line=5, cell="sA[0, 0]")
WROTE_TWICE = finding("race-write-after-write", "…", 9, cell="C[0, 0]")
INDEX = finding("wrong-index", "…", 4)


def codes(findings: list[Finding]) -> list[str]:
    return [each.code for each in findings]


def test_a_wrong_index_explains_faults_and_collisions() -> None:
    assert codes(keep_causes([outside("A", 33, 0, 3), WROTE_TWICE], INDEX, "C")) == ["wrong-index"]


def test_disorder_in_shared_memory_makes_numbers_worthless() -> None:
    assert codes(keep_causes([RACE], INDEX, "C")) == ["race-read-after-write"]


def test_an_unwritten_part_follows_from_a_fault() -> None:
    missing = finding("incomplete-output", "…", 7)
    fault = outside("C", 40, 1, 3, "write")
    assert codes(keep_causes([fault], missing, "C")) == ["out-of-bounds-write"]
    assert codes(keep_causes([], missing, "C")) == ["incomplete-output"]


def test_a_wrong_sum_does_not_excuse_a_missing_check() -> None:
    start = finding("accumulator-error", "…", 2)
    found = keep_causes([outside("C", 33, 0, 3, "write")], start, "C")
    assert codes(found) == ["out-of-bounds-write", "accumulator-error"]


def test_what_follows_from_a_missed_barrier_is_dropped() -> None:
    apart = finding("barrier-divergence", "…", 8)
    later = finding("barrier-divergence", "…", 12)
    assert keep_causes([apart, later, RACE], None, "C") == [apart]


def test_warnings_are_kept() -> None:
    slow = finding("uncoalesced-load", "…", 3)
    assert slow in keep_causes([slow], INDEX, "C")


def test_one_missing_barrier_is_told_once() -> None:
    first = finding("race-write-after-read", "…", 5, other_line=9)
    second = finding("race-write-after-read", "…", 6, other_line=9)
    assert once([first, second]) == [first]


def test_a_test_of_the_other_index_is_told_to_say_nothing_of_this_one() -> None:
    kernel = source("col, row = cuda.grid(2)\nif row < C.shape[0]:\n    C[row, col] = 1")
    found = explain_outside(outside("C", 19, 1, 4, "write"), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-bounds-check", 3)
    assert "says nothing of col" in found.message


def test_a_test_around_a_loop_is_innocent_of_its_steps() -> None:
    kernel = source(
        "col, row = cuda.grid(2)\nfor base in range(0, B.shape[0], 8):\n"
        "    if row < C.shape[0] and col < C.shape[1]:\n        for k in range(8):\n"
        "            C[row, col] += B[base + k, col]"
    )
    found = explain_outside(outside("B", 37, 0, 6), REACH, kernel, {}, LAUNCH)
    assert (found.code, found.line) == ("wrong-loop-bound", 5)
