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

    multiplied   |----- tile 0 ------|----- tile 1 ------|----- tile 2 ------|
    all meet        ^                   ^                   ^
    pair 0        is read               tile 3 is coming    is here
    pair 1       ...is here           is read               tile 4 is coming
    pair 2          tile 2 is coming    is here           is read

The lanes of a warp lie 8 x 4 in a zigzag: lanes 0 and 1 share a row of outputs, lanes 0 and 2 a
column. A 16-byte load in which such pairs agree takes two passes through shared memory, not four.

     0  1  4  5
     2  3  6  7
     8  9 12 13
    10 11 14 15
    16 17 20 21
    18 19 22 23
    24 25 28 29
    26 27 30 31
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
from course_lib.kernels.block_order import place_of_block
from course_lib.kernels.rung import RungKernel

# The tile is these four: course_lib.kernels.tuning has others, for other sizes.
BK = 8  # steps of k in a tile
A_GROUPS, B_GROUPS = 2, 4  # groups of four rows, and of four columns, that a thread computes
WARPS_DOWN, WARPS_ACROSS = 2, 4
STRIP = 1  # rows of tiles that are computed together (block_order.py)

# The rest follows from them.
TM, TN = 4 * A_GROUPS, 4 * B_GROUPS
A_APART, B_APART = 32, 16  # from one of a thread's groups to its next: 4 * 8 lanes, 4 * 4 lanes
WM, WN = A_APART * A_GROUPS, B_APART * B_GROUPS  # a warp's piece of the tile: 64 x 64
BM, BN = WARPS_DOWN * WM, WARPS_ACROSS * WN  # 128 x 256
THREADS = 32 * WARPS_DOWN * WARPS_ACROSS
MEET = 1  # the step of a tile at which all threads meet
LAST = BK - 1  # the last step of a tile
A_ROWS = THREADS // BK  # rows of A's tile that all threads copy at once
A_STEPS = BM // A_ROWS  # and how often
WIDE_B = BN // 4  # 16-byte pieces in a row of B's tile
B_ROWS = THREADS // WIDE_B
B_STEPS = BK // B_ROWS
LDA = BM + 4  # a row of A's transposed tile, with 4 columns of padding
SIZE_A = BK * LDA  # elements of a tile of A; a tile of B follows it
PAIR = SIZE_A + BK * BN
THREE_PAIRS = 3 * PAIR


@cuda.jit(device=True)
@unrolled
def start_copy(tiles, slot, A, from_a, to_a, a_inside, B, from_b, to_b, b_y, rest, K, N):
    """Start to copy a tile of A, turned over, and one of B; zeros behind the end of K."""
    for s in unroll(A_STEPS):
        place = slot + to_a + s * A_ROWS
        cp_async4_zfill(tiles, place, A, from_a + s * A_ROWS * K, a_inside)
    for s in unroll(B_STEPS):
        place = slot + to_b + s * B_ROWS * BN
        inside = np.uint32(rest + s * B_ROWS + b_y) < K
        cp_async16_zfill(tiles, place, B, from_b + s * B_ROWS * N, inside)
    cp_async_commit()


@cuda.jit(device=True)
@unrolled
def load_fragments(a, b, part, tiles, a_at, b_at):
    """Fetch what this thread needs for one step of k: 8 elements of A, 16 of B."""
    for g in unroll(A_GROUPS):
        four = load4(tiles, a_at + g * A_APART)
        for m in unroll(4):
            a[part, 4 * g + m] = four[m]
    for g in unroll(B_GROUPS):
        four = load4(tiles, b_at + g * B_APART)
        for m in unroll(4):
            b[part, 4 * g + m] = four[m]


@cuda.jit
@unrolled
def cp_async(A, B, C):
    tiles = cuda.shared.array(THREE_PAIRS, float32, alignment=16)
    sums = cuda.local.array((TM, TN), float32)
    a = cuda.local.array((2, TM), float32)  # for this step of k, and for the next
    b = cuda.local.array((2, TN), float32)
    tid = np.uint32(cuda.threadIdx.x)
    row_of_tiles, column_of_tiles = place_of_block(STRIP)
    own_row, own_col = row_of_tiles * BM, column_of_tiles * BN
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
        ahead = np.uint32(t * BK)
        inside = np.uint32(ahead + a_x) < K
        start_copy(tiles, t * PAIR, A, from_a, to_a, inside, B, from_b, to_b, b_y, ahead, K, N)
        from_a += BK
        from_b += BK * N
    cp_async_wait(1)
    cuda.syncthreads()  # the first pair is complete
    load_fragments(a, b, 0, tiles, y, SIZE_A + x)
    start = np.uint32(0)
    now, coming, free = 0, PAIR, 2 * PAIR  # where the three pairs start
    while start < K:
        for k in unroll(BK):
            if k == MEET:
                cp_async_wait(0)
                cuda.syncthreads()  # the coming pair is complete, and nobody needs the last one
            if k == LAST:
                now, coming, free = coming, free, now
            next_a, next_b = (k + 1) % BK * LDA, (k + 1) % BK * BN
            load_fragments(a, b, (k + 1) % 2, tiles, now + y + next_a, now + SIZE_A + x + next_b)
            if k == MEET:
                ahead = start + 2 * BK
                inside = np.uint32(ahead + a_x) < K
                start_copy(tiles, free, A, from_a, to_a, inside, B, from_b, to_b, b_y, ahead, K, N)
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
