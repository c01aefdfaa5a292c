"""Draw a run of a student's own kernel: who wrote which element, what warps asked for, or a map."""

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.answer_text.context import as_launched
from course_lib.curriculum import TASKS, Task
from course_lib.devices import SECTOR_BYTES, WARP_SIZE
from course_lib.emulator import Kernel, KernelRejected, kernel_from
from course_lib.emulator.language.parse import plain_from
from course_lib.figures.accesses import warp_pieces
from course_lib.figures.buffers import tiles_in_time
from course_lib.figures.explore.banks import lane_to_bank
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.own_values import draw_values
from course_lib.figures.picture import Picture
from course_lib.figures.requests import Footprint, request_of
from course_lib.figures.run_drawings import LEFT, Grids, Lanes, Rows, colour_of, shows_lanes
from course_lib.figures.run_facts import FLOAT_BYTES, OwnRun
from course_lib.figures.small_launch import NoPicture, SmallLaunch, launch_small
from course_lib.registry import entry_checks as entries
from course_lib.registry.entry_checks import axes
from course_lib.registry.kinds import TileKind
from course_lib.tiles import EmulatedTiles
from course_lib.tiles.machine import Steps
from course_lib.tiles.reading import read_kernel
from course_lib.wording.words import counted, element


class WarpRequests:
    """For each line that accesses a global array, the first request of the first warp."""

    ROW, BOX, NEXT, APART = 44, 14, 2, 6  # 32 boxes fit

    def __init__(self, run: OwnRun) -> None:
        self.asked = list(_requests(run))

    @property
    def height(self) -> float:
        return 26 + self.ROW * len(self.asked)

    @property
    def words(self) -> str:
        told = (
            f"{title}, {counted(len(request.sectors), 'sector')}" for title, request in self.asked
        )
        return f"The first requests of the first warp: {'; '.join(told)}."

    def draw(self, scene: Scene, top: float) -> None:
        """A line for each, with a box for each sector and its numbers filled."""
        words = "What warp 0 of the first block asks for, the first time: a box is a sector of "
        scene.text(LEFT, top + 10, f"{words}{SECTOR_BYTES} bytes", "small muted")
        for place, (title, request) in enumerate(self.asked):
            y = top + 32 + self.ROW * place
            scene.text(LEFT, y, f"{title}: {counted(len(request.sectors), 'sector')}", "small")
            x, before = LEFT, None
            for sector in request.sectors:
                x += 0 if before is None else self.NEXT if sector == before + 1 else self.APART
                scene.rect(x, y + 6, self.BOX, 14, "a-soft")
                part = self.BOX / (SECTOR_BYTES // FLOAT_BYTES)
                inside = {
                    a % SECTOR_BYTES for a in request.addresses if a // SECTOR_BYTES == sector
                }
                for number in {byte // FLOAT_BYTES for byte in inside}:
                    scene.rect(x + number * part, y + 6, part, 14, "a bare")
                x, before = x + self.BOX, sector


def _requests(run: OwnRun) -> Iterator[tuple[str, Footprint]]:
    """The title of each request, and the sectors in which its elements begin."""
    seen: set[tuple[str, str, int]] = set()
    for access in run.profile.trace:
        kind = "load" if access.kind == "load" else "store"
        key = (kind, access.array, access.line)
        if access.space != "global" or access.kind not in ("load", "store") or key in seen:
            continue
        seen.add(key)
        try:
            request = request_of(run.profile, access.array, kind=kind, line=access.line)
        except ValueError:  # another warp's
            continue
        lanes = np.size(request.addresses)
        waiting = "" if lanes == WARP_SIZE else f" by {counted(lanes, 'lane')}"
        name = run.ran.name_of(access.array)
        yield f"{kind} of {name}{waiting}", request.footprint(itemsize=1)


# --- The map that a task asks for: banks, lanes or buffers ----------------------------------------


def draw_map(ran: SmallLaunch, title: str) -> Picture:
    """The picture that the task asks for, of one launch.

    Raises NoPicture if the kernel does nothing that could be drawn so.
    """
    task = ran.task
    name = ran.profile.kernel_name
    try:
        if task.picture == "banks":
            return _banks(ran)
        if task.picture == "lanes":
            return warp_pieces({name: ran.profile}, _own_name(ran, task.output), title)
        across = set(axes(task.shapes[-1]))
        along = {
            _own_name(ran, operand): next(n for n, k in enumerate(axes(shape)) if k not in across)
            for operand, shape in zip(task.parameters[:-1], task.shapes, strict=False)
        }
        return tiles_in_time({name: ran.profile}, task.tile_steps, along, title)
    except ValueError as error:
        raise NoPicture(str(error)) from None


def _banks(ran: SmallLaunch) -> Picture:
    """How the banks serve warp 0 where it first stores to shared memory."""
    tile = next((use.name for use in ran.profile.shared_arrays), "")
    title = f"your first store to {tile}"
    return lane_to_bank(request_of(ran.profile, tile, kind="store", title=title))


def _own_name(ran: SmallLaunch, parameter: str) -> str:
    """What the kernel itself calls a parameter of the task."""
    own = (array for array in ran.profile.arrays if ran.name_of(array) == parameter)
    return next(own, parameter)


# --- The picture of a run -------------------------------------------------------------------------
# The kernel of a task runs on the emulator with small arrays, whose last block sticks out over the
# edge where the task's sizes are free. Everything that is drawn is read from its trace. Of a plain
# function, its values are drawn instead (own_values).


_NO_BREAK = "\u00a0"
_MOST_LETTERS = 106  # in a line of counts
_MOST_CELLS = 12_288  # threads, or elements of the output


def own_run(task_id: str, kernel: object) -> Picture:
    """Which thread of the student's kernel wrote which element, and what the launch asked for.

    Threads that write no element are hatched. Where the task is about what a warp asks for, the
    sectors that the first warp touches stand below. Of a plain function: what it returns over its
    inputs.

    Args:
        task_id: such as "add_ten".
        kernel: the student's: decorated with `@cuda.jit`, a plain function, or read from text.

    Raises:
        NoPicture: if there is no such task, it has no launch, or this one can't be drawn.
    """
    task = TASKS.get(task_id)
    if task is not None and task.values is not None:
        return draw_values(task, task.values, _plain(kernel))
    if task is not None and isinstance(task.kind, TileKind):
        return _draw_tile_run(task, kernel)
    if task is not None and task.picture != "elements":
        return draw_map(_launched(task_id, kernel), f"Your run of {task_id}")
    ran = OwnRun(_launched(task_id, kernel))
    drawing = _drawing_of(ran)
    warps = WarpRequests(ran) if ran.is_about_warps else None
    title = f"Your run: {counted(ran.elements_written, 'element')} written by {ran.launch_words}"
    below = drawing.height + (warps.height if warps else 0)
    scene = Scene(700 if warps else drawing.width, below)
    drawing.draw(scene)
    words = f"{title}. {ran.counts}. {ran.sentence}"
    if warps:
        warps.draw(scene, drawing.height)
        words += f" {warps.words}"
    return draw_scene(scene, title, words, "\n".join(_in_lines(ran.counts)), ran.sentence)


def _drawing_of(ran: OwnRun) -> Rows | Grids | Lanes:
    if ran.axes_of_output == 1:
        return Rows(ran)
    return Lanes(ran) if shows_lanes(ran) and ran.ran.task.dtypes else Grids(ran)


def _in_lines(counts: str) -> list[str]:
    """Counts in as many lines as they need, each count in one of them."""
    together = counts.replace(" ", _NO_BREAK).replace(f"{_NO_BREAK}·{_NO_BREAK}", f"{_NO_BREAK}· ")
    return [line.replace(_NO_BREAK, " ") for line in textwrap.wrap(together, _MOST_LETTERS)]


def _plain(function: object) -> Kernel:
    try:
        return plain_from(function)
    except KernelRejected as rejected:
        raise NoPicture(f"This function cannot be read: {rejected}") from None


def _launched(task_id: str, kernel: object) -> SmallLaunch:
    task = TASKS.get(task_id)
    if task is None or not task.kind.is_launched:
        raise NoPicture(f"There is no picture of a run of {task_id!r}.")
    if task.is_large:
        raise NoPicture(f"{task_id} has too many elements to draw.")
    try:
        ran = launch_small(task, as_launched(task, kernel_from(kernel)), "running")
    except KernelRejected as rejected:
        raise NoPicture(f"{task_id} does not run: {rejected}") from None
    if any(found.code.startswith("out-of-bounds") for found in ran.profile.findings):
        raise NoPicture(f"{task_id} leaves an array, and what is outside cannot be drawn.")
    if max(ran.profile.threads, ran.output.size) > _MOST_CELLS:
        raise NoPicture(f"{task_id} has too many threads or elements to draw.")
    return ran


# --- A run of a tile kernel: which program stored which element, and which ones are wrong ---------


_PAST_AN_EDGE = 1.5  # tiles along each axis, so that the last one ends past the edge
_STEPS = 20_000  # of each program
_CLOSE = 1e-3  # of the largest number: how far one may be off in a picture
_CELL = 15.4
_IN_A_ROW = 32  # elements of an output with one axis
_Array = np.ndarray[Any, Any]


def _draw_tile_run(task: Task, kernel: object) -> Picture:
    """The output of a small launch, every element in the colour of the program that stored it.

    Raises NoPicture if the kernel does not run.
    """
    try:
        program, name = read_kernel(kernel)
        stored, wrong = _programs_of(task, EmulatedTiles(program, program.functions[name]))
    except (KernelRejected, KeyError) as refused:
        raise NoPicture(f"{task.id} does not run: {refused}") from None
    rows = stored.reshape(-1, min(stored.size, _IN_A_ROW)) if stored.ndim == 1 else stored
    crossed = wrong.reshape(rows.shape)
    programs = len(set(stored[stored >= 0].tolist()))
    title = f"Your run of {task.id}: stored by {counted(programs, 'program')}"
    said = "All of them are right."
    if wrong.any():
        first = element(task.output, np.argwhere(wrong)[0])
        said = f"{counted(int(wrong.sum()), 'element')} wrong (crossed), the first {first}."
    grid = Grid(LEFT, 6, (rows.shape[0], rows.shape[1]), _CELL)
    scene = Scene(grid.right + LEFT, grid.bottom + 6)
    for (row, column), number in np.ndenumerate(rows):
        css = f"{colour_of(int(number))}-soft" if number >= 0 else "cell"
        words = "×" if crossed[row, column] else ""
        scene.cell(*grid.corner(row, column), _CELL, _CELL, words, css)
    return draw_scene(scene, title, f"{title}. {said}", said)


def _programs_of(task: Task, kernel: EmulatedTiles) -> tuple[_Array, _Array]:
    """For each element of the output the program that stored it (-1: none), and which are wrong."""
    letters = dict.fromkeys(size for shape in task.shapes for size in entries.axes(shape))
    deep = max(task.constants.values())
    along = dict(zip(task.grid, task.block, strict=True))
    size_of = {
        letter: int(task.constants.get(str(along.get(letter)), deep) * _PAST_AN_EDGE)
        if entries.is_free(letter)
        else int(letter)
        for letter in letters
    }
    shapes = [tuple(size_of[axis] for axis in entries.axes(shape)) for shape in task.shapes]
    rng = np.random.default_rng(0)
    inputs = [
        rng.uniform(-2, 2, shape).astype(task.dtypes.get(name, "float32"))
        for name, shape in zip(task.parameters, shapes[:-1], strict=False)
    ]
    assert task.reference is not None
    expected = np.asarray(task.reference(*(array.astype(np.float64) for array in inputs)))
    rest = (*(size_of[scalar] for scalar in task.scalars), *task.constants.values())
    grid = task.launch(shapes[-1]).grid
    stored, got = np.full(shapes[-1], -1), np.full(shapes[-1], np.nan, np.float32)
    for number in range(int(np.prod(grid))):
        output = np.full(shapes[-1], np.nan, np.float32)
        alone = replace(kernel, only=number, budget=Steps(_STEPS))
        alone.launch(grid, *(array.copy() for array in inputs), output, *rest)
        written = ~np.isnan(output)
        stored[written], got[written] = number, output[written]
    wrong = ~(np.abs(got - expected) <= _CLOSE * np.abs(expected).max())
    return stored, wrong
