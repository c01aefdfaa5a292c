"""Tables of who touched each cell of an array, thread or block, and which of them conflict.

A table keeps the lowest and the highest number only: if they differ, two touched the cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.state.memory import Access

KINDS = {"load": 0, "atomic": 1, "store": 2, "copy": 2}
MAX_LINES = 64  # of an array that are told apart
_NO_ONE = np.int32(np.iinfo(np.int32).max)


def _no_releases(first: int, second: int) -> list[dict[int, int]]:
    return []


def conflicts_of_lines(
    touched: Iterable[Touched],
    releases: Callable[[int, int], list[dict[int, int]]] = _no_releases,
) -> Iterator[tuple[Touched, Touched, int, int, int]]:
    """The first conflict of each two lines, in the program's order: a cell, and who touched it."""
    ordered = sorted(touched, key=Touched.place_in_program)
    for number, first in enumerate(ordered):
        for second in ordered[number:]:
            if first.kind == second.kind and first.kind in ("load", "atomic"):
                continue
            found = first.conflict(second, releases(first.line, second.line))
            if found is not None:
                yield first, second, *found


def touched_by(of_array: dict[tuple[str, int], Touched], access: Access) -> Touched:
    """The table of an access's line; lines beyond MAX_LINES share one for each kind of access."""
    key = (access.kind, access.line)
    if key not in of_array and len(of_array) >= MAX_LINES:
        key = (access.kind, -1)
    if key not in of_array:
        of_array[key] = Touched(access)
    return of_array[key]


def updated_by_several(
    of_array: Mapping[tuple[str, int], Touched], first: Touched, second: Touched, cell: int
) -> bool:
    """Whether two read a cell and write it back on the line of both accesses."""
    loads, stores = (of_array.get((kind, first.line)) for kind in ("load", "store"))
    if first.line != second.line or loads is None or stores is None:
        return False
    ends = [(int(each.lowest[cell]), int(each.highest[cell])) for each in (loads, stores)]
    return ends[0] == ends[1] and ends[0][0] < ends[0][1]


class Touched:
    """Who touched each cell of an array in one way, from one line: the lowest and highest number.

    The numbers are those of threads, or of blocks.
    """

    def __init__(self, access: Access) -> None:
        self.kind = access.kind
        self.line = access.line
        self.allocation = access.allocation
        self.order = access.order
        cells = access.allocation.storage.size
        self.lowest = np.full(cells, _NO_ONE)
        self.highest = np.full(cells, np.int32(-1))

    def add(self, access: Access, cells: np.ndarray, who: np.ndarray) -> None:
        """Add the cells of an access, and who touched each."""
        self.order = min(self.order, access.order)
        np.minimum.at(self.lowest, cells, who)
        np.maximum.at(self.highest, cells, who)

    def place_in_program(self) -> tuple[Any, ...]:
        """To sort by; a statement loads before it stores, whatever the schedule."""
        *where, _ = self.order
        return (*where, -1, KINDS[self.kind])

    def conflict(
        self, other: Touched, releases: Sequence[dict[int, int]] = ()
    ) -> tuple[int, int, int] | None:
        """A cell that two different ones touched, one here and one there, and who they are.

        Where one block alone touched the cell before, and one alone after, their turns at an
        atomic operation can order them.
        """
        lowest = np.minimum(self.lowest, other.lowest)
        highest = np.maximum(self.highest, other.highest)
        both = (self.highest >= 0) & (other.highest >= 0) & (lowest < highest)
        for turns in releases:
            alone = both & (self.lowest == self.highest) & (other.lowest == other.highest)
            for cell in np.flatnonzero(alone):
                before, after = (turns.get(int(each.lowest[cell])) for each in (self, other))
                if before is not None and after is not None and before < after:
                    both[cell] = False
        if not both.any():
            return None
        found = int(np.argmax(both))
        one, another = int(self.lowest[found]), int(other.highest[found])
        if one == another:
            one, another = int(self.highest[found]), int(other.lowest[found])
        return found, one, another
