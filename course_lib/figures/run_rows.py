"""Draw a run over an array with one axis: threads, what they share, the output, lines between."""

from __future__ import annotations

from math import ceil

import numpy as np

from course_lib.figures import style
from course_lib.figures.origins import Thread, Touch
from course_lib.figures.pen import LIT, Pen, Point
from course_lib.figures.run_facts import OwnRun
from course_lib.figures.run_looks import LARGEST_CELL, LEFT, TOP, colour_of

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

    @property
    def _picked_writer(self) -> Thread | None:
        """The thread that is picked out, with all that it wrote."""
        return None if self.run.picked is None else self.run.writers[self.run.picked]

    def _shared_array(self) -> tuple[str, int] | None:
        """Name and length of the one shared array of a launch with one block, if it has one."""
        arrays = self.run.profile.shared_arrays
        if len(arrays) != 1 or self.blocks != 1 or len(arrays[0].shape) != 1:
            return None
        return arrays[0].name, int(arrays[0].shape[0])

    @property
    def left(self) -> float:
        return LEFT + self.name_width

    @property
    def width(self) -> float:
        shared = self.shared[1] if self.shared else 0
        threads = len(self.threads) * self.cell + 0.12 * (self.blocks - 1)
        return self.name_width + max(threads, self.cell * max(self.elements, shared))

    @property
    def _step(self) -> float:
        """From one row of cells to the next."""
        return self.tall + 0.52

    @property
    def _y_of_threads(self) -> float:
        return TOP + (0.2 if self.blocks > 1 else 0.0)

    @property
    def _y_of_output(self) -> float:
        return self._y_of_threads + self._step * (2 if self.shared else 1)

    @property
    def height(self) -> float:
        return self._y_of_output + self.tall + 0.18 - TOP

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
            self._draw_cell(
                pen,
                self.x_of_thread(place),
                y,
                self.run.block_number(thread),
                place % self.per_block,
                is_idle=thread not in self.run.busy,
                is_lit=thread == self._picked_writer,
            )
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
            self._draw_cell(pen, self.x_of_cell(place), y, number, None, is_lit=is_lit)
        self._number(pen, y + self.tall + 0.1, self.elements)

    def _number(self, pen: Pen, y: float, count: int) -> None:
        """Indices under cells: all where there is room, else some."""
        room = ceil(_NUMBERED / self.cell)  # cells that an index needs
        every = 1 if room <= 1 else max(room, -(-count // 8))
        for place in range(0, count, every):
            middle = self.x_of_cell(place) + self.cell / 2
            pen.write(middle, y, str(place), ha="center", colour=style.GREY)

    def _draw_cell(
        self,
        pen: Pen,
        x: float,
        y: float,
        block: int | None,
        number: int | None,
        *,
        is_idle: bool = False,
        is_lit: bool = False,
    ) -> None:
        colour = style.GREY if block is None else colour_of(block)
        face = style.PAPER if is_idle or block is None else style.tint(colour, 0.35)
        looks = LIT if is_lit else {"face": face, "edge": colour, "line": 0.8}
        words = "" if number is None or self.cell < _NUMBERED else str(number)
        hatch, paper = ("////", 1) if is_idle else (None, None)
        pen.at(x, y, self.cell, self.tall).cell(0, 0, words, hatch=hatch, paper=paper, **looks)

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
            self._draw_cell(pen, self.x_of_cell(place), y, 0, None)
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
        for each in self.run.touches:
            if each.array == name and each.space == "shared":
                self._note(each, filled, holds)
            elif each.array == self.run.output and not each.is_load:
                for cell in sorted(holds.pop(each.thread, ())):
                    taken[cell, each.index[0]] = None
        return list(filled), list(taken)

    def _note(
        self, each: Touch, filled: dict[tuple[int, int], None], holds: dict[Thread, set[int]]
    ) -> None:
        (cell,) = each.index
        if each.is_load:
            holds.setdefault(each.thread, set()).add(cell)
        else:
            filled[self.place_of[each.thread], cell] = None

    def _draw_barrier(self, pen: Pen, y: float) -> None:
        right = self.left + max(len(self.threads), self.elements) * self.cell
        pen.line((self.left, y), (right, y), colour=style.INK, line=1.4, linestyle=(0, (4, 2)))
        pen.write(LEFT, y, "barrier")
