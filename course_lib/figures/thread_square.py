"""Draw what one thread of a product in large tiles has to compute, in one step of k."""

from __future__ import annotations

from typing import Any

from course_lib.curriculum import Task
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture

_LEFT, _TOP, _SIDE = 1.05, 1.3, 2.4  # the block's tile of C
_STRIP, _GAP = 0.17, 0.12
_ZOOM_LEFT, _ZOOM = 5.0, 2.0  # the thread's own square
_COLUMN, _ROW = 10, 5  # of the thread that is picked out


def draw_square(task: Task) -> Picture:
    """The outputs of a block, those of one thread, and the numbers that they come from.

    Of the task it needs an output that one block of two directions covers, in equal squares.
    """
    across, down = task.block
    assert isinstance(across, int) and isinstance(down, int)
    rows, columns = (int(size) for size in task.shapes[-1].split(","))
    high, wide = rows // down, columns // across
    first, second, output = task.parameters
    title = f"Wanted: {task.formula}"
    subtitle = f"{rows} × {columns} outputs of one block of {across} × {down} threads"
    figure = style.card(_TOP + _SIDE + 0.75, title, subtitle)
    pen = Pen.on(figure)
    _draw_tile(pen, across, down)
    _draw_own(pen, wide, high)
    _draw_names(pen, first, second, output)
    thread = f"Thread ({_COLUMN}, {_ROW})"
    sentence = (
        f"{thread} has {wide} × {high} sums. In each step of k they take {high} numbers of {first} "
        f"and {wide} numbers of {second}."
    )
    pen.write(0.2, _TOP + _SIDE + 0.45, sentence)
    return Picture(figure, f"{title}. {subtitle}. {sentence}")


def _draw_tile(pen: Pen, across: int, down: int) -> None:
    """The tile of the output in squares, one to a thread, and one row of k of each input."""
    width, height = _SIDE / across, _SIDE / down
    beside, above = _LEFT - _GAP - _STRIP, _TOP - _GAP - _STRIP
    for y in range(down):
        _cell(pen, beside, _TOP + y * height, _STRIP, height, style.BLUE, y == _ROW)
        for x in range(across):
            corner = _LEFT + x * width, _TOP + y * height
            _cell(pen, *corner, width, height, style.GREEN, (x, y) == (_COLUMN, _ROW))
    for x in range(across):
        _cell(pen, _LEFT + x * width, above, width, _STRIP, style.ORANGE, x == _COLUMN)
    end = _LEFT + (_COLUMN + 1) * width, _TOP + (_ROW + 0.5) * height
    pen.arrow(end, (_ZOOM_LEFT - _GAP - _STRIP - 0.1, end[1]), colour=style.INK)


def _draw_own(pen: Pen, wide: int, high: int) -> None:
    """The square of one thread, a cell to a sum, between the numbers that it comes from."""
    width, height = _ZOOM / wide, _ZOOM / high
    for i in range(high):
        _cell(pen, _ZOOM_LEFT - _GAP - _STRIP, _TOP + i * height, _STRIP, height, style.BLUE, False)
        for j in range(wide):
            _cell(pen, _ZOOM_LEFT + j * width, _TOP + i * height, width, height, style.GREEN, False)
    for j in range(wide):
        _cell(pen, _ZOOM_LEFT + j * width, _TOP - _GAP - _STRIP, width, _STRIP, style.ORANGE, False)
    below = _TOP + _ZOOM + 0.2
    pen.write(_ZOOM_LEFT + _ZOOM / 2, below, f"{wide} × {high} sums", ha="center")


def _draw_names(pen: Pen, first: str, second: str, output: str) -> None:
    beside, above = _LEFT - _GAP - _STRIP - 0.1, _TOP - _GAP - _STRIP / 2
    bold: dict[str, Any] = {"bold": True, "size": style.LARGE}
    pen.write(beside, _TOP + _SIDE / 2, first, ha="right", **bold)
    pen.write(_LEFT - 0.14, above, second, ha="right", **bold)
    pen.write(_LEFT + _SIDE + 0.1, _TOP + _SIDE - 0.12, output, **bold)
    middle = _LEFT + _SIDE / 2
    pen.write(middle, above - 0.22, "one step of k", ha="center", colour=style.GREY)


def _cell(
    pen: Pen, x: float, y: float, width: float, height: float, colour: str, is_lit: bool
) -> None:
    pen.rectangle(
        x,
        y,
        width,
        height,
        face=style.YELLOW if is_lit else style.tint(colour, 0.25),
        edge=style.INK if is_lit else colour,
        line=1.6 if is_lit else 0.6,
        z=3 if is_lit else 2,
    )
