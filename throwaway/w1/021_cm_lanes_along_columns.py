# exercise: matmul_column_major
# marked: wrong; cause: Eight neighbouring threads take eight columns, so the lanes of a warp ask for elements that lie far apart in column-major memory; code: uncoalesced-load|uncoalesced-store; lines: [7, 8, 12, 13]
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    i = cuda.blockIdx.y * 32 + t // 8
    j = cuda.blockIdx.x * 8 + t % 8
    if i < C.shape[0] and j < C.shape[1]:
        s = float32(0)
        for k in range(A.shape[1]):
            s += A[i, k] * B[k, j]
        C[i, j] = s
