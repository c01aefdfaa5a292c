# exercise: stencil5
# marked: right
from numba import cuda, float32

TILE = 16
HALO = TILE + 2


@cuda.jit
def stencil5(A, B):
    sA = cuda.shared.array((HALO, HALO), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * TILE + tx
    y = cuda.blockIdx.y * TILE + ty
    n = ty * TILE + tx
    while n < HALO * HALO:
        sy = n // HALO
        sx = n % HALO
        yy = cuda.blockIdx.y * TILE + sy - 1
        xx = cuda.blockIdx.x * TILE + sx - 1
        ok = yy >= 0 and yy < A.shape[0] and xx >= 0 and xx < A.shape[1]
        sA[sy, sx] = A[yy, xx] if ok else float32(0)
        n += TILE * TILE
    cuda.syncthreads()
    if y < B.shape[0] and x < B.shape[1]:
        s = float32(0)
        for d in range(-1, 2, 2):
            s += sA[ty + 1 + d, tx + 1]
            s += sA[ty + 1, tx + 1 + d]
        B[y, x] = sA[ty + 1, tx + 1] - s * float32(0.25)
