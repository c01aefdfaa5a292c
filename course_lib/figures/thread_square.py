"""Draw what one thread of a product in large tiles has to compute, in one step of k."""

from __future__ import annotations

from matplotlib.axes import Axes

from course_lib.curriculum import Task
from course_lib.figures import style
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
    axes = style.canvas(figure)
    _draw_tile(axes, across, down)
    _draw_own(axes, wide, high)
    _draw_names(axes, first, second, output)
    thread = f"Thread ({_COLUMN}, {_ROW})"
    sentence = (
        f"{thread} has {wide} × {high} sums. In each step of k they take {high} numbers of {first} "
        f"and {wide} numbers of {second}."
    )
    style.write(axes, 0.2, _TOP + _SIDE + 0.45, sentence)
    return Picture(figure, f"{title}. {subtitle}. {sentence}")


def _draw_tile(axes: Axes, across: int, down: int) -> None:
    """The tile of the output in squares, one to a thread, and one row of k of each input."""
    width, height = _SIDE / across, _SIDE / down
    beside, above = _LEFT - _GAP - _STRIP, _TOP - _GAP - _STRIP
    for y in range(down):
        _cell(axes, beside, _TOP + y * height, _STRIP, height, style.BLUE, y == _ROW)
        for x in range(across):
            corner = _LEFT + x * width, _TOP + y * height
            _cell(axes, *corner, width, height, style.GREEN, (x, y) == (_COLUMN, _ROW))
    for x in range(across):
        _cell(axes, _LEFT + x * width, above, width, _STRIP, style.ORANGE, x == _COLUMN)
    end = _LEFT + (_COLUMN + 1) * width, _TOP + (_ROW + 0.5) * height
    style.arrow(axes, end, (_ZOOM_LEFT - _GAP - _STRIP - 0.1, end[1]), colour=style.INK)


def _draw_own(axes: Axes, wide: int, high: int) -> None:
    """The square of one thread, a cell to a sum, between the numbers that it comes from."""
    width, height = _ZOOM / wide, _ZOOM / high
    for i in range(high):
        _cell(
            axes, _ZOOM_LEFT - _GAP - _STRIP, _TOP + i * height, _STRIP, height, style.BLUE, False
        )
        for j in range(wide):
            _cell(
                axes, _ZOOM_LEFT + j * width, _TOP + i * height, width, height, style.GREEN, False
            )
    for j in range(wide):
        _cell(
            axes, _ZOOM_LEFT + j * width, _TOP - _GAP - _STRIP, width, _STRIP, style.ORANGE, False
        )
    below = _TOP + _ZOOM + 0.2
    style.write(axes, _ZOOM_LEFT + _ZOOM / 2, below, f"{wide} × {high} sums", ha="center")


def _draw_names(axes: Axes, first: str, second: str, output: str) -> None:
    beside, above = _LEFT - _GAP - _STRIP - 0.1, _TOP - _GAP - _STRIP / 2
    bold = {"fontweight": "bold", "fontsize": style.LARGE}
    style.write(axes, beside, _TOP + _SIDE / 2, first, ha="right", **bold)
    style.write(axes, _LEFT - 0.14, above, second, ha="right", **bold)
    style.write(axes, _LEFT + _SIDE + 0.1, _TOP + _SIDE - 0.12, output, **bold)
    middle = _LEFT + _SIDE / 2
    style.write(axes, middle, above - 0.22, "one step of k", ha="center", color=style.GREY)


def _cell(
    axes: Axes, x: float, y: float, width: float, height: float, colour: str, is_lit: bool
) -> None:
    style.rectangle(
        axes, (x, y), width, height,
        facecolor=style.YELLOW if is_lit else style.tint(colour, 0.25),
        edgecolor=style.INK if is_lit else colour, linewidth=1.6 if is_lit else 0.6,
        zorder=3 if is_lit else 2,
    )  # fmt: skip
