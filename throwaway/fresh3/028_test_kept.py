# exercise: transpose_tiled
# marked: wrong; cause: the store is guarded by the test of the load, although the thread stores another element than it loaded; code: wrong-bounds-check|out-of-bounds-write|incomplete-output|uninitialised-read; lines: [17]
from numba import cuda, float32

TILE = 32
WIDE = 33


@cuda.jit
def transpose_tiled(A, B):
    patch = cuda.shared.array((TILE, WIDE), float32)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    r0 = TILE * cuda.blockIdx.y
    c0 = TILE * cuda.blockIdx.x
    exists = r0 + v < A.shape[0] and c0 + u < A.shape[1]
    if exists:
        patch[v, u] = A[r0 + v, c0 + u]
    cuda.syncthreads()
    if exists:
        B[c0 + v, r0 + u] = patch[u, v]
