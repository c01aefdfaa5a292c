"""Draw a run over a matrix: the threads of all blocks, and beside them the output they wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.figures import style
from course_lib.figures.origins import Thread
from course_lib.figures.pen import LIT, Pen
from course_lib.figures.run_facts import OwnRun
from course_lib.figures.run_looks import LARGEST_CELL, LEFT, TOP, colour_of

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

    @property
    def height(self) -> float:
        return self.cell * self.shape[0]

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

    @property
    def width(self) -> float:
        return self.output.corner[0] + self.output.width + 0.1 - LEFT

    @property
    def height(self) -> float:
        return 0.24 + max(self.threads.height, self.output.height)

    def on_board(self, thread: Thread) -> tuple[int, int]:
        """Row and column of a thread among all of them."""
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
