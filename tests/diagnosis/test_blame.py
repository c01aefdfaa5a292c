"""The blame falls on the cause, in a true sentence, with a hint that leads to the change."""

import re

import numpy as np
import pytest
from every_case import every_case
from sampling import few
from stored_answers import right_answers_to, wrong_answers_to

import course_lib
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.number_patterns import equal_in_both
from course_lib.diagnosis.report import Report
from course_lib.problems.inputs import DRAWS_WITH_WHOLE_NUMBERS, make_inputs
from course_lib.problems.problem import Case, Geometry, make_cases
from course_lib.problems.table import problem_of
from course_lib.wording.findings import Finding

HEAD = "import numpy as np\nfrom numba import cuda, float32, int8, int16\n\n@cuda.jit\n"


def judged(exercise: str, body: str) -> Report:
    signature = ", ".join(EXERCISES[exercise].parameters)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return course_lib.examine_source(exercise, f"{HEAD}def {exercise}({signature}):\n{lines}")


def outcome(got: list[float]) -> Outcome:
    room = np.full(len(got), 1e-3)
    return Outcome((), room, np.array(got, np.float32), room, Geometry(1, 16), -7.25e3)


# --- which steps of k ---------------------------------------------------------------------------

LOOPS = {
    "an early break": """for k in range(K):
    s += A[r, k] * B[k, c]
    if k == 3:  #!
        break""",
    "a return": """for k in range(K):
    s += A[r, k] * B[k, c]
    C[r, c] = s
    return  #!""",
    "a test of the step": """for k in range(K):
    if k % 2 == 0:  #!
        s += A[r, k] * B[k, c]""",
    "a counter that skips within another loop": """k = 0
while k < K:
    s += A[r, k] * B[k, c]
    for again in range(2):
        k += 1  #!""",
    "a sum that begins with a product": """s = A[r, 0] * B[0, c]  #!
for k in range(K):
    s += A[r, k] * B[k, c]""",
    "a rest that begins too early": """for k in range(K // 4 * 4):  #!
    s += A[r, k] * B[k, c]
for k in range(K // 4, K):  #!
    s += A[r, k] * B[k, c]""",
    "a product of two steps": """for k in range(0, K // 2 * 2, 2):
    s += A[r, k] * B[k, c]
    s += A[r, k + 1] * B[k, c]  #!
if K % 2:
    s += A[r, K - 1] * B[K - 1, c]""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_what_makes_steps_wrong_is_to_blame_and_not_the_bound_of_a_loop(name: str) -> None:
    body = (
        "c, r = cuda.grid(2)\nK, s = A.shape[1], float32(0)\n"
        f"if r >= C.shape[0] or c >= C.shape[1]:\n    return\n{LOOPS[name]}\nC[r, c] = s"
    )
    lines = f"{HEAD}def\n{body}".split("\n")
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("#!")]
    assert judged("matmul_naive", body).errors[0].line in marked


FACTORS = {
    "at the store": ("s += A[r, k] * B[k, c]", "s * float32(3)", "wrong-formula", 11),
    "in the sum": ("s += float32(3) * A[r, k] * B[k, c]", "s", "accumulator-error", 10),
    "sign in the sum": ("s -= A[r, k] * B[k, c]", "s", "wrong-formula", 10),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FACTORS)
def test_a_factor_is_told_where_it_comes_in(name: str) -> None:
    adds, stored, code, line = FACTORS[name]
    report = judged(
        "matmul_naive",
        "c, r = cuda.grid(2)\nif r < C.shape[0] and c < C.shape[1]:\n    s = float32(0)\n"
        f"    for k in range(A.shape[1]):\n        {adds}\n    C[r, c] = {stored}",
    )
    first = report.errors[0]
    assert (first.code, first.line) == (code, line)
    assert "is added" not in first.message, "how often it is added was not seen"


# --- the output does not depend on the input ----------------------------------------------------


@pytest.mark.parametrize(("first", "second", "depends"), [
    ([1, 2], [1, 2], False),
    ([1, 2], [1, 3], True),
    ([0, 0], [0, 0], True),
    ([np.nan, 2], [np.nan, 2], True),
    ([-7.25e3, 2], [np.nan, 2], False),
])  # fmt: skip
def test_zeros_and_not_a_number_are_no_hardcoded_answer(
    first: list[float], second: list[float], depends: bool
) -> None:
    assert equal_in_both(outcome(first), outcome(second)) is not depends


# --- exact zeros --------------------------------------------------------------------------------


@every_case("exercise", [each for each in EXERCISES.values() if each.kind.name == "kernel"])
def test_some_launches_hold_exact_zeros(exercise: object) -> None:
    problem = problem_of(exercise)
    listed = make_cases(problem, problem.exact(64), seed=3)
    inputs = [make_inputs(problem, case, 3) for case in listed]
    for number, value in enumerate(inputs[0]):
        if np.ndim(value):  # a size that is handed over is no input of the computation
            assert any((each[number] == 0).any() for each in inputs)
    assert not any((each == 0).any() for each in inputs[1]), "the exact launch has none"


def test_a_formula_that_has_no_answer_at_zero_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(EXERCISES["mat_add"])
    monkeypatch.setattr(type(problem), "has_answer", lambda self, *inputs: False)
    inputs = make_inputs(problem, Case((9, 9, 0), draw=DRAWS_WITH_WHOLE_NUMBERS[0]), 0)
    assert not any((each == 0).any() for each in inputs)


# --- the offset of the block comes before the races that it brings ------------------------------


@pytest.mark.slow
def test_a_scan_without_the_offset_of_the_block() -> None:
    report = judged(
        "block_scan",
        """s = cuda.shared.array(64, float32)
t = cuda.threadIdx.x
i = t
s[t] = x[i] if i < x.size else float32(0)
cuda.syncthreads()
total = float32(0)
for k in range(t + 1):
    total += s[k]
if i < x.size:
    y[i] = total""",
    )
    first = report.errors[0]
    assert (first.code, first.line) == ("wrong-index", 8)
    assert not any("race" in each.code for each in report.errors)


# --- barriers -----------------------------------------------------------------------------------


def test_a_missed_barrier_names_branch_barrier_and_launch() -> None:
    report = judged(
        "transpose_tiled",
        """tile = cuda.shared.array((32, 33), float32)
tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
M, N = A.shape
if top + ty < M and left + tx < N:
    tile[ty, tx] = A[top + ty, left + tx]
    cuda.syncthreads()
if left + ty < N and top + tx < M:
    B[left + ty, top + tx] = tile[tx, ty]""",
    )
    first = report.errors[0]
    assert (first.code, first.line) == ("barrier-divergence", 12)
    for part in (
        "line 12",
        "Line 10 sends these threads down different paths",
        "This happened on A of 1 x 1",
    ):
        assert part in first.message


def test_what_follows_from_a_missed_barrier_is_not_told() -> None:
    text = wrong_answers_to("block_scan")["barrier_inside_the_test"]
    errors = course_lib.examine_source("block_scan", text, debug=True).errors
    assert [each.code for each in errors] == ["barrier-divergence"]


# --- arrays of the kernel's own -----------------------------------------------------------------


@pytest.mark.slow
def test_an_array_that_is_too_small_is_told_once_where_it_is_made() -> None:
    report = judged(
        "block_scan",
        """s = cuda.shared.array(48, float32)
t = cuda.threadIdx.x
i = cuda.grid(1)
s[t] = x[i] if i < x.size else float32(0)
cuda.syncthreads()
total = float32(0)
for k in range(t + 1):
    total += s[k]
if i < x.size:
    y[i] = total""",
    )
    [found] = [each for each in report.errors if each.code.startswith("out-of-bounds")]
    assert (found.code, found.line) == ("out-of-bounds-write", 6)
    assert "make `cuda.shared.array(48, float32)` larger" in found.message


def test_an_array_too_small_for_large_problems_is_told_by_its_write() -> None:
    report = judged(
        "matmul_naive",
        """row_of_a = cuda.local.array(200, float32)
col, row = cuda.grid(2)
if row < C.shape[0] and col < C.shape[1]:
    total = float32(0)
    for k in range(A.shape[1]):
        row_of_a[k] = A[row, k]
        total += row_of_a[k] * B[k, col]
    C[row, col] = total""",
    )
    [found] = report.errors
    assert (found.code, found.line) == ("out-of-bounds-write", 11)
    assert "has room for 200" in found.message
    assert "at index 200" in found.message


# --- launches in which a loop makes no turn -----------------------------------------------------


@pytest.mark.slow
def test_a_loop_that_is_too_short_is_told_before_the_race_where_it_makes_no_turn() -> None:
    """No barrier is reached where K is smaller than a tile."""
    text = """sA = cuda.shared.array((16, 16), float32)
sB = cuda.shared.array((16, 16), float32)
size = cuda.shared.array(2, int16)
x, y = cuda.threadIdx.x, cuda.threadIdx.y
col, row = cuda.grid(2)
K = A.shape[1]
if x == 0 and y == 0:
    size[0], size[1] = C.shape[0], C.shape[1]
total = float32(0)
for t in range({tiles}):
    k = t * 16
    sA[y, x] = A[row, k + x] if row < A.shape[0] and k + x < K else float32(0)
    sB[y, x] = B[k + y, col] if k + y < K and col < B.shape[1] else float32(0)
    cuda.syncthreads()
    for i in range(16):
        total += sA[y, i] * sB[i, x]
    cuda.syncthreads()
if row < size[0] and col < size[1]:
    C[row, col] = total"""
    first = judged("matmul_tiled", text.replace("{tiles}", "K // 16")).errors[0]
    assert (first.code, first.line) == ("wrong-loop-bound", 15)
    assert not judged("matmul_tiled", text.replace("{tiles}", "-(-K // 16)")).errors


# --- what is right, and yet ---------------------------------------------------------------------

ADD = """col, row = cuda.grid(2)
{more}
if row < C.shape[0] and col < C.shape[1]:
    C[row, col] = A[row, col] + B[row, col]"""


@pytest.mark.parametrize(("more", "wraps"), [
    ("row = int16(row)", True),
    ("row = int16(cuda.blockIdx.y * 16 + cuda.threadIdx.y)", True),
    ("lane = int8(cuda.threadIdx.x)", False),
    ("row = cuda.blockIdx.y * 16 + int8(cuda.threadIdx.y)", False),
])  # fmt: skip
def test_a_narrow_index_is_told_where_it_grows(more: str, wraps: bool) -> None:
    report = judged("mat_add", ADD.format(more=more))
    assert [each.code for each in report.findings] == ["index-overflow"] * wraps


@pytest.mark.slow
def test_a_sum_kept_in_the_output_is_counted() -> None:
    report = judged(
        "matmul_naive",
        """col, row = cuda.grid(2)
if row < C.shape[0] and col < C.shape[1]:
    C[row, col] = 0
    for k in range(A.shape[1]):
        C[row, col] += A[row, k] * B[k, col]""",
    )
    assert report.passed
    (warning,) = report.warnings
    assert (warning.code, warning.line) == ("excess-global-traffic", 10)
    assert "is written 49 times and read 48 times" in warning.message


def test_the_worst_bank_conflict_comes_first() -> None:
    report = judged(
        "transpose_tiled",
        """tile = cuda.shared.array((32, 32), float32)
pairs = cuda.shared.array(2048, float32)
tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
pairs[2 * tx] = 0
if top + ty < A.shape[0] and left + tx < A.shape[1]:
    tile[ty, tx] = A[top + ty, left + tx]
cuda.syncthreads()
if left + ty < B.shape[0] and top + tx < B.shape[1]:
    B[left + ty, top + tx] = tile[tx, ty]""",
    )
    conflicts = [each.line for each in report.findings if each.code == "bank-conflict"]
    assert conflicts == [15, 10]


def test_the_hint_for_a_float64_array_asks_for_its_type() -> None:
    report = judged(
        "mat_add",
        """col, row = cuda.grid(2)
total = cuda.local.array(1, np.float64)
if row < C.shape[0] and col < C.shape[1]:
    total[0] = A[row, col]
    total[0] += B[row, col]
    C[row, col] = total[0]""",
    )
    found = next(each for each in report.errors if each.code == "float64-arithmetic")
    assert found.line == 7
    assert "type are the elements of this array" in found.hint
    assert "Python float" not in found.hint


# --- what is told at the line that calls or waits -------------------------------------------------

IMPORTS = "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
# An answer, what is changed in it, the code, and the text of the line that is told.
OF_WAITS = {
    "the last tile has no group after it": (TASKS["two_stages"].another,
        {"        else:\n            cp_async_commit()\n": ""}, "cp_async_wait(1)"),
    "the wait comes before the next copy": (TASKS["async_buffers"].answer,
        {"cp_async_wait(0)": "cp_async_wait(1)"}, "cp_async_wait(1)"),
    "the wait stands at the end of the loop": (
        right_answers_to("matmul_async")["waits_at_the_end"],
        {"+= a[i] * b[j]\n        cp_async_wait(0)": "+= a[i] * b[j]\n        cp_async_wait(2)"},
        "cp_async_wait(2)",
    ),
    "nobody waits": (TASKS["async_buffers"].answer, {"        cp_async_wait(0)\n": ""},
        "p, q = load4"),
    "the other buffer is read, whose copy may go on": (TASKS["two_stages"].another,
        {"sums, sA[here], sB[here]": "sums, sA[1 - here], sB[1 - here]"}, "warp_product(sums"),
}  # fmt: skip


def first_of_changed(answer: str, changes: dict[str, str]) -> tuple[Finding, str]:
    """The first error of an answer with these changes, and the text of its line."""
    for old, new in changes.items():
        assert answer.count(old) == 1, old
        answer = answer.replace(old, new)
    exercise = re.findall(r"^def (\w+)", answer, re.M)[-1]
    found = course_lib.examine_source(exercise, IMPORTS + answer, debug=True).errors[0]
    return found, (IMPORTS + answer).splitlines()[(found.line or 0) - 1].strip()


@pytest.mark.parametrize("name", few(OF_WAITS))
def test_a_wait_that_leaves_what_is_read_next_is_to_blame(name: str) -> None:
    answer, changes, line = OF_WAITS[name]
    found, told = first_of_changed(answer, changes)
    assert (found.code, told[: len(line)]) == ("race-read-after-write", line)


def test_what_else_a_wait_leaves_for_the_same_line_is_not_told() -> None:
    answer = TASKS["async_buffers"].answer.replace("cp_async_wait(0)", "cp_async_wait(1)")
    assert len(course_lib.examine_source("async_buffers", IMPORTS + answer).errors) == 1


TWO_BUFFERS = right_answers_to("matmul_two_buffers")["from_the_course"]
MOVES_IN = {"        put(sA, sB, now, coming)": "        put(sA, sB, 1 - now, coming)"}
PIECES = right_answers_to("attention_mma")["textbook"]
# The same of functions that are given: unchanged, they are not to blame.
OF_GIVEN = {
    "the buffer that is being multiplied is filled": (TWO_BUFFERS, MOVES_IN,
        ("race-write-after-read", "put(sA, sB, 1 - now, coming)")),
    "the first tile moves in while all still clear both buffers": (TWO_BUFFERS,
        {"    put(sA, sB, 0, bring(": "    sA[0, tid] = 0\n    put(sA, sB, 0, bring("},
        ("race-write-after-write", "put(sA, sB, 0, bring(")),
    "a tile begins beside the array": (TWO_BUFFERS,
        {"coming = bring(A, B, top, left,": "coming = bring(A, B, top - 1, left,"},
        ("out-of-bounds-read", "coming = bring(A, B, top - 1, left, start + BK)")),
    "keys are overwritten while others read them": (PIECES,
        {"S, sV)\n        cuda.syncthreads()": "S, sV)"},
        ("race-write-after-read", "start_copy(sK, KEYS, K, first)")),
    "a function of the student's own calls the given one": (
        TWO_BUFFERS,
        {
            "@cuda.jit\n@unrolled\ndef matmul_two": "@cuda.jit(device=True)\n"
            "def move_in(sA, sB, buffer, fours):\n    put(sA, sB, buffer, fours)\n\n\n"
            "@cuda.jit\n@unrolled\ndef matmul_two",
            "    put(sA, sB, 0, bring": "    move_in(sA, sB, 0, bring",
            "    put(sA, sB, now, coming)": "    move_in(sA, sB, 1 - now, coming)",
        },
        ("race-write-after-read", "put(sA, sB, buffer, fours)"),
    ),
    "the student's own lines in it are": (TWO_BUFFERS,
        {"sA[buffer, cell + 32]": "sA[buffer, cell + 320]"},
        ("out-of-bounds-write", "sA[buffer, cell + 320] = a1[m]")),
}  # fmt: skip


@pytest.mark.parametrize("name", few(OF_GIVEN))
def test_what_given_functions_do_wrong_is_told_where_they_are_called(name: str) -> None:
    answer, changes, (code, line) = OF_GIVEN[name]
    found, told = first_of_changed(answer, changes)
    assert (found.code, told[: len(line)]) == (code, line)
