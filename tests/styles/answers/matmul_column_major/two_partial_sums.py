from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + t % 32
    col = cuda.blockIdx.x * 8 + t // 32
    K = A.shape[1]
    if row < C.shape[0] and col < C.shape[1]:
        even, odd = float32(0), float32(0)
        for k in range(0, K - 1, 2):
            even += A[row, k] * B[k, col]
            odd += A[row, k + 1] * B[k + 1, col]
        if K % 2:
            even += A[row, K - 1] * B[K - 1, col]
        C[row, col] = even + odd
