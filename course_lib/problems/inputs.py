"""The numbers that a launch begins with, and what should come out of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.devices.number_formats import encoded, rounded
from course_lib.emulator import TensorMap
from course_lib.problems.problem import Array, Case, Problem

# The draws that hold whole numbers, zeros among them: one launch with each kind of poison.
DRAWS_WITH_WHOLE_NUMBERS = (2, 3)
# The draws in which inputs rise, where a task asks for that: along a row, and from row to row.
RISING_DRAWS = (3, 5)
SHARE_OF_WHOLE_NUMBERS = 1 / 16
WIDE_DRAW = 4  # the draw with two numbers far from all others, and with neighbours that are equal
FAR_NUMBER = np.float32(1000)
ROW_BYTES = 16  # each row of an array that TMA copies from begins at a multiple of them
FEW_ELEMENTS = 8  # an array that small gets none of them: it might be left with nothing else


def make_inputs(problem: Problem, case: Case, seed: int) -> tuple[Array, ...]:
    """The numbers that a launch begins with, in the order in which the problem has them in memory.

    All are float32, and numbers of the inputs' own formats; `as_held` is what the kernel gets.
    """
    drawn = _drawn(problem, case, seed)
    if problem.formats:
        pairs = zip(drawn, problem.formats, strict=True)
        drawn = tuple(rounded(array, name) for array, name in pairs)
    return drawn if problem.order == "C" else tuple(map(np.asfortranarray, drawn))


def as_held(problem: Problem, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Copies of the inputs as a kernel gets them, each in its format, or as a tensor map."""
    if not problem.formats:
        return tuple(array.copy(order="K") for array in inputs)
    held = [encoded(array, name) for array, name in zip(inputs, problem.formats, strict=True)]
    for place, box in problem.boxes.items():
        held[place] = described(held[place], box)
    return tuple(held)


def described(matrix: Array, box: Sequence[int]) -> TensorMap:
    """A tensor map of a copy whose rows begin at multiples of 16 bytes, as TMA wants them."""
    rows, columns = matrix.shape
    unit = ROW_BYTES // matrix.itemsize
    pitched = np.zeros((rows, -(-columns // unit) * unit), matrix.dtype)[:, :columns]
    pitched[...] = matrix
    return TensorMap(pitched, box)


def _drawn(problem: Problem, case: Case, seed: int) -> tuple[Array, ...]:
    """Some draws hold whole numbers, where the formula allows them."""
    rng = np.random.default_rng((seed, case.draw))
    draw = problem.telling_operands if case.allowed else problem.operands
    inputs = draw(case.shape, rng)
    if case.draw == problem.falling_draw and not case.allowed:
        return problem.falling(inputs)
    if case.draw in RISING_DRAWS and problem.rises:
        return problem.rising(inputs)
    if case.draw == WIDE_DRAW and problem.any_range and not case.allowed:
        return tuple(_with_far_numbers(array, rng) for array in inputs)
    if case.allowed or case.draw not in DRAWS_WITH_WHOLE_NUMBERS:
        return inputs
    rng = np.random.default_rng((seed, case.draw, 96))
    whole = tuple(_with_whole_numbers(array, rng) for array in inputs)
    return whole if problem.has_answer(*whole) else inputs


def expected_of(problem: Problem, case: Case, inputs: Sequence[Array]) -> tuple[Array, Array]:
    """What should come out of a case's inputs, in float64, and how far float32 may be off."""
    return (problem.telling_answer if case.allowed else problem.answer)(*inputs)


def _with_far_numbers(array: Array, rng: np.random.Generator) -> Array:
    """A copy with ties, and with 1000 and -1000: whoever cuts off large numbers is found out."""
    flat = array.reshape(-1).copy()
    if flat.size < FEW_ELEMENTS:
        return array
    tied = rng.choice(flat.size - 1, flat.size // 8, replace=False)
    flat[tied] = flat[tied + 1]
    flat[rng.choice(flat.size, 2, replace=False)] = FAR_NUMBER, -FAR_NUMBER
    return flat.reshape(array.shape)


def _with_whole_numbers(array: Array, rng: np.random.Generator) -> Array:
    """A copy in which some elements have lost their fraction: `<` and `<=` differ there.

    One of them at least is 0, if there are more than a few.
    """
    if np.size(array) < FEW_ELEMENTS:
        return array
    whole = np.where(rng.random(array.shape) < SHARE_OF_WHOLE_NUMBERS, np.trunc(array), array)
    whole.reshape(-1)[rng.integers(array.size)] = 0
    return whole
