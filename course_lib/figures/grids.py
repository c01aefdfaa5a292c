"""Draw who computes what: blocks and threads laid over a matrix, and the threads left over."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from course_lib.devices import WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Colour, Pen
from course_lib.figures.picture import Picture
from course_lib.wording.words import counted

XIs = Literal["column", "row"]
Pair = tuple[int, int]
_MOST_BLOCKS = 48
_FLAT = 0.6  # inches: so low are the threads where their key stands below them
_EDGE = style.tint(style.VERMILION, 0.5)  # of what is hatched


@dataclass(frozen=True)
class Cover:
    """A launch over a matrix: blocks and threads as (x, y), the matrix as (rows, columns)."""

    grid: Pair
    block: Pair
    shape: Pair
    thread: tuple[Pair, Pair] | None
    x_is: XIs
    first_warp: bool

    def turned(self, pair: Pair) -> Pair:
        """A pair (x, y) as (across, down), or back."""
        return pair if self.x_is == "column" else (pair[1], pair[0])

    @cached_property
    def extent(self) -> Pair:
        """Threads across and down the picture."""
        (blocks_x, blocks_y), (wide, high) = self.grid, self.block
        return self.turned((blocks_x * wide, blocks_y * high))

    @property
    def widest(self) -> int:
        return max(self.extent[0], self.shape[1])

    @property
    def highest(self) -> int:
        return max(self.extent[1], self.shape[0])

    @cached_property
    def _covered(self) -> int:
        return min(self.extent[0], self.shape[1]) * min(self.extent[1], self.shape[0])

    @property
    def idle(self) -> int:
        """Threads without an element."""
        return self.extent[0] * self.extent[1] - self._covered

    @property
    def missed(self) -> int:
        """Elements without a thread."""
        return self.shape[0] * self.shape[1] - self._covered

    def element_of(self, thread: tuple[Pair, Pair]) -> Pair:
        """(row, column) that a thread ((block x, block y), (thread x, thread y)) stands for."""
        (block_x, block_y), (thread_x, thread_y) = thread
        x, y = block_x * self.block[0] + thread_x, block_y * self.block[1] + thread_y
        return (y, x) if self.x_is == "column" else (x, y)

    def arithmetic(self, thread: tuple[Pair, Pair]) -> tuple[str, str]:
        """The two lines that lead from a thread to its element."""
        (block_x, block_y), (thread_x, thread_y) = thread
        x, y = self.turned(self.element_of(thread)[::-1])
        names = ("column", "row") if self.x_is == "column" else ("row", "column")
        return (
            f"{names[0]} = {block_x} · {self.block[0]} + {thread_x} = {x}",
            f"{names[1]} = {block_y} · {self.block[1]} + {thread_y} = {y}",
        )


@style.drawn
def grid_of_threads(
    grid: Pair,
    block: Pair,
    shape: Pair,
    *,
    thread: tuple[Pair, Pair] | None = None,
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
    it = Cover(grid, block, shape, thread, x_is, first_warp)
    cell = min(4.5 / it.widest, 3.4 / it.highest, 0.4)
    # A few rows leave the room below them empty: there stands the key, and they take all the width.
    is_flat = cell * it.highest < _FLAT
    if is_flat:
        cell = min(6.6 / it.widest, _FLAT / it.highest, 0.55)
        height = cell * it.highest + (2.2 if thread else 1.85)
    else:
        height = max(cell * it.highest + 1.25, 3.2 if thread else 2.5)
    pen = Pen.card(
        height,
        f"{grid[0]} × {grid[1]} blocks of {block[0]} × {block[1]} threads "
        f"over {shape[0]} × {shape[1]} elements",
        f"Grid and block are (x, y), and x is the {x_is}; the matrix is rows × columns",
    )
    _draw_threads(pen.at(0.55, 0.95, cell), it)
    beside, below = (0.55 + it.widest * cell + 0.3, 1.0), (0.55, 0.95 + it.highest * cell + 0.52)
    _draw_key(pen, below if is_flat else beside, is_flat, it)
    return pen.picture(_words(it))


def _draw_threads(pen: Pen, it: Cover) -> None:
    """The matrix and the threads over it, a cell to each."""
    _draw_cells(pen, it)
    _draw_blocks(pen, it)
    rows, columns = it.shape
    pen.rectangle(0, 0, columns, rows, edge=style.INK, line=2.6, z=5)
    above, beside = -0.06 / pen.high, -0.08 / pen.wide
    pen.write(columns / 2, above, counted(columns, "column"), va="bottom", ha="center")
    pen.write(beside, rows / 2, counted(rows, "row"), ha="right", rotation=90)
    if it.first_warp:
        _draw_first_warp(pen, it)
    if it.thread is not None:
        row, column = it.element_of(it.thread)
        pen.cell(row, column, face=style.VERMILION, edge=style.INK, line=1.6, z=7)


def _draw_cells(pen: Pen, it: Cover) -> None:
    """Three regions: threads with an element, threads without one, elements without a thread."""
    (across, down), (rows, columns) = it.extent, it.shape
    _region(pen, (0, min(across, columns)), (0, min(down, rows)), None)
    _region(pen, (columns, across), (0, down), "////")
    _region(pen, (0, min(across, columns)), (rows, down), "////")
    _region(pen, (across, columns), (0, rows), "xxx")
    _region(pen, (0, min(across, columns)), (down, rows), "xxx")
    if pen.wide < 0.1:
        return
    for column in range(across + 1):
        pen.line((column, 0), (column, down), colour=style.FAINT, line=0.6, z=1)
    for row in range(down + 1):
        pen.line((0, row), (across, row), colour=style.FAINT, line=0.6, z=1)


def _region(pen: Pen, columns: Pair, rows: Pair, hatch: str | None) -> None:
    """A rectangle of elements, from the first to before the last; nothing where it is empty."""
    if columns[0] >= columns[1] or rows[0] >= rows[1]:
        return
    face, edge = (style.PAPER, _EDGE) if hatch else (style.tint(style.GREEN, 0.25), "none")
    pen.rectangle(
        columns[0], rows[0], columns[1] - columns[0], rows[1] - rows[0],
        hatch=hatch, face=face, edge=edge, line=0, z=0,
    )  # fmt: skip


def _draw_blocks(pen: Pen, it: Cover) -> None:
    """Each block's edge and its name, clear of the matrix's edge and of the thread's mark."""
    wide, high = it.turned(it.block)
    # A single low row of blocks has room for its names below.
    is_low = high * pen.high < 0.62 and it.turned(it.grid)[1] == 1
    for block_y in range(it.grid[1]):
        for block_x in range(it.grid[0]):
            across, down = it.turned((block_x, block_y))
            x, y = across * wide, down * high
            pen.rectangle(x, y, wide, high, edge=style.BLUE, line=1.8)
            left, right = _larger_part(x, wide, it.shape[1])
            top, bottom = _larger_part(y, high, it.shape[0])
            middle = (top + bottom) / 2
            if it.thread is not None and it.thread[0] == (block_x, block_y):
                marked = it.element_of(it.thread)[0] + 0.5
                if abs(marked - middle) * pen.high < 0.25:  # the name makes room for the mark
                    middle = (middle + (top if marked >= middle else bottom)) / 2
            is_narrow = (right - left) * pen.wide < 0.8 and not is_low
            pen.write(
                x + wide / 2 if is_low else (left + right) / 2,
                y + high + 0.14 / pen.high if is_low else middle,
                f"({block_x}, {block_y})" if is_narrow else f"block ({block_x}, {block_y})",
                ha="center", colour=style.BLUE, z=6.7,
                bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6},
            )  # fmt: skip


def _larger_part(first: int, size: int, edge: int) -> Pair:
    """Where a block's name stands along one axis: clear of the matrix's edge, if that cuts it."""
    last = first + size
    if not first < edge < last:
        return first, last
    return (first, edge) if edge - first >= last - edge else (edge, last)


def _draw_first_warp(pen: Pen, it: Cover) -> None:
    """Warp 0 of block (0, 0): lanes run along x first."""
    margin = 0.2 if pen.wide >= 0.1 else 0.0
    side, line = 1 - 2 * margin, 0.6 if margin else 0.2
    for lane in range(min(WARP_SIZE, it.block[0] * it.block[1])):
        row, column = it.element_of(((0, 0), (lane % it.block[0], lane // it.block[0])))
        corner = column + margin, row + margin
        pen.rectangle(*corner, side, side, face=style.YELLOW, edge=style.INK, line=line, z=6.5)


def _draw_key(pen: Pen, corner: tuple[float, float], is_flat: bool, it: Cover) -> None:
    """What the colours mean, one below the other, or side by side."""
    x, y = corner
    entries: list[tuple[Colour, str | None, str]] = [
        (style.tint(style.GREEN, 0.25), None, "a thread with an element")
    ]
    if it.first_warp:
        entries.append((style.YELLOW, None, "the first warp's lanes"))
    if it.idle:
        words = f"{it.idle} threads out of range:\nthe guard stops them"
        entries.append((style.PAPER, "////", words))
    if it.missed:
        entries.append((style.PAPER, "xx", f"{it.missed} elements that\nno thread computes"))
    for colour, hatch, words in entries:
        pen.key(x, y, words, face=colour, hatch=hatch, edge=_EDGE if hatch else style.GREY)
        if is_flat:
            x += 0.6 + 0.075 * max(map(len, words.split("\n")))
        else:
            y += 0.42 if "\n" in words else 0.3
    if it.thread is not None:
        _draw_arithmetic(pen, (x, y if is_flat else y + 0.08), is_flat, it, it.thread)


def _draw_arithmetic(
    pen: Pen, corner: tuple[float, float], is_flat: bool, it: Cover, thread: tuple[Pair, Pair]
) -> None:
    """How the marked thread finds its element."""
    x, y = corner
    row, column = it.element_of(thread)
    words = f"thread {thread[1]}\nof block {thread[0]}"
    pen.key(x, y, words, face=style.VERMILION, edge=style.INK, line=None)
    inside = row < it.shape[0] and column < it.shape[1]
    verdict = f"→ element [{row}, {column}]" if inside else f"→ [{row}, {column}] is outside"
    lines = "\n".join((*it.arithmetic(thread), verdict))
    place = (x + 1.75, y - 0.09) if is_flat else (x, y + 0.28)
    pen.write(*place, lines, va="top", linespacing=1.35)


def _words(it: Cover) -> str:
    way = "along a row" if it.x_is == "column" else "down a column"
    warp = f", so the first warp runs {way}" if it.first_warp else ""
    text = (
        f"A grid of {it.grid[0]} by {it.grid[1]} blocks, each of {it.block[0]} by {it.block[1]} "
        f"threads, over a matrix of {it.shape[0]} by {it.shape[1]} elements; threadIdx.x is the "
        f"{it.x_is}{warp}. "
    )
    idle = f"{it.idle} threads are out of range: the guard stops them."
    text += idle if it.idle else "No thread is idle."
    if it.missed:
        text += f" {it.missed} elements have no thread."
    if it.thread is not None:
        told = ", ".join(it.arithmetic(it.thread)).replace("·", "times")
        text += f" Thread {it.thread[1]} of block {it.thread[0]}: {told}."
    return text
