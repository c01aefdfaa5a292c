# exercise: matmul_tiled
# marked: wrong; cause: there is no barrier between the products of one tile and the loads of the next one; code: race-write-after-read; lines: [21, 22]
from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def fetch(M, r, c):
    if r < M.shape[0] and c < M.shape[1]:
        return M[r, c]
    return float32(0)


@cuda.jit
def matmul_tiled(A, B, C):
    left_tile = cuda.shared.array((TILE, TILE), float32)
    right_tile = cuda.shared.array((TILE, TILE), float32)
    j, i = cuda.grid(2)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for begin in range(0, A.shape[1], TILE):
        left_tile[v, u] = fetch(A, i, begin + u)
        right_tile[v, u] = fetch(B, begin + v, j)
        cuda.syncthreads()
        for q in range(TILE):
            acc += left_tile[v, q] * right_tile[q, u]
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = acc
