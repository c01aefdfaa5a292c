"""Answers that are right only up to a size: found, and told with the number and its line."""

from textwrap import indent

import numpy as np
import pytest
from sampling import few
from stored_answers import right_answers_to

import course_lib
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis import sizes
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.points import lost_properties
from course_lib.diagnosis.report import Report
from course_lib.emulator import emulate, load_program
from course_lib.emulator.observers.limits import LimitNotes
from course_lib.problems.problem import long_cases
from course_lib.problems.table import problem_of

NAIVE = """
from numba import cuda, float32

LIMIT = {limit}

@cuda.jit(device=True)
def below(index, end):
    return index < end

@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    if below(row, M) and below(col, N):
        total = float32(0)
        {sum}
        {store}
"""
ADD = "total += A[row, k] * B[k, col]"
TOTAL = f"for k in range(K): {ADD}"
STORE = "C[row, col] = total"


def kernel(sum_: str = TOTAL, store: str = STORE) -> str:
    return NAIVE.replace("{sum}", indent(sum_, " " * 8).strip()).replace("{store}", store)


LOOP, TEST, INDEX = "wrong-loop-bound", "wrong-bounds-check", "wrong-index"
# Ways to write a limit in the sum or at the store, and what it is called, where that is certain.
IN_THE_SUM = {
    "fixed range": (f"for k in range(LIMIT):\n    if k < K: {ADD}", LOOP),
    "fixed range, no branch": ("for k in range(LIMIT):\n"
        "    total += A[row, min(k, K - 1)] * B[min(k, K - 1), col] * float32(k < K)", LOOP),
    "fixed range, downwards": (f"for k in range(LIMIT - 1, -1, -1):\n    if k < K: {ADD}", LOOP),
    "fixed range with break": (f"for k in range(LIMIT):\n    if k == K: break\n    {ADD}", LOOP),
    "while with a number": (f"k = 0\nwhile k < K and k < LIMIT:\n    {ADD}\n    k += 1", LOOP),
    "min in the range": (f"for k in range(min(K, LIMIT)): {ADD}", LOOP),
    "min in a variable": (f"last = min(LIMIT, K)\nfor k in range(last): {ADD}", LOOP),
    "ternary": (f"for k in range(K if K < LIMIT else LIMIT): {ADD}", LOOP),
    "test in a device function": (f"for k in range(K):\n    if below(k, LIMIT): {ADD}", None),
    "remainder": (TOTAL.replace("k]", "k % LIMIT]").replace("[k,", "[k % LIMIT,"), INDEX),
    "quotient": (f"for k in range(K):\n    if k // LIMIT == 0: {ADD}", None),
    "one element left out": (f"for k in range(K):\n    if k != LIMIT: {ADD}", TEST),
    "another way for long sums": ("for k in range(K):\n    if K > LIMIT:\n"
        f"        total += A[row, k] * B[0, col]\n    else: {ADD}", TEST),
}  # fmt: skip
AT_THE_STORE = {
    "rows": "if row < LIMIT",
    "columns": "if not col >= LIMIT",
    "blocks": "if cuda.blockIdx.y * 16 < LIMIT",
    "flat index": "if row * N + col < 40 * LIMIT",
}
LIMITED: dict[str, tuple[str, str | None]] = {
    name: (kernel(text), code) for name, (text, code) in IN_THE_SUM.items()
} | {name: (kernel(store=f"{test}: {STORE}"), TEST) for name, test in AT_THE_STORE.items()}


# The least is beyond every ordinary launch but the long ones, the other one beyond these as well.
@pytest.mark.parametrize("name", few(LIMITED))
@pytest.mark.parametrize("limit", [pytest.param(100, marks=pytest.mark.slow), 400])
def test_a_limit_is_named(name: str, limit: int) -> None:
    text, code = LIMITED[name]
    text = text.replace("{limit}", str(limit))
    report = course_lib.examine_source("matmul_naive", text, debug=True)
    assert not report.passed
    first = report.errors[0]
    assert code in (None, first.code), str(report)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "LIMIT" in line][1:]
    if name != "test in a device function":
        assert first.line in lines, str(report)
        number = 40 * limit if name == "flat index" else limit
        assert str(number) in first.message, str(report)


LONGEST = [case.shape[case.along] for case in long_cases(problem_of(EXERCISES["matmul_naive"]), 0)]


@pytest.mark.parametrize(
    "name",
    [each if each == "ternary" else pytest.param(each, marks=pytest.mark.long) for each in LIMITED],
)
@pytest.mark.slow
def test_a_limit_that_the_longest_launch_just_reaches_is_seen(name: str) -> None:
    """Neither a limit at the last size that is tried, nor one beside it."""
    for limit in {length + more for length in LONGEST for more in (-1, 0, 1)}:
        text = LIMITED[name][0].replace("{limit}", str(limit))
        assert not course_lib.examine_source("matmul_naive", text, debug=True).passed, limit


@pytest.mark.parametrize("cut", few(["min(A.shape[1], 500)", "min(A.shape[1], 497)"]))
def test_rounding_up_to_whole_tiles_hides_no_limit(cut: str) -> None:
    """With 500 steps at most, 32 whole tiles of 16 are right up to K = 512."""
    text = right_answers_to("matmul_tiled")["if_else_padding"]
    count = "(K + TILE - 1) // TILE"
    assert text.count(count) == 1
    report = course_lib.examine_source(
        "matmul_tiled", text.replace(count, f"({cut} + TILE - 1) // TILE"), debug=True
    )
    assert [each.severity for each in report.findings[:1]] == ["error"], str(report)


TILED = """
from numba import cuda, float32

@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    K = A.shape[1]
    total = float32(0)
    for tile in range({tiles}):
        k = tile * 16
        sA[ty, tx] = A[y, k + tx] if y < A.shape[0] and k + tx < K else float32(0)
        sB[ty, tx] = B[k + ty, x] if k + ty < K and x < B.shape[1] else float32(0)
        cuda.syncthreads()
        for step in range(16):
            total += sA[ty, step] * sB[step, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = total
"""


@pytest.mark.parametrize(
    "tiles", [4, 18, *(pytest.param(tiles, marks=pytest.mark.long) for tiles in (2, 3, 8, 17))]
)
@pytest.mark.slow
def test_a_fixed_number_of_tiles_is_named_whatever_launch_it_met(tiles: int) -> None:
    report = course_lib.examine_source("matmul_tiled", TILED.format(tiles=tiles))
    first = report.errors[0]
    assert (first.code, first.line) == ("wrong-loop-bound", 12)


@pytest.mark.parametrize("limit", [7000, pytest.param(12_000, marks=pytest.mark.long)])
@pytest.mark.slow
def test_one_product_of_thousands_counts(limit: int) -> None:
    """However long a sum is, its rounding does not hide that its last product is missing."""
    text = LIMITED["min in the range"][0].replace("{limit}", str(limit))
    report = course_lib.examine_source("matmul_naive", text, debug=True)
    assert [(each.code, each.severity) for each in report.findings] == [(LOOP, "error")]


def examined(text: str) -> tuple[Report, list[tuple[int, ...]]]:
    """The report, and the shapes of the launches beyond a limit."""
    shapes = []
    run = Launcher.run

    def noted(self: Launcher, case, *options, **named):  # type: ignore[no-untyped-def]
        shapes.extend([case.shape] * bool(case.allowed and case.draw < sizes.DRAW))
        return run(self, case, *options, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Launcher, "run", noted)
        report = course_lib.examine_source("matmul_naive", text, debug=True)
    return report, shapes


def test_no_suspicion_no_launch() -> None:
    report, shapes = examined(kernel().replace("{limit}", "1"))
    assert report.passed and shapes == []


@pytest.mark.slow
def test_a_suspicion_is_cleared_just_beyond_and_a_tile_further() -> None:
    either = f"if K > LIMIT:\n    {TOTAL}\nelse:\n    {TOTAL}"
    report, shapes = examined(kernel(either).replace("{limit}", "600"))
    assert report.passed, str(report)
    (_, _, beyond), (_, _, farther) = shapes
    assert 600 < beyond < 610 and farther == beyond + 16


def test_out_of_reach_is_said() -> None:
    text = LIMITED["rows"][0].replace("{limit}", "1 << 22")
    report, shapes = examined(text)
    assert report.passed and shapes == []
    assert [each.code for each in report.warnings if str(1 << 22) in each.message] == [TEST]


WIDER_THAN_LONG = {
    "test": "if row < M and col < N: {store}",
    "test, the other way round": "if M > row and N > col: {store}",
    "left early": """if row >= M or col >= N:
        return
    {store}""",
    "last index": "if row < M and col <= N - 1: {store}",
    "least of two": "if row < M and col == min(col, N - 1): {store}",
}


@pytest.mark.parametrize("way", few(WIDER_THAN_LONG, 3))
def test_a_block_that_is_wider_than_any_long_launch(way: str) -> None:
    """Every thread has its column as long as there are no more columns than threads."""
    store = WIDER_THAN_LONG[way].format(store="C[row, col] = A[row, col] + B[row, col]")
    text = f"""
from numba import cuda

@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.threadIdx.x, cuda.blockIdx.y
    M, N = A.shape
    {store}
"""
    report = course_lib.examine_source("mat_add", text, block=(512, 1), debug=True)
    assert not report.passed
    right = text.replace("cuda.threadIdx.x", "cuda.grid(1)")
    assert course_lib.examine_source("mat_add", right, block=(512, 1), debug=True).passed


def noted(body: str) -> LimitNotes:
    """What launches with two sizes show, of a kernel with this body."""
    lines = indent(body.strip("\n"), "    ")
    program = load_program(f"""
from numba import cuda, float32
from course_lib.intrinsics import load4, store4

@cuda.jit
def kernel(x, y):
    row = cuda.shared.array(512, float32, alignment=16)
    table = cuda.shared.array((2, 512), float32)
    n = x.size
    y[0] = 0
{lines}
""")
    notes = LimitNotes()
    for size in (20, 40):
        emulation = emulate(program.kernel("kernel"))
        emulation.limits = notes
        emulation[1, 1](np.ones(size, np.float32), np.zeros(size, np.float32))
    return notes


def room_sites(body: str) -> list[tuple[str, float | None]]:
    """The limits that are left open after launches with two sizes."""
    return [(site.kind, site.number) for site in noted(body).sites if site.is_open and site.number]


def test_a_part_of_an_array_hides_no_index_of_the_same_line() -> None:
    body = "for i in range(n): part = table[1]; table[1, i] = part[0]"
    reached = [
        [seen.left[1] for seen in site.seen.values()]
        for site in noted(body).sites
        if site.kind == "axis" and site.number == 512
    ]
    assert [20, 40] in reached


@pytest.mark.parametrize("body", [
    "for i in range(0, n, 4): store4(row, i, (x[0], x[1], x[2], x[3]))",
    """
for i in range(512): row[i] = 1
for i in range(0, n, 4): y[i] = load4(row, i)[0]
""",
    "row[:n] = 1",
    "for i in range(n): table[:, i] = 1",
])  # fmt: skip
def test_room_for_a_number_is_noted(body: str) -> None:
    assert ("axis", 512) in room_sites(body)


def test_elements_that_are_gone_through_are_turns() -> None:
    body = """
for i in range(512): row[i] = 0
at = 0
for each in row:
    if at < n: y[0] += x[at] + each
    at += 1
"""
    assert ("loop", 512) in room_sites(body)


@pytest.mark.parametrize("limit", few([100, 400]))
def test_no_more_is_said_than_was_seen(limit: int) -> None:
    """Beyond a limit the numbers are wrong where the blocks divide the sizes as well."""
    text = LIMITED["min in the range"][0].replace("{limit}", str(limit))
    report = course_lib.examine_source("matmul_naive", text, debug=True)
    lost = lost_properties(
        EXERCISES["matmul_naive"],
        report.findings,
        report.numbers_right,
        report.right_where_even,
        report.shares,
    )
    assert lost and report.held
    assert not [words for words in (*lost.values(), *report.held) if "divide" in words]
