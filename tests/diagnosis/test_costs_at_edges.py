"""What an exercise asks for in cost holds where tiles are partial, too, with room for the edges."""

from __future__ import annotations

import pytest
from every_case import every_case
from sampling import few
from stored_answers import right_answers_to

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES
from course_lib.problems.problem import make_cases
from course_lib.problems.table import problems

PROBLEMS = problems(EXERCISES)
SEEDS = (0, 3, 2026)
CONTEXT = "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
EVEN = "A.shape[0] % TILE == 0 and A.shape[1] % TILE == 0 and B.shape[1] % TILE == 0"
STAGED = """\
import numpy as np
from numba import cuda

TILE = {tile}


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), np.float32)
    sB = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    r, c = min(row, A.shape[0] - 1), min(col, B.shape[1] - 1)
    acc = np.float32(0)
    staged = A.shape[1] // TILE{condition}
    for t in range(staged):
        sA[ty, tx] = A[r, t * TILE + tx]
        sB[ty, tx] = B[t * TILE + ty, c]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    for k in range(staged * TILE, A.shape[1]):
        acc += A[r, k] * B[k, c]
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
"""
TURNED = """\
import numpy as np
from numba import cuda


@cuda.jit
def {name}(A, B, C):
    col, row = cuda.grid(2)
    if C.shape[0] % 16 or C.shape[1] % 16:
        row = cuda.blockIdx.y * 16 + cuda.threadIdx.x
        col = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if row < C.shape[0] and col < C.shape[1]:
        {work}
"""
SUM = "C[row, col] = A[row, col] + B[row, col]"
PRODUCT = """acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc"""
TRANSPOSE = """\
from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if A.shape[0] % TILE == 0 and A.shape[1] % TILE == 0:
        tile[ty, tx] = A[y, x]
        cuda.syncthreads()
        B[cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx] = tile[tx, ty]
    elif y < A.shape[0] and x < A.shape[1]:
        B[x, y] = A[y, x]
"""


@pytest.mark.parametrize("tile", few([8, 16, pytest.param(32, marks=pytest.mark.slow)], 1))
def test_tiles_on_even_sizes_alone_reuse_nothing(tile: int) -> None:
    text = STAGED.format(tile=tile, condition=f" if {EVEN} else 0")
    for seed in SEEDS:
        report = examine_source("matmul_tiled", text, seed=seed, debug=True)
        assert report.numbers_right
        [error] = report.errors
        assert (error.code, error.line) == ("excess-global-traffic", 24)
        assert "are not multiples of the tile" in error.message
        assert [name for name, points in report.earned.items() if not points] == ["reuse"]


@pytest.mark.parametrize("tile", few([8, 16, 32]))
def test_clamped_indices_and_a_rest_along_k_are_honest(tile: int) -> None:
    """No tile is loaded beyond the edge; and what does not fill one is few steps."""
    for seed in SEEDS:
        report = examine_source(
            "matmul_tiled", STAGED.format(tile=tile, condition=""), seed=seed, debug=True
        )
        assert report.passed, str(report)


@pytest.mark.parametrize(("exercise", "text", "codes"), few([
    ("mat_add", TURNED.format(name="mat_add", work=SUM), {"uncoalesced-load", "uncoalesced-store"}),
    ("matmul_coalesced", TURNED.format(name="matmul_coalesced", work=PRODUCT),
     {"uncoalesced-load"}),
    ("transpose_tiled", TRANSPOSE, {"uncoalesced-store"}),
]))  # fmt: skip
def test_neighbours_on_even_sizes_alone_are_none(exercise: str, text: str, codes: set[str]) -> None:
    for seed in SEEDS:
        report = examine_source(exercise, text, seed=seed, debug=True)
        assert report.numbers_right
        assert {each.code for each in report.errors} == codes, str(report)
        assert report.earned["coalesced"] == 0


def test_honest_kernels_touch_few_sectors_at_the_edges() -> None:
    for exercise, work in (("mat_add", SUM), ("matmul_coalesced", PRODUCT)):
        text = TURNED.format(name=exercise, work=work).replace(
            "if C.shape[0] % 16 or", "if False and"
        )
        for seed in SEEDS:
            assert examine_source(exercise, text, seed=seed, debug=True).passed


@pytest.mark.parametrize(
    "exercise", ["mat_add", "matmul_coalesced", "matmul_column_major", "transpose_tiled"]
)
@pytest.mark.slow
def test_right_answers_are_coalesced_on_every_draw(exercise: str) -> None:
    """Also with short rows, and where a warp covers few columns."""
    for text in list(right_answers_to(exercise).values())[:2]:
        for seed in range(8):
            report = examine_source(exercise, text, seed=seed, context=CONTEXT)
            assert report.passed, (seed, str(report))


def test_room_lies_between_honest_and_naive() -> None:
    problem = PROBLEMS["matmul_tiled"]
    shape = M, N, K = 33, 19, 37
    least = problem.fetches(shape, (16, 16))
    most = problem.fetches_at_most(shape, (16, 16), 16, (1, 1))
    assert most == (48 * 32 * 2 + 48 * 5 * 32, 32 * 32 * 3 + 32 * 5 * 48)
    assert all(a < b < 0.5 * M * N * K for a, b in zip(least, most, strict=True))


@every_case("exercise", PROBLEMS)
def test_a_counted_launch_is_uneven_and_several_tiles_long(exercise: str) -> None:
    problem = PROBLEMS[exercise]
    for seed in range(20):
        counted = [case for case in make_cases(problem, (0,), seed) if case.counted]
        assert len(counted) == (problem.counted is not None)
        for case in counted:
            assert not case.exact
            assert all(size > 16 and size % 8 for size in case.shape[:2])
