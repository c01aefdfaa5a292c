import numpy as np
from numba import cuda, float32

BLOCK = (64, 8)


@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((8, 64), float32)  # transposed: a column of A lies in a row
    sB = cuda.shared.array((8, 64), float32)
    acc = cuda.local.array(8, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, col = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x + tx
    flat = 64 * ty + tx
    for i in range(8):
        acc[i] = np.float32(0)
    for k0 in range(0, A.shape[1], 8):
        r, s = flat // 8, flat % 8
        sA[s, r] = A[top + r, k0 + s] if top + r < A.shape[0] and k0 + s < A.shape[1] else float32(0)
        sB[ty, tx] = B[k0 + ty, col] if k0 + ty < B.shape[0] and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(8):
            b = sB[k, tx]
            for i in range(8):
                acc[i] += sA[k, 8 * ty + i] * b
        cuda.syncthreads()
    if col < C.shape[1]:
        for i in range(min(8, C.shape[0] - top - 8 * ty)):
            C[top + 8 * ty + i, col] = acc[i]
