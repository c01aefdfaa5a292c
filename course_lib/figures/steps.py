"""Draw one step of k for a thread of a product in large tiles."""

from __future__ import annotations

from typing import Any

from course_lib.curriculum import Task
from course_lib.figures import style
from course_lib.figures.pen import LIT, Looks, Pen, tinted
from course_lib.figures.picture import Picture

_LEFT, _TOP, _SIDE = 1.05, 1.3, 2.4  # the block's tile of C
_STRIP, _GAP = 0.17, 0.12
_ZOOM_LEFT, _ZOOM = 5.0, 2.0  # the thread's own square
_COLUMN, _ROW = 10, 5  # of the thread that is picked out


def draw_square(task: Task) -> Picture:
    """The outputs of a block, those of one thread, and the numbers from which they come.

    Of the task it needs an output that one block of two directions covers, in equal squares.
    """
    across, down = task.block
    assert isinstance(across, int) and isinstance(down, int)
    rows, columns = (int(size) for size in task.shapes[-1].split(","))
    high, wide = rows // down, columns // across
    first, second, output = task.parameters
    title = f"Wanted: {task.formula}"
    subtitle = f"{rows} × {columns} outputs of one block of {across} × {down} threads"
    pen = Pen.card(_TOP + _SIDE + 0.75, title, subtitle)
    # The tile of the output in squares, one to a thread, and one row of k of each input.
    _draw_step(pen, _LEFT, _SIDE, across, down, (_COLUMN, _ROW))
    end = _LEFT + (_COLUMN + 1) * _SIDE / across, _TOP + (_ROW + 0.5) * _SIDE / down
    pen.arrow(end, (_ZOOM_LEFT - _GAP - _STRIP - 0.1, end[1]), colour=style.INK)
    # The square of one thread, a cell to a sum, between the numbers that it comes from.
    _draw_step(pen, _ZOOM_LEFT, _ZOOM, wide, high, None)
    below = _TOP + _ZOOM + 0.2
    pen.write(_ZOOM_LEFT + _ZOOM / 2, below, f"{wide} × {high} sums", ha="center")
    beside, above = _LEFT - _GAP - _STRIP - 0.1, _TOP - _GAP - _STRIP / 2
    bold: dict[str, Any] = {"bold": True, "size": style.LARGE}
    pen.write(beside, _TOP + _SIDE / 2, first, ha="right", **bold)
    pen.write(_LEFT - 0.14, above, second, ha="right", **bold)
    pen.write(_LEFT + _SIDE + 0.1, _TOP + _SIDE - 0.12, output, **bold)
    middle = _LEFT + _SIDE / 2
    pen.write(middle, above - 0.22, "one step of k", ha="center", colour=style.GREY)
    thread = f"Thread ({_COLUMN}, {_ROW})"
    sentence = (
        f"{thread} has {wide} × {high} sums. In each step of k they take {high} numbers of {first} "
        f"and {wide} numbers of {second}."
    )
    pen.write(0.2, _TOP + _SIDE + 0.45, sentence)
    return pen.picture(f"{title}. {subtitle}. {sentence}")


def _draw_step(
    pen: Pen, left: float, side: float, across: int, down: int, lit: tuple[int, int] | None
) -> None:
    """A square of outputs, with a column of the first input beside it and a row of the second
    above; the lit column and row, and what belongs to them, are highlighted.
    """
    column, row = lit or (-1, -1)
    width, height = side / across, side / down
    first = pen.at(left - _GAP - _STRIP, _TOP, _STRIP, height)
    second = pen.at(left, _TOP - _GAP - _STRIP, width, _STRIP)
    output = pen.at(left, _TOP, width, height)
    for y in range(down):
        first.cell(y, 0, **_looks(style.BLUE, y == row))
        for x in range(across):
            output.cell(y, x, **_looks(style.GREEN, (x, y) == lit))
    for x in range(across):
        second.cell(0, x, **_looks(style.ORANGE, x == column))


def _looks(colour: str, is_lit: bool) -> Looks:
    return {**LIT, "line": 1.6} if is_lit else tinted(colour, 0.25, 0.6)
