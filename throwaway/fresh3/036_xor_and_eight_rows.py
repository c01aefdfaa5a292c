# exercise: transpose_tiled
# marked: right; style: 32 x 8 threads, an XOR swizzle in place of padding
from numba import cuda, float32

TILE = 32
BLOCK = (32, 8)


@cuda.jit
def transpose_tiled(A, B):
    cells = cuda.shared.array((TILE, TILE), float32)
    lane = cuda.threadIdx.x
    top, left = TILE * cuda.blockIdx.y, TILE * cuda.blockIdx.x
    for r in range(cuda.threadIdx.y, TILE, 8):
        if top + r < A.shape[0] and left + lane < A.shape[1]:
            cells[r, lane ^ r] = A[top + r, left + lane]
    cuda.syncthreads()
    for r in range(cuda.threadIdx.y, TILE, 8):
        if left + r < B.shape[0] and top + lane < B.shape[1]:
            B[left + r, top + lane] = cells[lane, r ^ lane]
