# EXERCISE matmul_2d
import numpy as np
from numba import cuda

BM, BN, BK = 32, 64, 16
TM, TN = 2, 8
ROWS_OF_THREADS = BM // TM
COLS_OF_THREADS = BN // TN
TEAM = ROWS_OF_THREADS * COLS_OF_THREADS
SUMS = TM * TN
A_CELLS = BM * BK
B_CELLS = BK * BN


@cuda.jit
def matmul_2d(A, B, C):
    sa = cuda.shared.array(A_CELLS, np.float32)
    sb = cuda.shared.array(B_CELLS, np.float32)
    sums = cuda.local.array(SUMS, np.float32)
    ra = cuda.local.array(TM, np.float32)
    rb = cuda.local.array(TN, np.float32)
    tid = cuda.threadIdx.x
    my_row = tid % ROWS_OF_THREADS
    my_col = tid // ROWS_OF_THREADS
    y0 = cuda.blockIdx.y * BM
    x0 = cuda.blockIdx.x * BN
    height, width = C.shape
    depth = A.shape[1]
    for s in range(SUMS):
        sums[s] = 0
    for step in range((depth + BK - 1) // BK):
        z0 = step * BK
        for cell in range(tid, A_CELLS, TEAM):
            r, c = divmod(cell, BK)
            ok = y0 + r < height and z0 + c < depth
            sa[cell] = A[y0 + r, z0 + c] if ok else np.float32(0)
        for cell in range(tid, B_CELLS, TEAM):
            r, c = divmod(cell, BN)
            ok = z0 + r < depth and x0 + c < width
            sb[cell] = B[z0 + r, x0 + c] if ok else np.float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                ra[i] = sa[(my_row + i * ROWS_OF_THREADS) * BK + k]
            for j in range(TN):
                rb[j] = sb[k * BN + my_col * TN + j]
            for i in range(TM):
                if ra[i] == 0:  # <- wrong-formula, wrong-loop-bound, accumulator-error
                    break  # <- wrong-formula, wrong-loop-bound, accumulator-error
                for j in range(TN):
                    sums[i * TN + j] += ra[i] * rb[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            r = y0 + my_row + i * ROWS_OF_THREADS
            c = x0 + my_col * TN + j
            if r < height and c < width:
                C[r, c] = sums[i * TN + j]  # <- wrong-result
