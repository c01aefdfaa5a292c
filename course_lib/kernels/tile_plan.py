"""Which tiles suit a product: how large, in clusters of how many, which of them split.

Why: all blocks take tiles in turns, and a turn lasts as long for one tile as for 132. With tiles of
128 x 256 a product of 3072 x 3072 is 288 tiles, 2.2 turns, and takes three. With 128 x 192 it is
384 tiles, 2.9 turns, and takes three as well, each a quarter shorter. So we count what each way
would take, and choose the shortest.

A warpgroup multiplies 64 rows by up to 256 columns, a multiple of 8; or 64 columns by so many rows,
if the tile is **turned**. Columns want to be multiples of 64, whole lines of L2. Rows may begin
anywhere. So turned tiles are 128, 192 or 256 columns wide, and just as high as fills the turns.

The unit is a **step**: what a block needs for 64 steps of k of a tile of 128 x 256. That is 0.67 to
0.77 microseconds on an H200 at its limit of power; all prices were measured there, 2026-11-26 and
2026-11-28.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

ROWS, STEP_OF_K = 128, 64  # of a block's usual tile
WIDTHS = (64, 128, 192, 256)  # of tiles with so many rows
# Columns of the others, and their rows. More rows of 256 columns, and registers run out.
TURNED = {128: range(64, 264, 8), 192: range(64, 200, 8), 256: range(64, 192, 8)}
ALIGNED = 16  # where N is no multiple of this, rows of B begin within a sector; K: those of A

# What bounds a step: the tensor cores, or rows of 128 bytes. An SM takes in so many of A and B, and
# L2 is asked for them, by two blocks for half of what they share. A ragged row, with five sectors
# in place of four, costs half as much again.
USUAL = 128 * 256
TAKEN_IN, ASKED_FOR, RAGGED = 0.0019, 0.0022, 0.0035

# A tile's results are stored while nothing is multiplied: so many steps for a usual one. Two blocks
# begin and end together.
STORING, PAIRING = 2.0, 1.8

# Two blocks that wait for each other's stages need so long for a step, however small their tiles:
# at 200 x 4096 x 4096 tiles of 128 x 64 run at 113 % of cuBLAS alone, and at 67 % in pairs.
PAIRED_STEP = 0.42

# A product of more steps than LASTING, 0.7 ms, brings an H200 to its limit of power by itself, and
# then energy is what counts. An SM that has no tile saves some, and the others run faster for it.
# A row asked of L2 costs some: 0.00014 of a usual step.
LASTING, ENERGY = 1000, 0.00014

# What splitting costs: a second kernel, and for usual tiles so much to store partial sums and read
# them again.
SPLITTING, PARTIAL_SUMS = 9.0, 9.0

# Another way than whole tiles of 128 x 256 has to gain so much. These prices are no more exact.
WORTH_IT = 1.02


@dataclass(frozen=True)
class TilePlan:
    """How a product is computed.

    Attributes:
        cluster: blocks of a cluster: 1 or 2.
        columns: of a block's tile.
        rows: of a block's tile: 128, or else one of TURNED[columns], and the tile is turned.
        split: how many tiles several clusters compute together; at most half as many as these.
            Only of tiles with 128 rows.
        beside: whether the blocks of a cluster lie side by side and share a tile of A. Otherwise
            they lie one below the other and share a tile of B.
    """

    cluster: int = 1
    columns: int = 256
    rows: int = ROWS
    split: int = 0
    beside: bool = False

    @property
    def share_a(self) -> int:
        """How many blocks share a tile of A."""
        return self.cluster if self.beside else 1

    @property
    def share_b(self) -> int:
        """How many blocks share a tile of B."""
        return 1 if self.beside else self.cluster

    @property
    def tall(self) -> int:
        """Rows that the blocks of a cluster compute together."""
        return self.rows * self.share_b

    @property
    def wide(self) -> int:
        """And columns."""
        return self.columns * self.share_a

    @property
    def asked_for(self) -> float:
        """Rows of 128 bytes that a block asks L2 for in a step, of A and of B."""
        return self.rows / self.share_a + self.columns / self.share_b

    def tiles(self, M: int, N: int) -> tuple[int, int]:
        """How many tiles of a cluster lie one below the other and side by side."""
        return -(-M // self.tall), -(-N // self.wide)

    def price(self, N: int, K: int) -> float:
        """What a step of k costs, for a product with these N and K."""
        area = self.rows * self.columns / USUAL
        row_of_a, row_of_b = (RAGGED if n % ALIGNED else ASKED_FOR for n in (K, N))
        return max(
            area,
            PAIRED_STEP if self.cluster > 1 else 0.0,
            (self.rows + self.columns) * TAKEN_IN,
            self.rows / self.share_a * row_of_a + self.columns / self.share_b * row_of_b,
        )


# The tile that asks L2 for the least; and the same, turned, for two blocks that share its 256 rows.
# They fetch them in halves of 128: fewer and larger copies than halves of each panel of B. A pair
# may be counted a hundredth slower. In short samples it is less, and where products follow each
# other until the GPU is at its limit of power, a pair gains more.
SINGLE, PAIR = TilePlan(), TilePlan(2, 128, 256, beside=True)
A_PAIR_IS_WORTH = 1.01


@lru_cache(maxsize=256)
def plan_for(M: int, N: int, K: int, multiprocessors: int) -> TilePlan:
    """The way that takes the fewest steps for C (M x N) = A (M x K) B (K x N)."""
    ways = {
        way: steps_of(way, (M, N, K), multiprocessors)
        for way in ways_to_compute(M, N, multiprocessors)
    }
    # Of two that take as long, the one with larger tiles: it asks less of L2.
    best = min(ways, key=lambda way: (round(ways[way], 6), -way.rows * way.columns))
    paired = ways.get(PAIR, math.inf) <= A_PAIR_IS_WORTH * ways[SINGLE]
    usual = PAIR if paired else SINGLE
    return best if ways[usual] > WORTH_IT * ways[best] else usual


def ways_to_compute(M: int, N: int, multiprocessors: int) -> Iterator[TilePlan]:
    """Every tile and cluster; where that fits, the last turn of usual tiles split."""
    for cluster in (1, 2) if M > ROWS else (1,):  # or the second block would have no row
        workers = multiprocessors // cluster
        for columns in WIDTHS:
            whole = TilePlan(cluster, columns)
            yield whole
            left_over = math.prod(whole.tiles(M, N)) % workers
            if left_over and 2 * left_over <= workers:
                yield replace(whole, split=left_over)
        for columns, heights in TURNED.items():
            turned = [TilePlan(cluster, columns, rows) for rows in heights if rows != ROWS]
            yield from turned
            if cluster > 1 and columns < N:
                yield from (replace(plan, beside=True) for plan in turned)


def steps_of(way: TilePlan, shape: tuple[int, int, int], multiprocessors: int) -> float:
    """How long a product of M x N x K takes this way, in steps."""
    M, N, K = shape
    workers, area = multiprocessors // way.cluster, way.rows * way.columns / USUAL
    steps_of_k, whole = -(-K // STEP_OF_K), math.prod(way.tiles(M, N)) - way.split
    product, once = steps_of_k * way.price(N, K), PAIRING if way.cluster > 1 else 0.0
    if way.split:
        once += product / (workers // way.split) + SPLITTING + PARTIAL_SUMS * area
    steps = -(-whole // workers) * (product + STORING * area) + once
    shortest = M * N * K / (USUAL * STEP_OF_K * multiprocessors)
    if shortest > LASTING:
        product = steps_of_k * (area + ENERGY * way.asked_for)
        steps = max(steps, whole / workers * (product + STORING * area) + once)
    return steps
