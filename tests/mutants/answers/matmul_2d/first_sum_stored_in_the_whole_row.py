from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
THREADS = 256
ACROSS = 16


@cuda.jit
def matmul_2d(A, B, C):
    tile_a = cuda.shared.array((BM, BK), float32)
    tile_b = cuda.shared.array((BK, BN), float32)
    s = cuda.local.array((TM, TN), float32)
    ra = cuda.local.array(TM, float32)
    rb = cuda.local.array(TN, float32)
    me = cuda.threadIdx.x
    down, along = me // ACROSS, me % ACROSS
    row0, col0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    M, K = A.shape
    N = B.shape[1]
    for i in range(TM):
        for j in range(TN):
            s[i, j] = float32(0)
    k0 = 0
    while k0 < K:
        cell = me
        while cell < BM * BK:
            r, c = cell // BK, cell % BK
            tile_a[r, c] = A[row0 + r, k0 + c] if row0 + r < M and k0 + c < K else float32(0)
            r, c = cell // BN, cell % BN
            tile_b[r, c] = B[k0 + r, col0 + c] if k0 + r < K and col0 + c < N else float32(0)
            cell += THREADS
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                ra[i] = tile_a[down * TM + i, k]
            for j in range(TN):
                rb[j] = tile_b[k, along * TN + j]
            for i in range(TM):
                for j in range(TN):
                    s[i, j] += ra[i] * rb[j]
        cuda.syncthreads()
        k0 += BK
    for i in range(TM):
        for j in range(TN):
            r = row0 + down * TM + i
            c = col0 + along * TN + j
            if r < M and c < N:
                C[r, c] = s[i, 0]  # <- wrong-index, accumulator-error
