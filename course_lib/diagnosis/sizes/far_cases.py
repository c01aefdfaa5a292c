"""Launches far beyond the usual ones, for answers that were right in all of those.

`sizes/limits.py` settles sizes up to which an answer is right that its own tests and loops show.
Here only the numbers of the source are looked at: each is tried just beyond itself, in each
direction. One more launch is drawn, long in one direction or several, so that no text can foresee
it. What is seen there counts as it does elsewhere.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.source.source import Source
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.problems.problem import NAN, Case, Problem, Shape

FARTHEST = 20_000  # a size that is drawn
BEYOND_NUMBERS = 12  # launches
MOST_STEPS = 3_000  # of one of these launches, as drawn
MOST_ELEMENTS = 1 << 19  # of its arrays together
CORNER = (129, 230)  # the range of sides, where several are long at once
STEPS_IN_THE_CORNER = (17, 25)  # two tiles of 16
WARP_AND_MORE = 33  # a side on which it shows what the lanes of a warp ask for
MORE_STEPS = 17
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
        longest = _longest(problem, case, steps, MOST_STEPS)
        farthest = _longest(problem, case, steps, problem.steps_beyond)
        usual = case.shape[case.along]
        wide = replace(case, shape=_wide(problem, case.shape))
        beyond += (
            _longer(problem, wide, n + 1, problem.steps_beyond)
            for n in numbers
            if usual < n + 1 <= farthest
        )
        if longest > usual:
            length = int(np.exp(rng.uniform(np.log(usual), np.log(longest))))
            drawn.append(_longer(problem, case, length))
    beyond.sort(key=lambda case: max(case.shape))
    corner = _corner(problem, rng)
    if corner and (not drawn or rng.random() < 0.5):
        drawn = [corner]
    one = [drawn[rng.integers(len(drawn))]] if drawn else []
    return [*beyond[:BEYOND_NUMBERS], *one]


def _longer(problem: Problem, case: Case, size: int, steps: int = MOST_STEPS) -> Case:
    assert case.along is not None
    shape = list(case.shape)
    shape[case.along] = size
    return Case(
        problem.fitted(tuple(shape)),
        poison=NAN,
        draw=DRAW + case.along,
        counted=True,
        along=case.along,
        allowed=4 * steps,
    )


def _longest(problem: Problem, case: Case, steps: int, most_steps: int) -> int:
    """How long a launch may be, as its steps and arrays grow with it."""
    assert case.along is not None
    usual = case.shape[case.along]
    elements = sum(map(math.prod, problem.operand_shapes(case.shape)))
    by_steps = usual * most_steps // max(steps, 1)
    by_elements = usual * MOST_ELEMENTS // max(elements, 1)
    return int(min(by_steps, by_elements, FARTHEST))


def _spread(problem: Problem) -> list[int]:
    """The directions along which the threads are spread; a sum runs along the others."""
    return [axis for axis in problem.directions if not (problem.has_steps and axis == 2)]


def _wide(problem: Problem, shape: Shape) -> Shape:
    """The shape with sides of more than a warp, and with more steps than one tile of 16 has."""
    spread = _spread(problem)
    least = {axis: WARP_AND_MORE if axis in spread else MORE_STEPS for axis in problem.directions}
    return tuple(max(size, least.get(axis, 0)) for axis, size in enumerate(shape))


def _corner(problem: Problem, rng: np.random.Generator) -> Case | None:
    """A launch that is long in all directions along which the threads are spread."""
    spread = _spread(problem)
    if len(spread) < 2:
        return None
    shape = list(problem.short)
    side = int(rng.integers(*CORNER))
    for axis in spread:  # as often as not a square: what is done for squares alone shows there
        shape[axis] = side if rng.random() < 0.5 else int(rng.integers(*CORNER))
    if problem.has_steps:
        shape[2] = int(rng.integers(*STEPS_IN_THE_CORNER))
    return Case(
        problem.fitted(tuple(shape)),
        poison=NAN,
        draw=DRAW + 9,
        counted=True,
        along=spread[0],
        allowed=8 * MOST_STEPS,
    )


def numbers_of(source: Source) -> Iterator[int]:
    """The whole numbers in an answer, written out or computed from numbers only."""
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
