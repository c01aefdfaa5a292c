# exercise: transpose_tiled
# marked: wrong; cause: Each thread stores its own element, so that neighbouring lanes write to different rows of B; code: uncoalesced-store; lines: [16]
from numba import cuda, float32

TILE = 32
PITCH = 33


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, PITCH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    c, r = cuda.grid(2)
    if c < A.shape[1] and r < A.shape[0]:
        tile[ty, tx] = A[r, c]
    cuda.syncthreads()
    if c < B.shape[0] and r < B.shape[1]:
        B[c, r] = tile[ty, tx]
