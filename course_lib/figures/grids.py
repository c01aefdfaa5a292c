"""Draw who computes what: blocks and threads laid over a matrix, and the threads left over."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from course_lib.devices import WARP_SIZE
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.picture import Picture
from course_lib.wording.words import counted

XIs = Literal["column", "row"]
Pair = tuple[int, int]
_MOST_BLOCKS = 48
_FLAT = 58.0  # so low are the threads where their key stands below them
_LEFT = 66.0
_IDLE, _MISSED = "hatch-trouble", "dots"  # threads without an element, elements without a thread


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
    cover = Cover(grid, block, shape, thread, x_is, first_warp)
    cell = min(430 / cover.widest, 326 / cover.highest, 38)
    # A few rows leave the room below them empty: there stands the key, and they take all the width.
    is_flat = cell * cover.highest < _FLAT
    if is_flat:
        cell = min(630 / cover.widest, _FLAT / cover.highest, 53)
    board = Grid(_LEFT, 26, (cover.highest, cover.widest), cell)
    scene = Scene(720, board.bottom + 80 if is_flat else max(board.bottom + 14, 150))
    _draw_cells(scene, board, cover)
    _draw_matrix(scene, board, cover)
    _draw_names(scene, board, cover)
    _draw_key(scene, board, is_flat, cover)
    return draw_scene(
        scene,
        f"{grid[0]} × {grid[1]} blocks of {block[0]} × {block[1]} threads "
        f"over {shape[0]} × {shape[1]} elements",
        _words(cover),
        f"Grid and block are (x, y), and x is the {x_is}; the matrix is rows × columns",
    )


def _draw_cells(scene: Scene, board: Grid, cover: Cover) -> None:
    """Three regions: threads with an element, threads without one, elements without a thread."""
    (across, down), (rows, columns) = cover.extent, cover.shape
    inner_down, inner_across = min(down, rows), min(across, columns)
    for css, row, column, high, wide in (
        ("c-soft", 0, 0, inner_down, inner_across),
        (_IDLE, 0, columns, down, across - columns),
        (_IDLE, rows, 0, down - rows, inner_across),
        (_MISSED, 0, across, rows, columns - across),
        (_MISSED, down, 0, rows - down, inner_across),
    ):
        if high > 0 and wide > 0:
            scene.path(board.box(row, column, high, wide), f"{css} bare")
    if board.wide >= 10:
        scene.path(Grid(board.x, board.y, (down, across), board.wide).lattice(), "lattice")
    wide, high = cover.turned(cover.block)
    for row, column in np.ndindex(down // high, across // wide):
        scene.path(board.box(row * high, column * wide, high, wide), "stroke thick a")


def _draw_names(scene: Scene, board: Grid, cover: Cover) -> None:
    """Each block's name, clear of the matrix's edge and of the thread's mark."""
    wide, high = cover.turned(cover.block)
    # A single low row of blocks has room for its names below.
    is_low = high * board.wide < 60 and cover.turned(cover.grid)[1] == 1
    for block_y, block_x in np.ndindex(cover.grid[1], cover.grid[0]):
        across, down = cover.turned((block_x, block_y))
        x, y = across * wide, down * high
        left, right = _larger_part(x, wide, cover.shape[1])
        top, bottom = _larger_part(y, high, cover.shape[0])
        middle = (top + bottom) / 2
        if cover.thread is not None and cover.thread[0] == (block_x, block_y):
            marked = cover.element_of(cover.thread)[0] + 0.5
            if abs(marked - middle) * board.wide < 24:  # the name makes room for the mark
                middle = (middle + (top if marked >= middle else bottom)) / 2
        column = x + wide / 2 if is_low else (left + right) / 2
        at = board.corner(y + high if is_low else middle, column)
        is_narrow = (right - left) * board.wide < 77 and not is_low
        name = f"({block_x}, {block_y})" if is_narrow else f"block ({block_x}, {block_y})"
        scene.text(at[0], at[1] + (18 if is_low else 4), name, "small a halo", "middle")


def _larger_part(first: int, size: int, edge: int) -> Pair:
    """Where a block's name stands along one axis: clear of the matrix's edge, if that cuts it."""
    last = first + size
    if not first < edge < last:
        return first, last
    return (first, edge) if edge - first >= last - edge else (edge, last)


def _draw_matrix(scene: Scene, board: Grid, cover: Cover) -> None:
    """The edge of the matrix, warp 0 of block (0, 0), and the thread that is picked out."""
    rows, columns = cover.shape
    scene.path(board.box(0, 0, rows, columns), "outline")
    scene.text(*board.corner(-6 / board.wide, columns / 2), counted(columns, "column"), "small",
               "middle")  # fmt: skip
    x, y = board.corner(rows / 2, 0)
    scene.text(x - 8, y + 4, counted(rows, "row"), "small", "end")
    if cover.first_warp:
        margin = 0.2 if board.wide >= 10 else 0.0
        side = (1 - 2 * margin) * board.wide
        for lane in range(min(WARP_SIZE, cover.block[0] * cover.block[1])):
            row, column = cover.element_of(
                ((0, 0), (lane % cover.block[0], lane // cover.block[0]))
            )
            scene.rect(*board.corner(row + margin, column + margin), side, side, "lit thin")
    if cover.thread is not None:
        scene.path(board.box(*cover.element_of(cover.thread)), "trouble")


def _draw_key(scene: Scene, board: Grid, is_flat: bool, cover: Cover) -> None:
    """What the colours mean, one below the other, or side by side; then how the marked thread
    finds its element."""
    x, y = (board.x, board.bottom + 46) if is_flat else (board.right + 28, 36)
    entries = [("c-soft", "a thread with an element")]
    if cover.first_warp:
        entries.append(("lit thin", "the first warp's lanes"))
    if cover.idle:
        entries.append((_IDLE, f"{cover.idle} threads out of range:\nthe guard stops them"))
    if cover.missed:
        entries.append((_MISSED, f"{cover.missed} elements that\nno thread computes"))
    x, y = scene.key(x, y, entries, across=is_flat)
    if cover.thread is None:
        return
    words = f"thread {cover.thread[1]}\nof block {cover.thread[0]}"
    scene.key(x, y, [("trouble", words)])
    row, column = cover.element_of(cover.thread)
    inside = row < cover.shape[0] and column < cover.shape[1]
    verdict = f"→ element [{row}, {column}]" if inside else f"→ [{row}, {column}] is outside"
    lines = (*cover.arithmetic(cover.thread), verdict)
    y += 4 if is_flat else 44
    scene.lines(x + (165 if is_flat else 0), y, lines)
    scene.height = max(scene.height, y + 48)


def _words(cover: Cover) -> str:
    way = "along a row" if cover.x_is == "column" else "down a column"
    warp = f", so the first warp runs {way}" if cover.first_warp else ""
    text = (
        f"A grid of {cover.grid[0]} by {cover.grid[1]} blocks, each of {cover.block[0]} by "
        f"{cover.block[1]} threads, over a matrix of {cover.shape[0]} by {cover.shape[1]} "
        f"elements; threadIdx.x is the {cover.x_is}{warp}. "
    )
    idle = f"{cover.idle} threads are out of range: the guard stops them."
    text += idle if cover.idle else "No thread is idle."
    if cover.missed:
        text += f" {cover.missed} elements have no thread."
    if cover.thread is not None:
        told = ", ".join(cover.arithmetic(cover.thread)).replace("·", "times")
        text += f" Thread {cover.thread[1]} of block {cover.thread[0]}: {told}."
    return text
