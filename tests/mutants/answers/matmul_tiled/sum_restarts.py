# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def tile_product(mine, theirs, i, j, count):
    part = float32(0)
    for k in range(count):
        part += mine[i, k] * theirs[k, j]
    return part


@cuda.jit
def matmul_tiled(A, B, C):
    As = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    Bs = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    i = cuda.threadIdx.y
    j = cuda.threadIdx.x
    r = i + TILE * cuda.blockIdx.y
    c = j + TILE * cuda.blockIdx.x
    K = A.shape[1]
    owns = r < C.shape[0] and c < C.shape[1]
    s = float32(0)
    for k0 in range(0, K, TILE):
        if r < A.shape[0] and k0 + j < K:
            As[i, j] = A[r, k0 + j]
        if c < B.shape[1] and k0 + i < K:
            Bs[i, j] = B[k0 + i, c]
        cuda.syncthreads()
        if owns:
            s = tile_product(As, Bs, i, j, min(TILE, K - k0))  # <- accumulator-error
        cuda.syncthreads()
    if owns:
        C[r, c] = s
