from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + t % 16 + t // 128 * 16
    col = cuda.blockIdx.x * 8 + t // 16 % 8
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
