"""Who computes what in rung 12: a list of pieces for each worker, made before the launch.

Why: tiles of several widths, some of them shared, are hard to count out by formulas that a GPU has
to work out for every tile. So the host writes the lists, once for each shape, and a block reads
what its next piece is while it computes the one before.

A **worker** is a block, or a cluster of blocks. A **piece** is a tile of C, a strip of one, or some
steps of k of a tile that several workers share (`course_lib.kernels.split_tiles`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from course_lib.intrinsics import load4
from course_lib.kernels.split_tiles import parts
from course_lib.kernels.tile_plan import (
    ROWS,
    STEP_OF_K,
    STRIP,
    TilePlan,
    loads_of_tiles,
    owners_of_strips,
)

BAND = 16  # blocks' tiles below one another that are computed before the next ones to the right
FIELDS = 4  # words of a piece in the table: one load of 16 bytes
WHOLE = np.uint32(0xFFFF)


class WorkPiece(NamedTuple):
    """Some steps of k for a tile.

    Attributes:
        top, left: its first row and column in C. `top` is that of a cluster's first block.
        columns: how wide it is.
        first, stop: steps of k, 64 each, the last one not included; both 0 behind a worker's last.
        number: where its partial sums go, or WHOLE if these are all of them.
    """

    top: int
    left: int
    columns: int
    first: int
    stop: int
    number: int


def place(number: int, down: int, across: int, band: int) -> tuple[int, int]:
    """Row and column of a tile: band after band, in each down its columns.

    Workers that compute at the same time share rows of A and columns of B, while L2 still has them.
    """
    above = number // (band * across) * band
    height, inside = min(band, down - above), number - above * across
    return above + inside % height, inside // height


def pieces_of(plan: TilePlan, shape: tuple[int, int, int], workers: int) -> list[list[WorkPiece]]:
    """What each of so many workers does, for C (M x N) = A (M x K) B (K x N)."""
    M, N, K = shape
    (down, across), steps = plan.tiles(M, N), -(-K // STEP_OF_K)
    work: list[list[WorkPiece]] = [[] for _ in range(workers)]

    tall = ROWS * plan.cluster
    # TMA is slow to fill in rows outside A. So the last ones are moved up, and what two pieces have
    # in common is computed twice, in the same order, to the same bits.
    lowest = max(0, M - tall)

    def tile(number: int, first: int = 0, stop: int = steps, part: int = int(WHOLE)) -> WorkPiece:
        row, column = place(number, down, across, BAND // plan.cluster)
        top = min(row * tall, lowest) if part == WHOLE else row * tall
        return WorkPiece(top, column * plan.columns, plan.columns, first, stop, part)

    for worker, number, first, stop in parts(plan.split, steps, workers):
        part = int(WHOLE) if stop - first == steps else number + worker
        work[worker].append(tile(number, first, stop, part))
    for number in range(plan.split, down * across):
        work[(number - plan.split) % workers].append(tile(number))
    loads = loads_of_tiles(down * across - plan.split, workers, plan.price(plan.columns, N))
    strips = plan.strips(M, N)
    owners = owners_of_strips(loads, len(strips), plan.price(STRIP, N))
    for worker, (top, left) in zip(owners, strips, strict=True):
        work[worker].append(WorkPiece(min(top, lowest), left, STRIP, 0, -(-steps // 2), int(WHOLE)))
    return [each for each in work if each]  # without those for whom nothing is left


def table_of(work: list[list[WorkPiece]]) -> np.ndarray:
    """The lists as (workers, most, 4) uint32; behind the last piece of each stand zeros.

    Two numbers share a word: the first step with the last, and the columns with the number. Then a
    piece is one load, and eight lie in a line of the L1 cache, where consumers find them at once.
    """
    table = np.zeros((len(work), max(map(len, work)) + 1, FIELDS), "uint32")
    for worker, pieces in enumerate(work):
        table[worker, : len(pieces)] = [
            (
                each.top,
                each.left,
                each.first | each.stop << 16,
                each.columns | each.number << 16,
            )
            for each in pieces
        ]
    return table


def shared_tiles(work: list[list[WorkPiece]]) -> np.ndarray:
    """The tiles that several workers share, (tiles, 4) uint32: see `split_tiles.make_adding`."""
    numbers: dict[tuple[int, int], list[int]] = {}
    for each in (each for pieces in work for each in pieces if each.number != WHOLE):
        numbers.setdefault((each.top, each.left), []).append(each.number)
    rows = [(*at, min(those), len(those)) for at, those in numbers.items()]
    return np.array(rows, "uint32").reshape(-1, 4)


class Work(NamedTuple):
    """The lists on a GPU.

    Attributes:
        table: see `table_of`, (workers, most, 4).
        shared: see `shared_tiles`; None where none is split.
        pieces: for how many partial sums there must be room.
    """

    table: Any
    shared: Any
    pieces: int

    @property
    def workers(self) -> int:
        """For how many there is something to do."""
        return int(self.table.shape[0])

    @property
    def most(self) -> int:
        """Rows of the table from one worker to the next."""
        return int(self.table.shape[1])


def work_on_gpu(plan: TilePlan, shape: tuple[int, int, int], workers: int) -> Work:
    """The lists of `pieces_of` on the current GPU; made once."""
    return _work_on_gpu(plan, shape, workers, int(cuda.get_current_device().id))


@lru_cache(maxsize=64)
def _work_on_gpu(plan: TilePlan, shape: tuple[int, int, int], workers: int, gpu: int) -> Work:
    work = pieces_of(plan, shape, workers)
    table, shared = table_of(work), shared_tiles(work)
    pieces = workers + plan.split if len(shared) else 0
    return Work(cuda.to_device(table), cuda.to_device(shared) if pieces else None, pieces)


@cuda.jit(device=True)
def piece(work, at):
    """A piece in the table: its six numbers."""
    top, left, steps, rest = load4(work, at * FIELDS)
    first, stop = np.uint32(steps & 0xFFFF), np.uint32(steps >> 16)
    return top, left, np.uint32(rest & 0xFFFF), first, stop, np.uint32(rest >> 16)
