# exercise: convolve
# marked: wrong; cause: the tile begins two columns to the left of the block's corner but not two rows above it; code: wrong-index; lines: [8]
from numba import cuda, float32


@cuda.jit
def convolve(A, W, C):
    near = cuda.shared.array((20, 20), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top = 16 * cuda.blockIdx.y
    left = 16 * cuda.blockIdx.x - 2
    n = y * 16 + x
    while n < 400:
        r = top + n // 20
        c = left + n % 20
        near[n // 20, n % 20] = 0
        if r >= 0 and c >= 0 and r < A.shape[0] and c < A.shape[1]:
            near[n // 20, n % 20] = A[r, c]
        n += 256
    cuda.syncthreads()
    col, row = cuda.grid(2)
    if row >= C.shape[0] or col >= C.shape[1]:
        return
    s = float32(0)
    for p in range(25):
        s += W[p // 5, p % 5] * near[y + p // 5, x + p % 5]
    C[row, col] = s
