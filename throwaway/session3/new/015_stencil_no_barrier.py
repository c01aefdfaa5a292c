# exercise: stencil5
# marked: wrong; cause: The threads go on to the sum without a barrier after the tile and its halo were filled; code: race-read-after-write|race-write-after-read; lines: [17, 28]
from numba import cuda, float32

T = 16


@cuda.jit
def stencil5(A, B):
    s = cuda.shared.array((18, 18), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    j = cuda.blockIdx.x * T + x
    i = cuda.blockIdx.y * T + y
    h, w = A.shape
    zero = float32(0)
    here = i < h and j < w

    s[y + 1, x + 1] = A[i, j] if here else zero
    if x == 0:
        s[y + 1, 0] = A[i, j - 1] if i < h and j > 0 else zero
    if x == T - 1:
        s[y + 1, T + 1] = A[i, j + 1] if i < h and j + 1 < w else zero
    if y == 0:
        s[0, x + 1] = A[i - 1, j] if i > 0 and j < w else zero
    if y == T - 1:
        s[T + 1, x + 1] = A[i + 1, j] if i + 1 < h and j < w else zero

    if here:
        total = s[y, x + 1] + s[y + 2, x + 1] + s[y + 1, x] + s[y + 1, x + 2]
        B[i, j] = s[y + 1, x + 1] - total * float32(0.25)
