# EXERCISE matmul_1d
import numpy as np
from numba import cuda

BM = 32
BN = 32
BK = 16
TM = 4
CREW = BM // TM * BN


@cuda.jit
def matmul_1d(A, B, C):
    sa = cuda.shared.array((BK, BM), np.float32)
    sb = cuda.shared.array((BK, BN), np.float32)
    part = cuda.local.array(TM, np.float32)
    tid = cuda.threadIdx.x
    first_row = tid // BN * TM
    my_col = tid % BN
    height, width = C.shape
    depth = A.shape[1]
    by = cuda.blockIdx.y * BM
    bx = cuda.blockIdx.x * BN
    steps = (depth + BK - 1) // BK
    s = 0
    for i in range(TM):
        part[i] = np.float32(0)
    while s < steps:
        z = s * BK
        n = tid
        while n < BM * BK:
            r = n // BK
            c = n % BK
            sa[r, c] = np.float32(0)  # <- wrong-index, out-of-bounds-write
            if by + r < height and z + c < depth:
                sa[r, c] = A[by + r, z + c]  # <- wrong-index, out-of-bounds-write
            n += CREW
        n = tid
        while n < BK * BN:
            r = n // BN
            c = n % BN
            sb[r, c] = np.float32(0)
            if z + r < depth and bx + c < width:
                sb[r, c] = B[z + r, bx + c]
            n += CREW
        cuda.syncthreads()
        for k in range(BK):
            bk = sb[k, my_col]
            for i in range(TM):
                part[i] += sa[k, first_row + i] * bk  # <- wrong-index
        cuda.syncthreads()
        s += 1
    for i in range(TM):
        if by + first_row + i < height and bx + my_col < width:
            C[by + first_row + i, bx + my_col] = part[i]
