# exercise: one_tile_product
# marked: wrong; cause: threads outside C return before they have loaded their elements and before the barrier; code: barrier-divergence|uninitialised-read; lines: [10, 11]
from numba import cuda, float32


@cuda.jit
def one_tile_product(A, B, C):
    left_tile = cuda.shared.array((16, 16), float32)
    right_tile = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    c, r = cuda.grid(2)
    if r >= C.shape[0] or c >= C.shape[1]:
        return
    left_tile[y, x] = A[r, x]
    right_tile[y, x] = B[y, c]
    cuda.syncthreads()
    dot = float32(0)
    k = 0
    while k < 16:
        dot += left_tile[y, k] * right_tile[k, x]
        k += 1
    C[r, c] = dot
