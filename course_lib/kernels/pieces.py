"""Who computes what in rung 12: a list of pieces for each worker, made before the launch.

Why: tiles of many sizes, some of them shared, are hard to count out by formulas that a GPU has
to work out for every tile. So the host writes the lists, once for each shape, and a block reads
what its next piece is while it computes the one before.

A **worker** is a block, or a cluster of blocks. A **piece** is a tile of C, or some steps
of k of a tile that several workers share (`course_lib.kernels.split_tiles`).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from course_lib.intrinsics import load4
from course_lib.kernels.split_tiles import parts
from course_lib.kernels.tile_plan import ROWS, STEP_OF_K, TilePlan

BAND = 16  # blocks' tiles below one another that are computed before the next ones to the right
FIELDS = 4  # words of a piece in the table: one load of 16 bytes
WHOLE = MOST_STEPS = 0xFFFF  # two numbers of steps share a word of 32 bits


class WorkPiece(NamedTuple):
    """Some steps of k for a tile.

    Attributes:
        top, left: its first row and column in C. `top` is that of a cluster's first block.
        first, stop: steps of k, the last one not included.
        number: where its partial sums go, or WHOLE if these are all of them.
    """

    top: int
    left: int
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


def pieces_of(
    plan: TilePlan, shape: tuple[int, int, int], workers: int, step: int = STEP_OF_K
) -> list[list[WorkPiece]]:
    """What each of so many workers does, for C (M x N) = A (M x K) B (K x N), so much of k a step.

    TMA is slow to fill in rows outside A. So what would reach below C is moved up, where there is
    room. Rows that two pieces have in common are then computed twice, to the same bits; but not in
    split tiles, whose sums are put together from parts.

    Raises:
        ValueError: if K has more steps than a piece can count.
    """
    M, N, K = shape
    if MOST_STEPS * step < K:
        raise ValueError(f"K is {K:,}; rung 12 takes at most {MOST_STEPS * step:,}.")
    (down, across), steps = plan.tiles(M, N), -(-K // step)
    lowest = max(0, M - plan.tall)
    work: list[list[WorkPiece]] = [[] for _ in range(workers)]

    def tile(number: int) -> WorkPiece:
        row, column = place(number, down, across, BAND * ROWS // plan.tall)
        return WorkPiece(row * plan.tall, column * plan.wide, 0, steps, WHOLE)

    for worker, (split, first, stop, number) in enumerate(parts(plan.split, steps, workers)):
        work[worker].append(tile(split)._replace(first=first, stop=stop, number=number))
    for number in range(plan.split, down * across):
        whole = tile(number)
        whole = whole._replace(top=min(whole.top, lowest))
        work[(number - plan.split) % workers].append(whole)
    return [pieces for pieces in work if pieces]  # without those for whom nothing is left


def table_of(work: list[list[WorkPiece]]) -> np.ndarray:
    """The lists as (workers, most, 4) uint32; behind the last piece of each stand zeros.

    The first step and the last share a word. Then a piece is one load, and eight lie in a line of
    the L1 cache, where consumers find them at once.
    """
    table = np.zeros((len(work), max(map(len, work)) + 1, FIELDS), "uint32")
    for worker, pieces in enumerate(work):
        table[worker, : len(pieces)] = [
            (piece.top, piece.left, piece.first | piece.stop << 16, piece.number)
            for piece in pieces
        ]
    return table


def shared_tiles(work: list[list[WorkPiece]]) -> np.ndarray:
    """The tiles that several workers share, (tiles, 4) uint32: see `split_tiles.make_adding`."""
    numbers: dict[tuple[int, int], list[int]] = {}
    for piece in chain.from_iterable(work):
        if piece.number != WHOLE:
            numbers.setdefault((piece.top, piece.left), []).append(piece.number)
    rows = [(*at, min(those), len(those)) for at, those in numbers.items()]
    return np.array(rows, "uint32").reshape(-1, 4)


class Work(NamedTuple):
    """The lists on a GPU.

    Attributes:
        table: see `table_of`, (workers, most, 4).
        shared: see `shared_tiles`; None where none is split.
    """

    table: Any
    shared: Any

    @property
    def workers(self) -> int:
        """For how many there is something to do."""
        return int(self.table.shape[0])

    @property
    def most(self) -> int:
        """Rows of the table from one worker to the next."""
        return int(self.table.shape[1])


def work_on_gpu(plan: TilePlan, shape: tuple[int, int, int], workers: int, step: int) -> Work:
    """The lists of `pieces_of` on the current GPU; made once."""
    return _work_on_gpu(plan, shape, workers, step, int(cuda.get_current_device().id))


@lru_cache(maxsize=64)
def _work_on_gpu(
    plan: TilePlan, shape: tuple[int, int, int], workers: int, step: int, gpu: int
) -> Work:
    work = pieces_of(plan, shape, workers, step)
    shared = shared_tiles(work)
    return Work(cuda.to_device(table_of(work)), cuda.to_device(shared) if len(shared) else None)


@cuda.jit(device=True)
def piece(work, at):
    """A piece in the table: its five numbers."""
    top, left, steps, number = load4(work, at * FIELDS)
    return top, left, np.uint32(steps & 0xFFFF), np.uint32(steps >> 16), number
