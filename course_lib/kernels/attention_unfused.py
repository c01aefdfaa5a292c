"""Attention in three kernels, float32, one head of 32 columns: what a fused one is held against.

Why: a comparison is worth as much as its loser. These store all scores in global memory, and that
is the only thing wrong with them. Each warp reads and writes neighbours; the products go through
tiles in shared memory, 32 × 32 outputs for a block; the softmax gives each row a warp, and reads it
twice: an online softmax finds maximum and sum in one pass.

What it costs: scores are written, read twice, written again as weights, and read once more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda, float32

D = 32  # columns of Q, K, V and O
TILE = 32  # rows and columns of what a block computes
DEEP = 33  # a row of a tile that is read down its columns: an odd width spreads it over all banks
ROWS_AT_ONCE = 8  # of 32 threads each
WARPS = 8  # rows that a block of the softmax works on
ALL_LANES = 0xFFFFFFFF
SCALE = np.float32(1 / math.sqrt(D))
LOWEST = np.float32(-1e30)


@cuda.jit
def scores(Q, K, S):
    """S = Q Kᵀ / √32; a block of (32, 8) threads, each with four rows of a tile of 32 × 32."""
    sQ = cuda.shared.array((TILE, D), float32)
    sK = cuda.shared.array((TILE, DEEP), float32)
    sums = cuda.local.array(4, float32)
    x, y = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    top, left = np.uint32(cuda.blockIdx.y) * TILE, np.uint32(cuda.blockIdx.x) * TILE
    queries, keys = np.uint32(Q.shape[0]), np.uint32(K.shape[0])
    for i in range(4):
        row = y + i * ROWS_AT_ONCE
        sQ[row, x] = Q[min(top + row, queries - 1), x]
        sK[row, x] = K[min(left + row, keys - 1), x]
        sums[i] = float32(0)
    cuda.syncthreads()
    for k in range(D):
        for i in range(4):
            sums[i] += sQ[y + i * ROWS_AT_ONCE, k] * sK[x, k]
    for i in range(4):
        row = top + y + i * ROWS_AT_ONCE
        if row < queries and left + x < keys:
            S[row, left + x] = sums[i] * SCALE


@cuda.jit
def softmax(S):
    """Each row of S becomes its softmax; a block of (32, 8) threads, a warp for each row."""
    lane = np.uint32(cuda.threadIdx.x)
    row = np.uint32(cuda.blockIdx.x) * WARPS + np.uint32(cuda.threadIdx.y)
    keys = np.uint32(S.shape[1])
    if row < S.shape[0]:  # for all lanes of a warp alike
        top, total = LOWEST, float32(0)
        key = lane
        while key < keys:
            score = S[row, key]
            new = max(top, score)
            total = total * math.exp(top - new) + math.exp(score - new)
            top = new
            key += np.uint32(32)
        away = 16
        while away > 0:
            other = cuda.shfl_xor_sync(ALL_LANES, top, away)
            others = cuda.shfl_xor_sync(ALL_LANES, total, away)
            new = max(top, other)
            total = total * math.exp(top - new) + others * math.exp(other - new)
            top = new
            away //= 2
        key = lane
        while key < keys:
            S[row, key] = math.exp(S[row, key] - top) / total
            key += np.uint32(32)


@cuda.jit
def mix(P, V, O):
    """O = P V; a block of (32, 8) threads, each with four rows of 32."""
    sP = cuda.shared.array((TILE, TILE), float32)
    sV = cuda.shared.array((TILE, D), float32)
    sums = cuda.local.array(4, float32)
    x, y = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    top = np.uint32(cuda.blockIdx.x) * TILE
    queries, keys = np.uint32(P.shape[0]), np.uint32(P.shape[1])
    for i in range(4):
        sums[i] = float32(0)
    first = np.uint32(0)
    while first < keys:
        for i in range(4):
            row = y + i * ROWS_AT_ONCE
            inside = top + row < queries and first + x < keys
            sP[row, x] = P[top + row, first + x] if inside else float32(0)
            sV[row, x] = V[first + row, x] if first + row < keys else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            for i in range(4):
                sums[i] += sP[y + i * ROWS_AT_ONCE, k] * sV[k, x]
        cuda.syncthreads()
        first += np.uint32(TILE)
    for i in range(4):
        row = top + y + i * ROWS_AT_ONCE
        if row < queries:
            O[row, x] = sums[i]


def launch(Q: Any, K: Any, V: Any, O: Any, S: Any) -> None:
    """O = softmax(Q Kᵀ / √32) V; S has room for queries × keys float32, and ends up as weights."""
    queries, keys = S.shape
    down, across = -(-queries // TILE), -(-keys // TILE)
    scores[(across, down), (TILE, ROWS_AT_ONCE)](Q, K, S)
    softmax[-(-queries // WARPS), (32, WARPS)](S)
    mix[down, (D, ROWS_AT_ONCE)](S, V, O)
