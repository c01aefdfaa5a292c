"""FlashAttention for Hopper: O = softmax(Q Kᵀ / √d) V in one kernel, on tensor cores, in bfloat16.

Why: the exercise's kernel keeps the scores out of global memory, but hands them round in shared
memory, and multiplies one pair of numbers at a time. Here both products are wgmma's, and a score
never leaves the registers of the thread that got it.

A block owns 64 rows of Q for each of its **consumers**, the warpgroups that compute, and walks over
the keys, a tile at a time. A **producer** fetches tiles of K and V by TMA into rings of a few
slots. What a consumer does with a tile t:

    S = Q K[t]ᵀ          wgmma; a lane holds two rows of S, keys / 4 columns of each
    the row's maximum    own columns first, then those of the 4 lanes that share the row: 2 shuffles
    S = 2 ** (S - max)   log2 e is part of the scale, so that one instruction makes a weight
    P = S in bfloat16    in place: just what wgmma wants as its left operand
    O = O factor + P V[t]

Three things make it fast once it is right:

1. **Overlap.** The product S of the next tile and P V of this one are both started, and the softmax
   of the next tile runs while the second is still under way.
2. **Turns.** While one consumer's products run, the other's softmax does: each starts its products
   when the one before has started its own (`group_sync`, `group_arrive`).
3. **Registers.** The producer needs few of them. It gives back what the consumers need on top.

What it costs: a block fills a multiprocessor (one at a time), and the order of waits and releases
has to be right by itself. Keys past the end are zeros that TMA fills in; as in the exercise, their
scores must be -inf. Only a tile that holds such keys is masked; with `causal`, that are those on
the diagonal. Tiles above it are never fetched. Tiles are taken from the first key on, so that every
row sees a key in its first tile, and a maximum of -inf does not occur.

It needs a Hopper GPU and numba-cuda 0.30; without one it runs on the emulator. How to launch it in
either way: `course_lib.kernels.attention_launch`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import (
    fence_async,
    fence_mbarrier_init,
    group_sync,
    mbarrier_arrive,
    mbarrier_arrive_with_bytes,
    mbarrier_init,
    mbarrier_wait,
    pack_bf16,
    shared_address,
    stmatrix_x4,
    tma_load,
    tma_store,
    tma_store_wait,
    uniform,
    unroll,
    unrolled,
)
from course_lib.intrinsics.special_functions import larger, log_2, power_of_2
from course_lib.intrinsics.warpgroups import fewer_registers, group_arrive, more_registers
from course_lib.intrinsics.wgmma_attention import attention_products

ROWS = 64  # of Q for a consumer
GROUP = 128  # threads of a warpgroup
PANEL = 64  # columns of a tile that lie in a row of 128 bytes
NOT_SEEN = np.float32(-math.inf)
LN_2 = np.float32(math.log(2))
ALL_LANES = 0xFFFFFFFF


@dataclass(frozen=True)
class Plan:
    """How a kernel divides the work.

    Attributes:
        head: columns of Q, K, V and O: 64 or 128.
        causal: query i sees keys 0 to i only.
        consumers: warpgroups that compute, each for 64 queries.
        keys: in a tile.
        slots: tiles of K, and of V, that shared memory holds at a time.
        overlap: softmax and P V of one consumer at the same time.
        turns: consumers start their products one after the other.
    """

    head: int
    causal: bool
    consumers: int
    keys: int
    slots: int = 2
    overlap: bool = True
    turns: bool = True

    @property
    def rows(self) -> int:
        """Queries of a block."""
        return ROWS * self.consumers

    @property
    def threads(self) -> int:
        return GROUP * (self.consumers + 1)

    @property
    def q_bytes(self) -> int:
        """Of one consumer."""
        return ROWS * self.head * 2

    @property
    def tile_bytes(self) -> int:
        return self.keys * self.head * 2

    @property
    def shared_bytes(self) -> int:
        """Q, the slots of K and V, and one barrier for Q, four for each slot."""
        return self.consumers * self.q_bytes + 2 * self.slots * self.tile_bytes + self.barrier_bytes

    @property
    def barrier_bytes(self) -> int:
        return 8 * (1 + 4 * self.slots)


def make_kernel(plan: Plan) -> Any:
    """The kernel of a plan: (map_q, map_k, map_v, map_o, lse, queries, keys, scale)."""
    wgmma = attention_products(plan.head, plan.keys)
    q_word, k_word, v_word = wgmma.q_word, wgmma.k_word, wgmma.v_word
    start_scores, start_output = wgmma.start_scores, wgmma.start_output
    wait_scores, wait_output = wgmma.wait_scores, wgmma.wait_output

    KEYS, SLOTS, CONSUMERS, CAUSAL = plan.keys, plan.slots, plan.consumers, plan.causal
    OVERLAP, TURNS = plan.overlap, plan.turns
    BLOCK_ROWS, THREADS = plan.rows, plan.threads
    PANELS, PANEL_OF_Q, PANEL_OF_K = plan.head // PANEL, ROWS * 128, plan.keys * 128
    # What a thread holds: float32 of S and of O, words of P; and groups of 8 columns of S and O.
    S_SIZE, O_SIZE, P_SIZE = plan.keys // 2, plan.head // 2, plan.keys // 4
    S_GROUPS, O_GROUPS, O_PIECES = plan.keys // 8, plan.head // 8, plan.head // 16
    # Shared memory, in bytes.
    Q_BYTES, TILE = plan.q_bytes, plan.tile_bytes
    AT_K = CONSUMERS * Q_BYTES
    AT_V = AT_K + SLOTS * TILE
    Q_IS_THERE = AT_V + SLOTS * TILE
    K_FULL = Q_IS_THERE + 8
    K_EMPTY, V_FULL, V_EMPTY = (K_FULL + 8 * SLOTS * i for i in (1, 2, 3))
    # 65,536 registers: 168 or 128 for each thread at the launch, then fewer here and more there.
    FEW, MANY = (24, 240) if CONSUMERS == 2 else (32, 160)
    FIRST_TURN, TWO_GROUPS = 1, 2 * GROUP  # barriers 1, 2, … say whose turn it is
    OWN_SYNC = FIRST_TURN + CONSUMERS  # and the ones behind are each consumer's own

    @cuda.jit(device=True)
    def make_barriers(base, tid):
        if tid == 0:
            mbarrier_init(base + Q_IS_THERE, 1)
            for slot in range(SLOTS):
                mbarrier_init(base + K_FULL + 8 * slot, 1)  # the producer, and bytes
                mbarrier_init(base + V_FULL + 8 * slot, 1)
                mbarrier_init(base + K_EMPTY + 8 * slot, CONSUMERS)
                mbarrier_init(base + V_EMPTY + 8 * slot, CONSUMERS)
            fence_mbarrier_init()
        cuda.syncthreads()

    @cuda.jit(device=True)
    def fetch(base, map_q, map_k, map_v, first_row, tiles, head):
        """The producer, one thread: Q once, then K and V into each slot as soon as it is empty."""
        mbarrier_arrive_with_bytes(base + Q_IS_THERE, AT_K)
        for group in range(CONSUMERS):
            for p in range(PANELS):
                to = base + group * Q_BYTES + p * PANEL_OF_Q
                start = (p * PANEL, first_row + group * ROWS, head)
                tma_load(to, map_q, start, base + Q_IS_THERE)
        tile, slot, parity = np.uint32(0), np.uint32(0), np.uint32(1)
        while tile < tiles:
            mbarrier_wait(base + K_EMPTY + 8 * slot, parity)  # passes at once in the first round
            mbarrier_arrive_with_bytes(base + K_FULL + 8 * slot, TILE)
            for p in range(PANELS):
                to, start = (
                    base + AT_K + slot * TILE + p * PANEL_OF_K,
                    (p * PANEL, tile * KEYS, head),
                )
                tma_load(to, map_k, start, base + K_FULL + 8 * slot)
            mbarrier_wait(base + V_EMPTY + 8 * slot, parity)
            mbarrier_arrive_with_bytes(base + V_FULL + 8 * slot, TILE)
            for p in range(PANELS):
                to, start = (
                    base + AT_V + slot * TILE + p * PANEL_OF_K,
                    (p * PANEL, tile * KEYS, head),
                )
                tma_load(to, map_v, start, base + V_FULL + 8 * slot)
            tile = np.uint32(tile + 1)
            slot = np.uint32(slot + 1)
            if slot == SLOTS:
                slot, parity = np.uint32(0), np.uint32(parity ^ 1)

    @cuda.jit(device=True)
    @unrolled
    def mask(S, seen0, seen1):
        """-inf for what this lane's two rows do not see; `seen` counts from its first column on."""
        for j in unroll(S_GROUPS):
            for c in unroll(2):
                if 8 * j + c >= seen0:
                    S[4 * j + c] = NOT_SEEN
                if 8 * j + c >= seen1:
                    S[4 * j + 2 + c] = NOT_SEEN

    @cuda.jit(device=True)
    def mask_tile(S, first_key, row, column, keys):
        """Mask the tile that begins at `first_key`; this lane's rows are `row` and `row + 8`."""
        seen0 = np.int32(keys - first_key)
        seen1 = seen0
        if CAUSAL:
            seen0 = np.int32(min(seen0, np.int32(row + 1 - first_key)))
            seen1 = np.int32(min(seen1, np.int32(row + 9 - first_key)))
        mask(S, np.int32(seen0 - column), np.int32(seen1 - column))

    @cuda.jit(device=True)
    @unrolled
    def maxima(S, top0, top1):
        """The largest scores of both rows, among these and `top0`, `top1`.

        Neighbours first: each comparison with the maximum so far waits for the one before.
        """
        for j in unroll(S_GROUPS):
            top0 = larger(top0, larger(S[4 * j], S[4 * j + 1]))
            top1 = larger(top1, larger(S[4 * j + 2], S[4 * j + 3]))
        top0 = larger(top0, cuda.shfl_xor_sync(ALL_LANES, top0, 1))
        top1 = larger(top1, cuda.shfl_xor_sync(ALL_LANES, top1, 1))
        top0 = larger(top0, cuda.shfl_xor_sync(ALL_LANES, top0, 2))
        top1 = larger(top1, cuda.shfl_xor_sync(ALL_LANES, top1, 2))
        return top0, top1

    @cuda.jit(device=True)
    @unrolled
    def weigh(S, scale, shift0, shift1, total0, total1):
        """Scores become weights, 2 ** (score * scale - shift); this lane's are added up."""
        for j in unroll(S_GROUPS):
            for c in unroll(2):
                S[4 * j + c] = power_of_2(S[4 * j + c] * scale - shift0)
                S[4 * j + 2 + c] = power_of_2(S[4 * j + 2 + c] * scale - shift1)
            total0 += S[4 * j] + S[4 * j + 1]
            total1 += S[4 * j + 2] + S[4 * j + 3]
        return total0, total1

    @cuda.jit(device=True)
    @unrolled
    def to_bf16(S, P):
        for i in unroll(P_SIZE):
            P[i] = pack_bf16(S[2 * i], S[2 * i + 1])

    @cuda.jit(device=True)
    @unrolled
    def rescale(O, factor0, factor1):
        for j in unroll(O_GROUPS):
            for c in unroll(2):
                O[4 * j + c] *= factor0
                O[4 * j + 2 + c] *= factor1

    @cuda.jit(device=True)
    def over_row(total):
        """The sum over the four lanes that share a row."""
        total += cuda.shfl_xor_sync(ALL_LANES, total, 1)
        return total + cuda.shfl_xor_sync(ALL_LANES, total, 2)

    @cuda.jit(device=True)
    @unrolled
    def store(O, map_o, staging, first_row, head, group, thread):
        """Write 64 rows of O as bfloat16, through the place of Q, which nobody needs any more."""
        warp, lane = thread // 32, thread % 32
        row = warp * 16 + lane % 16
        for p in unroll(O_PIECES):  # 16 columns at a time
            piece = (2 * (p % 4) + lane // 16) ^ (lane % 8)
            words = (
                pack_bf16(O[8 * p], O[8 * p + 1]),
                pack_bf16(O[8 * p + 2], O[8 * p + 3]),
                pack_bf16(O[8 * p + 4], O[8 * p + 5]),
                pack_bf16(O[8 * p + 6], O[8 * p + 7]),
            )
            stmatrix_x4(staging + p // 4 * PANEL_OF_Q + row * 128 + piece * 16, words)
        fence_async()
        group_sync(OWN_SYNC + group, GROUP)
        if thread == 0:
            for p in range(PANELS):
                tma_store(map_o, (p * PANEL, first_row, head), staging + p * PANEL_OF_Q)

    @cuda.jit(device=True)
    @unrolled
    def attend(base, map_o, lse, first_row, tiles, head, queries, keys, scale, group, thread):
        """A consumer: 64 queries from `first_row` on, tile after tile."""
        S = cuda.local.array(S_SIZE, float32)
        P = cuda.local.array(P_SIZE, np.uint32)
        O = cuda.local.array(O_SIZE, float32)
        own = np.uint32(base + group * Q_BYTES)
        q, k, v = q_word(own), k_word(base + AT_K), v_word(base + AT_V)
        # This lane's rows are `row` and `row + 8`, its columns `column`, `column + 1`, then 8 on.
        row = np.uint32(first_row + thread // 32 * 16 + thread % 32 // 4)
        column = np.uint32(thread % 4 * 2)
        masked = np.uint32(keys // np.uint32(KEYS))  # from this tile on
        if CAUSAL:
            masked = np.uint32(min(masked, np.uint32((first_row + 1) // np.uint32(KEYS))))
        next_turn = np.uint32(FIRST_TURN + group + 1 if group < CONSUMERS - 1 else FIRST_TURN)

        for i in unroll(O_SIZE):
            O[i] = float32(0)
        mbarrier_wait(base + Q_IS_THERE, 0)
        mbarrier_wait(base + K_FULL, 0)
        start_scores(S, q, k)
        wait_scores(S, 0)
        if thread == 0:
            mbarrier_arrive(base + K_EMPTY)
        if masked == 0:
            mask_tile(S, np.uint32(0), row, column, keys)
        top0, top1 = maxima(S, NOT_SEEN, NOT_SEEN)
        total0, total1 = weigh(S, scale, top0 * scale, top1 * scale, float32(0), float32(0))
        to_bf16(S, P)
        factor0, factor1 = float32(1), float32(1)
        if TURNS and group == CONSUMERS - 1:
            group_arrive(FIRST_TURN, TWO_GROUPS)  # the first consumer may begin

        # Here and at each turn of the loop: P holds the weights of the tile before, in slot
        # `before`, and O must shrink by the factors before they are used.
        before, parity_before = np.uint32(0), np.uint32(0)
        slot, parity = np.uint32(1 % SLOTS), np.uint32(1 // SLOTS)
        tile = np.uint32(1)
        while tile < tiles:
            mbarrier_wait(base + K_FULL + 8 * slot, parity)
            if TURNS:
                group_sync(FIRST_TURN + group, TWO_GROUPS)
            if OVERLAP:
                start_scores(S, q, k + slot * (TILE // 16))
            rescale(O, factor0, factor1)
            mbarrier_wait(base + V_FULL + 8 * before, parity_before)
            start_output(O, P, v + before * (TILE // 16))
            if not OVERLAP:
                wait_output(O)
                start_scores(S, q, k + slot * (TILE // 16))
            if TURNS:
                group_arrive(next_turn, TWO_GROUPS)
            wait_scores(S, 1 if OVERLAP else 0)
            if tile >= masked:
                mask_tile(S, tile * KEYS, row, column, keys)
            new0, new1 = maxima(S, top0, top1)
            shift0, shift1 = new0 * scale, new1 * scale
            factor0 = power_of_2(top0 * scale - shift0)
            factor1 = power_of_2(top1 * scale - shift1)
            top0, top1 = new0, new1
            total0, total1 = weigh(S, scale, shift0, shift1, total0 * factor0, total1 * factor1)
            # Both slots are read by now, that of K for long. But asking for the totals here keeps
            # the compiler from moving the weights behind the wait, where nothing runs beside them.
            # No total is below 0, so thread 0 arrives in any case, with 0 and with NaN, too.
            if thread == 0 and not total0 + total1 < 0:
                mbarrier_arrive(base + K_EMPTY + 8 * slot)
            wait_output(O)
            if thread == 0:
                mbarrier_arrive(base + V_EMPTY + 8 * before)
            to_bf16(S, P)
            before, parity_before = slot, parity
            tile = np.uint32(tile + 1)
            slot = np.uint32(slot + 1)
            if slot == SLOTS:
                slot, parity = np.uint32(0), np.uint32(parity ^ 1)

        rescale(O, factor0, factor1)
        mbarrier_wait(base + V_FULL + 8 * before, parity_before)
        start_output(O, P, v + before * (TILE // 16))
        total0, total1 = over_row(total0), over_row(total1)
        wait_output(O)
        rescale(O, float32(1) / total0, float32(1) / total1)
        store(O, map_o, own, first_row, head, group, thread)
        if column == 0 and row < queries:
            lse[head, row] = (top0 * scale + log_2(total0)) * LN_2
        if column == 0 and row + 8 < queries:
            lse[head, row + 8] = (top1 * scale + log_2(total1)) * LN_2
        if thread == 0:
            tma_store_wait(0)  # shared memory must last until it has been read

    @cuda.jit(launch_bounds=(THREADS, 1))
    def flash_attention(map_q, map_k, map_v, map_o, lse, queries, keys, scale):
        shared = cuda.shared.array(0, np.uint8, alignment=1024)
        base = shared_address(shared)
        tid = np.uint32(cuda.threadIdx.x)
        group = uniform(tid // GROUP)
        make_barriers(base, tid)
        # With `causal`, later rows have more tiles. The longest ones begin.
        place = cuda.gridDim.x - 1 - cuda.blockIdx.x if CAUSAL else cuda.blockIdx.x
        first_row, head = np.uint32(place * BLOCK_ROWS), np.uint32(cuda.blockIdx.y)
        queries, keys = np.uint32(queries), np.uint32(keys)
        end = keys
        if CAUSAL:
            end = np.uint32(min(keys, np.uint32(first_row + BLOCK_ROWS)))
        tiles = np.uint32((end + KEYS - 1) // np.uint32(KEYS))
        if group == CONSUMERS:
            fewer_registers(FEW)
            if tid == CONSUMERS * GROUP:
                fetch(base, map_q, map_k, map_v, first_row, tiles, head)
        else:
            more_registers(MANY)
            top = np.uint32(first_row + group * ROWS)
            thread = np.uint32(tid % GROUP)
            attend(base, map_o, lse, top, tiles, head, queries, keys, scale, group, thread)

    return flash_attention
