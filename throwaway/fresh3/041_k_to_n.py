# exercise: matmul_coalesced
# marked: wrong; cause: the loop over k ends at the number of columns of C, not at K; code: wrong-loop-bound|out-of-bounds-read; lines: [12]
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    M, N = C.shape
    j = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    i = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    if i < M and j < N:
        acc = float32(0)
        p = 0
        while p < N:
            acc += A[i, p] * B[p, j]
            p += 1
        C[i, j] = acc
