"""Draw the parts of a run's picture: threads, the output and who wrote it, lanes, rows of an array.

All share the measures and colours at the top; lengths are in units of a scene.
"""

from collections import defaultdict
from math import ceil

import numpy as np

from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.scene import Cell
from course_lib.figures.run_facts import OwnRun
from course_lib.figures.small_launch import Thread

LEFT = 12.0  # where everything begins
_LARGEST_CELL = 34.0
_ROOM = 706.0  # the width of a card


def colour_of(block: int) -> str:
    """The colour of a block; neighbours differ."""
    return "abcd"[block % 4]


# --- A run over a matrix: the threads of all blocks, and the output that they wrote ---------------


_PAIRED = 31.0  # from this side on, a cell has room for two numbers


class Grids:
    """The threads of all blocks, x across and y down, and the output as they wrote it."""

    def __init__(self, run: OwnRun) -> None:
        self.run = run
        (gx, gy, _), (bx, by, _) = run.grid, run.block
        shape, (rows, columns) = (gy * by, gx * bx), run.ran.output.shape
        room = _ROOM - LEFT - 125
        cell = min(_LARGEST_CELL, room / (shape[1] + columns), 280 / max(shape[0], rows))
        self.threads = Grid(LEFT + 10, 24, shape, cell)
        beside = max(self.threads.right + 86, LEFT + 164)
        self.output = Grid(beside, 24, (rows, columns), cell)
        self.width = self.output.right + LEFT
        self.height = max(self.threads.bottom, self.output.bottom) + 8

    def _place(self, thread: Thread) -> Cell:
        """Row and column of a thread among all threads."""
        _, block_y, block_x, _, y, x = thread
        return block_y * self.run.block[1] + y, block_x * self.run.block[0] + x

    def draw(self, scene: Scene) -> None:
        """Both boards, in the colours of the blocks."""
        run, both = self.run, (self.threads, self.output)
        for grid, words in zip(both, ("threads: x →, y ↓", run.output), strict=True):
            scene.text(grid.x, 15, words, "small bold")
        cells: dict[tuple[int, int], set[Cell]] = defaultdict(set)  # by board and block
        idle = set()
        for thread in run.all_threads():
            cells[0, run.block_number(thread)].add(self._place(thread))
            if thread not in run.busy:
                idle.add(self._place(thread))
        for (row, column), thread in run.writers.items():
            cells[1, run.block_number(thread)].add((row, column))
        for (board, block), mine in cells.items():
            scene.path(both[board].squares(mine), f"{colour_of(block)}-soft bare")
        scene.path(self.threads.squares(idle), "hatch bare")
        for readers in run.broadcasts.values():  # that load the same as the one picked out
            scene.path(self.threads.squares(map(self._place, readers)), "lit bare")
        for grid in both if self.threads.wide >= 8 else ():
            scene.path(grid.lattice(), "lattice")
        for (board, block), mine in cells.items():
            scene.path(both[board].border(mine), f"stroke thick {colour_of(block)}")
        self._draw_numbers(scene)
        self._draw_picked(scene)

    def _draw_numbers(self, scene: Scene) -> None:
        """In each thread its own (x, y); in each element the thread that wrote it."""
        shown = [(self.threads, self._place(thread), thread) for thread in self.run.busy]
        shown += [(self.output, (row, column), thread)
                  for (row, column), thread in self.run.writers.items()]  # fmt: skip
        for grid, (row, column), thread in shown if self.threads.wide >= _PAIRED else ():
            x, y = grid.corner(row + 0.5, column + 0.5)
            scene.text(x, y + 4.5, f"{thread[5]},{thread[4]}", "small", "middle")

    def _draw_picked(self, scene: Scene) -> None:
        if self.run.picked is None:
            return
        row, column = self.run.picked
        writer = self.run.writers[row, column]
        for grid, place in ((self.threads, self._place(writer)), (self.output, (row, column))):
            scene.path(grid.box(*place), "lit")
            if grid.wide >= _PAIRED:
                x, y = grid.corner(place[0] + 0.5, place[1] + 0.5)
                scene.text(x, y + 4.5, f"{writer[5]},{writer[4]}", "small", "middle")
        y = self.output.corner(row + 0.5, 0)[1]
        scene.arrow(self.threads.right + 10, y, self.output.x - 8, y)


# --- The lanes of one warp, in the elements that they wrote ---------------------------------------


_MOST = 16  # rows and columns; of a larger output its first part stands for the rest


class Lanes:
    """The first elements of the output, one colour for each lane of a group of four."""

    def __init__(self, run: OwnRun) -> None:
        self.run = run
        rows, columns = run.ran.output.shape
        self.grid = Grid(LEFT + 28, 42, (min(rows, _MOST), min(columns, _MOST)), 33, 19)
        part = f"Of {rows} × {columns} elements, the first {{}} × {{}}. ".format(*self.grid.shape)
        is_part = (rows, columns) != self.grid.shape
        self.words = (part if is_part else "") + "In each, the lane that wrote it."
        self.width, self.height = self.grid.right + LEFT, self.grid.bottom + 8

    def draw(self, scene: Scene) -> None:
        """A cell for each element; those of the lane that is picked out lie on top."""
        scene.text(LEFT, 14, f"{self.run.output}: {self.words}", "small bold")
        picked = self.run.writers.get(self.run.picked) if self.run.picked else None
        for (row, column), thread in sorted(
            self.run.writers.items(), key=lambda written: written[1] == picked
        ):
            if row < self.grid.shape[0] and column < self.grid.shape[1]:
                css = "lit" if thread == picked else f"{colour_of(thread[-1])}-soft"
                scene.cell(*self.grid.corner(row, column), 33, 19, str(thread[-1]), css)
        self.grid.number(scene)


def shows_lanes(run: OwnRun) -> bool:
    """Is it a single warp whose lanes each wrote several elements of a matrix?"""
    is_warp = int(np.prod((*run.grid, *run.block))) == run.block[0] == 32
    return is_warp and run.axes_of_output == 2 and run.elements_written > run.block[0]


# --- A run over an array with one axis ------------------------------------------------------------


_NAMED = 72.0  # room for the name of a row
_NUMBERED = 25.0  # from this side on, a cell has room for a number
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
        self.shared = self._shared_array()
        cells = max(self.elements, self.shared[1] if self.shared else 0)
        gaps = 12 * (self.blocks - 1)
        room = _ROOM - LEFT - _NAMED - gaps
        self.cell = min(_LARGEST_CELL, room / max(len(self.threads), cells))
        self.tall = max(self.cell, 21)
        self.left = LEFT + _NAMED
        self.width = self.left + max(len(self.threads) * self.cell + gaps, self.cell * cells) + LEFT
        self._top = 20.0 if self.blocks > 1 else 4.0
        self._step = self.tall + 50  # from one row of cells to the next
        self._low = self._top + self._step * (2 if self.shared else 1)
        self.height = self._low + self.tall + 22
        # The thread that is picked out, with all that it wrote.
        self._picked_writer = None if run.picked is None else run.writers[run.picked]

    def _shared_array(self) -> tuple[str, int] | None:
        """Name and length of the one shared array of a launch with one block, if it has one."""
        arrays = self.run.profile.shared_arrays
        if len(arrays) != 1 or self.blocks != 1 or len(arrays[0].shape) != 1:
            return None
        return arrays[0].name, int(arrays[0].shape[0])

    def _x_of_thread(self, place: int) -> float:
        return self.left + place * self.cell + 12 * (place // self.per_block)

    def _x_of_cell(self, place: int) -> float:
        return self.left + place * self.cell

    def draw(self, scene: Scene) -> None:
        """The rows, and between them a line from each cell to what came of it."""
        threads = [(self._x_of_thread(place), self._css(thread))
                   for place, thread in enumerate(self.threads)]  # fmt: skip
        numbered = self.cell >= _NUMBERED
        numbers = [str(n % self.per_block) if numbered else "" for n in self.place_of.values()]
        writers = [self.run.writers.get((place,)) for place in range(self.elements)]
        written = [(self._x_of_cell(place), self._css(writer, is_output=True))
                   for place, writer in enumerate(writers)]  # fmt: skip
        self._draw_row(scene, "thread", self._top, threads, numbers)
        self._draw_row(scene, self.run.output, self._low, written, [""] * self.elements)
        if self.blocks > 1 and self.per_block * self.cell > 48:
            for number in range(self.blocks):
                middle = self._x_of_thread(number * self.per_block) + self.per_block * self.cell / 2
                scene.text(middle, self._top - 7, f"block {number}", "small", "middle")
        room = ceil(_NUMBERED / self.cell)  # cells that an index needs
        every = 1 if room <= 1 else max(room, -(-self.elements // 8))
        for place in range(0, self.elements, every):
            x = self._x_of_cell(place) + self.cell / 2
            scene.text(x, self._low + self.tall + 15, str(place), "small muted", "middle")
        if self.shared is None:
            self._draw_lines(
                scene, self._top, self._low, len(self.run.writers),
                [(self._x_of_thread(self.place_of[thread]), self._x_of_cell(place),
                  self.place_of[thread], thread == self._picked_writer)
                 for (place,), thread in sorted(self.run.writers.items())],
            )  # fmt: skip
        else:
            self._draw_shared(scene, *self.shared)

    def _css(self, thread: Thread | None, is_output: bool = False) -> str:
        """Of a thread, or of what it wrote; of an element that nobody wrote."""
        if thread is None:
            return ""
        if thread == self._picked_writer:
            return "lit"
        is_idle = not is_output and thread not in self.run.busy
        return "hatch" if is_idle else f"{colour_of(self.run.block_number(thread))}-soft"

    def _draw_row(
        self, scene: Scene, name: str, y: float, cells: list[tuple[float, str]], words: list[str]
    ) -> None:
        """Cells by their place and their class; what is lit lies on top."""
        scene.text(LEFT, y + self.tall / 2 + 4, name, "small bold")
        for (x, css), text in sorted(
            zip(cells, words, strict=True), key=lambda labelled: labelled[0][1] == "lit"
        ):
            ink = "small halo" if css == "hatch" else "small"
            css += " bare" * (self.cell < 4 and css != "lit")  # edges would cover it
            scene.cell(x, y, self.cell, self.tall, text, css, ink)

    def _draw_lines(
        self, scene: Scene, top: float, bottom: float, count: int,
        ends: list[tuple[float, float, int, bool]],
    ) -> None:  # fmt: skip
        """From cells of one row to cells of the next: where from, where to, number, is it lit?"""
        every, half = max(1, -(-count // _LINES)), self.cell / 2
        for x1, x2, number, is_lit in sorted(ends, key=lambda end: end[3]):
            if number % every == 0 or is_lit:
                css = "ink thick" if is_lit else ""
                scene.line(x1 + half, top + self.tall, x2 + half, bottom, css)

    def _draw_shared(self, scene: Scene, name: str, cells: int) -> None:
        """The shared array between threads and output, who fills it, and who takes from it."""
        y, picked = self._top + self._step, self.run.picked
        places = [(self._x_of_cell(place), "a-soft") for place in range(cells)]
        self._draw_row(scene, name, y, places, [""] * cells)
        filled, taken = self._links(name)
        lit = {cell for cell, element in taken if (element,) == picked}
        most = max(cells, self.elements)
        self._draw_lines(
            scene, self._top, y, most,
            [(self._x_of_thread(thread), self._x_of_cell(cell), cell, cell in lit)
             for thread, cell in filled],
        )  # fmt: skip
        self._draw_lines(
            scene, y, self._low, most,
            [(self._x_of_cell(cell), self._x_of_cell(element), element, (element,) == picked)
             for cell, element in taken],
        )  # fmt: skip
        if self.run.profile.barriers:
            barrier, right = y + self.tall + 25, self.width - LEFT
            scene.line(self.left, barrier, right, barrier, "ink dashed")
            scene.text(LEFT, barrier + 4, "barrier", "small")

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
