"""Says which figures to play with fit an answer: by what was asked, and by what the answer does.

Nothing is run for it. A figure that was offered may still find nothing to draw, and says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from course_lib import callers, entries
from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.report import Report
from course_lib.emulator import Kernel
from course_lib.emulator.state.lanes import WARP_SIZE
from course_lib.figures.watch.kernels import (
    MOST_BARRIERS,
    NothingToDraw,
    barrier_lines,
    in_tiles_of,
    shared_shapes,
)
from course_lib.own_ladder import FAMILIES

SMALL_TILE = 2  # a tile that can be drawn number by number
WARPS_IN_A_RACE = range(2, 5)
# A run that ends with one of these shows nothing of the kernel.
NO_RUN = {
    *("compile-error", "invalid-launch", "missing-answer", "not-allowed", "timeout", "unsupported")
}


@dataclass(frozen=True)
class Own:
    """An answer that can be launched.

    Attributes:
        exercise: what was asked.
        kernel: the function that the answer defines.
    """

    exercise: Exercise
    kernel: Kernel

    @property
    def launched(self) -> Kernel:
        """What is launched: the function itself, or what calls it."""
        return callers.as_launched(self.exercise, self.kernel)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Letters and numbers: the axes of all arrays, as far as the exercise describes them."""
        return tuple(size for each in self.exercise.shapes for size in entries.axes(each))

    @property
    def fixed_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of all arrays where the exercise has fixed all of them; otherwise ()."""
        if any(map(entries.is_free, self.sizes)):
            return ()
        return tuple(tuple(map(int, entries.axes(each))) for each in self.exercise.shapes)


@dataclass(frozen=True)
class Offer:
    """A figure, and for which answers it can be drawn."""

    id: str
    title: str
    fits: Callable[[Own], bool]


def offered(own: Own, report: Report) -> Iterator[Offer]:
    """The figures to offer beside a verdict."""
    if not own.exercise.kind.is_launched or any(each.code in NO_RUN for each in report.errors):
        return
    in_step = all(each.code.startswith(("race-", "barrier-")) for each in report.errors)
    for each in OFFERS:
        # A race is watched where everything else is right: it tells which of two values came.
        if each.fits(own) and (in_step or each.id != "race"):
            yield each


def _loads_or_stores(own: Own) -> bool:
    return True


def _shares(own: Own) -> bool:
    return bool(shared_shapes(own.launched)) or bool(shared_shapes(own.kernel))


def _is_product(own: Own) -> bool:
    return own.exercise.family in FAMILIES and "1" not in own.sizes


def _stages_tiles(own: Own) -> bool:
    """Is it a product, one thread an output, in tiles whose size has a name?"""
    if own.exercise.family != "product" or not all(map(entries.is_free, own.sizes)):
        return False
    if not _shares(own):
        return False
    try:
        in_tiles_of(own.kernel, SMALL_TILE)
    except NothingToDraw:
        return False
    return True


def _may_race(own: Own) -> bool:
    if not _shares(own) or len(barrier_lines(own.launched)) > MOST_BARRIERS:
        return False
    return _stages_tiles(own) or _is_one_small_block(own)


def _is_one_small_block(own: Own) -> bool:
    """Are all sizes numbers, one block of a few warps, and as many outputs as make a square?"""
    sizes, task = own.fixed_sizes, own.exercise
    if not sizes or not isinstance(task, Task) or task.caller:
        return False
    launch = task.launch(sizes[-1])
    count = math.prod(sizes[-1])
    warps = -(-math.prod(launch.block) // WARP_SIZE)
    is_square = math.isqrt(count) ** 2 == count
    return math.prod(launch.grid) == 1 and warps in WARPS_IN_A_RACE and is_square


OFFERS = (
    Offer("sectors", "Sectors: what a warp's loads and stores move", _loads_or_stores),
    Offer("banks", "Banks: which lane is served in which pass", _shares),
    Offer("owners", "Who owns what: the elements that a thread has written", _is_product),
    Offer("step", "Step through k, tile by tile", _stages_tiles),
    Offer("race", "Watch the race: take a barrier out", _may_race),
)
