"""Draw what the lanes of one warp wrote: in each element of the output the lane that wrote it."""

from __future__ import annotations

import numpy as np

from course_lib.figures import style
from course_lib.figures.pen import LIT, Pen
from course_lib.figures.run_facts import OwnRun
from course_lib.figures.run_looks import LEFT, TOP, colour_of

_ROWS = _COLUMNS = 16  # of a larger output its first part stands for the rest
_CELL_WIDTH, _CELL_HEIGHT = 0.34, 0.2
_NUMBERED = 0.3  # room for the numbers of the rows
_GROUP = 4  # lanes that share a row of a fragment


class Lanes:
    """The first elements of the output, one colour for each lane of a group of four."""

    def __init__(self, run: OwnRun) -> None:
        self.run = run
        rows, columns = run.ran.output.shape
        self.rows, self.columns = min(rows, _ROWS), min(columns, _COLUMNS)
        self.is_part = (rows, columns) != (self.rows, self.columns)
        self.corner = LEFT + _NUMBERED, TOP + 0.42

    @property
    def width(self) -> float:
        result: float = _NUMBERED + self.columns * _CELL_WIDTH
        return result

    @property
    def height(self) -> float:
        result: float = 0.42 + self.rows * _CELL_HEIGHT
        return result

    @property
    def words(self) -> str:
        rows, columns = self.run.ran.output.shape
        part = f"Of {rows} × {columns} elements, the first {self.rows} × {self.columns}. "
        return (part if self.is_part else "") + "In each, the lane that wrote it."

    def draw(self, pen: Pen) -> None:
        pen.write(LEFT, TOP + 0.06, f"{self.run.output}: {self.words}", bold=True)
        picked = self.run.writers.get(self.run.picked) if self.run.picked else None
        cells = pen.at(*self.corner, _CELL_WIDTH, _CELL_HEIGHT)
        for (row, column), thread in self.run.writers.items():
            if row < self.rows and column < self.columns:
                lane = thread[-1]
                pale = style.tint(colour_of(lane % _GROUP), 0.35)
                looks = (
                    {**LIT, "line": 1.4}
                    if thread == picked
                    else {"face": pale, "edge": style.PAPER}
                )
                cells.cell(row, column, str(lane), **looks)
        for row in range(self.rows):
            beside = self.corner[0] - 0.08
            y = self.corner[1] + (row + 0.5) * _CELL_HEIGHT
            pen.write(beside, y, str(row), ha="right", colour=style.GREY)
        for column in range(self.columns):
            x = self.corner[0] + (column + 0.5) * _CELL_WIDTH
            pen.write(x, self.corner[1] - 0.1, str(column), ha="center", colour=style.GREY)


def shows_lanes(run: OwnRun) -> bool:
    """Is it one warp, each of whose lanes wrote several elements of a matrix?"""
    is_warp = int(np.prod((*run.grid, *run.block))) == run.block[0] == 32
    return is_warp and run.axes_of_output == 2 and run.elements_written > run.block[0]
