"""Draw the parts of a run's picture: threads, the output and who wrote it, lanes, rows of an array.

All share the measures and colours at the top; lengths are in inches.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from course_lib.figures import style
from course_lib.figures.pen import LIT, Looks, Pen, Point
from course_lib.figures.run_facts import OwnRun
from course_lib.figures.small_launch import Thread

LARGEST_CELL = 0.36
LEFT = 0.2  # where everything begins
TOP = 0.78  # below title and counts

_COLOURS = (style.SKY, style.ORANGE, style.GREEN, style.PURPLE)


def colour_of(block: int) -> str:
    """The colour of a block; neighbours differ."""
    return _COLOURS[block % len(_COLOURS)]


# --- A run over a matrix: the threads of all blocks, and the output that they wrote ---------------


_PAIRED = 0.33  # from this side on, a cell has room for two numbers


@dataclass(frozen=True)
class _Board:
    """A grid of cells at a place, all of one size."""

    corner: tuple[float, float]
    cell: float
    shape: tuple[int, int]

    @property
    def width(self) -> float:
        return self.cell * self.shape[1]

    def pen(self, pen: Pen) -> Pen:
        """A pen that counts its cells."""
        return pen.at(*self.corner, self.cell)

    def cover(self, pen: Pen, mask: np.ndarray, **looks: Any) -> None:
        """Draw the cells of a mask as few rectangles."""
        for top, bottom, left, right in _rectangles(mask):
            self.pen(pen).rectangle(left, top, right - left, bottom - top, **looks)

    def rule(self, pen: Pen) -> None:
        """Thin lines between the cells, where they are not too narrow."""
        if self.cell < 0.08:
            return
        (rows, columns), cells = self.shape, self.pen(pen)
        for column in range(1, columns):
            cells.line((column, 0), (column, rows), colour=style.PAPER, line=0.7, z=2.2)
        for row in range(1, rows):
            cells.line((0, row), (columns, row), colour=style.PAPER, line=0.7, z=2.2)


def _rectangles(mask: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """(top, bottom, left, right) of rectangles that cover a mask; equal rows are joined."""
    open_since: dict[tuple[int, int], int] = {}
    for row in range(len(mask) + 1):
        runs = set(_runs(mask[row])) if row < len(mask) else set()
        for run in [each for each in open_since if each not in runs]:
            yield open_since.pop(run), row, *run
        for run in runs:
            open_since.setdefault(run, row)


def _runs(row: np.ndarray) -> Iterator[tuple[int, int]]:
    """First and one past the last of each stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


class Grids:
    """The threads of all blocks, x across and y down, and the output as they wrote it."""

    def __init__(self, run: OwnRun) -> None:
        self.run = run
        (gx, gy, _), (bx, by, _) = run.grid, run.block
        shape = (gy * by, gx * bx)
        rows, columns = run.ran.output.shape
        room = style.WIDTH - 2 * LEFT - 1.3
        cell = min(LARGEST_CELL, room / (shape[1] + columns), 2.9 / max(shape[0], rows))
        top = TOP + 0.24
        self.threads = _Board((LEFT + 0.1, top), cell, shape)
        beside = max(self.threads.width + 0.9, 1.6)
        self.output = _Board((LEFT + 0.1 + beside, top), cell, (rows, columns))
        self.width = beside + self.output.width + 0.2
        self.height = 0.24 + cell * max(shape[0], rows)

    def on_board(self, thread: Thread) -> tuple[int, int]:
        """Row and column of a thread among all threads."""
        _, block_y, block_x, _, y, x = thread
        return block_y * self.run.block[1] + y, block_x * self.run.block[0] + x

    def draw(self, pen: Pen) -> None:
        above = self.threads.corner[1] - 0.12
        pen.write(self.threads.corner[0], above, "threads: x →, y ↓", bold=True)
        pen.write(self.output.corner[0], above, self.run.output, bold=True)
        owners, blocks = self._owners()
        for number in np.unique(blocks).tolist():
            self._draw_block(pen, number, owners, blocks)
        idle = np.ones(self.threads.shape, bool)
        for thread in self.run.busy:
            idle[self.on_board(thread)] = False
        self.threads.cover(
            pen, idle, face=style.PAPER, edge=style.GREY, hatch="////", line=0, z=2.1
        )
        for threads in self.run.broadcasts.values():
            self._draw_readers(pen, threads)
        self.threads.rule(pen)
        self.output.rule(pen)
        self._draw_numbers(pen)
        self._draw_picked(pen)

    def _owners(self) -> tuple[np.ndarray, np.ndarray]:
        """The block that wrote each element, or -1; the block of each thread."""
        owners = np.full(self.output.shape, -1)
        for index, thread in self.run.writers.items():
            owners[index] = self.run.block_number(thread)
        blocks = np.zeros(self.threads.shape, int)
        for thread in self.run.all_threads():
            blocks[self.on_board(thread)] = self.run.block_number(thread)
        return owners, blocks

    def _draw_block(self, pen: Pen, number: int, owners: np.ndarray, blocks: np.ndarray) -> None:
        looks = {"face": style.tint(colour_of(number), 0.35), "line": 0, "z": 2}
        edge = {"edge": colour_of(number), "line": 2.0, "z": 2.6}
        self.threads.cover(pen, blocks == number, **looks)
        self.output.cover(pen, owners == number, **looks)
        self.threads.cover(pen, blocks == number, **edge)
        self.output.cover(pen, owners == number, **edge)

    def _draw_readers(self, pen: Pen, threads: set[Thread]) -> None:
        """The threads that load the same element as the one that is picked out."""
        mask = np.zeros(self.threads.shape, bool)
        for thread in threads:
            mask[self.on_board(thread)] = True
        self.threads.cover(pen, mask, face=style.tint(style.YELLOW, 0.5), line=0, z=2.15)

    def _draw_numbers(self, pen: Pen) -> None:
        """In each thread its own (x, y); in each element the thread that wrote it."""
        if self.threads.cell < _PAIRED:
            return
        for thread in self.run.all_threads():
            if thread in self.run.busy:
                self._write_thread(pen, self.threads, self.on_board(thread), thread)
        for (row, column), thread in self.run.writers.items():
            self._write_thread(pen, self.output, (row, column), thread)

    def _write_thread(self, pen: Pen, board: _Board, at: tuple[int, int], thread: Thread) -> None:
        board.pen(pen).centred(*at, f"{thread[5]},{thread[4]}", z=4)

    def _draw_picked(self, pen: Pen) -> None:
        if self.run.picked is None:
            return
        row, column = self.run.picked
        thread = self.on_board(self.run.writers[self.run.picked])
        self.threads.pen(pen).cell(*thread, **LIT)
        self.output.pen(pen).cell(row, column, **LIT)
        right, end = self.threads.corner[0] + self.threads.width, self.output.corner[0]
        y = self.output.corner[1] + self.output.cell * (row + 0.5)
        pen.arrow((right + 0.1, y), (end - 0.08, y), colour=style.INK, line=1.6)


# --- The lanes of one warp, in the elements that they wrote ---------------------------------------


_ROWS = _COLUMNS = 16  # of a larger output its first part stands for the rest
_CELL_WIDTH, _CELL_HEIGHT = 0.34, 0.2
_LANES_NUMBERED = 0.3  # room for the numbers of the rows
_GROUP = 4  # lanes that share a row of a fragment


class Lanes:
    """The first elements of the output, one colour for each lane of a group of four."""

    def __init__(self, run: OwnRun) -> None:
        self.run = run
        rows, columns = run.ran.output.shape
        self.rows, self.columns = min(rows, _ROWS), min(columns, _COLUMNS)
        self.is_part = (rows, columns) != (self.rows, self.columns)
        self.width = _LANES_NUMBERED + self.columns * _CELL_WIDTH
        self.height = 0.42 + self.rows * _CELL_HEIGHT
        part = f"Of {rows} × {columns} elements, the first {self.rows} × {self.columns}. "
        self.words = (part if self.is_part else "") + "In each, the lane that wrote it."

    def draw(self, pen: Pen) -> None:
        pen.write(LEFT, TOP + 0.06, f"{self.run.output}: {self.words}", bold=True)
        picked = self.run.writers.get(self.run.picked) if self.run.picked else None
        cells = pen.at(LEFT + _LANES_NUMBERED, TOP + 0.42, _CELL_WIDTH, _CELL_HEIGHT)
        for (row, column), thread in self.run.writers.items():
            if row < self.rows and column < self.columns:
                pale = style.tint(colour_of(thread[-1] % _GROUP), 0.35)
                looks: Looks = {"face": pale, "edge": style.PAPER}
                if thread == picked:
                    looks = {**LIT, "line": 1.4}
                cells.cell(row, column, str(thread[-1]), **looks)
        for row in range(self.rows):
            cells.write(-0.08 / _CELL_WIDTH, row + 0.5, str(row), ha="right", colour=style.GREY)
        for column in range(self.columns):
            above = -0.1 / _CELL_HEIGHT
            cells.write(column + 0.5, above, str(column), ha="center", colour=style.GREY)


def shows_lanes(run: OwnRun) -> bool:
    """Is it a single warp whose lanes each wrote several elements of a matrix?"""
    is_warp = int(np.prod((*run.grid, *run.block))) == run.block[0] == 32
    return is_warp and run.axes_of_output == 2 and run.elements_written > run.block[0]


# --- A run over an array with one axis ------------------------------------------------------------


_NUMBERED = 0.27  # from this side on, a cell has room for a number
_LINES = 24  # so many connecting lines can still be told apart


class Rows:
    """The threads in a row, what they share below, and the output at the bottom."""

    def __init__(self, run: OwnRun) -> None:
        self.run = run
        self.threads = list(run.all_threads())
        self.place_of = {thread: place for place, thread in enumerate(self.threads)}
        self.per_block = int(np.prod(run.block))
        self.blocks = len(self.threads) // self.per_block
        self.elements = run.ran.output.size
        self.name_width = 0.75
        room = style.WIDTH - 2 * LEFT - self.name_width - 0.12 * (self.blocks - 1)
        self.shared = self._shared_array()
        longest = max(len(self.threads), self.elements, self.shared[1] if self.shared else 0)
        self.cell = min(LARGEST_CELL, room / longest)
        self.tall = max(self.cell, 0.22)
        self.left = LEFT + self.name_width
        gaps = 0.12 * (self.blocks - 1)
        cells = max(self.elements, self.shared[1] if self.shared else 0)
        self.width = self.name_width + max(len(self.threads) * self.cell + gaps, self.cell * cells)
        self._step = self.tall + 0.52  # from one row of cells to the next
        self._y_of_threads = TOP + (0.2 if self.blocks > 1 else 0.0)
        self._y_of_output = self._y_of_threads + self._step * (2 if self.shared else 1)
        self.height = self._y_of_output + self.tall + 0.18 - TOP
        # The thread that is picked out, with all that it wrote.
        self._picked_writer = None if run.picked is None else run.writers[run.picked]

    def _shared_array(self) -> tuple[str, int] | None:
        """Name and length of the one shared array of a launch with one block, if it has one."""
        arrays = self.run.profile.shared_arrays
        if len(arrays) != 1 or self.blocks != 1 or len(arrays[0].shape) != 1:
            return None
        return arrays[0].name, int(arrays[0].shape[0])

    def x_of_thread(self, place: int) -> float:
        return self.left + place * self.cell + 0.12 * (place // self.per_block)

    def x_of_cell(self, place: int) -> float:
        return self.left + place * self.cell

    def draw(self, pen: Pen) -> None:
        self._draw_threads(pen)
        self._draw_output(pen)
        if self.shared is None:
            self._draw_lines_to_output(pen)
        else:
            self._draw_shared(pen, *self.shared)

    def _draw_threads(self, pen: Pen) -> None:
        y = self._y_of_threads
        pen.write(LEFT, y + self.tall / 2, "thread", bold=True)
        for place, thread in enumerate(self.threads):
            looks = self._looks(self.run.block_number(thread), thread == self._picked_writer)
            if thread not in self.run.busy:
                looks |= {"face": style.PAPER, "hatch": "////", "paper": 1}
            words = "" if self.cell < _NUMBERED else str(place % self.per_block)
            self._cell(pen, self.x_of_thread(place), y).cell(0, 0, words, **looks)
        if self.blocks > 1 and self.per_block * self.cell > 0.5:
            for number in range(self.blocks):
                middle = self.x_of_thread(number * self.per_block) + self.per_block * self.cell / 2
                pen.write(middle, y - 0.12, f"block {number}", ha="center")

    def _draw_output(self, pen: Pen) -> None:
        y = self._y_of_output
        pen.write(LEFT, y + self.tall / 2, self.run.output, bold=True)
        for place in range(self.elements):
            writer = self.run.writers.get((place,))
            number = None if writer is None else self.run.block_number(writer)
            is_lit = writer is not None and writer == self._picked_writer
            looks = self._looks(number, is_lit)
            self._cell(pen, self.x_of_cell(place), y).cell(0, 0, **looks)
        self._number(pen, y + self.tall + 0.1, self.elements)

    def _number(self, pen: Pen, y: float, count: int) -> None:
        """Indices under cells: all where there is room, else some."""
        room = ceil(_NUMBERED / self.cell)  # cells that an index needs
        every = 1 if room <= 1 else max(room, -(-count // 8))
        for place in range(0, count, every):
            middle = self.x_of_cell(place) + self.cell / 2
            pen.write(middle, y, str(place), ha="center", colour=style.GREY)

    def _cell(self, pen: Pen, x: float, y: float) -> Pen:
        return pen.at(x, y, self.cell, self.tall)

    def _looks(self, block: int | None, is_lit: bool = False) -> Looks:
        """Of what belongs to a block, or to none."""
        if is_lit:
            return {**LIT}
        colour = style.GREY if block is None else colour_of(block)
        face = style.PAPER if block is None else style.tint(colour, 0.35)
        return {"face": face, "edge": colour, "line": 0.8}

    def _draw_line(self, pen: Pen, start: Point, end: Point, *, is_lit: bool) -> None:
        half = self.cell / 2
        colour, line, z = (style.INK, 2.0, 1.8) if is_lit else (style.GREY, 0.9, 1.5)
        ends = (start[0] + half, start[1]), (end[0] + half, end[1])
        pen.line(*ends, colour=colour, line=line, z=z)

    def _draw_lines_to_output(self, pen: Pen) -> None:
        top, bottom = self._y_of_threads + self.tall, self._y_of_output
        every = max(1, -(-len(self.run.writers) // _LINES))
        for (place,), thread in sorted(self.run.writers.items()):
            from_thread = self.place_of[thread]
            is_lit = thread == self._picked_writer
            if from_thread % every == 0 or is_lit:
                start, end = (self.x_of_thread(from_thread), top), (self.x_of_cell(place), bottom)
                self._draw_line(pen, start, end, is_lit=is_lit)

    def _draw_shared(self, pen: Pen, name: str, cells: int) -> None:
        """The shared array between threads and output, who fills it, and who takes from it."""
        y = self._y_of_threads + self._step
        pen.write(LEFT, y + self.tall / 2, name, bold=True)
        for place in range(cells):
            self._cell(pen, self.x_of_cell(place), y).cell(0, 0, **self._looks(0))
        every = max(1, -(-max(cells, self.elements) // _LINES))
        filled, taken = self._links(name)
        for thread, cell in filled:
            is_lit = cell in {at for at, element in taken if (element,) == self.run.picked}
            if cell % every == 0 or is_lit:
                start = (self.x_of_thread(thread), self._y_of_threads + self.tall)
                self._draw_line(pen, start, (self.x_of_cell(cell), y), is_lit=is_lit)
        for cell, element in taken:
            is_lit = (element,) == self.run.picked
            if element % every == 0 or is_lit:
                start = (self.x_of_cell(cell), y + self.tall)
                end = (self.x_of_cell(element), self._y_of_output)
                self._draw_line(pen, start, end, is_lit=is_lit)
        if self.run.profile.barriers:
            self._draw_barrier(pen, y + self.tall + 0.26)

    def _links(self, name: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(thread, cell) of each store into the shared array, and (cell, element) of what each
        element of the output was taken from; each pair once."""
        filled: dict[tuple[int, int], None] = {}
        taken: dict[tuple[int, int], None] = {}
        holds: dict[Thread, set[int]] = {}
        for operation in self.run.touches:
            if operation.array == name and operation.space == "shared" and operation.is_load:
                holds.setdefault(operation.thread, set()).add(operation.index[0])
            elif operation.array == name and operation.space == "shared":
                filled[self.place_of[operation.thread], operation.index[0]] = None
            elif operation.array == self.run.output and not operation.is_load:
                for cell in sorted(holds.pop(operation.thread, ())):
                    taken[cell, operation.index[0]] = None
        return list(filled), list(taken)

    def _draw_barrier(self, pen: Pen, y: float) -> None:
        right = self.left + max(len(self.threads), self.elements) * self.cell
        pen.line((self.left, y), (right, y), colour=style.INK, line=1.4, linestyle=(0, (4, 2)))
        pen.write(LEFT, y, "barrier")
