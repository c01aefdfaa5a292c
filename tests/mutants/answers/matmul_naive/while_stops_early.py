from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row >= C.shape[0] or col >= C.shape[1]:
        return
    total = float32(0.0)
    k = 0
    while k < A.shape[1] - 1:  # <- wrong-loop-bound
        total += A[row, k] * B[k, col]
        k += 1
    C[row, col] = total
