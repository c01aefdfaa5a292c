"""Draw charts on a card: a pen that counts in cells.

Places and sizes are in cells, from the corner to the right and downwards. On a fresh card a
cell is one inch; `pen.at(x, y, cell)` draws a matrix there, whose rows and columns are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures import style
from course_lib.figures.picture import Picture
from course_lib.figures.style import MONO, PAPER, SMALL, tint

Point = tuple[float, float]
Colour = str | tuple[float, float, float]
Looks = dict[str, Any]  # of a rectangle: face, edge, line, z, hatch


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
