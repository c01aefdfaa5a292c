"""A property is earned by what the kernel does, not by an array or constants for show."""

from pathlib import Path

import pytest
from sampling import few
from stored_answers import wrong_answers_to

from course_lib.checking import examine_source

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
