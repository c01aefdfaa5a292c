# exercise: stencil5
# marked: right
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    t = cuda.shared.array((18, 18), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    r0 = cuda.blockIdx.y * cuda.blockDim.y - 1
    c0 = cuda.blockIdx.x * cuda.blockDim.x - 1
    for n in range(y * 16 + x, 18 * 18, 256):
        dr = n // 18
        dc = n % 18
        value = float32(0)
        if 0 <= r0 + dr < A.shape[0] and 0 <= c0 + dc < A.shape[1]:
            value = A[r0 + dr, c0 + dc]
        t[dr, dc] = value
    cuda.syncthreads()
    if row < A.shape[0] and col < A.shape[1]:
        north = t[y, x + 1]
        south = t[y + 2, x + 1]
        west = t[y + 1, x]
        east = t[y + 1, x + 2]
        around = north + south + west + east
        B[row, col] = t[y + 1, x + 1] - float32(0.25) * around
