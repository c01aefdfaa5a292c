from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + t % 32
    col = cuda.blockIdx.x * 8 + t // 32
    inside = row < C.shape[0] and col < C.shape[1]
    r, c = min(row, C.shape[0] - 1), min(col, C.shape[1] - 1)
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[r, k] * B[k, c]
    if inside:
        C[r, c] = total
