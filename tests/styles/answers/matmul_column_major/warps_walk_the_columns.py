from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    row = cuda.blockIdx.y * 32 + lane
    first = cuda.blockIdx.x * 8
    for col in range(first + warp, min(first + 8, C.shape[1]), 8):
        if row < C.shape[0]:
            total = float32(0)
            for k in range(A.shape[1]):
                total += A[row, k] * B[k, col]
            C[row, col] = total
