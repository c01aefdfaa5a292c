"""What earns points: what was done, in every launch; nothing that only looks like it."""

from pathlib import Path
from textwrap import indent

import pytest
from sampling import few
from stored_answers import wrong_answers_to

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.report import Report

HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\n"
NAIVE = {
    exercise: wrong_answers_to(exercise)["no_shared_memory"]
    for exercise in ("matmul_tiled", "matmul_2d", "transpose_tiled", "attention")
} | {"block_scan": wrong_answers_to("block_scan")["fetched_by_every_thread"]}
# What a first attempt is worth that never stages anything: right numbers, kept inside the arrays,
# in float32.
WORTH = {"right", "bounds", "float32"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAIVE)
def test_a_naive_kernel_earns_what_it_shows(name: str) -> None:
    report = examine_source(name, NAIVE[name], debug=True)
    assert report.numbers_right and not report.passed, str(report)
    points = EXERCISES[name].points
    assert {each for each, earned in report.earned.items() if earned} == WORTH, str(report)
    assert report.points == sum(points[each] for each in WORTH)


DOWN_A_COLUMN = """def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, row = cuda.blockIdx.x * 32, cuda.grid(2)[1]
    if row < A.shape[0] and left + tx < A.shape[1]:
        tile[ty, tx] = A[row, left + tx]
    cuda.syncthreads()
    if row < A.shape[0] and left + {across} < A.shape[1]:
        B[left + {across}, row] = tile[ty, {across}]
"""


@pytest.mark.parametrize(("across", "earned"), [("31 - tx", 1), ("tx", 0)])
def test_a_race_free_kernel_keeps_its_points_where_something_else_is_missed(
    across: str, earned: int
) -> None:
    """A transpose through a tile that stores down a column, what another thread has put there."""
    text = HEAD + DOWN_A_COLUMN.format(across=across)
    report = examine_source("transpose_tiled", text, debug=True)
    assert [each.code for each in report.errors] == ["uncoalesced-store"]
    assert report.earned["race-free"] == earned


def test_a_thread_alone_in_its_warp_keeps_nobody_waiting() -> None:
    text = """
from numba import cuda
BLOCK = (1, 1)

@cuda.jit
def mat_add(A, B, C):
    row = cuda.blockIdx.y * BLOCK[1] + cuda.threadIdx.y
    col = cuda.blockIdx.x * BLOCK[0] + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
"""
    assert "serial-work" not in {each.code for each in examine_source("mat_add", text).findings}


ROOT = Path(__file__).resolve().parents[2]
FILLED_AGAIN = """\
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for start in range(0, A.shape[1], TILE):
        for again in range(40):
            inside = row < A.shape[0] and start + tx < A.shape[1]
            sA[ty, tx] = A[row, start + tx] if inside else float32(0)
            inside = start + ty < B.shape[0] and col < B.shape[1]
            sB[ty, tx] = B[start + ty, col] if inside else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = total
"""


def _answer(exercise: str, name: str) -> str:
    return wrong_answers_to(exercise)[name]


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "seed"), [("16, 1", 0), ("1, 16", 7), ("2, 1", 0)])
def test_a_line_of_outputs_is_no_square(sizes: str, seed: int) -> None:
    text = _answer("matmul_2d", "outputs_in_a_line")
    rows, columns = map(int, sizes.split(", "))
    text = text.replace("TM, TN = 16, 1", f"TM, TN = {sizes}\nBM, BN, BK = {16 * rows}, 16 * TN, 8")
    report = examine_source("matmul_2d", text, seed=seed, debug=True)
    [error] = report.errors
    outputs = rows * columns
    assert f"{outputs + 1} numbers for {outputs} multiply-adds" in error.message
    assert [name for name, points in report.earned.items() if not points] == ["registers"]


@pytest.mark.parametrize("sizes", ["2, 2", "16, 2"])
@pytest.mark.slow
def test_the_smallest_square_and_a_rectangle_are_enough(sizes: str) -> None:
    text = _answer("matmul_2d", "outputs_in_a_line").replace("TM, TN = 16, 1", f"TM, TN = {sizes}")
    rows, columns = map(int, sizes.split(", "))
    text = text.replace("THREADS = 256", f"THREADS = {64 * 64 // (rows * columns)}")
    report = examine_source("matmul_2d", text, debug=True)
    assert report.passed, str(report)


@pytest.mark.parametrize(("tile", "seed"), few([(1, 0), (8, 7), (16, 0)]))
def test_one_shared_number_stages_no_tile(tile: int, seed: int) -> None:
    text = _answer("matmul_tiled", "shared_memory_for_show")
    text = text.replace("TILE = 16", f"TILE = {tile}")
    report = examine_source("matmul_tiled", text, seed=seed, debug=True)
    [error] = report.errors
    assert (error.code, error.line) == ("not-used", 10)
    missed = [name for name, points in report.earned.items() if not points]
    assert missed == ["shared-memory", "race-free", "reuse"]


@pytest.mark.slow
def test_a_show_is_worth_what_the_same_kernel_is_worth_without_it() -> None:
    for exercise in ("matmul_tiled", "attention"):
        show, none = (
            examine_source(exercise, _answer(exercise, name), debug=True).earned
            for name in ("shared_memory_for_show", "no_shared_memory")
        )
        assert show == none


@pytest.mark.slow
def test_the_same_show_fills_no_registers() -> None:
    text = _answer("matmul_2d", "no_shared_memory").replace(
        "    tid =",
        "    s = cuda.shared.array(1, float32)\n"
        "    if cuda.threadIdx.x == 0:\n        s[0] = float32(0)\n"
        "    cuda.syncthreads()\n    tid =",
        1,
    )
    text = text.replace("total = float32(0)", "total = s[0]")
    report = examine_source("matmul_2d", text, debug=True)
    [error] = report.errors
    assert "does not depend on what the threads share in s" in error.message
    assert report.earned["registers"] == 0


@pytest.mark.slow
def test_tiles_that_are_filled_again_and_again_are_staged_all_the_same() -> None:
    """Too much is fetched, and yet every operand is read from shared memory."""
    report = examine_source("matmul_tiled", FILLED_AGAIN, debug=True)
    assert {each.code for each in report.errors} == {"excess-global-traffic"}
    assert [name for name, points in report.earned.items() if not points] == ["reuse"]


HEAD_FOR_NOTHING = """import math
import numpy as np
from numba import cuda, float32, float64, int32


@cuda.jit
"""
# A product from global memory, with shared memory beside it: at the beginning of a thread, in each
# step of k, and before the end. 16 steps at a time, as the exact launch has no others.
PRODUCT = """def matmul_tiled(A, B, C):
    s = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    inside = row < C.shape[0] and col < C.shape[1]
    acc, junk = float32(0), float32(0)
    s[ty, tx] = {filled}
    cuda.syncthreads()
{first}
    if inside:
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
{step}
{last}
        C[row, col] = acc
"""
FROM_INPUT = "A[row, tx] if row < A.shape[0] and tx < A.shape[1] else float32(0)"


def product(filled: str = FROM_INPUT, first: str = "", step: str = "", last: str = "") -> str:
    return HEAD_FOR_NOTHING + PRODUCT.format(
        filled=filled,
        first=indent(first, " " * 4),
        step=indent(step, " " * 12),
        last=indent(last, " " * 8),
    )


READ = "s[ty, k % 16] + s[k % 16, tx]"
OF_NEIGHBOUR = "s[ty, (tx + 1) % 16]"
FOR_SHOW = {
    "read, and forgotten": product(step=f"junk += {READ}"),
    "zeros, and added": product("float32(0)", step=f"acc += {READ}"),
    "times zero": product(step=f"acc += float32(0) * ({READ})"),
    "added, and subtracted again": product(
        step=f"if k == 5:\n    acc += {READ}\n    acc -= {READ}"),
    "added, and subtracted from global memory": product(
        step="if k < 16 and row - ty + k < A.shape[0]:\n    acc += s[ty, k] - A[row, k]"),
    "one cell is real": product(
        step=f"junk += {READ}",
        last="if A.shape[1] > 15 and tx != 15:\n"
        f"    acc += ({OF_NEIGHBOUR} - A[row, tx + 1]) + A[row, 0] - s[ty, 0]",
    ),
    "stored in the output, and overwritten": product(step=f"junk += {READ}",
        last="C[row, col] = junk"),
    "one cell decides": product(step=f"junk += {READ}",
        last="if s[ty, 0] != A[row, 0]:\n    acc = float32(0)"),
    "a thread's own, beside others that are dead": product(
        step="s[ty, tx] = A[row, k]\nacc += s[ty, tx] - A[row, k]"),
    "numbers of steps": product("float32(tx)",
        step="acc += A[row, int(s[ty, k % 16])] - A[row, k % 16]"),
    "chosen, and never taken": product(step=f"junk = {READ}\nif k < 0:\n    acc += junk"),
}  # fmt: skip
HALF_OF_THEM = "s[k % 64] if k % 2 else x[k]"
SCAN_FOR_NOTHING = """def block_scan(x, y):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    if i < x.size:
        total, junk = float32(0), float32(0)
        for k in range(i // 64 * 64, i + 1):
            total += x[k]
            junk += s[k % 64] * {weight}
        y[i] = total + junk * float32(0)
"""
REGISTERS = """def matmul_1d(A, B, C):
    s = cuda.shared.array(512, float32)
    t = cuda.threadIdx.x
    s[t] = float32(0)
    cuda.syncthreads()
    junk = float32(0)
    for i in range(t, 64 * 64, cuda.blockDim.x):
        row, col = cuda.blockIdx.y * 64 + i // 64, cuda.blockIdx.x * 64 + i % 64
        if row < C.shape[0] and col < C.shape[1]:
            acc = float32(0)
            for k in range(A.shape[1]):
                acc += A[row, k] * B[k, col]
                junk += s[(t + 32) % 512]
            C[row, col] = acc + junk
"""


def earned(report: Report) -> set[str]:
    return {name for name, points in report.earned.items() if points}


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_SHOW)
def test_shared_memory_for_show_earns_nothing(name: str) -> None:
    report = examine_source("matmul_tiled", FOR_SHOW[name], debug=True)
    assert report.numbers_right and earned(report) <= WORTH, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "text"), [
    ("block_scan", SCAN_FOR_NOTHING.format(weight="x[i]")),
    ("block_scan", SCAN_FOR_NOTHING.format(weight="x[i]").replace("x[k]", HALF_OF_THEM)),
    ("matmul_1d", REGISTERS),
])  # fmt: skip
def test_of_other_exercises_too(exercise: str, text: str) -> None:
    report = examine_source(exercise, HEAD_FOR_NOTHING + text, debug=True)
    assert report.numbers_right and earned(report) <= WORTH, str(report)


HALF_STAGED = """def matmul_tiled(A, B, C):
    s = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], 16):
        s[ty, tx] = float32(0)
        if row < A.shape[0] and start + tx < A.shape[1]:
            s[ty, tx] = A[row, start + tx]
        cuda.syncthreads()
        if col < B.shape[1]:
            for k in range(min(16, A.shape[1] - start)):
                acc += s[ty, k] * B[start + k, col]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
"""


@pytest.mark.slow
def test_one_operand_that_is_handed_on_is_shared_memory_used() -> None:
    """What is missed is that the other one is fetched again and again."""
    report = examine_source("matmul_tiled", HEAD_FOR_NOTHING + HALF_STAGED, debug=True)
    assert earned(report) == {*EXERCISES["matmul_tiled"].points} - {"reuse"}, str(report)


SUM = """def mat_add(A, B, C):
    q = {made}
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        if {test}:
            C[row, col] = 0
        else:
            C[row, col] = A[row, col] + B[row, col]
"""
UNWRITTEN = {
    "zero, shared": ("cuda.shared.array(1, float32)", "q[0] == 0"),
    "zero, local": ("cuda.local.array(1, float32)", "q[0] == 0"),
    "a number at all": ("cuda.local.array(1, float32)", "q[0] == q[0]"),
    "an integer": ("cuda.shared.array(1, int32)", "q[0] == 7"),
    "some range": ("cuda.local.array(1, float32)", "0.001 < q[0] < 0.5"),
}


@pytest.mark.parametrize("name", UNWRITTEN)
def test_what_nobody_wrote_decides_nothing(name: str) -> None:
    made, test = UNWRITTEN[name]
    report = examine_source(
        "mat_add", HEAD_FOR_NOTHING + SUM.format(made=made, test=test), debug=True
    )
    assert [each.code for each in report.errors] == ["uninitialised-read"], str(report)
    assert report.points == 0


@pytest.mark.parametrize("test", few(["q[0] * float32(0) == 1", "q[0] < 0 and q[0] > 0"]))
def test_a_read_that_changes_nothing_is_a_warning(test: str) -> None:
    text = SUM.format(made="cuda.local.array(1, float32)", test=test)
    report = examine_source("mat_add", HEAD_FOR_NOTHING + text, debug=True)
    assert report.passed and report.points == report.max_points, str(report)
    assert "uninitialised-read" in {each.code for each in report.findings}


KEPT = """def mat_add(A, B, C):
    q = {made}
    t = cuda.threadIdx.y * 16 + cuda.threadIdx.x
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        q[{place}] = A[row, col]
        C[row, col] = float32(q[{place}]) + B[row, col]
"""
MADE = {"shared": ("cuda.shared.array(256, {})", "t"), "local": ("cuda.local.array(1, {})", "0")}


@pytest.mark.parametrize("kind", MADE)
def test_an_array_of_float64_is_named_where_it_is_made(kind: str) -> None:
    made, place = MADE[kind]
    text = HEAD_FOR_NOTHING + KEPT.format(made=made.format("float64"), place=place)
    report = examine_source("mat_add", text, debug=True)
    line = next(n for n, each in enumerate(text.splitlines(), 1) if ".array(" in each)
    assert [(each.code, each.line) for each in report.errors] == [("float64-arithmetic", line)]
    assert earned(report) == {"right", "bounds", "coalesced"}
    honest = HEAD_FOR_NOTHING + KEPT.format(made=made.format("float32"), place=place)
    assert examine_source("mat_add", honest, debug=True).passed


TELLS = """def matmul_naive(A, B, C):
    kept = cuda.local.array(1, float32)
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        x = A[row, 0]
        y = x * x
        kept[0] = y
        C[row, col] = {right} if {test} else float32(0)
"""
ROUNDED = {
    "a difference": ("acc", "x * x - y == 0"),
    "in squares only": ("acc", "A.shape[0] != C.shape[1] or x * x - y == 0"),
    "through memory": ("acc", "x * x - kept[0] == 0"),
    "a power": ("acc", "x ** 2 - y == 0"),
    "as an integer": ("acc", "int32((x * x - y) * float32(1e30)) == 0"),
    "without a test": ("acc + float32(1e9) * (x * x - y)", "col >= 0"),
}


@pytest.mark.parametrize("name", few(ROUNDED, 2))
def test_a_result_that_depends_on_how_products_are_rounded(name: str) -> None:
    right, test = ROUNDED[name]
    report = examine_source(
        "matmul_naive", HEAD_FOR_NOTHING + TELLS.format(right=right, test=test), debug=True
    )
    assert [each.code for each in report.errors] == ["wrong-result"], str(report)
    assert "round" in report.errors[0].message


@pytest.mark.slow
def test_a_way_that_depends_on_how_products_are_rounded() -> None:
    """Both ways give the right numbers; a GPU takes the one that is not counted here."""
    text = HEAD_FOR_NOTHING + TELLS.format(
        right="acc", test="A.shape[0] != C.shape[1] or x * x - y == 0"
    )
    text = text.replace("else float32(0)", "else acc + A[row, 0] - A[row, 0]")
    report = examine_source("matmul_naive", text, debug=True)
    assert [each.code for each in report.errors] == ["wrong-result"], str(report)


@pytest.mark.parametrize("test", few(["abs(x * x - y) < 1e-4", "y >= 0", "x * x - y < 1"]))
def test_an_honest_test_of_a_product(test: str) -> None:
    report = examine_source(
        "matmul_naive", HEAD_FOR_NOTHING + TELLS.format(right="acc", test=test), debug=True
    )
    assert "wrong-result" not in {each.code for each in report.findings}, str(report)
    assert report.numbers_right
