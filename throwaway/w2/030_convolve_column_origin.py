# exercise: convolve
# marked: wrong; cause: the tile's first column lies at the block's own first column, the halo of 2 on the left is forgotten there; code: wrong-index; lines: [12]
from numba import cuda, float32


@cuda.jit
def convolve(A, W, C):
    window = cuda.shared.array((20, 20), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    M, N = A.shape
    n = y * 16 + x
    while n < 400:
        r = cuda.blockIdx.y * 16 + n // 20 - 2
        c = cuda.blockIdx.x * 16 + n % 20
        ok = 0 <= r < M and 0 <= c < N
        window[n // 20, n % 20] = A[r, c] if ok else float32(0)
        n += 256
    cuda.syncthreads()
    c, r = cuda.grid(2)
    if r >= M or c >= N:
        return
    s = float32(0)
    for k in range(25):
        s += W[k // 5, k % 5] * window[y + k // 5, x + k % 5]
    C[r, c] = s
