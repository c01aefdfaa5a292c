# EXERCISE matmul_tiled
from numba import cuda, float32

TPB = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TPB + ty
    col = cuda.blockIdx.x * TPB + tx
    M, K = A.shape
    N = B.shape[1]
    total = float32(0)
    step = 0
    while step * TPB < K:
        sA[ty, tx] = float32(0)  # <- race-write-after-read
        sB[ty, tx] = float32(0)  # <- race-write-after-read
        if row < M and step * TPB + tx < K:
            sA[ty, tx] = A[row, step * TPB + tx]  # <- race-write-after-read
        if col < N and step * TPB + ty < K:
            sB[ty, tx] = B[step * TPB + ty, col]  # <- race-write-after-read
        cuda.syncthreads()
        for k in range(TPB):
            total += sA[ty, k] * sB[k, tx]  # <- race-write-after-read
        step += 1
    if row < M and col < N:
        C[row, col] = total
