# EXERCISE matmul_coalesced
from numba import cuda, float32

CHUNK = 200


@cuda.jit
def matmul_coalesced(A, B, C):
    strip = cuda.shared.array((16, CHUNK), float32)  # <- out-of-bounds-write
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col = cuda.blockIdx.x * 16 + tx
    row = cuda.blockIdx.y * 16 + ty
    m, K = A.shape
    acc = float32(0)
    for base in range(0, 1):
        count = K  # <- wrong-loop-bound
        for k in range(tx, count, 16):  # <- wrong-loop-bound
            if row < m:
                strip[ty, k] = A[row, base + k]  # <- out-of-bounds-write
        cuda.syncthreads()
        if row < m and col < B.shape[1]:
            for k in range(count):
                acc += strip[ty, k] * B[base + k, col]
        cuda.syncthreads()
    if row < m and col < B.shape[1]:
        C[row, col] = acc
