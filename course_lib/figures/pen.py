"""Draw on a card: a pen that counts in cells, and arrays as rows and grids with their values.

Places and sizes are in cells, from the corner to the right and downwards. On a fresh card a
cell is one inch; `pen.at(x, y, cell)` draws a matrix there, whose rows and columns are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from course_lib.figures import style
from course_lib.figures.picture import Picture
from course_lib.figures.style import GREY, INK, MONO, PAPER, SMALL, YELLOW, tint

Point = tuple[float, float]
Colour = str | tuple[float, float, float]
Looks = dict[str, Any]  # of a rectangle: face, edge, line, z, hatch

LIT: Looks = {"face": YELLOW, "edge": INK, "line": 2.0, "z": 3}  # what a picture picks out


def tinted(colour: str, strength: float, line: float = 0.8) -> Looks:
    """The look of cells that are not picked out: a tinted inside and an edge of the colour."""
    return {"face": tint(colour, strength), "edge": colour, "line": line, "z": 2}


@dataclass(frozen=True)
class Pen:
    """Draws shapes and words."""

    axes: Axes  # what it draws on
    # x, y: the corner, in the units of the axes
    x: float = 0.0
    y: float = 0.0
    # wide, high: the size of a cell, in the same units
    wide: float = 1.0
    high: float = 1.0

    @classmethod
    def card(
        cls, height: float, title: str = "", subtitle: str = "", width: float = style.WIDTH
    ) -> Pen:
        """A pen over a whole fresh card, in inches from its upper left corner."""
        axes = style.card(height, title, subtitle, width).add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        return cls(axes)

    @property
    def figure(self) -> Figure:
        figure = self.axes.figure
        assert isinstance(figure, Figure)
        return figure

    def footnote(self, text: str) -> None:
        """Small print at the bottom of the card: where the numbers are from."""
        style.footnote(self.figure, text)

    def picture(self, alt: str) -> Picture:
        """The card with its words."""
        return Picture(self.figure, alt)

    def at(self, x: float, y: float, wide: float, high: float | None = None) -> Pen:
        """A pen with another corner, and cells of that size: square, unless a height is given."""
        left, top = self._place(x, y)
        high = wide if high is None else high
        return Pen(self.axes, left, top, self.wide * wide, self.high * high)

    def _place(self, x: float, y: float) -> Point:
        return self.x + x * self.wide, self.y + y * self.high

    def rectangle(
        self, x: float, y: float, wide: float, high: float, *, face: Colour = "none",
        edge: Colour | None = None, line: float | None = None, z: float | None = None,
        hatch: str | None = None, **more: Any,
    ) -> Rectangle:  # fmt: skip
        """A plain rectangle from its upper left corner; `line` is the width of its edge."""
        patch = Rectangle(
            self._place(x, y), wide * self.wide, high * self.high,
            facecolor=face, edgecolor=edge, linewidth=line, zorder=z, hatch=hatch, **more,
        )  # fmt: skip
        self.axes.add_patch(patch)
        return patch

    def cell(
        self, row: float, column: float, words: str = "", *, face: Colour = "none",
        edge: Colour | None = None, line: float | None = None, z: float = 2,
        hatch: str | None = None, **looks: Any,
    ) -> None:  # fmt: skip
        """A cell of a matrix with words in its middle; `looks` are those of the words."""
        self.rectangle(column, row, 1, 1, face=face, edge=edge, line=line, z=z, hatch=hatch)
        if words:
            self.centred(row, column, words, **{"z": 4, **looks})

    def centred(self, row: float, column: float, words: str, **looks: Any) -> None:
        """Words in the middle of a cell."""
        self.write(column + 0.5, row + 0.5, words, ha="center", **looks)

    def key(
        self, x: float, y: float, words: str, *, face: Colour, edge: Colour = GREY,
        hatch: str | None = None, line: float | None = 0.8,
    ) -> None:  # fmt: skip
        """A small square, and what its looks mean."""
        self.rectangle(x, y - 0.08, 0.18, 0.18, face=face, hatch=hatch, line=line, edge=edge)
        self.write(x + 0.26, y, words, linespacing=1.15)

    def box(
        self, x: float, y: float, wide: float, high: float, *, colour: str = GREY,
        fill: float = 0.14, line: float = 1.2, z: float | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """A rounded box with a tinted inside."""
        patch = FancyBboxPatch(
            self._place(x, y), wide * self.wide, high * self.high,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=tint(colour, fill), edgecolor=colour, linewidth=line, zorder=z, **more,
        )  # fmt: skip
        self.axes.add_patch(patch)

    def bar(
        self, x: float, y: float, length: float, thickness: float, *, label: str = "",
        **looks: Any,
    ) -> None:  # fmt: skip
        """A bar to the right, its middle at the height y; the label is not written."""
        bar = self.rectangle(x, y - thickness / 2, length, thickness, **looks)
        bar.set_label(label)

    def line(
        self, *points: Point, colour: Colour, line: float = 1.5, z: float | None = None, **more: Any
    ) -> None:
        """A line through some points."""
        across, down = zip(*(self._place(*point) for point in points), strict=True)
        self.axes.plot(across, down, color=colour, linewidth=line, zorder=z, **more)

    def arrow(
        self, start: Point, end: Point, *, colour: str = GREY, line: float = 1.4, **more: Any
    ) -> None:
        """An arrow from one point to another."""
        looks = {"arrowstyle": "-|>", "color": colour, "linewidth": line, **more}
        self.axes.annotate(
            "", xy=self._place(*end), xytext=self._place(*start),
            arrowprops={**looks, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip

    def write(
        self, x: float, y: float, words: str, *, colour: Colour | None = None, size: float = SMALL,
        bold: bool = False, mono: bool = False, paper: float | None = None,
        z: float | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """Words, small and centred in height unless told otherwise.

        `paper` is how far white paper reaches around them, in points, over what lies below.
        """
        looks: dict[str, Any] = {"va": "center", "parse_math": False, **more}
        if colour is not None:
            looks["color"] = colour
        if mono:
            looks["fontfamily"] = MONO
        if paper is not None:
            looks["bbox"] = {"facecolor": PAPER, "edgecolor": "none", "pad": paper}
        weight = "bold" if bold else "normal"
        self.axes.text(
            *self._place(x, y), words, fontsize=size, fontweight=weight, zorder=z, **looks
        )


# --- Arrays as rows and grids of cells; what is long is shortened ---------------------------------


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
    return sum(GAP if each is None else 1.0 for each in along)


def offsets(along: Slots) -> dict[int, float]:
    """Where each drawn index begins, in cells."""
    found, at = {}, 0.0
    for each in along:
        if each is not None:
            found[each] = at
        at += GAP if each is None else 1.0
    return found


@dataclass(frozen=True)
class Marks:
    """How the cells of one array look."""

    colour: str  # of the array
    lit: Collection[tuple[int, int]] = ()  # the elements that are picked out, as (row, column)
    quiet: Collection[tuple[int, int]] = ()  # those that stay in the background
    hatched: Collection[tuple[int, int]] = ()  # those that are crossed out
    path: Collection[tuple[int, int]] = ()  # those that lie between two that belong together


@dataclass(frozen=True)
class Sheet:
    """An array as it is drawn: one row, one column, or a grid."""

    corner: tuple[float, float]  # its upper left, in inches
    cell: float  # the side of a cell, in inches
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

    def draw(self, pen: Pen, texts: np.ndarray, looks: Marks) -> None:
        """Draw the cells; `texts` has a short text for every element of the array."""
        for row in self.rows:
            for column in self.columns:
                if row is not None and column is not None:
                    self._draw_cell(pen, row, column, str(texts[row, column]), looks)
        self._draw_gaps(pen)

    def _draw_cell(self, pen: Pen, row: int, column: int, text: str, looks: Marks) -> None:
        at = (row, column)
        is_lit, is_quiet = at in looks.lit, at in looks.quiet
        shade = {**tinted(looks.colour, 0.05 if is_quiet else 0.24)}
        shade["edge"] = style.tint(looks.colour, 0.6)
        if at in looks.path:
            shade["face"] = style.tint(style.YELLOW, 0.45)
        pen.at(*self.place(row, column), self.cell).cell(
            0, 0, text,
            hatch="////" if at in looks.hatched else None,
            colour=style.GREY if is_quiet else style.INK,
            bold=is_lit,
            size=style.SMALL * min(1, 3 / max(1, _digits(text))),  # three digits fill a cell
            **(LIT if is_lit else shade),
        )  # fmt: skip

    def _draw_gaps(self, pen: Pen) -> None:
        """An ellipsis in each gap, beside the first cells on: there no other gap crosses it."""
        x, y = self.corner
        wide, high = (self.cell * _first_run(each) for each in (self.columns, self.rows))
        for along, is_row in ((self.columns, True), (self.rows, False)):
            at = 0.0
            for each in along:
                if each is None and is_row:
                    middle = (x + self.cell * (at + GAP / 2), y + high / 2)
                    pen.write(*middle, "…", ha="center", colour=style.GREY)
                elif each is None:
                    middle = (x + wide / 2, y + self.cell * (at + GAP / 2))
                    pen.write(*middle, "…", ha="center", colour=style.GREY, rotation=90)
                at += GAP if each is None else 1.0

    def number_columns(self, pen: Pen, *, below: bool = False) -> None:
        """Small indices along the columns."""
        y = self.corner[1] + (self.height + 0.1 if below else -0.1)
        for column in offsets(self.columns):
            x = self.middle(self._first_row, column)[0]
            pen.write(x, y, str(column), ha="center", colour=style.GREY)

    def number_rows(self, pen: Pen) -> None:
        """Small indices down the rows."""
        for row in offsets(self.rows):
            y = self.middle(row, self._first_column)[1]
            pen.write(self.corner[0] - 0.06, y, str(row), ha="right", colour=style.GREY)

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
    return np.array([[_short(each) for each in row] for row in numbers], dtype=object)


def _short(number: float) -> str:
    whole_in_a_cell = float(number).is_integer() and abs(number) < 10_000
    short = f"{number:.0f}" if whole_in_a_cell else f"{number:.3g}"
    return f"{number:.2f}" if abs(number) < 1 and len(short) > 4 else short
