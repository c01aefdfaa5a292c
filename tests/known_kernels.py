"""Right products of matrices that tests begin with: as functions, and as the texts of answers."""

import inspect

from numba import cuda, float32

TILE = 16


def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def matmul_strided(A, B, C):
    """x is the row: a warp runs down a column."""
    row, column = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, column]
        C[row, column] = acc


def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + tx
    row = cuda.blockIdx.y * TILE + ty
    M, K = A.shape
    N = B.shape[1]
    acc = float32(0)
    for t in range((K + TILE - 1) // TILE):
        k0 = t * TILE
        sA[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0)
        sB[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc


IMPORTS = "from numba import cuda, float32\n"
MAT_ADD = """\
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
"""
NAIVE = "@cuda.jit\n" + inspect.getsource(matmul_naive)
TILED = "@cuda.jit\n" + inspect.getsource(matmul_tiled)
