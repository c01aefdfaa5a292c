"""Which tiles suit a product: how wide, in clusters of how many, which of them cut or split.

Why: all blocks take tiles in turns, and a turn lasts as long for one tile as for 132. With tiles of
128 x 256 a product of 3072 x 3072 is 288 tiles, 2.2 turns, and takes three. With 128 x 192 it is
384 tiles, 2.9 turns, and takes three as well, each a quarter shorter. And 4104 x 4104 has rows and
columns of tiles of which only eight lie in C: cut into **strips** of 64 columns, most of their work
goes away, and the rest fits into the last turn. So we count what each way would take, and choose
the shortest.

The unit is a **step**: what a block of its own needs for 64 steps of k of a tile of 128 x 256. All
prices were measured on an H200, 2026-11-24, where a step is 0.67 microseconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

ROWS, STEP_OF_K = 128, 64  # of a block's tile, whatever its width
STRIP = 64  # columns of what a tile is cut into
WIDTHS = (256, 192)
ALIGNED = 64  # where N is no multiple of this, rows of B begin within a line of L2

# What a step costs by cluster and width. A narrow tile is dearer than its share of 256 columns, and
# a strip fetches as much of A as a tile. Two blocks that wait for each other lose a little, but ask
# L2 for half as much of B, which is what counts where each row of B lies in two lines.
STEP = {(1, 256): 1.0, (2, 256): 1.01, (1, 192): 0.77, (2, 192): 0.79, (1, 64): 0.36, (2, 64): 0.36}
RAGGED_STEP = {(1, 256): 1.42, (2, 256): 1.05, (1, 192): 1.15, (2, 192): 0.84}
RAGGED_STEP |= {(1, 64): 0.55, (2, 64): 0.6}

# What splitting costs, by cluster: partial sums are stored, and a second kernel adds them up.
SPLITTING = {1: 26.0, 2: 22.0}

# Another way than whole tiles of 256 columns has to gain so much. At the power limit, where blocks
# that wait leave their watts to others, two hundredths are lost again.
WORTH_IT = 1.02


@dataclass(frozen=True)
class TilePlan:
    """How a product is computed.

    Attributes:
        cluster: blocks of a cluster, one below the other: 1 or 2.
        columns: of a tile: 256 or 192.
        split: how many tiles several clusters compute together; at most half as many as these.
        cut_rows, cut_columns: how many of the last rows and columns of tiles are cut into strips.
    """

    cluster: int = 1
    columns: int = 256
    split: int = 0
    cut_rows: int = 0
    cut_columns: int = 0

    def tiles(self, M: int, N: int) -> tuple[int, int]:
        """How many uncut tiles of a cluster lie one below the other and side by side."""
        down, across = -(-M // (ROWS * self.cluster)), -(-N // self.columns)
        return down - self.cut_rows, across - self.cut_columns

    def strips(self, M: int, N: int) -> list[tuple[int, int]]:
        """First row and column of each strip: those at the right, and those below the tiles."""
        down, across = self.tiles(M, N)
        tall, right = ROWS * self.cluster, across * self.columns
        beside = [(top, left) for left in range(right, N, STRIP) for top in range(0, M, tall)]
        below = range(down * tall, M, tall)
        return beside + [(top, left) for top in below for left in range(0, min(right, N), STRIP)]

    def price(self, columns: int, N: int) -> float:
        """What a step costs, for so many columns of a product that is N wide."""
        return (RAGGED_STEP if N % ALIGNED else STEP)[self.cluster, columns]


@lru_cache(maxsize=256)
def plan_for(M: int, N: int, K: int, multiprocessors: int) -> TilePlan:
    """The way that takes the fewest steps for C (M x N) = A (M x K) B (K x N)."""
    ways = {
        way: steps_of(way, (M, N, K), multiprocessors)
        for way in ways_to_compute(M, N, multiprocessors)
    }
    best = min(ways, key=ways.__getitem__)
    whole = (way for way in ways if way == TilePlan(way.cluster))
    usual = min(whole, key=ways.__getitem__)
    return best if ways[usual] > WORTH_IT * ways[best] else usual


def ways_to_compute(M: int, N: int, multiprocessors: int) -> Iterator[TilePlan]:
    """Every width and cluster: whole tiles, the last turn split, the last tiles cut, or all.

    All are cut where that makes few strips: a strip costs more than its share of a tile.
    """
    for cluster in (1, 2) if M > ROWS else (1,):  # or the second block would have no row
        for columns in WIDTHS:
            down, across = TilePlan(cluster, columns).tiles(M, N)
            yield TilePlan(cluster, columns)
            left_over = down * across % (multiprocessors // cluster)
            if left_over and 2 * left_over <= multiprocessors // cluster:
                yield TilePlan(cluster, columns, left_over)
            for rows, cut in ((1, 0), (0, 1), (1, 1)):
                yield TilePlan(cluster, columns, 0, rows, cut)
        strips = TilePlan(cluster, cut_columns=-(-N // 256))
        if len(strips.strips(M, N)) <= 2 * multiprocessors // cluster:
            yield strips


def steps_of(way: TilePlan, shape: tuple[int, int, int], multiprocessors: int) -> float:
    """How long a product of M x N x K takes this way, in steps."""
    M, N, K = shape
    workers, long = multiprocessors // way.cluster, -(-K // STEP_OF_K)
    down, across = way.tiles(M, N)
    price, strip = (long * way.price(columns, N) for columns in (way.columns, STRIP))
    together = price / (workers // way.split) + SPLITTING[way.cluster] if way.split else 0.0
    loads = loads_of_tiles(down * across - way.split, workers, price)
    for owner in owners_of_strips(loads, len(way.strips(M, N)), strip):
        loads[owner] += strip
    return together + max(loads)


def loads_of_tiles(tiles: int, workers: int, price: float) -> list[float]:
    """What each worker has to do, where they take whole tiles in turns."""
    return [-(-(tiles - worker) // workers) * price for worker in range(workers)]


def owners_of_strips(loads: list[float], count: int, price: float) -> list[int]:
    """Whose each strip is: one after the other goes to whoever has least to do."""
    waiting = [(load, worker) for worker, load in enumerate(loads)]
    heapq.heapify(waiting)
    owners = []
    for _ in range(count):
        load, worker = waiting[0]
        owners.append(worker)
        heapq.heapreplace(waiting, (load + price, worker))
    return owners
