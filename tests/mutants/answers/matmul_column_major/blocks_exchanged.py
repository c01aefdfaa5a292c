from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x * 32 + t % 32  # <- wrong-index
    col = cuda.blockIdx.y * 8 + t // 32  # <- wrong-index
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
