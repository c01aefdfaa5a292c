"""Rung 8: two tiles of each matrix in turn: while one is multiplied, the next is on its way.

Why: in rung 7 everyone loads, everyone waits, everyone multiplies, everyone waits. Here a thread
first asks for its part of the next tile, into registers, then multiplies the tile that is there,
and only then puts what has arrived into the other buffer. The wait for global memory passes behind
512 multiply-adds. Shared memory is treated alike: while step k is multiplied, the loads of step
k + 1 are under way, across the barrier, too. What it gained: one barrier a tile instead of two, and
no instruction that waits for the one before it.

What it costs: twice the shared memory, and registers for what is on its way. So a thread computes
8 x 8 outputs again, and a warp 64 x 32: with 8 x 16, the registers would allow half as many warps.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import load4, store4, unroll, unrolled
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 128, 8
LAST = 7  # the last step of a tile: BK - 1
WM, WN = 64, 32  # a warp's piece of the tile
TM, TN = 8, 8
THREADS = 256
WARPS_ACROSS = 4  # BN / WN
LANES_ACROSS = 4  # WN / TN; so 8 lanes lie one below the other
GROUPS = 2  # groups of four rows, and of four columns, that a thread computes
A_APART, B_APART = 32, 16  # from one of a thread's groups to its next: 4 * 8 lanes, 4 * 4 lanes
WIDE_A, WIDE_B = 2, 32  # 16-byte pieces in a row of a tile: BK / 4 and BN / 4
LDA = 132  # a row of A's transposed tile: BM and 4 columns of padding
SIZE_A, SIZE_B = 1056, 1024  # elements of one buffer: BK * LDA and BK * BN
BOTH_A, BOTH_B = 2112, 2048


@cuda.jit
@unrolled
def double_buffered(A, B, C):
    sA = cuda.shared.array(BOTH_A, float32, alignment=16)
    sB = cuda.shared.array(BOTH_B, float32, alignment=16)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array((2, TM), float32)  # for this step of k, and for the next
    b = cuda.local.array((2, TN), float32)
    tid = np.uint32(cuda.threadIdx.x)
    own_row, own_col = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    N, K = C.shape[1], A.shape[1]
    top = np.uint32(own_row if own_row < C.shape[0] - BM else C.shape[0] - BM)
    left = np.uint32(own_col if own_col < N - BN else N - BN)

    # What this thread computes: its warp's piece, and in that its lane's first group.
    warp, lane = tid // 32, tid % 32
    y = warp // WARPS_ACROSS * WM + lane // LANES_ACROSS * 4
    x = warp % WARPS_ACROSS * WN + lane % LANES_ACROSS * 4
    # What it loads: four neighbours of each matrix.
    a_y, a_x = tid // WIDE_A, tid % WIDE_A * 4
    b_y, b_x = tid // WIDE_B, tid % WIDE_B * 4
    from_a = (top + a_y) * K + a_x
    from_b = b_y * N + left + b_x
    to_a, to_b = a_x * LDA + a_y, b_y * BN + b_x
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)

    whole = K // BK * BK
    start = 0
    now = 0  # the buffer that is multiplied; 1 - now is filled
    here_a, here_b = y, x  # where in it this thread reads
    next_a = next_b = (float32(0), float32(0), float32(0), float32(0))
    if whole > 0:
        next_a, next_b = load4(A, from_a), load4(B, from_b)
        store4(sB, to_b, next_b)
        for m in unroll(4):
            sA[to_a + m * LDA] = next_a[m]
        cuda.syncthreads()  # the first tiles are complete
        for g in unroll(GROUPS):
            four = load4(sA, y + g * A_APART)
            for m in unroll(4):
                a[0, 4 * g + m] = four[m]
            four = load4(sB, x + g * B_APART)
            for m in unroll(4):
                b[0, 4 * g + m] = four[m]
    while start < whole:
        start += BK
        if start < whole:
            next_a, next_b = load4(A, from_a + start), load4(B, from_b + start * N)
        for k in unroll(BK):
            if k == LAST:
                if start < whole:
                    now = 1 - now
                    store4(sB, now * SIZE_B + to_b, next_b)
                    for m in unroll(4):
                        sA[np.uint64(now * SIZE_A + to_a + m * LDA)] = next_a[m]
                cuda.syncthreads()  # the next tiles are complete, and nobody needs the last ones
                here_a, here_b = now * SIZE_A + y, now * SIZE_B + x
            for g in unroll(GROUPS):
                four = load4(sA, here_a + (k + 1) % BK * LDA + g * A_APART)
                for m in unroll(4):
                    a[(k + 1) % 2, 4 * g + m] = four[m]
                four = load4(sB, here_b + (k + 1) % BK * BN + g * B_APART)
                for m in unroll(4):
                    b[(k + 1) % 2, 4 * g + m] = four[m]
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += a[k % 2, i] * b[k % 2, j]
    while start < K:  # what is left of K
        for i in range(TM):
            a[0, i] = A[top + y + i // 4 * A_APART + i % 4, start]
        for j in range(TN):
            b[0, j] = B[start, left + x + j // 4 * B_APART + j % 4]
        for i in range(TM):
            for j in range(TN):
                sums[i, j] += a[0, i] * b[0, j]
        start += 1

    for i in unroll(TM):
        for g in unroll(GROUPS):
            row, col = top + y + i // 4 * A_APART + i % 4, left + x + g * B_APART
            if row >= own_row and col >= own_col:
                four = (sums[i, 4 * g], sums[i, 4 * g + 1], sums[i, 4 * g + 2], sums[i, 4 * g + 3])
                store4(C, row * N + col, four)


RUNG = RungKernel(
    "double_buffered",
    double_buffered,
    (BM, BN, BK),
    (THREADS,),
    room=True,
    multiples={"N": 4, "K": 4},
)
