"""Rung 7: each warp owns a 64 x 64 piece of the tile, and each of its threads 8 x 16 outputs.

Why: what a shared load costs is decided by the warp. In rung 6 its lanes span 16 groups of 8
columns, and the 16-byte pieces that they ask for lie 32 bytes apart: each load of B takes twice the
passes that its bytes need. Here a thread takes its outputs in groups of four, and the lanes of a
warp lie 8 x 4: they read neighbouring groups, and no two of them meet in a bank.

What it gained: 6 loads of 16 bytes serve 128 multiply-adds, where 4 served 64; and the loads of B
take half the passes. Nine instructions of ten multiply, and more.

What it costs: 128 sums a thread, so an SM holds 8 warps, where the first rungs had 64.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import load4, store4, unroll, unrolled
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 128, 16
WM, WN = 64, 64  # a warp's piece of the tile
TM, TN = 8, 16
THREADS = 128
WARPS_ACROSS = 2  # BN / WN
LANES_ACROSS = 4  # WN / TN; so 8 lanes lie one below the other
A_GROUPS, B_GROUPS = 2, 4  # groups of four that a thread computes: TM / 4 and TN / 4
A_APART, B_APART = 32, 16  # from one of a thread's groups to its next: 4 * 8 lanes, 4 * 4 lanes
WIDE_A, WIDE_B = 4, 32  # 16-byte pieces in a row of a tile: BK / 4 and BN / 4
A_ROWS, B_ROWS = 32, 4  # rows that all threads load at once: THREADS / WIDE_A, THREADS / WIDE_B
A_STEPS, B_STEPS = 4, 4  # BM / A_ROWS, BK / B_ROWS
LDA = 132  # a row of A's transposed tile: BM and 4 columns of padding


@cuda.jit
@unrolled
def warp_tiled(A, B, C):
    sA = cuda.shared.array((BK, LDA), float32, alignment=16)
    sB = cuda.shared.array((BK, BN), float32, alignment=16)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    tid = np.uint32(cuda.threadIdx.x)
    own_row, own_col = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    N, K = C.shape[1], A.shape[1]
    top = np.uint32(min(own_row, C.shape[0] - BM))
    left = np.uint32(min(own_col, N - BN))

    # What this thread computes: its warp's piece, and in that its lane's first group.
    warp, lane = tid // 32, tid % 32
    y = warp // WARPS_ACROSS * WM + lane // LANES_ACROSS * 4
    x = warp % WARPS_ACROSS * WN + lane % LANES_ACROSS * 4
    # What it loads: four neighbours, in A_STEPS and B_STEPS steps.
    a_y, a_x = tid // WIDE_A, tid % WIDE_A * 4
    b_y, b_x = tid // WIDE_B, tid % WIDE_B * 4
    from_a = (top + a_y) * K + a_x
    from_b = b_y * N + left + b_x
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)
    start = 0
    while start + BK <= K:
        for s in unroll(B_STEPS):
            store4(sB, (b_y + s * B_ROWS) * BN + b_x, load4(B, from_b + (start + s * B_ROWS) * N))
        for s in unroll(A_STEPS):
            four = load4(A, from_a + start + s * A_ROWS * K)
            for m in unroll(4):
                sA[a_x + m, a_y + s * A_ROWS] = four[m]
        cuda.syncthreads()  # the tiles are complete
        for k in unroll(BK):
            for g in unroll(A_GROUPS):
                four = load4(sA, k * LDA + y + g * A_APART)
                for m in unroll(4):
                    a[4 * g + m] = four[m]
            for g in unroll(B_GROUPS):
                four = load4(sB, k * BN + x + g * B_APART)
                for m in unroll(4):
                    b[4 * g + m] = four[m]
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += a[i] * b[j]
        cuda.syncthreads()  # nobody needs them any more
        start += BK
    while start < K:  # what is left of K
        for i in range(TM):
            a[i] = A[top + y + i // 4 * A_APART + i % 4, start]
        for j in range(TN):
            b[j] = B[start, left + x + j // 4 * B_APART + j % 4]
        for i in range(TM):
            for j in range(TN):
                sums[i, j] += a[i] * b[j]
        start += 1

    for i in unroll(TM):
        for g in unroll(B_GROUPS):
            row, col = top + y + i // 4 * A_APART + i % 4, left + x + g * B_APART
            if row >= own_row and col >= own_col:
                four = (sums[i, 4 * g], sums[i, 4 * g + 1], sums[i, 4 * g + 2], sums[i, 4 * g + 3])
                store4(C, row * N + col, four)


RUNG = RungKernel(
    "warp_tiled", warp_tiled, (BM, BN, BK), (THREADS,), room=True, multiples={"N": 4, "K": 4}
)
