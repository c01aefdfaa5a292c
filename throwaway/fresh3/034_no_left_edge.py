# exercise: convolve
# marked: wrong; cause: the load does not ask whether the column lies left of the matrix, where the index is negative; code: wrong-bounds-check|missing-mask|out-of-bounds-read; lines: [6]
from numba import cuda, float32


@cuda.jit(device=True)
def at(M, r, c):
    if r < 0 or r >= M.shape[0] or c >= M.shape[1]:
        return float32(0)
    return M[r, c]


@cuda.jit
def convolve(A, W, C):
    window = cuda.shared.array((20, 20), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    by, bx = cuda.blockIdx.y * 16, cuda.blockIdx.x * 16
    for i in range(ty, 20, 16):
        for j in range(tx, 20, 16):
            window[i, j] = at(A, by + i - 2, bx + j - 2)
    cuda.syncthreads()
    total = float32(0)
    for j in range(5):
        for i in range(5):
            total += window[ty + i, tx + j] * W[i, j]
    if by + ty < C.shape[0] and bx + tx < C.shape[1]:
        C[by + ty, bx + tx] = total
