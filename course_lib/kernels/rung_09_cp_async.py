"""Rung 9: the hardware copies from global to shared memory by itself (compute capability 8.0 on).

Why: in rung 8 every value on its way occupies a register for as long as a tile is multiplied, and
is stored to shared memory by an instruction of its own. An asynchronous copy needs neither. The
registers that it saves go into 8 x 16 outputs a thread, and the tile grows to 128 x 256: 6 shared
loads serve 128 multiply-adds, and 3/4 of the bytes of a 128 x 128 tile are fetched for an output.
Zeros come for nothing, so the end of K needs no loop of its own.

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
SIZE_A, SIZE_B = 1056, 2048  # elements of one buffer: BK * LDA and BK * BN
BOTH_A, BOTH_B = 2112, 4096


@cuda.jit
@unrolled
def cp_async(A, B, C):
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
    y = warp // WARPS_ACROSS * WM + (lane // 2 % 2 + lane // 8 * 2) * 4
    x = warp % WARPS_ACROSS * WN + (lane % 2 + lane // 4 % 2 * 2) * 4
    # What it copies: single elements of A, four neighbours of B.
    a_y, a_x = tid // BK, tid % BK
    b_y, b_x = tid // WIDE_B, tid % WIDE_B * 4
    from_a = (top + a_y) * K + a_x
    from_b = b_y * N + left + b_x
    to_a, to_b = a_x * LDA + a_y, b_y * BN + b_x
    for i in range(TM):
        for j in range(TN):
            sums[i, j] = float32(0)

    for s in unroll(A_STEPS):
        cp_async4_zfill(sA, to_a + s * A_ROWS, A, from_a + s * A_ROWS * K, a_x < K)
    for s in unroll(B_STEPS):
        inside = b_y + s * B_ROWS < K
        cp_async16_zfill(sB, to_b + s * B_ROWS * BN, B, from_b + s * B_ROWS * N, inside)
    cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()  # the first tiles are complete
    for g in unroll(A_GROUPS):
        four = load4(sA, y + g * A_APART)
        for m in unroll(4):
            a[0, 4 * g + m] = four[m]
    for g in unroll(B_GROUPS):
        four = load4(sB, x + g * B_APART)
        for m in unroll(4):
            b[0, 4 * g + m] = four[m]
    start = 0
    now = 0  # the buffer that is multiplied; 1 - now is filled
    while start < K:
        start += BK
        for k in unroll(BK):
            if k == LAST:
                cp_async_wait(0)
                cuda.syncthreads()  # the next tiles are complete, and nobody needs the last ones
                now = 1 - now
            here_a, here_b = now * SIZE_A + y, now * SIZE_B + x
            for g in unroll(A_GROUPS):
                four = load4(sA, here_a + (k + 1) % BK * LDA + g * A_APART)
                for m in unroll(4):
                    a[(k + 1) % 2, 4 * g + m] = four[m]
            for g in unroll(B_GROUPS):
                four = load4(sB, here_b + (k + 1) % BK * BN + g * B_APART)
                for m in unroll(4):
                    b[(k + 1) % 2, 4 * g + m] = four[m]
            if k == 0:
                next_a, next_b = (1 - now) * SIZE_A + to_a, (1 - now) * SIZE_B + to_b
                for s in unroll(A_STEPS):
                    place = from_a + start + s * A_ROWS * K
                    cp_async4_zfill(sA, next_a + s * A_ROWS, A, place, start + a_x < K)
                for s in unroll(B_STEPS):
                    row = start + s * B_ROWS
                    place = next_b + s * B_ROWS * BN
                    cp_async16_zfill(sB, place, B, from_b + row * N, row + b_y < K)
                cp_async_commit()
            for i in range(TM):
                for j in range(TN):
                    sums[i, j] += a[k % 2, i] * b[k % 2, j]

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
