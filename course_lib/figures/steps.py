"""Draw one step of k for a thread of a product in large tiles."""

from course_lib.curriculum import Task
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.picture import Picture

_LEFT, _TOP, _SIDE = 100.0, 58.0, 230.0  # the block's tile of C
_STRIP, _GAP = 16.0, 12.0
_ZOOM_LEFT, _ZOOM = 480.0, 192.0  # the thread's own square
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
    scene = Scene(720, _TOP + _SIDE + 10)
    # The tile of the output in squares, one to a thread, and one row of k of each input.
    _draw_step(scene, _LEFT, _SIDE, across, down, (_COLUMN, _ROW))
    y = _TOP + (_ROW + 0.5) * _SIDE / down
    scene.arrow(_LEFT + (_COLUMN + 1) * _SIDE / across, y, _ZOOM_LEFT - _GAP - _STRIP - 10, y)
    # The square of one thread, a cell to a sum, between the numbers that it comes from.
    _draw_step(scene, _ZOOM_LEFT, _ZOOM, wide, high, None)
    sums = f"{wide} × {high} sums"
    scene.text(_ZOOM_LEFT + _ZOOM / 2, _TOP + _ZOOM + 22, sums, "small", "middle")
    beside, above = _LEFT - _GAP - _STRIP - 10, _TOP - _GAP - 3
    scene.text(beside, _TOP + _SIDE / 2 + 6, first, "large bold", "end")
    scene.text(_LEFT - 14, above, second, "large bold", "end")
    scene.text(_LEFT + _SIDE + 10, _TOP + _SIDE - 6, output, "large bold")
    scene.text(_LEFT + _SIDE / 2, above - 22, "one step of k", "small muted", "middle")
    sentence = (
        f"Thread ({_COLUMN}, {_ROW}) has {wide} × {high} sums. In each step of k they take {high} "
        f"numbers of {first} and {wide} numbers of {second}."
    )
    return scene.still(title, f"{title}. {subtitle}. {sentence}", subtitle, sentence)


def _draw_step(
    scene: Scene, left: float, side: float, across: int, down: int, lit: tuple[int, int] | None
) -> None:
    """A square of outputs, with a column of the first input beside it and a row of the second
    above; the lit column and row, and what belongs to them, are highlighted.
    """
    column, row = lit or (-1, -1)
    wide, high = side / across, side / down
    for grid, css, place in (
        (Grid(left - _GAP - _STRIP, _TOP, (down, 1), _STRIP, high), "a", (row, 0)),
        (Grid(left, _TOP - _GAP - _STRIP, (1, across), wide, _STRIP), "b", (0, column)),
        (Grid(left, _TOP, (down, across), wide, high), "c", (row, column)),
    ):
        scene.path(grid.outline(), f"{css}-soft")
        scene.path(grid.lattice(), "lattice")
        if lit:
            scene.path(grid.box(*place), "lit")
