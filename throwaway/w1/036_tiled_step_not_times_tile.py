# exercise: matmul_tiled
# marked: wrong; cause: The tile of A starts at the number of the step, which was not multiplied by TILE; code: wrong-index; lines: [18]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    K = B.shape[0]
    n_steps = -(-K // TILE)
    s = 0
    acc = float32(0)
    while s < n_steps:
        ka = s + tx
        kb = s * TILE + ty
        good_a = row < A.shape[0] and ka < K
        good_b = kb < K and col < B.shape[1]
        sA[ty, tx] = A[row, ka] if good_a else float32(0)
        sB[ty, tx] = B[kb, col] if good_b else float32(0)
        cuda.syncthreads()
        k = 0
        while k < TILE:
            acc += sA[ty, k] * sB[k, tx]
            k += 1
        cuda.syncthreads()
        s += 1
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
