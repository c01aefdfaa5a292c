# EXERCISE matmul_tiled
from numba import cuda, float32

W = 16


@cuda.jit
def matmul_tiled(A, B, C):
    left = cuda.shared.array((2, W, W), float32)
    right = cuda.shared.array((2, W, W), float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    r = cuda.blockIdx.y * W + i
    c = cuda.blockIdx.x * W + j
    m, n = C.shape
    K = A.shape[1]
    steps = (K + W - 1) // W
    acc = float32(0)
    left[0, i, j] = A[r, j] if r < m and j < K else float32(0)
    right[0, i, j] = B[i, c] if i < K and c < n else float32(0)
    for s in range(steps):
        cuda.syncthreads()
        now = s % 2
        if s + 1 < steps:
            k0 = W  # <- wrong-index
            left[1 - now, i, j] = A[r, k0 + j] if r < m and k0 + j < K else float32(0)
            right[1 - now, i, j] = B[k0 + i, c] if k0 + i < K and c < n else float32(0)
        for k in range(W):
            acc += left[now, i, k] * right[now, k, j]
    if r < m and c < n:
        C[r, c] = acc
