# EXERCISE matmul_coalesced
from numba import cuda, float32

CHUNK = 32


@cuda.jit
def matmul_coalesced(A, B, C):
    strip = cuda.shared.array((16, CHUNK), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col = cuda.blockIdx.x * 16 + tx
    row = cuda.blockIdx.y * 16 + ty
    m, K = A.shape
    acc = float32(0)
    for base in range(0, K, CHUNK):
        count = min(CHUNK, K - base)
        for k in range(tx, count, 16):
            if row < m:
                strip[ty, k] = A[row, base + k]
        cuda.syncthreads()
        if row < m and col < B.shape[1]:
            for k in range(CHUNK):  # <- wrong-loop-bound
                acc += strip[ty, k] * B[base + k, col]  # <- out-of-bounds-read, stale-shared-read, uninitialised-read
        cuda.syncthreads()
    if row < m and col < B.shape[1]:
        C[row, col] = acc
