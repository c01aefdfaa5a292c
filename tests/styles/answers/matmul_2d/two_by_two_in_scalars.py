import numpy as np
from numba import cuda, float32

BM, BN, BK = 32, 32, 8
TM, TN = 2, 2


@cuda.jit
def matmul_2d(A, B, C):
    As = cuda.shared.array((BM, BK), float32)
    Bs = cuda.shared.array((BK, BN), float32)
    t = cuda.threadIdx.x
    M, K = A.shape
    N = B.shape[1]
    y0, x0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    ty, tx = t // 16, t % 16
    c00 = c01 = c10 = c11 = float32(0)
    for k0 in range(0, K, BK):
        r, c = t // BK, t % BK
        As[r, c] = A[y0 + r, k0 + c] if y0 + r < M and k0 + c < K else float32(0)
        r, c = t // BN, t % BN
        Bs[r, c] = B[k0 + r, x0 + c] if k0 + r < K and x0 + c < N else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            a0, a1 = As[ty, k], As[ty + 16, k]
            b0, b1 = Bs[k, tx], Bs[k, tx + 16]
            c00 += a0 * b0
            c01 += a0 * b1
            c10 += a1 * b0
            c11 += a1 * b1
        cuda.syncthreads()
    row, col = y0 + ty, x0 + tx
    if row < M and col < N:
        C[row, col] = c00
    if row < M and col + 16 < N:
        C[row, col + 16] = c01
    if row + 16 < M and col < N:
        C[row + 16, col] = c10
    if row + 16 < M and col + 16 < N:
        C[row + 16, col + 16] = c11
