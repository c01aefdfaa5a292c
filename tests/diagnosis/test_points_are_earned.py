"""What a kernel earns that does without the tool of the task: nothing for what it did not do."""

from inspect import getsource

import pytest
from known_kernels import matmul_naive

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES

HEAD = "import math\nfrom numba import cuda, float32\n\nSCALE = float32(0.1767767)\n\n\n@cuda.jit\n"
NAIVE_PRODUCT = getsource(matmul_naive).replace("matmul_naive", "{name}")
PRODUCT_OF_A_ROW_OF_THREADS = """def {name}(A, B, C):
    for i in range(cuda.threadIdx.x, 64 * 64, cuda.blockDim.x):
        row, col = cuda.blockIdx.y * 64 + i // 64, cuda.blockIdx.x * 64 + i % 64
        if row < C.shape[0] and col < C.shape[1]:
            acc = float32(0)
            for k in range(A.shape[1]):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc
"""
SCAN = """def block_scan(x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = float32(0)
        for k in range(i // 64 * 64, i + 1):
            total += x[k]
        y[i] = total
"""
TRANSPOSE = """def transpose_tiled(A, B):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        B[col, row] = A[row, col]
"""
ATTENTION = """def attention(Q, K, V, O):
    d, row = cuda.threadIdx.x, cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if row < Q.shape[0]:
        top, below, total = float32(-math.inf), float32(0), float32(0)
        for k in range(K.shape[0]):
            score = float32(0)
            for i in range(32):
                score += Q[row, i] * K[k, i]
            score *= SCALE
            new = max(top, score)
            old, weight = math.exp(top - new), math.exp(score - new)
            below = below * old + weight
            total = total * old + weight * V[k, d]
            top = new
        O[row, d] = total / below
"""


NAIVE = {
    "matmul_tiled": NAIVE_PRODUCT.format(name="matmul_tiled"),
    "matmul_1d": PRODUCT_OF_A_ROW_OF_THREADS.format(name="matmul_1d"),
    "matmul_2d": PRODUCT_OF_A_ROW_OF_THREADS.format(name="matmul_2d"),
    "transpose_tiled": TRANSPOSE,
    "block_scan": SCAN,
    "attention": ATTENTION,
}
# What a first attempt is worth that never stages anything: right numbers, kept inside the arrays,
# in float32.
WORTH = {"right", "bounds", "float32"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAIVE)
def test_a_naive_kernel_earns_what_it_shows(name: str) -> None:
    report = examine_source(name, HEAD + NAIVE[name], debug=True)
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
