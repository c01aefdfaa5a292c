"""What earns nothing: shared memory for show, values that nobody wrote, tests of the emulator.

Each of these answers gives the right numbers on the emulator, and each has an honest counterpart
that keeps its points.
"""

from textwrap import indent

import pytest
from sampling import few

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.report import Report

HEAD = """import math
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
    return HEAD + PRODUCT.format(
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
SCAN = """def block_scan(x, y):
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
WORTH = {"right", "bounds", "float32"}


def earned(report: Report) -> set[str]:
    return {name for name, points in report.earned.items() if points}


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_SHOW)
def test_shared_memory_for_show_earns_nothing(name: str) -> None:
    report = examine_source("matmul_tiled", FOR_SHOW[name], debug=True)
    assert report.numbers_right and earned(report) <= WORTH, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "text"), [
    ("block_scan", SCAN.format(weight="x[i]")),
    ("block_scan", SCAN.format(weight="x[i]").replace("x[k]", HALF_OF_THEM)),
    ("matmul_1d", REGISTERS),
])  # fmt: skip
def test_of_other_exercises_too(exercise: str, text: str) -> None:
    report = examine_source(exercise, HEAD + text, debug=True)
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
    report = examine_source("matmul_tiled", HEAD + HALF_STAGED, debug=True)
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
    report = examine_source("mat_add", HEAD + SUM.format(made=made, test=test), debug=True)
    assert [each.code for each in report.errors] == ["uninitialised-read"], str(report)
    assert report.points == 0


@pytest.mark.parametrize("test", few(["q[0] * float32(0) == 1", "q[0] < 0 and q[0] > 0"]))
def test_a_read_that_changes_nothing_is_a_warning(test: str) -> None:
    text = SUM.format(made="cuda.local.array(1, float32)", test=test)
    report = examine_source("mat_add", HEAD + text, debug=True)
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
    text = HEAD + KEPT.format(made=made.format("float64"), place=place)
    report = examine_source("mat_add", text, debug=True)
    line = next(n for n, each in enumerate(text.splitlines(), 1) if ".array(" in each)
    assert [(each.code, each.line) for each in report.errors] == [("float64-arithmetic", line)]
    assert earned(report) == {"right", "bounds", "coalesced"}
    honest = HEAD + KEPT.format(made=made.format("float32"), place=place)
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
    report = examine_source("matmul_naive", HEAD + TELLS.format(right=right, test=test), debug=True)
    assert [each.code for each in report.errors] == ["wrong-result"], str(report)
    assert "round" in report.errors[0].message


@pytest.mark.slow
def test_a_way_that_depends_on_how_products_are_rounded() -> None:
    """Both ways give the right numbers; a GPU takes the one that is not counted here."""
    text = HEAD + TELLS.format(right="acc", test="A.shape[0] != C.shape[1] or x * x - y == 0")
    text = text.replace("else float32(0)", "else acc + A[row, 0] - A[row, 0]")
    report = examine_source("matmul_naive", text, debug=True)
    assert [each.code for each in report.errors] == ["wrong-result"], str(report)


@pytest.mark.parametrize("test", few(["abs(x * x - y) < 1e-4", "y >= 0", "x * x - y < 1"]))
def test_an_honest_test_of_a_product(test: str) -> None:
    report = examine_source("matmul_naive", HEAD + TELLS.format(right="acc", test=test), debug=True)
    assert "wrong-result" not in {each.code for each in report.findings}, str(report)
    assert report.numbers_right
