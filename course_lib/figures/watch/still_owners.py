"""Draw as a still which block has written which element of C, whatever the mapping."""

from __future__ import annotations

import numpy as np

from course_lib.figures import style
from course_lib.figures.pen import Colour, Pen
from course_lib.figures.picture import Picture
from course_lib.figures.watch.owners import Ownership

_TINTS = (0.18, 0.34, 0.5)


@style.drawn
def map_of_owners(owned: Ownership) -> Picture:
    """C, tinted by the block that wrote each element.

    Hatched elements were written by nobody; crossed ones hold a wrong value.
    """
    rows, columns = owned.shape
    cell = min(5.2 / columns, 3.4 / rows, 0.4)
    figure = style.card(
        max(1.15 + rows * cell, 2.2),
        f"Who wrote which element of C ({rows} × {columns})",
        "As the run has shown it; a block's (x, y) stands on the elements that it wrote",
    )
    pen = Pen.on(figure)
    left, top = 0.3, 0.85
    cells = pen.at(left, top, cell)
    writer = np.full(owned.shape, -1)
    for number in range(len(owned.blocks)):
        for place in owned.cells_of(number):
            writer[place] = number
    _draw_cells(cells, owned, writer)
    _draw_names(cells, owned)
    nobody, bad = int((writer < 0).sum()), int((owned.wrong & (writer >= 0)).sum())
    several = int((owned.writers > 1).sum())
    lines = [
        f"grid {owned.grid[0]} × {owned.grid[1]}, blocks of {owned.block[0]} × {owned.block[1]}",
        f"{nobody} by nobody (hatched)" if nobody else "no element is left out",
        f"{several} by several threads" if several else "none has several writers",
        f"{bad} with a wrong value (crossed)" if bad else "all values are right",
    ]
    x = left + columns * cell + 0.3
    pen.write(x, top, "\n".join(lines), va="top", linespacing=1.6)
    return Picture(
        figure,
        f"A map of C, {rows} by {columns}, by the block that wrote each element: "
        f"{'; '.join(lines)}.",
    )


def _draw_cells(pen: Pen, owned: Ownership, writer: np.ndarray) -> None:
    """Each element, tinted by the number of the block in `writer`."""
    for (row, column), number in np.ndenumerate(writer):
        wrong = owned.wrong[row, column] or owned.writers[row, column] > 1
        face: Colour = style.PAPER
        hatch: str | None = "///"  # written by nobody
        if number >= 0:
            face = style.tint(style.GREEN, _TINTS[sum(owned.blocks[number]) % 3])
            hatch = "xxx" if wrong else None
        edge = style.tint(style.VERMILION, 0.6) if hatch else style.FAINT
        pen.cell(row, column, face=face, hatch=hatch, edge=edge, line=0.6)


def _draw_names(pen: Pen, owned: Ownership) -> None:
    """Each block's (x, y) amid the elements that it wrote."""
    over = {"facecolor": style.PAPER, "alpha": 0.85, "edgecolor": "none", "pad": 1.5}
    for number, place in enumerate(owned.blocks):
        mine = sorted(owned.cells_of(number))
        if mine:
            row = mine[len(mine) // 2][0]
            along = [column for each, column in mine if each == row]
            pen.centred(row, sum(along) / len(along), str(place), bbox=over, z=4)
