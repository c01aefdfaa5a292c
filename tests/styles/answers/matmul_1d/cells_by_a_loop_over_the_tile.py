import numpy as np
from numba import cuda, float32

BM, BN, BK, TM = 64, 32, 16, 8


@cuda.jit
def matmul_1d(A, B, C):
    tile_a = cuda.shared.array((BM, BK), dtype=float32)
    tile_b = cuda.shared.array((BK, BN), dtype=float32)
    out = cuda.local.array(TM, dtype=float32)
    me, threads = cuda.threadIdx.x, cuda.blockDim.x
    for i in range(TM):
        out[i] = 0
    for k0 in range(0, A.shape[1], BK):
        cuda.syncthreads()
        for cell in range(me, BM * BK, threads):
            row, step = cell // BK, cell % BK
            tile_a[row, step] = 0
            if cuda.blockIdx.y * BM + row < A.shape[0] and k0 + step < A.shape[1]:
                tile_a[row, step] = A[cuda.blockIdx.y * BM + row, k0 + step]
        for cell in range(me, BK * BN, threads):
            step, col = cell // BN, cell % BN
            tile_b[step, col] = 0
            if k0 + step < B.shape[0] and cuda.blockIdx.x * BN + col < B.shape[1]:
                tile_b[step, col] = B[k0 + step, cuda.blockIdx.x * BN + col]
        cuda.syncthreads()
        for k in range(BK):
            from_b = tile_b[k, me % BN]
            for i in range(TM):
                out[i] += tile_a[me // BN * TM + i, k] * from_b
    for i in range(TM):
        row = cuda.blockIdx.y * BM + me // BN * TM + i
        col = cuda.blockIdx.x * BN + me % BN
        if row < C.shape[0] and col < C.shape[1]:
            C[row, col] = out[i]
