"""Draw arrays with their values as rows and grids of cells; what is long is shortened."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from course_lib.figures.interactive import Scene

GAP = 0.62  # the width of an ellipsis, in cells
FIRST, LAST = 3, 2  # how many stand at the ends of what is shortened
Slots = tuple[int | None, ...]  # the indices that are drawn, in their order; None is an ellipsis


def slots(size: int, most: int, keep: Collection[int] = (), always: int | None = None) -> Slots:
    """The indices of an axis that are drawn: all, or the ends, `always` and those in `keep`."""
    if size <= most:
        return tuple(range(size))
    ends = {*range(FIRST), *range(size - LAST, size)}
    wanted = sorted(keep, key=lambda index: (index != always, index))
    shown = sorted(ends | set(wanted[: most - FIRST - LAST]))
    drawn: list[int | None] = []
    for place, index in enumerate(shown):
        before = shown[place - 1] if place else -1
        if index - before == 2:
            drawn.append(index - 1)  # a single one takes no more room than an ellipsis
        elif index - before > 2:
            drawn.append(None)
        drawn.append(index)
    return tuple(drawn)


def extent(along: Slots) -> float:
    """The length of an axis, in cells."""
    return sum(GAP if index is None else 1.0 for index in along)


def offsets(along: Slots) -> dict[int, float]:
    """Where each drawn index begins, in cells."""
    found, at = {}, 0.0
    for index in along:
        if index is not None:
            found[index] = at
        at += GAP if index is None else 1.0
    return found


@dataclass(frozen=True)
class Marks:
    """How the cells of one array look."""

    css: str  # of the array: a, b, c or d
    lit: Collection[tuple[int, int]] = ()  # the elements that are picked out, as (row, column)
    quiet: Collection[tuple[int, int]] = ()  # those that stay in the background
    path: Collection[tuple[int, int]] = ()  # those that lie between two that belong together

    def of(self, at: tuple[int, int]) -> tuple[str, str]:
        """The classes of a cell, and of its words."""
        if at in self.lit:
            return "lit", "lit"
        if at in self.path:
            return "lit thin dim", ""
        return ("cell", "muted") if at in self.quiet else (f"{self.css}-soft", "")


@dataclass(frozen=True)
class Sheet:
    """An array as it is drawn: one row, one column, or a grid."""

    corner: tuple[float, float]  # its upper left
    cell: float  # the side of a cell
    # rows, columns: what is drawn of it
    rows: Slots
    columns: Slots

    @property
    def width(self) -> float:
        return self.cell * extent(self.columns)

    @property
    def height(self) -> float:
        return self.cell * extent(self.rows)

    def place(self, row: int, column: int) -> tuple[float, float]:
        """The upper left corner of an element."""
        x, y = self.corner
        down, across = offsets(self.rows)[row], offsets(self.columns)[column]
        return x + self.cell * across, y + self.cell * down

    def middle(self, row: int, column: int) -> tuple[float, float]:
        """The centre of an element."""
        x, y = self.place(row, column)
        return x + self.cell / 2, y + self.cell / 2

    def has(self, row: int, column: int) -> bool:
        return row in self.rows and column in self.columns

    def draw(self, scene: Scene, texts: np.ndarray, looks: Marks) -> None:
        """Draw the cells; `texts` has a short text for every element of the array."""
        every = product(offsets(self.rows), offsets(self.columns))
        for at in sorted(every, key=looks.lit.__contains__):
            css, ink = looks.of(at)
            text = str(texts[at])
            size = "small" if _digits(text) <= 3 else "tiny"  # three digits fill a cell
            scene.cell(*self.place(*at), self.cell, self.cell, text, css, f"{size} {ink}".strip())
        # An ellipsis in each gap, beside the first cells on: there no other gap crosses it.
        x, y = self.corner
        wide, high = (self.cell * _first_run(indices) for indices in (self.columns, self.rows))
        for along, is_row in ((self.columns, True), (self.rows, False)):
            at_gap = 0.0
            for index in along:
                beside = self.cell * (at_gap + GAP / 2)
                if index is None and is_row:
                    scene.text(x + beside, y + high / 2 + 3, "…", "small muted", "middle")
                elif index is None:
                    scene.text(x + wide / 2, y + beside + 5, "⋮", "small muted", "middle")
                at_gap += GAP if index is None else 1.0

    def number_columns(self, scene: Scene, *, below: bool = False) -> None:
        """Small indices along the columns."""
        y = self.corner[1] + (self.height + 14 if below else -5)
        for column in offsets(self.columns):
            x = self.middle(self._first_row, column)[0]
            scene.text(x, y, str(column), "small muted", "middle")

    def number_rows(self, scene: Scene) -> None:
        """Small indices down the rows."""
        for row in offsets(self.rows):
            y = self.middle(row, self._first_column)[1]
            scene.text(self.corner[0] - 6, y + 4, str(row), "small muted", "end")

    @property
    def _first_row(self) -> int:
        return next(iter(offsets(self.rows)))

    @property
    def _first_column(self) -> int:
        return next(iter(offsets(self.columns)))


def _first_run(along: Slots) -> int:
    """How many are drawn before the first gap."""
    return along.index(None) if None in along else len(along)


def _digits(text: str) -> float:
    """How much room a number takes, in digits: a point takes half of one."""
    return len(text) - text.count(".") / 2


def texts_of(array: Sequence[float] | np.ndarray) -> np.ndarray:
    """Each number as short as it can be written: 4, 2.5, 2120."""
    numbers = np.atleast_2d(np.asarray(array, float))
    return np.array([[_short(number) for number in row] for row in numbers], dtype=object)


def _short(number: float) -> str:
    whole_in_a_cell = float(number).is_integer() and abs(number) < 10_000
    short = f"{number:.0f}" if whole_in_a_cell else f"{number:.3g}"
    return f"{number:.2f}" if abs(number) < 1 and len(short) > 4 else short
