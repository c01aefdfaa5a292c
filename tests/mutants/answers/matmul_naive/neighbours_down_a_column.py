from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.x
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.y
    if row >= C.shape[0] or col >= C.shape[1]:
        return
    total = float32(0.0)
    k = 0
    while k < A.shape[1]:
        total += A[row, k] * B[k, col]  # <- uncoalesced-load (warning)
        k += 1
    C[row, col] = total
