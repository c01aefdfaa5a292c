"""Launches far beyond the usual sizes: past each number in an answer, and where no text can tell.

What an answer's own tests and loops show of a size up to which it is right, `sizes/limits.py`
settles. Here nothing is read into the source but its numbers: each is tried just beyond itself, in
each direction. And two launches are drawn, one long in one direction and one in several, so that
no text can foresee them. Only answers that were right everywhere else are launched so far; what is
seen there counts as it does elsewhere.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.problem import NAN, Case, Problem
from course_lib.diagnosis.source.source import Source
from course_lib.emulator.language.constants import NotConstant, evaluate_constant

FARTHEST = 20_000  # a size that is drawn
BEYOND_NUMBERS = 12  # launches
MOST_STEPS = 3_000  # of one of these launches
MOST_ELEMENTS = 1 << 19  # of its arrays together
CORNER = (129, 230)  # the range of sides, where several are long at once
STEPS_IN_THE_CORNER = (17, 25)  # two tiles of 16
WARP_AND_MORE = 33  # a side on which it shows what the lanes of a warp ask for
DRAW = 80  # of inputs


def far_cases(
    problem: Problem, long: Iterable[tuple[Case, int]], source: Source, seed: int
) -> list[Case]:
    """The launches to make.

    Args:
        problem: what is computed.
        long: the usual launches that are long in one direction, each with the steps it took.
        source: the answer's.
        seed: draws the sizes.
    """
    rng = np.random.default_rng((seed, 95))
    numbers = sorted(set(numbers_of(source)))
    beyond: list[Case] = []
    drawn: list[Case] = []
    for case, steps in long:
        assert case.along is not None
        longest = _longest(problem, case, steps)
        usual = case.shape[case.along]
        wide = replace(case, shape=_wide(problem, case.shape))
        beyond += (_longer(wide, n + 1) for n in numbers if usual < n + 1 <= longest)
        if longest > usual:
            length = int(np.exp(rng.uniform(np.log(usual), np.log(longest))))
            drawn.append(_longer(case, length))
    beyond.sort(key=lambda case: max(case.shape))
    one = [drawn[rng.integers(len(drawn))]] if drawn else []
    return [*beyond[:BEYOND_NUMBERS], *one, *_corner(problem, rng)]


def _longer(case: Case, size: int) -> Case:
    assert case.along is not None
    shape = list(case.shape)
    shape[case.along] = size
    return Case(
        tuple(shape),
        poison=NAN,
        draw=DRAW + case.along,
        counted=True,
        along=case.along,
        allowed=4 * MOST_STEPS,
    )


def _longest(problem: Problem, case: Case, steps: int) -> int:
    """How long a launch may be, as its steps and arrays grow with it."""
    assert case.along is not None
    usual = case.shape[case.along]
    elements = sum(map(math.prod, problem.operand_shapes(case.shape)))
    by_steps = usual * MOST_STEPS // max(steps, 1)
    by_elements = usual * MOST_ELEMENTS // max(elements, 1)
    return int(min(by_steps, by_elements, FARTHEST))


def _spread(problem: Problem) -> list[int]:
    """The directions along which the threads are spread; a sum runs along the others."""
    return [axis for axis in problem.directions if not (problem.has_steps and axis == 2)]


def _wide(problem: Problem, shape: Shape) -> Shape:
    spread = _spread(problem)
    return tuple(
        max(size, WARP_AND_MORE) if axis in spread else size for axis, size in enumerate(shape)
    )


def _corner(problem: Problem, rng: np.random.Generator) -> Iterator[Case]:
    """A launch that is long in all directions along which the threads are spread."""
    spread = _spread(problem)
    if len(spread) < 2:
        return
    shape = list(problem.short)
    side = int(rng.integers(*CORNER))
    for axis in spread:  # as often as not a square: what is done for squares alone shows there
        shape[axis] = side if rng.random() < 0.5 else int(rng.integers(*CORNER))
    if problem.has_steps:
        shape[2] = int(rng.integers(*STEPS_IN_THE_CORNER))
    yield Case(
        tuple(shape),
        poison=NAN,
        draw=DRAW + 9,
        counted=True,
        along=spread[0],
        allowed=8 * MOST_STEPS,
    )


def numbers_of(source: Source) -> Iterator[int]:
    """The whole numbers that stand in an answer, or are worked out of numbers alone."""
    names = dict(source.constants)
    for function in source.functions:
        for node in ast.walk(function):
            if not isinstance(node, ast.Constant | ast.BinOp | ast.UnaryOp | ast.Name | ast.Call):
                continue
            try:
                value = evaluate_constant(node, names)
            except NotConstant:
                continue
            if isinstance(value, (int, float, np.number)) and math.isfinite(value):
                yield abs(math.ceil(value))
