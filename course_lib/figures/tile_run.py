"""Draw a run of a tile kernel: which program stored which element, and which ones are wrong."""

from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.curriculum import Task
from course_lib.emulator import KernelRejected
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.picture import Picture
from course_lib.figures.run_drawings import LEFT, colour_of
from course_lib.figures.small_launch import NoPicture
from course_lib.registry import entry_checks as entries
from course_lib.tiles import EmulatedTiles
from course_lib.tiles.machine import Steps
from course_lib.tiles.reading import read_kernel
from course_lib.wording.words import counted, element

PAST_AN_EDGE = 1.5  # tiles along each axis, so that the last one ends past the edge
STEPS = 20_000  # of each program
CLOSE = 1e-3  # of the largest number: how far one may be off in a picture
CELL = 15.4
IN_A_ROW = 32  # elements of an output with one axis
Array = np.ndarray[Any, Any]


def draw_tile_run(task: Task, kernel: object) -> Picture:
    """The output of a small launch, every element in the colour of the program that stored it.

    Raises NoPicture if the kernel does not run.
    """
    try:
        program, name = read_kernel(kernel)
        stored, wrong = _launched(task, EmulatedTiles(program, program.functions[name]))
    except (KernelRejected, KeyError) as refused:
        raise NoPicture(f"{task.id} does not run: {refused}") from None
    rows = stored.reshape(-1, min(stored.size, IN_A_ROW)) if stored.ndim == 1 else stored
    crossed = wrong.reshape(rows.shape)
    programs = len(set(stored[stored >= 0].tolist()))
    title = f"Your run of {task.id}: stored by {counted(programs, 'program')}"
    said = "All of them are right."
    if wrong.any():
        first = element(task.output, np.argwhere(wrong)[0])
        said = f"{counted(int(wrong.sum()), 'element')} wrong (crossed), the first {first}."
    grid = Grid(LEFT, 6, (rows.shape[0], rows.shape[1]), CELL)
    scene = Scene(grid.right + LEFT, grid.bottom + 6)
    for (row, column), number in np.ndenumerate(rows):
        css = f"{colour_of(int(number))}-soft" if number >= 0 else "cell"
        words = "×" if crossed[row, column] else ""
        scene.cell(*grid.corner(row, column), CELL, CELL, words, css)
    return scene.still(title, f"{title}. {said}", said)


def _launched(task: Task, kernel: EmulatedTiles) -> tuple[Array, Array]:
    """For each element of the output the program that stored it (-1: none), and which are wrong."""
    letters = dict.fromkeys(size for shape in task.shapes for size in entries.axes(shape))
    deep = max(task.constants.values())
    along = dict(zip(task.grid, task.block, strict=True))
    size_of = {
        letter: int(task.constants.get(str(along.get(letter)), deep) * PAST_AN_EDGE)
        if entries.is_free(letter)
        else int(letter)
        for letter in letters
    }
    shapes = [tuple(size_of[axis] for axis in entries.axes(each)) for each in task.shapes]
    rng = np.random.default_rng(0)
    inputs = [
        rng.uniform(-2, 2, shape).astype(task.dtypes.get(name, "float32"))
        for name, shape in zip(task.parameters, shapes[:-1], strict=False)
    ]
    assert task.reference is not None
    expected = np.asarray(task.reference(*(each.astype(np.float64) for each in inputs)))
    rest = (*(size_of[each] for each in task.scalars), *task.constants.values())
    grid = task.launch(shapes[-1]).grid
    stored, got = np.full(shapes[-1], -1), np.full(shapes[-1], np.nan, np.float32)
    for number in range(int(np.prod(grid))):
        output = np.full(shapes[-1], np.nan, np.float32)
        alone = replace(kernel, only=number, budget=Steps(STEPS))
        alone.launch(grid, *(each.copy() for each in inputs), output, *rest)
        written = ~np.isnan(output)
        stored[written], got[written] = number, output[written]
    wrong = ~(np.abs(got - expected) <= CLOSE * np.abs(expected).max())
    return stored, wrong
