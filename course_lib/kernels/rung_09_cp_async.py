"""Rung 9: the hardware copies from global to shared memory by itself (compute capability 8.0 on).

Why: in rung 8 every value on its way occupies a register for as long as a tile is multiplied, and
is stored to shared memory by an instruction of its own. An asynchronous copy needs neither. The
registers that it saves go into 8 x 16 outputs a thread, and the tile grows to 128 x 256: 6 shared
loads serve 128 multiply-adds, and 3/4 of the bytes of a 128 x 128 tile are fetched for an output.
Zeros come for nothing, so the end of K needs no loop of its own.

Three pairs of tiles take turns: one is multiplied, one has come, one is on its way. With two pairs,
all threads meet where they turn to the next tile, and there everyone waits for its first numbers.
With three the barrier stands elsewhere in the tile, and nobody waits for what comes behind it.

A is transposed on its way, by copies of one element: then a thread's elements for one k lie in
neighbouring registers, and most multiply-adds find their operands in different register banks.
(With copies of 16 bytes they lie four apart, and ncu counts twice the dispatch stalls on an H200.)

The lanes of a warp lie 8 x 4 in a zigzag: lanes 0 and 1 share a row of outputs, lanes 0 and 2 a
column. A 16-byte load in which such pairs agree takes two passes through shared memory, not four.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    cp_async4_zfill,
    cp_async16_zfill,
    cp_async_commit,
    cp_async_wait,
    load4,
    store4,
    unroll,
    unrolled,
)
from course_lib.kernels.rung import RungKernel

BM, BN, BK = 128, 256, 8
MEET = 1  # the step of a tile at which all threads meet
LAST = 7  # the last step of a tile: BK - 1
WM, WN = 64, 64  # a warp's piece of the tile
TM, TN = 8, 16
THREADS = 256
WARPS_ACROSS = 4  # BN / WN
A_GROUPS, B_GROUPS = 2, 4  # groups of four that a thread computes: TM / 4 and TN / 4
A_APART, B_APART = 32, 16  # from one of a thread's groups to its next: 4 * 8 lanes, 4 * 4 lanes
A_ROWS, A_STEPS = 32, 4  # rows of A's tile that all threads copy at once, and how often
WIDE_B = 64  # 16-byte pieces in a row of B's tile
B_ROWS, B_STEPS = 4, 2  # rows of B's tile that all threads copy at once, and how often
LDA = 132  # a row of A's transposed tile: BM and 4 columns of padding
SIZE_A = 1056  # elements of a tile of A: BK * LDA; a tile of B follows it
PAIR = 3104  # elements of both: SIZE_A + BK * BN
THREE_PAIRS = 9312


@cuda.jit
@unrolled
def cp_async(A, B, C):
    tiles = cuda.shared.array(THREE_PAIRS, float32, alignment=16)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array((2, TM), float32)  # for this step of k, and for the next
    b = cuda.local.array((2, TN), float32)
    tid = np.uint32(cuda.threadIdx.x)
    own_row, own_col = np.uint32(cuda.blockIdx.y) * BM, np.uint32(cuda.blockIdx.x) * BN
    N, K = C.shape[1], np.uint32(A.shape[1])
    top = np.uint32(own_row if own_row < C.shape[0] - BM else C.shape[0] - BM)
    left = np.uint32(own_col if own_col < N - BN else N - BN)

    # What this thread computes: its warp's piece, and in that its lane's first group.
    warp, lane = tid // 32, tid % 32
    y = warp // WARPS_ACROSS * WM + (lane // 2 % 2 + lane // 8 * 2) * 4
    x = warp % WARPS_ACROSS * WN + (lane % 2 + lane // 4 % 2 * 2) * 4
    # What it copies: single elements of A, four neighbours of B.
    a_y, a_x = tid // BK, tid % BK
    b_y, b_x = tid // WIDE_B, tid % WIDE_B * 4
    from_a = (top + a_y) * K + a_x
    from_b = b_y * N + left + b_x
    to_a, to_b = a_x * LDA + a_y, SIZE_A + b_y * BN + b_x
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)

    for t in unroll(2):  # the first two pairs of tiles
        for s in unroll(A_STEPS):
            place = t * PAIR + to_a + s * A_ROWS
            cp_async4_zfill(tiles, place, A, from_a + s * A_ROWS * K, t * BK + a_x < K)
        for s in unroll(B_STEPS):
            place = t * PAIR + to_b + s * B_ROWS * BN
            inside = t * BK + s * B_ROWS + b_y < K
            cp_async16_zfill(tiles, place, B, from_b + s * B_ROWS * N, inside)
        cp_async_commit()
        from_a += BK
        from_b += BK * N
    cp_async_wait(1)
    cuda.syncthreads()  # the first pair is complete
    for g in unroll(A_GROUPS):
        four = load4(tiles, y + g * A_APART)
        for m in unroll(4):
            a[0, 4 * g + m] = four[m]
    for g in unroll(B_GROUPS):
        four = load4(tiles, SIZE_A + x + g * B_APART)
        for m in unroll(4):
            b[0, 4 * g + m] = four[m]
    start = np.uint32(0)
    now, coming, free = 0, PAIR, 2 * PAIR  # where the three pairs start
    while start < K:
        for k in unroll(BK):
            if k == MEET:
                cp_async_wait(0)
                cuda.syncthreads()  # the coming pair is complete, and nobody needs the last one
            if k == LAST:
                now, coming, free = coming, free, now
            for g in unroll(A_GROUPS):
                four = load4(tiles, now + y + (k + 1) % BK * LDA + g * A_APART)
                for m in unroll(4):
                    a[(k + 1) % 2, 4 * g + m] = four[m]
            for g in unroll(B_GROUPS):
                four = load4(tiles, now + SIZE_A + x + (k + 1) % BK * BN + g * B_APART)
                for m in unroll(4):
                    b[(k + 1) % 2, 4 * g + m] = four[m]
            if k == MEET:
                ahead = start + 2 * BK
                for s in unroll(A_STEPS):
                    place = free + to_a + s * A_ROWS
                    inside = np.uint32(ahead + a_x) < K
                    cp_async4_zfill(tiles, place, A, from_a + s * A_ROWS * K, inside)
                for s in unroll(B_STEPS):
                    place = free + to_b + s * B_ROWS * BN
                    inside = np.uint32(ahead + s * B_ROWS + b_y) < K
                    cp_async16_zfill(tiles, place, B, from_b + s * B_ROWS * N, inside)
                cp_async_commit()
                from_a += BK
                from_b += BK * N
            for j in range(TN):
                for i in range(TM):
                    sums[i, j] += a[k % 2, i] * b[k % 2, j]
        start = np.uint32(start + BK)

    for i in unroll(TM):
        for g in unroll(B_GROUPS):
            row, col = top + y + i // 4 * A_APART + i % 4, left + x + g * B_APART
            if row >= own_row and col >= own_col:
                four = (sums[i, 4 * g], sums[i, 4 * g + 1], sums[i, 4 * g + 2], sums[i, 4 * g + 3])
                store4(C, row * N + col, four)


RUNG = RungKernel(
    "cp_async",
    cp_async,
    (BM, BN, BK),
    (THREADS,),
    room=True,
    min_cc=(8, 0),
    multiples={"N": 4, "K": 4},
)
