"""Programs that both the emulator and Numba's own simulator run, and their arguments.

The simulator knows no types (a Python int is a Python int there), so only programs whose values
agree in both worlds stand here.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from emulator_helpers import as_program, parts_of
from stored_answers import right_answers

from course_lib.curriculum import EXERCISES
from course_lib.emulator import load_program
from course_lib.problems.problem import Shape
from course_lib.problems.table import problems

PROBLEMS = problems(EXERCISES)
# No multiples of tiles; two blocks where tiles are large. (A whole tile and a narrow one in a
# transpose: a thousand threads of a block cost the simulator two seconds.)
SHAPES: dict[str, Shape] = {  # by family
    "sum": (9, 11, 0), "product": (9, 11, 21), "register product": (70, 11, 11),
    "transpose": (32, 35, 0), "scan": (100,), "attention": (19, 40, 1),
}  # fmt: skip
# The simulator rounds a fused multiply-add twice, and takes exponentials in float64.
INEXACT = ("matmul_naive fused_multiply_add", "attention ")
# Numba's simulator has no shuffles (a test below says so), and cannot carry out the intrinsics of
# this course: programs with them are left out.
SLOW = "attention block_scan matmul_1d matmul_2d matmul_tiled transpose_tiled".split()
# Its BLOCK is left over from another attempt; only the judge tries the launch without it as well.
LEFT_OVER = "block_that_is_not_offered"
LACKING = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
INTRINSICS = "course_lib.intrinsics"

SMALL = parts_of("small_programs.txt")
# Barriers in the midst of expressions: what stands before one has to be worked out before it.
WAITING = [name for name in SMALL if name.startswith("waits: ")]


class Case(NamedTuple):
    """A program, the name of its kernel, its launch and its arguments, the output last.

    `apart` is how far the two results may be apart: nothing, if they are no INEXACT ones.
    """

    name: str
    text: str
    kernel: str
    grid: Any
    block: Any
    arguments: tuple[np.ndarray, ...]
    apart: np.ndarray | float = 0.0


TWICE = "i = cuda.threadIdx.x\nb[i] = -c[i]\na[i] = c[i]\nc[i] += 1000"


def cases(which: str) -> Iterator[Case]:
    """Every program that the simulator can run, or some of them, with fresh arguments."""
    for exercise, name, text in answers(which):
        if not any(name in text for name in (INTRINSICS, *(f"cuda.{each}" for each in LACKING))):
            yield _exercise(exercise, name, text)
    for name, body in SMALL.items():
        data = np.random.default_rng(len(name)).integers(-40, 40, 128)
        text = as_program(body, "data, out")
        yield Case(name, text, "kernel", 2, 64, (data, np.zeros(128, np.int64)))
    data = np.arange(64)  # passed twice: two arrays on a GPU, and the later one's values stay
    arguments = np.zeros_like(data), data, data
    yield Case("one array twice", as_program(TWICE, "a, b, c"), "kernel", 1, 64, arguments)


def answers(which: str) -> list[tuple[str, str, str]]:
    """The right answers to all exercises that ask for a kernel ("every"), or "some".

    Some: one of each exercise that takes the simulator long, with its Python thread for each of
    ours, and every third of the others.
    """
    found = [
        (exercise, name, text)
        for (exercise, name), text in right_answers().items()
        if exercise in PROBLEMS and name != LEFT_OVER
    ]
    if which == "every":
        return found
    few = [next(each for each in found if each[0] == exercise) for exercise in SLOW]
    return few + [each for each in found if each[0] not in SLOW][::3]


def _exercise(name: str, style: str, text: str) -> Case:
    exercise, problem = EXERCISES[name], PROBLEMS[name]
    shape = SHAPES[exercise.family]
    inputs = problem.operands(shape, np.random.default_rng(1))
    expected, rounding = problem.answer(*inputs)
    out = np.full(expected.shape, -1, np.float32)
    label = f"{name} {style}"
    apart = rounding if label.startswith(INEXACT) else 0.0
    own = {*exercise.constants, "BLOCK"}
    given = {key: each for key, each in load_program(text).constants.items() if key in own}
    if not isinstance(given.get("BLOCK"), tuple):  # a whole number is the answer's own
        given.pop("BLOCK", None)
    launch = exercise.launch(problem.covered(shape), given)
    return Case(label, text, name, launch.grid, launch.block, (*inputs, out), apart)
