"""Which tiles suit a product: how wide, in clusters of how many, the last turn split or not.

Why: all blocks take tiles in turns, and a turn lasts as long for one tile as for 132. With tiles of
128 x 256 a product of 3072 x 3072 is 288 tiles, 2.2 turns, and takes three. With 128 x 192 it is
384 tiles, 2.9 turns, and takes three as well, each a quarter shorter. So we count what each way
would take, and choose the shortest.

The unit is a **step**: what a block of its own needs for 64 steps of k of a tile of 128 x 256. All
prices were measured on an H200, 2026-11-23, where a step is 0.69 microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

ROWS, STEP_OF_K = 128, 64  # of a block's tile, whatever its width
ALIGNED = 64  # where N is no multiple of this, rows of B begin within a line of L2

# What a step costs by cluster and width. A narrow tile is dearer than its share of 256 columns. Two
# blocks that wait for each other lose a little, but ask L2 for half as much of B, which is what
# counts where each row of B lies in two lines.
STEP = {(1, 256): 1.0, (2, 256): 1.02, (1, 192): 0.78, (2, 192): 0.80}
RAGGED_STEP = {(1, 256): 1.42, (2, 256): 1.075, (1, 192): 1.15, (2, 192): 0.84}

# What splitting costs: the second kernel, and a piece for each worker; and another piece for each,
# where nearly a full turn of tiles is split.
ONCE, FOR_A_FULL_TURN = 22.0, 50.0

# Another way than whole tiles of 256 columns has to gain so much. At the power limit, where blocks
# that wait leave their watts to others, two hundredths are lost again.
WORTH_IT = 1.02


@dataclass(frozen=True)
class TilePlan:
    """How a product is computed.

    Attributes:
        cluster: blocks of a cluster, one below the other: 1 or 2.
        columns: of a tile: 256 or 192.
        split: how many tiles all clusters compute together.
    """

    cluster: int = 1
    columns: int = 256
    split: int = 0

    def tiles(self, M: int, N: int) -> tuple[int, int]:
        """How many tiles of a cluster C has, one below the other and side by side."""
        return -(-M // (ROWS * self.cluster)), -(-N // self.columns)


def plan_for(M: int, N: int, K: int, multiprocessors: int) -> TilePlan:
    """The way that takes the fewest steps for C (M x N) = A (M x K) B (K x N)."""
    ways = list(ways_to_compute(M, N, multiprocessors))

    def steps(way: TilePlan) -> float:
        return steps_of(way, (M, N, K), multiprocessors)

    best = min(ways, key=steps)
    usual = min((each for each in ways if each.columns == 256 and not each.split), key=steps)
    return best if steps(usual) > WORTH_IT * steps(best) else usual


def ways_to_compute(M: int, N: int, multiprocessors: int) -> Iterator[TilePlan]:
    """Every width and cluster, with whole tiles and with the last turn split."""
    for cluster, columns in STEP:
        if cluster > 1 and M <= ROWS:
            continue  # the second block would have no row
        whole = TilePlan(cluster, columns)
        yield whole
        down, across = whole.tiles(M, N)
        left_over = down * across % (multiprocessors // cluster)
        if left_over:
            yield TilePlan(cluster, columns, left_over)


def steps_of(way: TilePlan, shape: tuple[int, int, int], multiprocessors: int) -> float:
    """How long a product of M x N x K takes this way, in steps."""
    M, N, K = shape
    workers = multiprocessors // way.cluster
    (down, across), long = way.tiles(M, N), -(-K // STEP_OF_K)
    price = (RAGGED_STEP if N % ALIGNED else STEP)[way.cluster, way.columns]
    tiles = down * across
    if not way.split:
        return -(-tiles // workers) * long * price
    share = way.split / workers  # of a turn
    return (tiles - way.split) // workers * long * price + (
        share * long * price + ONCE + FOR_A_FULL_TURN * share
    )
