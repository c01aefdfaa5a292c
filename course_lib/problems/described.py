"""A problem that an entry describes by itself: a NumPy reference and the arrays' shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil, lcm, prod
from typing import Any, ClassVar

import numpy as np

from course_lib.curriculum import Exercise, Launch, Task
from course_lib.problems.problem import (
    EPSILON,
    HIGHEST,
    LOWEST,
    Array,
    Case,
    OtherSize,
    Problem,
    Shape,
    exact_side,
    more_tiles,
)
from course_lib.registry import entry_checks as entries
from course_lib.registry.entry_checks import axes as _axes
from course_lib.wording.words import plural

# The sizes to try, by how many letters there are: ragged, below a tile, one row, one column.
SIZES: dict[int, tuple[Shape, ...]] = {
    0: (),
    1: ((100,), (63,), (65,), (190,), (31,)),
    2: ((33, 19), (31, 40), (1, 33), (33, 1), (70, 65)),
    3: ((33, 19, 37), (31, 33, 17), (17, 40, 5), (1, 33, 31), (33, 1, 20)),
}
SHORT: dict[int, Shape] = {0: (), 1: (5,), 2: (5, 6), 3: (5, 6, 3)}
ON_A_GPU: dict[int, tuple[Shape, ...]] = {
    0: ((),),
    1: ((100_003,), (1 << 16,)),
    2: ((1000, 517), (512, 512)),
    3: ((1000, 517, 133), (512, 512, 128)),
}
# How far float32 may be off: as far as the result moves if every input moves by so many units in
# the last place, and a few roundings of its own. That suits sums of up to some hundred terms.
UNITS_MOVED = 16
ROUNDINGS = 8
TRIES = 4
EVERY_ORDER = ("lockstep", "warps", "shuffled", "shuffled")


def right_result(exercise: Exercise, inputs: Sequence[Array]) -> Array:
    """What should come out, in float64."""
    assert exercise.reference is not None
    with np.errstate(all="ignore"):
        return np.asarray(exercise.reference(*in_float64(inputs)), np.float64)


def is_a_count(results: Array, inputs: Sequence[Array]) -> bool:
    """Are whole numbers made of fractions? A formula that counts jumps, and is held to the number.

    How far it moves with its inputs says nothing of rounding.
    """
    return _are_whole(results) and not all(map(_are_whole, inputs))


def _are_whole(numbers: Array) -> bool:
    return bool((numbers == np.rint(numbers)).all())


def in_float64(inputs: Sequence[Array]) -> list[Array]:
    """Arrays and numbers as they are, in float64.

    np.float64(each) makes a number of an array with one element in NumPy 2.2.
    """
    return [np.asarray(array, np.float64)[()] for array in inputs]


class DescribedProblem(Problem):
    """What a curriculum entry with a reference asks for. A shape has a size for each letter."""

    fewest_steps: ClassVar[int] = 6000

    def __init__(self, exercise: Exercise) -> None:
        letters = _letters(exercise)
        free = sum(map(entries.is_free, letters))
        super().__init__(
            exercise.formula or exercise.title,
            tuple(with_fixed(letters, shape) for shape in SIZES[free]),
            exercise.order,
            exercise.formats if exercise.dtypes else (),
        )
        values = {
            "exercise": exercise,
            "sizes": letters,
            "letters": exercise.parameters,
            "tiny": with_fixed(letters, (1,) * free),
            "short": with_fixed(letters, SHORT[free]),
            "directions": tuple(n for n, letter in enumerate(letters) if entries.is_free(letter)),
            "gpu_shapes": tuple(with_fixed(letters, shape) for shape in ON_A_GPU[free]),
            "sizes_vary": bool(free),
        }
        for name, value in values.items():  # the base class is frozen
            object.__setattr__(self, name, value)

    exercise: ClassVar[Exercise]
    sizes: ClassVar[tuple[str, ...]]

    def shape_of(self, letters: str, shape: Shape) -> Shape:
        """The shape of an array whose axes have these letters: "M,N"."""
        size_of = dict(zip(self.sizes, shape, strict=True))
        return tuple(size_of[axis] for axis in _axes(letters))

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return tuple(self.shape_of(letters, shape) for letters in self.exercise.shapes[:-1])

    def operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        """Fresh inputs; one without axes is a number of type float32."""
        fresh: Iterator[Any] = (
            rng.uniform(LOWEST, HIGHEST, size).astype(np.float32)
            if size
            else np.float32(rng.uniform(LOWEST, HIGHEST))  # a number
            for size in self.operand_shapes(shape)
        )
        if not isinstance(self.exercise, Task):
            return tuple(fresh)
        offsets = self.exercise.offsets
        names = self.exercise.parameters
        return tuple(
            array + np.float32(offsets.get(name, 0))
            for name, array in zip(names, fresh, strict=False)
        )

    def telling_operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        to_float32: Callable[[Any], Any] = np.float32
        return tuple(map(to_float32, super().telling_operands(shape, rng)))

    def result(self, *inputs: Array) -> Array:
        return right_result(self.exercise, inputs)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        expected = self.result(*inputs)
        moved = np.zeros(expected.shape) if is_a_count(expected, inputs) else self._moved(inputs)
        largest = float(np.abs(expected).max(initial=0.0))
        # Equal terms drift one way: each addition may be off by half a unit of the sum so far.
        share = max(ROUNDINGS, self._terms(inputs) / 2)
        own = EPSILON * (share * np.abs(expected) + ROUNDINGS * largest / 16)
        return expected, 2 * moved + own + 1e-30

    def _moved(self, inputs: Sequence[Array]) -> Array:
        """How far each result moves with inputs that are a few units in the last place away."""
        expected = right_result(self.exercise, inputs)
        rng = np.random.default_rng(0)
        moved = np.zeros(expected.shape)
        for _ in range(TRIES):
            near = [
                array * (1 + UNITS_MOVED * EPSILON * rng.uniform(-1, 1, np.shape(array)))
                for array in in_float64(inputs)
            ]
            moved = np.maximum(moved, np.abs(right_result(self.exercise, near) - expected))
        return moved

    def _terms(self, inputs: Sequence[Array]) -> int:
        """How many numbers an element sums at most: one for each index that the output lacks."""
        size_of = {
            letter: size
            for axes, array in zip(self.exercise.shapes, inputs, strict=False)
            for letter, size in zip(_axes(axes), np.shape(array), strict=True)
        }
        kept = _axes(self.exercise.shapes[-1])
        return prod(size for letter, size in size_of.items() if letter not in kept)

    def has_answer(self, *inputs: Array) -> bool:
        """A formula of its own may divide by an input, or take its logarithm."""
        return bool(np.isfinite(self.result(*inputs)).all())

    def label(self, shape: Shape) -> str:
        sizes = zip(self.sizes, shape, strict=True)
        free = [f"{letter} = {size}" for letter, size in sizes if entries.is_free(letter)]
        covered = self.covered(shape)
        elements = plural("element", prod(covered))
        return ", ".join(free) or f"{' x '.join(map(str, covered))} {elements}"

    def covered(self, shape: Shape) -> Shape:
        return self.shape_of(self.exercise.shapes[-1], shape)

    def exact(self, side: int) -> Shape:
        return with_fixed(self.sizes, (side,) * len(self.sizes))

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        if len(_axes(self.exercise.shapes[-1])) > 1:
            return self.exact(exact_side(launch, lcm(*tile, step), seed))
        unit = lcm(launch.block[0], tile[0]) if launch.block[0] <= 256 else 64
        return self.exact(unit * (max(2, -(-192 // unit)) + more_tiles(seed, 2)))

    def random_shape(self, rng: np.random.Generator) -> Shape:
        return with_fixed(self.sizes, [int(k) for k in rng.integers(2, 60, len(self.sizes))])

    def _tile_along(self, tile: Sequence[int]) -> dict[str, int]:
        """How many of a letter's indices one block has."""
        rows_and_columns = _axes(self.exercise.shapes[-1])
        return dict(zip(reversed(rows_and_columns), tile, strict=False))

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        """Each block once what it needs: an operand without a letter serves all blocks along it."""
        size_of = dict(zip(self.sizes, shape, strict=True))
        along = self._tile_along(tile)
        return tuple(
            prod(size_of[letter] for letter in _axes(letters))
            * prod(ceil(size_of[k] / along[k]) for k in along if k not in _axes(letters))
            for letters in self.exercise.shapes[:-1]
        )

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        """That is up to the kernel's design."""
        return None


class TaskProblem(DescribedProblem):
    """What a task of a lesson asks for: arrays that hold what the task says before the launch."""

    starts_blank: ClassVar[bool] = False
    exercise: ClassVar[Task]

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        object.__setattr__(self, "rises", bool(task.rises))
        if not self.sizes_vary:
            object.__setattr__(self, "falling_draw", 1)

    def before(self, case: Case) -> float:
        return self.exercise.before

    def cases(self, first: Shape, seed: int) -> list[Case]:
        """Where no size is free, the one problem in every order of the warps."""
        before = self.exercise.before
        if self.sizes_vary:
            return [
                replace(case, poison=before, shape=self._pinned(case.shape))
                for case in super().cases(first, seed)
            ]
        return [
            Case(first, schedule, before, draw, exact=True)
            for draw, schedule in enumerate(self._orders())
        ]

    def rising(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        rises = (self.exercise.rises.get(name, 0.0) for name in self.exercise.parameters)
        return tuple(
            array
            + np.linspace(-rise / 2, rise / 2, array.size, dtype=np.float32).reshape(array.shape)
            if rise
            else array
            for array, rise in zip(inputs, rises, strict=False)
        )

    def falling(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        falls = (self.exercise.falls.get(name, 0.0) for name in self.exercise.parameters)
        return tuple(
            array - np.float32(fall) if fall else array
            for array, fall in zip(inputs, falls, strict=False)
        )

    def other_sizes(self) -> Iterator[tuple[Case, OtherSize]]:
        """Launches on arrays that are longer along an axis."""
        task = self.exercise
        axes_of = dict(zip(task.parameters, map(_axes, task.shapes), strict=True))
        for changed in task.other_sizes:
            number, other = next(iter(changed.items()))
            name = next(letter for letter, axes in axes_of.items() if number in axes)
            shape = tuple(changed.get(siz, int(siz)) for siz in self.sizes)
            axis = f"{name}.shape[{axes_of[name].index(number)}]"
            case = Case(shape, poison=task.before, further=True)
            yield case, OtherSize(axis, int(number), other)

    def gpu_cases(self) -> list[Case]:
        return [replace(case, poison=self.exercise.before) for case in super().gpu_cases()]

    def _pinned(self, shape: Shape) -> Shape:
        """A drawn shape, in which the axes whose size is a number have it again."""
        return tuple(
            size if entries.is_free(siz) else int(siz)
            for siz, size in zip(self.sizes, shape, strict=True)
        )

    def _orders(self) -> tuple[str, ...]:
        """A thread with very many sums runs in step only: its races are seen there as well, and
        one warp after the other would take the student's time."""
        many = self.exercise.multiply_adds or self.exercise.passes
        return ("lockstep",) if many else EVERY_ORDER


def _letters(exercise: Exercise) -> tuple[str, ...]:
    """Every letter once, those of the output first."""
    shapes = exercise.shapes
    return tuple(dict.fromkeys(k for shape in (shapes[-1], *shapes) for k in _axes(shape)))


def with_fixed(letters: Sequence[str], sizes: Sequence[int]) -> Shape:
    """Sizes for all letters: numbers stand for themselves, the others take what is given."""
    left = iter(sizes)
    return tuple(next(left) if entries.is_free(letter) else int(letter) for letter in letters)
