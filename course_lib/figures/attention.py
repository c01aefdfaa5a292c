"""Draw which tiles a block needs, in attention and in a product, and what one step of k takes."""

import numpy as np

# The square of the scores, the width of a narrow matrix, and where they begin.
from course_lib.curriculum import Task
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.picture import Picture

_SIDE, _NARROW, _LEFT, _TOP = 230.0, 40.0, 140.0, 118.0
_O_LEFT = _LEFT + _SIDE + 72


# Rows of Q, K, V and O; of a block and of a tile; and which ones stand out, counted from 0.
_TOKENS, _QUERIES, _KEYS, _BLOCK, _TILE = 128, 16, 32, 2, 2


def attention_tiles() -> Picture:
    """The matrix of scores, which never exists as a whole, and the piece of it in a block."""
    scene = Scene(720, _TOP + _SIDE + 8)
    high, wide = _SIDE * _QUERIES / _TOKENS, _SIDE * _KEYS / _TOKENS
    y, x = _TOP + _BLOCK * high, _LEFT + _TILE * wide
    # Q and O with the rows of the block, K and V with the tile.
    for name, left, css in (("Q", _LEFT - 20 - _NARROW, "a"), ("O", _O_LEFT, "c")):
        scene.rect(left, _TOP, _NARROW, _SIDE, f"{css}-soft")
        scene.rect(left, y, _NARROW, high, css, f"part of {name}")
        scene.text(left + _NARROW / 2, _TOP - 8, name, "large bold", "middle")
    for name, top in (("K", _TOP - 102), ("V", _TOP - 51)):
        scene.rect(_LEFT, top, _SIDE, _NARROW, "b-soft")
        scene.rect(x, top, wide, _NARROW, "b", f"part of {name}")
        scene.text(_LEFT - 12, top + 26, name, "large bold", "end")
    scene.rect(_LEFT, _TOP, _SIDE, _SIDE, "dashed")
    scene.rect(_LEFT, y, x - _LEFT, high, "hatch")
    scene.rect(x, y, wide, high, "lit", "scores")
    end = _LEFT + _SIDE
    scene.arrow(x + wide + 5, y + high / 2, end - 3, y + high / 2)
    scene.rect(end + 29, y, 14, high, "d", "kept")
    scene.text(_LEFT + _SIDE / 2, end - 80, "all scores: never stored", "small", "middle")
    scene.key(_O_LEFT + _NARROW + 28, _TOP + 10, (
        ("a", f"{_QUERIES} queries, fetched once"),
        ("b", f"{_KEYS} keys and values,\nin shared memory"),
        ("lit", f"{_QUERIES} × {_KEYS} scores, then weights"),
        ("hatch", "scores that are forgotten"),
        ("d", "maximum and sum so far"),
        ("c", "output so far"),
    ))  # fmt: skip
    return draw_scene(
        scene,
        "Attention, tile by tile",
        f"The matrix of scores of {_TOKENS} tokens is an empty square, {_TOKENS} by {_TOKENS}, "
        f"because it is never stored. Q is to its left, K and V are above it, and O is to its "
        f"right. A block owns {_QUERIES} rows of Q and O. It holds only {_QUERIES} by {_KEYS} "
        f"scores at a time, for the tile of K and V that is in shared memory. The scores of the "
        f"{_TILE} tiles before it are discarded, and {_TOKENS // _KEYS - _TILE - 1} more will "
        "follow. The maximum and the sum of each row are kept.",
        f"One block: {_QUERIES} queries stay, tiles of {_KEYS} keys and values come and go",
        f"{_TOKENS} tokens. K and V are drawn sideways, so the keys run across.",
    )


# --- One value of A and its users, one block and its tiles ----------------------------------------


_CSS = {"A": "a", "B": "b", "C": "c"}
_LARGEST = 16


def _around(shape: tuple[int, int, int], cell: float) -> dict[str, Grid]:
    """B is above C and A is to its left, so the row and the column of each product meet."""
    rows, columns, depth = shape
    left, top = 66 + depth * cell + 30, 8 + depth * cell + 30
    return {
        "A": Grid(66, top, (rows, depth), cell),
        "B": Grid(left, 8, (depth, columns), cell),
        "C": Grid(left, top, (rows, columns), cell),
    }


def _draw_name(scene: Scene, grid: Grid, name: str) -> None:
    y = (grid.y + grid.bottom) / 2 + 6
    scene.text(grid.x - 10, y, name, f"large bold {_CSS[name]}", "end")


def sharing(shape: tuple[int, int, int] = (4, 4, 4)) -> Picture:
    """The first value of A feeds a whole row of C.

    Args:
        shape: (M, N, K): C is M x N, A is M x K, B is K x N.

    Raises:
        ValueError: if a side is too long to draw.
    """
    rows, columns, depth = shape
    if max(shape) > _LARGEST:
        raise ValueError(f"A side of {max(shape)} is too long to draw; at most {_LARGEST}.")
    cell = min(360 / (depth + columns), 182 / max(rows, depth), 34)
    grids = _around(shape, cell)
    scene = Scene(720, grids["C"].bottom + 10)
    for name, grid in grids.items():
        _draw_name(scene, grid, name)
        # Of B, what the value is multiplied with; of C, its users.
        lit = {(0, j) for j in range(columns if name != "A" else 1)}
        for at in sorted(np.ndindex(grid.shape), key=lambda at: name == "A" and at in lit):
            words = f"{at[0]},{at[1]}" if at in lit and cell > 27 else ""
            css = "cell" if at not in lit else "lit" if name == "A" else f"{_CSS[name]}-soft"
            scene.cell(*grid.corner(*at), cell, cell, words, css)
    sums = [f"C[0][{j}] += A[0][0] · B[0][{j}]" for j in range(columns)]
    shown = sums if columns <= 6 else [*sums[:4], "…", sums[-1]]
    scene.lines(grids["C"].right + 32, grids["C"].y + 12, shown, "small mono")
    return draw_scene(
        scene,
        f"A[0][0] has {columns} users",
        f"Matrices A ({rows} by {depth}), B ({depth} by {columns}) and C ({rows} by {columns}). "
        f"The single value A[0][0] is needed by all {columns} outputs in row 0 of C.",
        "B is above C and A is to its left, so the row and the column of each product meet",
    )


def block_tiles(
    shape: tuple[int, int, int],
    tile: int | tuple[int, int, int],
    *,
    block: tuple[int, int] = (0, 0),
    step: int | None = None,
) -> Picture:
    """One block's tile of C, with the row of tiles of A and the column of tiles of B that it needs.

    Args:
        shape: (M, N, K).
        tile: T for square tiles, or (BM, BN, BK).
        block: (x, y): x counts tile columns of C, y tile rows.
        step: the pair of tiles that is in shared memory in this step; None lights the whole walk.
    """
    rows, columns, depth = shape
    high, wide, deep = (tile, tile, tile) if isinstance(tile, int) else tile
    steps = -(-depth // deep)
    grids = _around(shape, min(440 / (depth + columns), 288 / (rows + depth)))
    scene = Scene(720, grids["C"].bottom + 10)
    # By matrix, the tiles that are needed, and whether they are now.
    needed: dict[str, dict[tuple[int, ...], bool]] = {
        "A": {(block[1], k_step): step in (None, k_step) for k_step in range(steps)},
        "B": {(k_step, block[0]): step in (None, k_step) for k_step in range(steps)},
        "C": {(block[1], block[0]): True},
    }
    for (name, grid), size in zip(grids.items(), ((high, deep), (deep, wide), (high, wide)),
                                  strict=True):  # fmt: skip
        _draw_name(scene, grid, name)
        _draw_tiles(scene, grid, size, name, needed[name])
    words = [
        f"each value of A's tile: {wide} uses",
        f"each value of B's tile: {high} uses",
        f"K is walked in {steps} steps of {deep}",
    ]
    if step is not None:
        words.append(f"now in shared memory: pair {step}")
    scene.lines(grids["C"].right + 28, grids["C"].y + 12, words)
    return draw_scene(
        scene,
        f"Block ({block[0]}, {block[1]}): one tile of C, {steps} pairs of tiles",
        f"Block ({block[0]}, {block[1]}) computes one {high} by {wide} tile of C. It needs {steps} "
        f"tiles from one row of tiles of A and {steps} from one column of tiles of B; each value "
        f"of a tile of A is used {wide} times, and each value of a tile of B {high} times."
        + (f" Step {step} is highlighted." if step is not None else ""),
        f"M, N, K = {rows}, {columns}, {depth}; tiles {high} × {deep} of A, {deep} × {wide} of B, "
        f"{high} × {wide} of C",
    )


def _draw_tiles(
    scene: Scene, grid: Grid, tile: tuple[int, int], name: str, needed: dict[tuple[int, ...], bool]
) -> None:
    """A matrix cut into tiles; those needed now are filled, all that are needed are numbered."""
    (rows, columns), css = grid.shape, _CSS[name]
    for at in sorted(
        np.ndindex(-(-rows // tile[0]), -(-columns // tile[1])), key=needed.__contains__
    ):
        y, x = at[0] * tile[0], at[1] * tile[1]
        high, wide = min(tile[0], rows - y), min(tile[1], columns - x)
        looks = css if needed.get(at) else f"{css}-soft" if at in needed else "cell"
        number = str(at["AB".index(name) ^ 1]) if at in needed and name != "C" else ""
        has_room = min(wide, high) * grid.wide > 15
        box = (*grid.corner(y, x), wide * grid.wide, high * grid.high)
        ink = f"small on-{css}" if looks == css else "small"
        scene.cell(*box, number if has_room else "", looks, ink)


# --- One step of k for a thread of a product in large tiles ---------------------------------------


_SQ_LEFT, _SQ_TOP, _SQUARE = 100.0, 58.0, 230.0  # the block's tile of C
_STRIP, _SPACE = 16.0, 12.0
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
    scene = Scene(720, _SQ_TOP + _SQUARE + 10)
    # The tile of the output in squares, one to a thread, and one row of k of each input.
    _draw_step(scene, _SQ_LEFT, _SQUARE, across, down, (_COLUMN, _ROW))
    y = _SQ_TOP + (_ROW + 0.5) * _SQUARE / down
    scene.arrow(
        _SQ_LEFT + (_COLUMN + 1) * _SQUARE / across, y, _ZOOM_LEFT - _SPACE - _STRIP - 10, y
    )
    # The square of one thread, a cell to a sum, between the numbers that it comes from.
    _draw_step(scene, _ZOOM_LEFT, _ZOOM, wide, high, None)
    sums = f"{wide} × {high} sums"
    scene.text(_ZOOM_LEFT + _ZOOM / 2, _SQ_TOP + _ZOOM + 22, sums, "small", "middle")
    beside, above = _SQ_LEFT - _SPACE - _STRIP - 10, _SQ_TOP - _SPACE - 3
    scene.text(beside, _SQ_TOP + _SQUARE / 2 + 6, first, "large bold", "end")
    scene.text(_SQ_LEFT - 14, above, second, "large bold", "end")
    scene.text(_SQ_LEFT + _SQUARE + 10, _SQ_TOP + _SQUARE - 6, output, "large bold")
    scene.text(_SQ_LEFT + _SQUARE / 2, above - 22, "one step of k", "small muted", "middle")
    sentence = (
        f"Thread ({_COLUMN}, {_ROW}) has {wide} × {high} sums. In each step of k they take {high} "
        f"numbers of {first} and {wide} numbers of {second}."
    )
    return draw_scene(scene, title, f"{title}. {subtitle}. {sentence}", subtitle, sentence)


def _draw_step(
    scene: Scene, left: float, side: float, across: int, down: int, lit: tuple[int, int] | None
) -> None:
    """A square of outputs, with a column of the first input beside it and a row of the second
    above; the lit column and row, and what belongs to them, are highlighted.
    """
    column, row = lit or (-1, -1)
    wide, high = side / across, side / down
    for grid, css, place in (
        (Grid(left - _SPACE - _STRIP, _SQ_TOP, (down, 1), _STRIP, high), "a", (row, 0)),
        (
            Grid(left, _SQ_TOP - _SPACE - _STRIP, (1, across), wide, _STRIP),
            "b",
            (0, column),
        ),
        (Grid(left, _SQ_TOP, (down, across), wide, high), "c", (row, column)),
    ):
        scene.path(grid.outline(), f"{css}-soft")
        scene.path(grid.lattice(), "lattice")
        if lit:
            scene.path(grid.box(*place), "lit")
