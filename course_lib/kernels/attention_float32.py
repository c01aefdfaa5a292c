"""Attention in float32, one head of 32 columns: a thread owns queries, a warp a part of the keys.

Why: in the exercise's solution a warp shares one query. Each multiply-add then waits for two loads
from shared memory, the weights travel through shared memory as well, and five barriers part the
steps. Here a thread owns two queries from end to end: both rows of Q, both rows of O, both maxima
and sums stay in its registers. All lanes of a warp look at the same key at the same time, so one
16-byte load is a broadcast, and brings four numbers that serve 64 queries. No thread needs what
another one computed before the very end, so nothing is shuffled and nothing is stored.

What it costs: 64 queries in a warp, 128 blocks for 8192 queries, would be one warp for each
multiprocessor. So eight warps take eight keys of each tile of 64. Each has a softmax of its own;
at the end they are put together as two tiles are in the lesson, by the larger maximum. And a
thread has some 200 registers, so eight warps are all that a multiprocessor holds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda, float32

from course_lib.intrinsics import load4, store4, unroll, unrolled

D = 32  # columns of Q, K, V and O
BOTH = 64  # numbers in two rows
PIECES = 8  # of four numbers in a row
WARPS = 8
QUERIES = 64  # of a block: two for each lane
KEYS = 64  # in a tile
OWN = 8  # keys of a tile for each warp
THREADS = 256
ROW = 33  # of the sums put together: an odd width spreads a column over all banks
SCALE = np.float32(1 / math.sqrt(D))
LOWEST = np.float32(-1e30)  # a finite stand-in for -inf, which fastmath does not promise to keep


@cuda.jit(device=True, fastmath=True)
@unrolled
def two_scores(q, sK, at):
    """Both queries of this thread times the key that begins at element `at` of the tile."""
    score0, score1 = float32(0), float32(0)
    for p in unroll(PIECES):
        four = load4(sK, at + p * 4)
        for c in range(4):
            score0 += q[4 * p + c] * four[c]
            score1 += q[D + 4 * p + c] * four[c]
    return score0, score1


@cuda.jit(device=True, fastmath=True)
@unrolled
def add_value(out, sV, at, weight0, weight1):
    """Add the value that begins at element `at` of the tile to both rows, each by its weight."""
    for p in unroll(PIECES):
        four = load4(sV, at + p * 4)
        for c in range(4):
            out[4 * p + c] += weight0 * four[c]
            out[D + 4 * p + c] += weight1 * four[c]


@cuda.jit(fastmath=True)
@unrolled
def attention_float32(Q, K, V, O):
    sK = cuda.shared.array((KEYS, D), float32, alignment=16)
    sV = cuda.shared.array((KEYS, D), float32, alignment=16)
    tops = cuda.shared.array((WARPS, QUERIES), float32)
    totals = cuda.shared.array((WARPS, QUERIES), float32)
    sums = cuda.shared.array((QUERIES, ROW), float32)
    q = cuda.local.array(BOTH, float32)  # two rows, one after the other
    out = cuda.local.array(BOTH, float32)
    score = cuda.local.array((2, OWN), float32)
    top = cuda.local.array(2, float32)
    total = cuda.local.array(2, float32)
    tid = np.uint32(cuda.threadIdx.x)
    warp, lane = tid // 32, tid % 32
    first = np.uint32(cuda.blockIdx.x) * QUERIES
    queries, keys = np.uint32(Q.shape[0]), np.uint32(K.shape[0])

    for h in unroll(2):  # lane and lane + 32 are this thread's queries
        row = min(first + lane + h * 32, queries - 1)
        for p in unroll(PIECES):
            four = load4(Q, row * D + p * 4)
            for c in range(4):
                q[h * D + 4 * p + c] = four[c] * SCALE
                out[h * D + 4 * p + c] = float32(0)
        top[h] = LOWEST
        total[h] = float32(0)

    start = np.uint32(0)
    while start < keys:
        for i in unroll(2):  # 64 rows of 8 pieces for 256 threads
            y, x = tid // PIECES + i * 32, tid % PIECES * 4
            row = min(start + y, keys - 1)
            store4(sK, y * D + x, load4(K, row * D + x))
            store4(sV, y * D + x, load4(V, row * D + x))
        cuda.syncthreads()  # the tile is there

        for j in unroll(OWN):  # this warp's keys
            key = warp * OWN + j
            score[0, j], score[1, j] = two_scores(q, sK, key * D)
            if start + key >= keys:
                score[0, j] = LOWEST
                score[1, j] = LOWEST
        for h in unroll(2):  # one rescaling for eight keys
            new = top[h]
            for j in unroll(OWN):
                new = max(new, score[h, j])
            factor = math.exp(top[h] - new)
            top[h] = new
            total[h] *= factor
            for c in range(D):
                out[h * D + c] *= factor
            for j in unroll(OWN):
                score[h, j] = math.exp(score[h, j] - new)
                total[h] += score[h, j]
        for j in unroll(OWN):
            add_value(out, sV, (warp * OWN + j) * D, score[0, j], score[1, j])
        cuda.syncthreads()  # nobody needs the tile any more
        start += np.uint32(KEYS)

    # Eight softmaxes become one: each shrinks by exp(its maximum - the largest).
    for h in unroll(2):
        tops[warp, lane + h * 32] = top[h]
        totals[warp, lane + h * 32] = total[h]
    cuda.syncthreads()
    for h in unroll(2):
        largest = top[h]
        for w in range(WARPS):
            largest = max(largest, tops[w, lane + h * 32])
        everyone = float32(0)
        for w in range(WARPS):
            everyone += totals[w, lane + h * 32] * math.exp(tops[w, lane + h * 32] - largest)
        factor = math.exp(top[h] - largest) / everyone
        for c in range(D):
            out[h * D + c] *= factor
    for w in range(WARPS):  # one warp after the other: the sum is the same each time
        if warp == w:
            for h in unroll(2):
                for c in range(D):
                    before = float32(0) if w == 0 else sums[lane + h * 32, c]
                    sums[lane + h * 32, c] = before + out[h * D + c]
        cuda.syncthreads()
    for i in unroll(8):
        y = warp + i * 8
        if first + y < queries:
            O[first + y, lane] = sums[y, lane]


def launch(Q: Any, K: Any, V: Any, O: Any) -> None:
    """O = softmax(Q Kᵀ / √32) V; Q and O: queries × 32, K and V: keys × 32, float32, row-major."""
    attention_float32[-(-Q.shape[0] // QUERIES), THREADS](Q, K, V, O)
