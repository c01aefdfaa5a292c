"""Read from a run which thread wrote which element of C, and what it fetched for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from course_lib.emulator.film import Film, Touch
from course_lib.emulator.state.lanes import WARP_SIZE

Cell = tuple[int, int]


@dataclass
class Deeds:
    """What one thread did: the elements it wrote, and those of A and B it fetched itself."""

    wrote: list[Cell] = field(default_factory=list)
    of_a: set[Cell] = field(default_factory=set)
    of_b: set[Cell] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Ownership:
    """Who wrote what in a launch over a matrix of `shape` = (rows, columns).

    Attributes:
        grid, block: the launch, as (x, y).
        deeds: one for each thread of the launch, block after block.
        writers: how many threads wrote each element.
        wrong: where the result is not A @ B.
    """

    shape: tuple[int, int]
    grid: tuple[int, int]
    block: tuple[int, int]
    deeds: list[Deeds]
    writers: np.ndarray
    wrong: np.ndarray

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The blocks as (x, y), in the order of their numbers."""
        return [(x, y) for y in range(self.grid[1]) for x in range(self.grid[0])]

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.threads // WARP_SIZE)

    @property
    def idle(self) -> int:
        """Threads that wrote nothing."""
        return sum(not each.wrote for each in self.deeds)

    def of(self, block: int, thread: int) -> Deeds:
        """What a thread of a block did, both by number."""
        return self.deeds[block * self.threads + thread]

    def place(self, thread: int) -> tuple[int, int]:
        """A thread's (x, y) within its block."""
        return thread % self.block[0], thread // self.block[0]

    def cells_of(self, block: int) -> set[Cell]:
        """Every element that a block wrote."""
        first = block * self.threads
        return {cell for each in self.deeds[first : first + self.threads] for cell in each.wrote}

    def expected(self, block: int, thread: int, x_is: str) -> Cell:
        """The element of cuda.grid(2), if x is the column, or the row."""
        (bx, by), (tx, ty) = self.blocks[block], self.place(thread)
        x, y = bx * self.block[0] + tx, by * self.block[1] + ty
        return (y, x) if x_is == "column" else (x, y)

    @property
    def mapping(self) -> str:
        """ "column" or "row": what x is, if every thread wrote the element of cuda.grid(2).

        "" for any other mapping.
        """
        for x_is in ("column", "row"):
            if all(
                each.wrote == [self.expected(*divmod(number, self.threads), x_is)]
                for number, each in enumerate(self.deeds)
                if each.wrote
            ):
                return x_is
        return ""


def ownership(run: Film, names: tuple[str, ...], c: np.ndarray, product: np.ndarray) -> Ownership:
    """Who wrote what in a film of a kernel with the parameters A, B, C.

    Args:
        run: the film.
        names: what the kernel calls A, B and C.
        c: C after the run.
        product: what it should be.
    """
    deeds = [Deeds() for _ in range(run.space.size)]
    writers = np.zeros(c.shape, int)
    for touch in _touches(run):
        cells = [(int(row), int(column)) for row, column in touch.indices[:, :2]]
        for lane, cell in zip(touch.lanes, cells, strict=True):
            mine = deeds[lane]
            if touch.array == names[2] and touch.kind != "load":
                if cell not in mine.wrote:
                    mine.wrote.append(cell)
                    writers[cell] += 1
            elif touch.array in names[:2] and touch.kind == "load":
                (mine.of_a if touch.array == names[0] else mine.of_b).add(cell)
    grid, block = run.profile.grid, run.profile.block
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(c, product)
    return Ownership(c.shape, grid[:2], block[:2], deeds, writers, wrong)


def _touches(run: Film) -> Iterable[Touch]:
    for moment in run.moments:
        if isinstance(moment, Touch) and moment.space == "global" and moment.indices.shape[1] == 2:
            yield moment
