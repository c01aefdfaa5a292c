"""Draw a run of a tile kernel: which program stored which element, and which ones are wrong."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from course_lib.curriculum import Task
from course_lib.emulator import KernelRejected
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.figures.small_launch import NoPicture
from course_lib.registry import entry_checks as entries
from course_lib.tiles import EmulatedTiles
from course_lib.tiles.machine import Steps
from course_lib.tiles.reading import read_kernel
from course_lib.wording.words import counted, element

PAST_AN_EDGE = 1.5  # tiles along each axis, so that the last one ends past the edge
STEPS = 20_000  # of each program
CLOSE = 1e-3  # of the largest number: how far one may be off in a picture
CELL, LEFT, TOP = 0.16, 0.3, 0.75
IN_A_ROW = 32  # elements of an output with one axis
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)
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
    height, width = rows.shape[0] * CELL, rows.shape[1] * CELL
    pen = Pen.card(TOP + height + 0.4, title, said, width=max(width, 0.105 * len(title)) + 2 * LEFT)
    cells = pen.at(LEFT, TOP, CELL)
    for row, column in product(*map(range, rows.shape)):
        number = int(rows[row, column])
        face = style.tint(COLOURS[number % len(COLOURS)], 0.45) if number >= 0 else style.PAPER
        words = "×" if crossed[row, column] else ""
        cells.cell(row, column, words, face=face, edge=style.GREY, line=0.4)
    return pen.picture(f"{title}. {said}")


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
