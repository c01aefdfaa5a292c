# exercise: one_tile_product
# marked: wrong; cause: the store is guarded against the bottom only, not against the right edge; code: wrong-bounds-check|out-of-bounds-write; lines: [25, 26]
from numba import cuda, float32


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    if top + i < M.shape[0] and left + j < M.shape[1]:
        tile[i, j] = M[top + i, left + j]
    else:
        tile[i, j] = 0


@cuda.jit
def one_tile_product(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    top, left = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    load_tile(sA, A, top, 0)
    load_tile(sB, B, 0, left)
    cuda.syncthreads()
    total = float32(0)
    for k in range(16):
        total += sA[cuda.threadIdx.y, k] * sB[k, cuda.threadIdx.x]
    row, column = top + cuda.threadIdx.y, left + cuda.threadIdx.x
    if row < C.shape[0]:
        C[row, column] = total
