"""Which launches an answer gets: grid, block and tiles by its constants, and launches far beyond.

The far launches come first. `sizes/limits.py` settles sizes up to which an answer is right that
its own tests and loops show. Here only the numbers of the source are looked at: each is tried just
beyond itself, in each direction. One more launch is drawn, long in one direction or several, so
that no text can foresee it. Only answers that were right everywhere else are launched so far; what
is seen there counts as it does elsewhere.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.diagnosis.source.source import Source
from course_lib.emulator.language.constants import ConstantList, NotConstant, evaluate_constant
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


# --- Grid and block, with the constants that the exercise offers and the answer uses --------------
# A name alone changes nothing: an integer BLOCK, or a TILE that the kernel never looks at, is the
# student's own. Where constants lie around that the kernel does not use, what they ask for is a
# guess; an answer that fails on one guess is tried on the next, so that none is refused for a
# name.


MOST_THREADS = 1024  # of a block
_CONSTANT = (int, float, np.generic, tuple, str)  # what stands for itself in a kernel


@dataclass(frozen=True)
class LaunchConfiguration:
    """One way to launch an answer.

    Attributes:
        constants: of the answer, that replace the exercise's.
        adopts: whether the size of the tile is read off the shared arrays.
    """

    constants: Mapping[str, object] = field(default_factory=dict)
    adopts: bool = False


@dataclass(frozen=True)
class Launched:
    """How an answer was launched where that is not the usual way, or not as it may have meant.

    Attributes:
        block: threads per block, x first.
        constants: of the answer, that made it so, as pairs.
        tile: the side of the tile that was read off the shared arrays; 0 if it was not.
        passed_over: a BLOCK of the answer that is no block of this exercise, as sizes.
    """

    block: tuple[int, ...]
    constants: tuple[tuple[str, object], ...] = ()
    tile: int = 0
    passed_over: tuple[int, ...] = ()

    def __str__(self) -> str:
        sizes = " x ".join(map(str, self.block))
        said = f"Launched in blocks of {sizes} threads"
        if self.tile:
            return f"{said}, as the tiles in shared memory are {self.tile} x {self.tile}."
        if self.constants:
            return f"{said} ({', '.join(f'{name} = {value}' for name, value in self.constants)})."
        if self.passed_over:
            return f"{said}: BLOCK = {self.passed_over} has not as many sizes as these blocks."
        return f"{said}, as asked for."


def choices(
    exercise: Exercise, source: Source, names: Mapping[str, object], block: Sequence[int] | None
) -> list[LaunchConfiguration]:
    """The ways to launch an answer, the most likely first.

    Args:
        exercise: what is asked.
        source: the kernel and its device functions.
        names: what the names outside the kernel stand for.
        block: the caller's own choice of a block, which comes before BLOCK.
    """
    used = names_used(source)
    sizes = {name: value for name, value in _offered(exercise, names) if name in used}
    unused = {name: value for name, value in _offered(exercise, names) if name not in used}
    shape = {} if block is not None else _block_of(exercise, names)
    adopts = _may_adopt(exercise, block) and "TILE" not in sizes
    found = [LaunchConfiguration({**sizes, **shape}, adopts)]
    if shape and "BLOCK" not in used:  # it may be left over from another attempt
        found.append(LaunchConfiguration(sizes, adopts))
    if adopts:
        found.append(LaunchConfiguration(sizes))
    if unused:  # the kernel may use what was worked out from them
        found.append(LaunchConfiguration({**sizes, **unused, **shape}))
    return found


def block_passed_over(
    exercise: Exercise, source: Source, names: Mapping[str, object]
) -> tuple[int, ...]:
    """A BLOCK that the kernel uses as if it were a block of this exercise; () if there is none."""
    value = names.get("BLOCK")
    if not isinstance(value, tuple) or not exercise.block_axes or _block_of(exercise, names):
        return ()
    return tuple(value) if "BLOCK" in names_used(source) else ()


def names_used(source: Source) -> set[str]:
    """The names from outside that a kernel and its device functions look at."""
    used: set[str] = set()
    for function in source.functions:
        loaded: set[str] = set()
        own: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                (loaded if isinstance(node.ctx, ast.Load) else own).add(node.id)
            elif isinstance(node, ast.arg):
                own.add(node.arg)
        used |= loaded - own
    return used


def _offered(exercise: Exercise, names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The sizes that the exercise lets an answer choose, and that this answer does choose."""
    for name in exercise.constants:
        value = names.get(name)
        if isinstance(value, _CONSTANT):
            yield name, value


def _block_of(exercise: Exercise, names: Mapping[str, object]) -> dict[str, object]:
    """BLOCK, where it is a tuple with as many sizes as the exercise offers."""
    value = names.get("BLOCK")
    if not isinstance(value, tuple) or isinstance(value, ConstantList):
        return {}
    return {"BLOCK": value} if len(value) in exercise.block_axes else {}


# --- Tiles under a name of the student's own ---------------------------------------------------


def _may_adopt(exercise: Exercise, block: Sequence[int] | None) -> bool:
    """Is the tile the one size that an answer chooses?"""
    return block is None and set(exercise.constants) == {"TILE"}


def tile_of(shapes: Sequence[tuple[int, ...]]) -> int | None:
    """The side of the square tiles that shared arrays of these shapes hold, padded or not."""
    sides = {_side(shape) for shape in shapes}
    side = sides.pop() if len(sides) == 1 else None
    return side if side and side**2 <= MOST_THREADS else None


def _side(shape: tuple[int, ...]) -> int | None:
    if len(shape) == 1:
        side = isqrt(shape[0])
        return side if shape[0] in (side * side, side * (side + 1)) else None
    high, wide = shape[-2:]  # several tiles may lie in one array
    return min(high, wide) if abs(high - wide) <= 1 else None
