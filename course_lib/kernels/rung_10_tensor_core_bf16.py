"""Rung 10 for bfloat16: a warp multiplies 16 x 16 by 16 x 8 with one instruction.

Why: an FFMA does 32 multiply-adds for a warp, `mma` m16n8k16 does 2,048. The price is the format:
bfloat16 (here as uint16 bit patterns) has float32's exponent and 7 bits of fraction; the sums stay
float32. An element takes half the bytes, too.

How: a block computes 128 x 256 results with eight warps, a warp 64 x 64, of which a lane holds 128.
Two pipelines run at once. `cp.async` keeps three tiles in shared memory, of which one is in use.
And `ldmatrix` fetches the fragments of the next 16 steps of k, A as it lies and B transposed, while
the tensor cores work on those before: without that they wait for it half of the time. A row of a
tile is padded by 16 bytes, so that the eight rows that ldmatrix reads at once lie in other banks.

The tiles need more than 48 KB of shared memory, which a launch must ask for: `RUNG.launch` does.
"""

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    cp_async16,
    cp_async_commit,
    cp_async_wait,
    ldmatrix_x4,
    ldmatrix_x4_trans,
    mma_m16n8k16_bf16,
    store2,
)
from course_lib.kernels.block_order import place_of_block
from course_lib.kernels.rung import RungKernel

# The tile is these four: course_lib.kernels.tuning has others, for other sizes.
DOWN, ACROSS = 4, 8  # pieces of 16 x 8 results that a warp computes
WARPS_DOWN, WARPS_ACROSS = 2, 4
STAGES = 3  # tiles in shared memory
STRIP = 1  # rows of tiles that are computed together (block_order.py)

# The rest follows from them.
BK = 32  # steps of k in a tile: two times 16
WM, WN = 16 * DOWN, 8 * ACROSS  # what a warp computes: 64 x 64
BM, BN = WARPS_DOWN * WM, WARPS_ACROSS * WN  # 128 x 256
THREADS = 32 * WARPS_DOWN * WARPS_ACROSS
A_WIDE, B_WIDE = BK + 8, BN + 8  # numbers from one row of a tile to the next, padding included
A_TILE = BM * A_WIDE
STAGE = A_TILE + BK * B_WIDE  # a tile of A, then one of B
LAST = (STAGES - 1) * STAGE  # where the last stage starts
A_PIECES, B_PIECES = BK // 8, BN // 8  # 16-byte pieces in a row
A_ROWS, B_ROWS = THREADS // A_PIECES, THREADS // B_PIECES  # rows that all threads copy at once
A_STEPS, B_STEPS = BM // A_ROWS, BK // B_ROWS  # and how often
OTHERS, NEWER = STAGES - 1, STAGES - 2  # tiles that may be on their way: at first, and later


@cuda.jit(device=True)
def start_copy(tiles, slot, A, from_a, a_step, to_a, B, from_b, b_step, to_b):
    """Start to copy a tile of A and one of B: here 2 + 4 times 16 bytes for a thread."""
    for s in range(A_STEPS):
        cp_async16(tiles, slot + to_a + s * A_ROWS * A_WIDE, A, from_a + s * a_step)
    for s in range(B_STEPS):
        cp_async16(tiles, slot + to_b + s * B_ROWS * B_WIDE, B, from_b + s * b_step)


@cuda.jit(device=True)
def load_fragments(a, b, part, tiles, a_at, b_at):
    """Fetch what this warp needs for 16 steps of k: here 64 rows of A, 64 columns of B."""
    for i in range(DOWN):
        a[part, i, 0], a[part, i, 1], a[part, i, 2], a[part, i, 3] = ldmatrix_x4(
            tiles, a_at + i * 16 * A_WIDE
        )
    for j in range(0, ACROSS, 2):
        b[part, j, 0], b[part, j, 1], b[part, j + 1, 0], b[part, j + 1, 1] = ldmatrix_x4_trans(
            tiles, b_at + j * 8
        )


@cuda.jit(device=True)
def multiply(sums, a, b, part):
    """16 steps of k: DOWN x ACROSS, here 4 x 8, products of 16 x 16 by 16 x 8."""
    for i in range(DOWN):
        four = (a[part, i, 0], a[part, i, 1], a[part, i, 2], a[part, i, 3])
        for j in range(ACROSS):
            acc = (sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3])
            acc = mma_m16n8k16_bf16(acc, four, (b[part, j, 0], b[part, j, 1]))
            sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3] = acc


@cuda.jit
def tensor_core_bf16(A, B, C):
    tiles = cuda.shared.array(0, np.uint16, alignment=16)
    sums = cuda.local.array((DOWN, ACROSS, 4), float32)
    a = cuda.local.array((2, DOWN, 4), np.uint32)  # two parts: one in use, one on its way
    b = cuda.local.array((2, ACROSS, 2), np.uint32)
    tid = np.uint32(cuda.threadIdx.x)
    row_of_tiles, column_of_tiles = place_of_block(STRIP)
    top, left = row_of_tiles * BM, column_of_tiles * BN
    M, N, K = A.shape[0], np.uint64(B.shape[1]), np.uint32(A.shape[1])
    lane, warp = tid % 32, tid // 32
    down, across = warp // WARPS_ACROSS * WM, warp % WARPS_ACROSS * WN

    # What this thread copies: pieces of 8 numbers. Outside the matrix, the last ones inside: they
    # make results that nobody stores.
    row = np.uint64(min(top + tid // A_PIECES, M - 1))
    from_a = row * K + tid % A_PIECES * 8
    a_step = (np.uint64(min(top + tid // A_PIECES + A_ROWS, M - 1)) - row) * K  # to its other row
    b_step = B_ROWS * N
    from_b = tid // B_PIECES * N + np.uint64(min(left + tid % B_PIECES * 8, N - 8))
    to_a = tid // A_PIECES * A_WIDE + tid % A_PIECES * 8
    to_b = A_TILE + tid // B_PIECES * B_WIDE + tid % B_PIECES * 8
    # Where it points ldmatrix: at row lane % 16, in the left or the right half of 16 columns.
    a_at = (down + lane % 16) * A_WIDE + lane // 16 * 8
    b_at = A_TILE + lane % 16 * B_WIDE + across + lane // 16 * 8

    for i in range(DOWN):
        for j in range(ACROSS):
            for c in range(4):
                sums[i, j, c] = float32(0)
    for s in range(STAGES):
        if s * BK < K:
            start_copy(tiles, s * STAGE, A, from_a, a_step, to_a, B, from_b, b_step, to_b)
        cp_async_commit()
        from_a += BK
        from_b += BK * N
    cp_async_wait(OTHERS)  # the first tile is here; two may still be on their way
    cuda.syncthreads()
    load_fragments(a, b, 0, tiles, a_at, b_at)

    rest = K  # steps of k still to do
    here = np.uint32(0)
    while rest > 0:
        load_fragments(a, b, 1, tiles, here + a_at + 16, here + b_at + 16 * B_WIDE)
        multiply(sums, a, b, 0)
        cp_async_wait(NEWER)
        cuda.syncthreads()  # the next tile is complete, and nobody reads this one any more
        used = here
        here = np.uint32(here + STAGE if here < LAST else 0)
        if rest > BK:  # before the copies, because the tensor cores wait for this
            load_fragments(a, b, 0, tiles, here + a_at, here + b_at)
        if rest > STAGES * BK:
            start_copy(tiles, used, A, from_a, a_step, to_a, B, from_b, b_step, to_b)
        cp_async_commit()
        multiply(sums, a, b, 1)
        rest = np.uint32(rest - BK)
        from_a += BK
        from_b += BK * N

    x = left + across + lane % 4 * 2
    for i in range(DOWN):
        for h in range(2):  # of 16 rows a lane holds two
            y = top + down + i * 16 + h * 8 + lane // 4
            if y < M:
                at = np.uint64(y) * N + x
                for j in range(ACROSS):
                    if x + j * 8 < N:
                        store2(C, at + j * 8, (sums[i, j, 2 * h], sums[i, j, 2 * h + 1]))


RUNG = RungKernel(
    "tensor_core_bf16",
    tensor_core_bf16,
    tile=(BM, BN, BK),
    block=(THREADS,),
    min_cc=(8, 0),
    dtype="uint16",
    multiples={"N": 8, "K": BK},
    dynamic_shared=2 * STAGES * STAGE,  # of 2-byte numbers
)
