# exercise: stencil5
# marked: wrong; cause: Left of the first column nothing is put into the halo, where the other edges get a zero; code: uninitialised-read|missing-mask; lines: [16, 17]
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    c = cuda.threadIdx.x + 1
    r = cuda.threadIdx.y + 1
    j = cuda.blockIdx.x * 16 + c - 1
    i = cuda.blockIdx.y * 16 + r - 1
    M = A.shape[0]
    N = A.shape[1]
    buf = cuda.shared.array((18, 18), float32)

    buf[r, c] = A[i, j] if i < M and j < N else float32(0)
    if c == 1:
        if i < M and j >= 1:
            buf[r, 0] = A[i, j - 1]
    elif c == 16:
        buf[r, 17] = A[i, j + 1] if i < M and j + 1 < N else float32(0)
    if r == 1:
        buf[0, c] = A[i - 1, j] if i >= 1 and j < N else float32(0)
    elif r == 16:
        buf[17, c] = A[i + 1, j] if i + 1 < M and j < N else float32(0)
    cuda.syncthreads()

    if i >= M or j >= N:
        return
    mean = (buf[r - 1, c] + buf[r + 1, c] + buf[r, c - 1] + buf[r, c + 1]) * float32(0.25)
    B[i, j] = buf[r, c] - mean
