"""Draw who computes what: blocks and threads laid over a matrix, and the threads left over."""

from __future__ import annotations

from typing import Any, Literal

from course_lib.devices import WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.words import counted

XIs = Literal["column", "row"]
_MOST_BLOCKS = 48
_FLAT = 0.6  # inches: so low are the threads where their key stands below them


@style.drawn
def grid_of_threads(
    grid: tuple[int, int],
    block: tuple[int, int],
    shape: tuple[int, int],
    *,
    thread: tuple[tuple[int, int], tuple[int, int]] | None = None,
    x_is: XIs = "column",
    first_warp: bool = True,
) -> Picture:
    """Blocks and threads over a matrix of `shape` = (rows, columns).

    Args:
        grid: blocks as (x, y).
        block: threads of a block as (x, y).
        thread: ((block x, block y), (thread x, thread y)): the one whose arithmetic is shown.
        x_is: "column" where column = blockIdx.x * blockDim.x + threadIdx.x, "row" for the other
            mapping, in which a warp runs down a column of the matrix.
        first_warp: mark the first warp's lanes; lessons that have not met warps leave it out.

    Raises:
        ValueError: if there are more blocks than a picture can show.
    """
    if grid[0] * grid[1] > _MOST_BLOCKS:
        raise ValueError(f"{grid[0] * grid[1]} blocks are too many to draw; take a smaller grid.")
    across, down = _extent(grid, block, x_is)
    widest, highest = max(across, shape[1]), max(down, shape[0])
    cell = min(4.5 / widest, 3.4 / highest, 0.4)
    # A few rows leave the room below them empty: there stands the key, and they take all the width.
    is_flat = cell * highest < _FLAT
    if is_flat:
        cell = min(6.6 / widest, _FLAT / highest, 0.55)
        height = cell * highest + (2.2 if thread else 1.85)
    else:
        height = max(cell * highest + 1.25, 3.2 if thread else 2.5)
    figure = style.card(
        height,
        f"{grid[0]} × {grid[1]} blocks of {block[0]} × {block[1]} threads "
        f"over {shape[0]} × {shape[1]} elements",
        f"Grid and block are (x, y), and x is the {x_is}; the matrix is rows × columns",
    )
    pen = Pen.on(figure)
    origin = (0.55, 0.95)
    _draw_cells(pen, origin, cell, (across, down), shape)
    _draw_blocks(pen, origin, cell, grid, block, x_is, shape, thread)
    _draw_matrix_edge(pen, origin, cell, shape)
    if first_warp:
        _draw_first_warp(pen, origin, cell, block, x_is)
    if thread is not None:
        _draw_thread(pen, origin, cell, thread, block, x_is)
    idle = across * down - min(across, shape[1]) * min(down, shape[0])
    missed = shape[0] * shape[1] - min(across, shape[1]) * min(down, shape[0])
    entries_at = (origin[0] + widest * cell + 0.3, 1.0)
    _draw_key(
        pen,
        (origin[0], origin[1] + highest * cell + 0.52) if is_flat else entries_at,
        is_flat,
        idle,
        missed,
        thread,
        block,
        shape,
        x_is,
        first_warp,
    )
    return Picture(figure, _words(grid, block, shape, idle, missed, thread, x_is, first_warp))


def _extent(grid: tuple[int, int], block: tuple[int, int], x_is: XIs) -> tuple[int, int]:
    """Threads across and down the picture."""
    along_x, along_y = grid[0] * block[0], grid[1] * block[1]
    return (along_x, along_y) if x_is == "column" else (along_y, along_x)


def element_of(
    thread: tuple[tuple[int, int], tuple[int, int]], block: tuple[int, int], x_is: XIs = "column"
) -> tuple[int, int]:
    """(row, column) that a thread ((block x, block y), (thread x, thread y)) stands for."""
    (block_x, block_y), (thread_x, thread_y) = thread
    x, y = block_x * block[0] + thread_x, block_y * block[1] + thread_y
    return (y, x) if x_is == "column" else (x, y)


def _draw_cells(
    pen: Pen,
    origin: tuple[float, float],
    cell: float,
    extent: tuple[int, int],
    shape: tuple[int, int],
) -> None:
    """Three regions: threads with an element, threads without one, elements without a thread."""
    (across, down), (rows, columns) = extent, shape
    _region(pen, origin, cell, (0, min(across, columns)), (0, min(down, rows)), None)
    _region(pen, origin, cell, (columns, across), (0, down), "////")
    _region(pen, origin, cell, (0, min(across, columns)), (rows, down), "////")
    _region(pen, origin, cell, (across, columns), (0, rows), "xxx")
    _region(pen, origin, cell, (0, min(across, columns)), (down, rows), "xxx")
    if cell < 0.1:
        return
    left, top = origin
    for column in range(across + 1):
        pen.line(
            (left + column * cell, top),
            (left + column * cell, top + down * cell),
            colour=style.FAINT,
            line=0.6,
            z=1,
        )
    for row in range(down + 1):
        pen.line(
            (left, top + row * cell),
            (left + across * cell, top + row * cell),
            colour=style.FAINT,
            line=0.6,
            z=1,
        )


def _region(
    pen: Pen,
    origin: tuple[float, float],
    cell: float,
    columns: tuple[int, int],
    rows: tuple[int, int],
    hatch: str | None,
) -> None:
    """A rectangle of elements, from the first to before the last; nothing where it is empty."""
    if columns[0] >= columns[1] or rows[0] >= rows[1]:
        return
    pen.rectangle(
        origin[0] + columns[0] * cell,
        origin[1] + rows[0] * cell,
        (columns[1] - columns[0]) * cell,
        (rows[1] - rows[0]) * cell,
        hatch=hatch,
        face=style.PAPER if hatch else style.tint(style.GREEN, 0.25),
        edge=style.tint(style.VERMILION, 0.5) if hatch else "none",
        line=0,
        z=0,
    )


def _draw_blocks(
    pen: Pen,
    origin: tuple[float, float],
    cell: float,
    grid: tuple[int, int],
    block: tuple[int, int],
    x_is: XIs,
    shape: tuple[int, int],
    thread: tuple[tuple[int, int], tuple[int, int]] | None,
) -> None:
    wide, high = block if x_is == "column" else (block[1], block[0])
    for block_y in range(grid[1]):
        for block_x in range(grid[0]):
            across, down = (block_x, block_y) if x_is == "column" else (block_y, block_x)
            x, y = origin[0] + across * wide * cell, origin[1] + down * high * cell
            pen.rectangle(x, y, wide * cell, high * cell, edge=style.BLUE, line=1.8)
            # A single low row of blocks has room for its names below.
            low = high * cell < 0.62 and (grid[1] if x_is == "column" else grid[0]) == 1
            left, right = _larger_part(across * wide, wide, shape[1])
            top, bottom = _larger_part(down * high, high, shape[0])
            middle = (top + bottom) / 2
            if thread is not None and thread[0] == (block_x, block_y):
                marked = element_of(thread, block, x_is)[0] + 0.5
                if abs(marked - middle) * cell < 0.25:  # the name makes room for the mark
                    middle = (middle + (top if marked >= middle else bottom)) / 2
            is_narrow = (right - left) * cell < 0.8 and not low
            pen.write(
                x + wide * cell / 2 if low else origin[0] + (left + right) / 2 * cell,
                y + high * cell + 0.14 if low else origin[1] + middle * cell,
                f"({block_x}, {block_y})" if is_narrow else f"block ({block_x}, {block_y})",
                ha="center",
                colour=style.BLUE,
                z=6.7,
                bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6},
            )


def _larger_part(first: int, size: int, edge: int) -> tuple[int, int]:
    """Where a block's name stands along one axis: clear of the matrix's edge, if that cuts it."""
    last = first + size
    if not first < edge < last:
        return first, last
    return (first, edge) if edge - first >= last - edge else (edge, last)


def _draw_matrix_edge(
    pen: Pen, origin: tuple[float, float], cell: float, shape: tuple[int, int]
) -> None:
    left, top = origin
    rows, columns = shape
    pen.rectangle(left, top, columns * cell, rows * cell, edge=style.INK, line=2.6, z=5)
    pen.write(
        left + columns * cell / 2, top - 0.06, counted(columns, "column"), va="bottom", ha="center"
    )
    pen.write(left - 0.08, top + rows * cell / 2, counted(rows, "row"), ha="right", rotation=90)


def _draw_first_warp(
    pen: Pen, origin: tuple[float, float], cell: float, block: tuple[int, int], x_is: XIs
) -> None:
    """Warp 0 of block (0, 0): lanes run along x first."""
    margin = 0.2 if cell >= 0.1 else 0.0
    for lane in range(min(WARP_SIZE, block[0] * block[1])):
        thread = ((0, 0), (lane % block[0], lane // block[0]))
        row, column = element_of(thread, block, x_is)
        pen.rectangle(
            origin[0] + (column + margin) * cell,
            origin[1] + (row + margin) * cell,
            (1 - 2 * margin) * cell,
            (1 - 2 * margin) * cell,
            face=style.YELLOW,
            edge=style.INK,
            line=0.6 if margin else 0.2,
            z=6.5,
        )


def _draw_thread(
    pen: Pen,
    origin: tuple[float, float],
    cell: float,
    thread: tuple[tuple[int, int], tuple[int, int]],
    block: tuple[int, int],
    x_is: XIs,
) -> None:
    row, column = element_of(thread, block, x_is)
    pen.rectangle(
        origin[0] + column * cell,
        origin[1] + row * cell,
        cell,
        cell,
        face=style.VERMILION,
        edge=style.INK,
        line=1.6,
        z=7,
    )


def _arithmetic(
    thread: tuple[tuple[int, int], tuple[int, int]], block: tuple[int, int], x_is: XIs
) -> tuple[str, str]:
    """The two lines that lead from a thread to its element."""
    (block_x, block_y), (thread_x, thread_y) = thread
    row, column = element_of(thread, block, x_is)
    along_x = f"{block_x} · {block[0]} + {thread_x} = {column if x_is == 'column' else row}"
    along_y = f"{block_y} · {block[1]} + {thread_y} = {row if x_is == 'column' else column}"
    if x_is == "column":
        return f"column = {along_x}", f"row = {along_y}"
    return f"row = {along_x}", f"column = {along_y}"


def _draw_key(
    pen: Pen,
    corner: tuple[float, float],
    is_flat: bool,
    idle: int,
    missed: int,
    thread: tuple[tuple[int, int], tuple[int, int]] | None,
    block: tuple[int, int],
    shape: tuple[int, int],
    x_is: XIs,
    first_warp: bool,
) -> None:
    """What the colours mean, one below the other, or side by side."""
    x, y = corner
    entries: list[tuple[Any, str | None, str]] = [
        (style.tint(style.GREEN, 0.25), None, "a thread with an element"),
    ]
    if first_warp:
        entries.append((style.YELLOW, None, "the first warp's lanes"))
    if idle:
        entries.append((style.PAPER, "////", f"{idle} threads out of range:\nthe guard stops them"))
    if missed:
        entries.append((style.PAPER, "xx", f"{missed} elements that\nno thread computes"))
    for colour, hatch, words in entries:
        pen.rectangle(
            x,
            y - 0.08,
            0.18,
            0.18,
            face=colour,
            hatch=hatch,
            line=0.8,
            edge=style.tint(style.VERMILION, 0.5) if hatch else style.GREY,
        )
        pen.write(x + 0.26, y, words, linespacing=1.15)
        if is_flat:
            x += 0.6 + 0.075 * max(map(len, words.split("\n")))
        else:
            y += 0.42 if "\n" in words else 0.3
    if thread is not None:
        _draw_arithmetic(pen, (x, y if is_flat else y + 0.08), is_flat, thread, block, shape, x_is)


def _draw_arithmetic(
    pen: Pen,
    corner: tuple[float, float],
    is_flat: bool,
    thread: tuple[tuple[int, int], tuple[int, int]],
    block: tuple[int, int],
    shape: tuple[int, int],
    x_is: XIs,
) -> None:
    """How the marked thread finds its element."""
    x, y = corner
    row, column = element_of(thread, block, x_is)
    pen.rectangle(x, y - 0.08, 0.18, 0.18, face=style.VERMILION, edge=style.INK)
    (block_x, block_y), (thread_x, thread_y) = thread
    named = f"thread ({thread_x}, {thread_y})\nof block ({block_x}, {block_y})"
    pen.write(x + 0.26, y, named, linespacing=1.15)
    inside = row < shape[0] and column < shape[1]
    verdict = f"→ element [{row}, {column}]" if inside else f"→ [{row}, {column}] is outside"
    lines = (*_arithmetic(thread, block, x_is), verdict)
    place = (x + 1.75, y - 0.09) if is_flat else (x, y + 0.28)
    pen.write(*place, "\n".join(lines), va="top", linespacing=1.35)


def _words(
    grid: tuple[int, int],
    block: tuple[int, int],
    shape: tuple[int, int],
    idle: int,
    missed: int,
    thread: tuple[tuple[int, int], tuple[int, int]] | None,
    x_is: XIs,
    first_warp: bool,
) -> str:
    way = "along a row" if x_is == "column" else "down a column"
    warp = f", so the first warp runs {way}" if first_warp else ""
    text = (
        f"A grid of {grid[0]} by {grid[1]} blocks, each of {block[0]} by {block[1]} threads, over "
        f"a matrix of {shape[0]} by {shape[1]} elements; threadIdx.x is the {x_is}{warp}. "
    )
    text += (
        f"{idle} threads are out of range: the guard stops them." if idle else "No thread is idle."
    )
    if missed:
        text += f" {missed} elements have no thread."
    if thread is not None:
        text += (
            f" Thread {thread[1]} of block {thread[0]}: "
            + ", ".join(_arithmetic(thread, block, x_is)).replace("·", "times")
            + "."
        )
    return text


_WARP_COLOURS = (style.SKY, style.ORANGE, style.GREEN, style.PURPLE)


@style.drawn
def warps_of_block(block: tuple[int, int]) -> Picture:
    """Which warp and which lane each thread of a block is; block=(x, y).

    Raises:
        ValueError: if the block is too large to write a number into each thread.
    """
    wide, high = block
    if wide > WARP_SIZE or wide * high > 512 or high > 20:
        raise ValueError(f"A block of {wide} × {high} threads is too large to number.")
    beside = wide <= 16  # else the key stands below
    cell = min((4.6 if beside else 6.7) / wide, 3.4 / high, 0.4)
    warps = -(-wide * high // WARP_SIZE)
    below = 0.0 if beside else 0.3 * -(-warps // 4)
    figure = style.card(
        max(1.3 + cell * high + below, 1.2 + 0.3 * warps if beside else 0, 2.3),
        f"A block of {wide} × {high} threads is {counted(warps, 'warp')}",
        "The number in a thread is its lane; lanes follow threadIdx.x first",
    )
    pen = Pen.on(figure)
    left, top = 0.6, 1.0
    pen.write(left, top - 0.12, "threadIdx.x →", va="baseline", colour=style.GREY)
    pen.write(
        left - 0.12, top, "threadIdx.y →", va="top", ha="right", rotation=-90, colour=style.GREY
    )
    for thread in range(wide * high):
        row, column = divmod(thread, wide)
        corner = (left + column * cell, top + row * cell)
        _draw_lane(pen, corner, cell, *divmod(thread, WARP_SIZE))
    for warp in range(warps):
        if beside:
            x, y = left + wide * cell + 0.35, top + 0.12 + 0.3 * warp
        else:
            x, y = left + 1.7 * (warp % 4), top + high * cell + 0.25 + 0.3 * (warp // 4)
        _draw_lane(pen, (x, y - 0.1), 0.2, warp)
        last = min(WARP_SIZE, wide * high - warp * WARP_SIZE) - 1
        pen.write(x + 0.28, y, f"warp {warp}, lanes 0–{last}")
    return Picture(
        figure,
        f"A block of {wide} by {high} threads is {warps} warps. Lanes follow threadIdx.x first, "
        f"then threadIdx.y: thread (0, 0) is lane 0 of warp 0, thread ({wide - 1}, {high - 1}) is "
        f"lane {(wide * high - 1) % WARP_SIZE} of warp {warps - 1}.",
    )


def _draw_lane(
    pen: Pen, corner: tuple[float, float], cell: float, warp: int, lane: int | None = None
) -> None:
    colour = _WARP_COLOURS[warp % len(_WARP_COLOURS)]
    pen.rectangle(*corner, cell, cell, face=style.tint(colour, 0.35), edge=colour, line=0.8)
    if lane is not None and cell >= 0.17:
        pen.write(corner[0] + cell / 2, corner[1] + cell / 2, str(lane), ha="center")
