"""A problem that a curriculum entry describes by itself: a NumPy reference and the arrays' shapes.

Nothing here knows what is computed. Wrong numbers are compared with what the usual slips would
give: an operand read transposed or one element too far, another operand left out, the result put
in the wrong place. Bounds, races, cost and float64 are the emulator's business, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, lcm, prod
from typing import Any, ClassVar

import numpy as np

from course_lib import entries
from course_lib.curriculum import Exercise, Launch, Task
from course_lib.diagnosis.families.index_search import TRANSPOSED, Geometry, Slip
from course_lib.diagnosis.families.product import (
    added_to_old,
    at_zeros,
    first_slip,
    not_finite,
    not_written,
    shifted_or_scaled,
)
from course_lib.diagnosis.launches.outcome import Outcome, by_how_much, where
from course_lib.diagnosis.launches.trail import Trail, block_steps, mapping_slip, run_mapping_slip
from course_lib.diagnosis.problems.cases import (
    EPSILON,
    FAMILIES,
    HIGHEST,
    LOWEST,
    Array,
    Case,
    Problem,
    exact_side,
    more_tiles,
)
from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.narrow import NarrowProduct
from course_lib.diagnosis.sizes.written_out import OtherSize
from course_lib.entries import axes as _axes
from course_lib.sentences import say

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
SMALL: Shape = (3, 5, 7)  # sizes that differ, so that exchanged axes show


class DescribedProblem(Problem):
    """What a curriculum entry with a reference asks for. A shape has a size for each letter."""

    fewest_steps: ClassVar[int] = 6000

    def __init__(self, exercise: Exercise) -> None:
        letters = _letters(exercise)
        free = sum(map(entries.is_free, letters))
        super().__init__(
            exercise.formula or exercise.title,
            tuple(_with_fixed(letters, shape) for shape in SIZES[free]),
            partial(_diagnose, exercise),
            partial(_mapping, exercise.output),
            exercise.order,
            exercise.formats if exercise.dtypes else (),
        )
        values = {
            "exercise": exercise,
            "sizes": letters,
            "letters": exercise.parameters,
            "tiny": _with_fixed(letters, (1,) * free),
            "short": _with_fixed(letters, SHORT[free]),
            "directions": tuple(n for n, each in enumerate(letters) if entries.is_free(each)),
            "gpu_shapes": tuple(_with_fixed(letters, shape) for shape in ON_A_GPU[free]),
            "sizes_vary": bool(free),
        }
        for name, value in values.items():  # the base class is frozen
            object.__setattr__(self, name, value)

    exercise: ClassVar[Exercise]
    sizes: ClassVar[tuple[str, ...]]

    def shape_of(self, letters: str, shape: Shape) -> Shape:
        """The shape of an array whose axes have these letters: "M,N"."""
        size_of = dict(zip(self.sizes, shape, strict=True))
        return tuple(size_of[each] for each in _axes(letters))

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return tuple(self.shape_of(each, shape) for each in self.exercise.shapes[:-1])

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
            each + np.float32(offsets.get(name, 0))
            for name, each in zip(names, fresh, strict=False)
        )

    def telling_operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        to_float32: Callable[[Any], Any] = np.float32
        return tuple(map(to_float32, super().telling_operands(shape, rng)))

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        expected = _reference(self.exercise, inputs)
        rng = np.random.default_rng(0)
        moved = np.zeros(expected.shape)
        for _ in range(TRIES):
            near = [
                each * (1 + UNITS_MOVED * EPSILON * rng.uniform(-1, 1, np.shape(each)))
                for each in _in_float64(inputs)
            ]
            moved = np.maximum(moved, np.abs(_reference(self.exercise, near) - expected))
        largest = float(np.abs(expected).max(initial=0.0))
        own = ROUNDINGS * EPSILON * (np.abs(expected) + largest / 16)
        return expected, 2 * moved + own + 1e-30

    def has_answer(self, *inputs: Array) -> bool:
        """A formula of its own may divide by an input, or take its logarithm."""
        return all(bool(np.isfinite(each).all()) for each in self.answer(*inputs))

    def label(self, shape: Shape) -> str:
        sizes = zip(self.sizes, shape, strict=True)
        free = [f"{letter} = {size}" for letter, size in sizes if entries.is_free(letter)]
        covered = self.covered(shape)
        elements = "element" if prod(covered) == 1 else "elements"
        return ", ".join(free) or f"{' x '.join(map(str, covered))} {elements}"

    def covered(self, shape: Shape) -> Shape:
        return self.shape_of(self.exercise.shapes[-1], shape)

    def exact(self, side: int) -> Shape:
        return _with_fixed(self.sizes, (side,) * len(self.sizes))

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        if len(_axes(self.exercise.shapes[-1])) > 1:
            return self.exact(exact_side(launch, lcm(*tile, step), seed))
        unit = lcm(launch.block[0], tile[0]) if launch.block[0] <= 256 else 64
        return self.exact(unit * (max(2, -(-192 // unit)) + more_tiles(seed, 2)))

    def random_shape(self, rng: np.random.Generator) -> Shape:
        return _with_fixed(self.sizes, [int(k) for k in rng.integers(2, 60, len(self.sizes))])

    def geometry(self, shape: Shape, tile: Sequence[int], step_tile: int | None) -> Geometry:
        covered = self.covered(shape)
        width, height = (*tile, 1)[:2]
        if len(covered) == 1:
            return Geometry(1, covered[0], 0, 1, width)
        return Geometry(covered[0], covered[1], 0, height, width)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        along = self._tile_along(tile)
        return tuple(
            tuple(along.get(letter, step) for letter in _axes(each))
            for each in self.exercise.shapes
        )

    def _tile_along(self, tile: Sequence[int]) -> dict[str, int]:
        """How many of a letter's indices one block has."""
        rows_and_columns = _axes(self.exercise.shapes[-1])
        return dict(zip(reversed(rows_and_columns), tile, strict=False))

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        """Each block once what it needs: an operand without a letter serves all blocks along it."""
        size_of = dict(zip(self.sizes, shape, strict=True))
        along = self._tile_along(tile)
        return tuple(
            prod(size_of[letter] for letter in _axes(each))
            * prod(ceil(size_of[k] / along[k]) for k in along if k not in _axes(each))
            for each in self.exercise.shapes[:-1]
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
        object.__setattr__(self, "diagnose", partial(diagnose_task, task))
        if task.grid or task.tile:
            object.__setattr__(self, "mapping", partial(mapping_of_task, task))

    def cases(self, first: Shape, seed: int) -> list[Case]:
        """Where no size is free, the one problem in every order of the warps."""
        before = self.exercise.before
        if self.sizes_vary:
            return [
                replace(each, poison=before, shape=self._pinned(each.shape))
                for each in super().cases(first, seed)
            ]
        return [
            Case(first, schedule, before, draw, exact=True)
            for draw, schedule in enumerate(self._orders())
        ]

    def other_sizes(self) -> Iterator[tuple[Case, OtherSize]]:
        """Launches on arrays that are longer along an axis."""
        task = self.exercise
        axes_of = dict(zip(task.parameters, map(_axes, task.shapes), strict=True))
        for changed in task.other_sizes:
            number, other = next(iter(changed.items()))
            name = next(each for each, axes in axes_of.items() if number in axes)
            shape = tuple(changed.get(each, int(each)) for each in self.sizes)
            axis = f"{name}.shape[{axes_of[name].index(number)}]"
            yield Case(shape, poison=task.before), OtherSize(axis, int(number), other)

    def gpu_cases(self) -> list[Case]:
        return [replace(each, poison=self.exercise.before) for each in super().gpu_cases()]

    def _pinned(self, shape: Shape) -> Shape:
        """A drawn shape, in which the axes whose size is a number have it again."""
        return tuple(
            size if entries.is_free(each) else int(each)
            for each, size in zip(self.sizes, shape, strict=True)
        )

    def _orders(self) -> tuple[str, ...]:
        """A thread with very many sums runs in step only: its races are seen there as well, and
        one warp after the other would take the student's time."""
        many = self.exercise.multiply_adds or self.exercise.passes
        return ("lockstep",) if many else EVERY_ORDER


def check_reference(exercise: Exercise) -> None:
    """Compute a reference once on small arrays, and see that its result is what the entry says.

    Raises:
        BadEntry: if there is nothing to compare answers with, or it does not fit.
    """
    if not exercise.kind.is_launched:
        return
    if exercise.reference is None:
        if not can_be_judged(exercise):
            if exercise.family:
                why = f"there is no family {exercise.family!r}; there are {', '.join(FAMILIES)}"
                raise entries.refuse(exercise, "family", why)
            why = "there is no `reference`, so nothing can be compared"
            raise entries.refuse(exercise, "reference", why)
        return
    problem = DescribedProblem(exercise)
    shape = _with_fixed(problem.sizes, SMALL)
    said = f"for {problem.label(shape)} `reference`"
    try:
        result = _reference(exercise, problem.operands(shape, np.random.default_rng(0)))
    except Exception as error:
        why = f"{said} fails ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        raise entries.refuse(exercise, "reference", why) from None
    if result.shape != problem.covered(shape):
        wanted = problem.covered(shape)
        why = f"{said} gives shape {result.shape}, and by `shapes` {exercise.output} has {wanted}"
        raise entries.refuse(exercise, "reference", why)
    if not np.isfinite(result).all():
        raise entries.refuse(exercise, "reference", f"{said} gives numbers that are not finite")


def problem_of(exercise: Exercise) -> Problem:
    """What an exercise asks for: as it says itself, or as this course knows it."""
    if exercise.reference:
        return TaskProblem(exercise) if isinstance(exercise, Task) else DescribedProblem(exercise)
    formats = exercise.formats if exercise.dtypes else ()
    problem = replace(
        FAMILIES[exercise.family], shapes=exercise.sizes, order=exercise.order, formats=formats
    )
    if isinstance(exercise, Task) and exercise.grid:
        problem = replace(problem, mapping=partial(mapping_of_task, exercise))
    if isinstance(exercise, Task) and exercise.family == "product" and exercise.shapes:
        rows, columns = _axes(exercise.shapes[-1])
        sizes = (rows, columns, _axes(exercise.shapes[0])[1])
        if not all(map(entries.is_free, sizes)):
            problem = NarrowProduct(problem, sizes)
    if isinstance(exercise, Task) and exercise.wrong_ideas:
        known = partial(_idea_or, exercise, problem.diagnose)
        object.__setattr__(problem, "diagnose", known)  # the class is frozen
    return problem


def problems(exercises: Mapping[str, Exercise]) -> dict[str, Problem]:
    """What each of these exercises asks for whose kernel is launched."""
    return {name: problem_of(each) for name, each in exercises.items() if each.kind.is_launched}


def can_be_judged(exercise: Exercise) -> bool:
    """Whether there is anything to compare an answer with."""
    return bool(not exercise.kind.is_launched or exercise.reference or exercise.family in FAMILIES)


def _letters(exercise: Exercise) -> tuple[str, ...]:
    """Every letter once, those of the output first."""
    shapes = exercise.shapes
    return tuple(dict.fromkeys(k for each in (shapes[-1], *shapes) for k in _axes(each)))


def _with_fixed(letters: Sequence[str], sizes: Sequence[int]) -> Shape:
    """Sizes for all letters: numbers stand for themselves, the others take what is given."""
    left = iter(sizes)
    return tuple(next(left) if entries.is_free(each) else int(each) for each in letters)


def _reference(exercise: Exercise, inputs: Sequence[Array]) -> Array:
    """What should come out, in float64."""
    assert exercise.reference is not None
    with np.errstate(all="ignore"):
        return np.asarray(exercise.reference(*_in_float64(inputs)), np.float64)


def _in_float64(inputs: Sequence[Array]) -> list[Array]:
    """Arrays and numbers as they are, in float64.

    np.float64(each) makes a number of an array with one element in NumPy 2.2.
    """
    return [np.asarray(each, np.float64)[()] for each in inputs]


# --- wrong numbers --------------------------------------------------------------------------


def _mapping(output: str, trail: Trail, sizes: Geometry) -> Slip | None:
    if trail.writes.ndim == 1:
        return run_mapping_slip(trail, sizes.tile_columns, output, "element")
    return mapping_slip(trail, sizes, output)


def _diagnose(exercise: Exercise, outcome: Outcome) -> Slip | None:
    """The slip that explains wrong numbers, or None."""
    tests = (
        not_written,
        at_zeros,
        added_to_old,
        _of_all(partial(_displaced, exercise)),
        _of_all(partial(_other_operands, exercise)),
        _whole_numbers,
        shifted_or_scaled,
        not_finite,
    )
    return first_slip(tests, outcome)


def mapping_of_task(task: Task, trail: Trail, sizes: Geometry) -> Slip | None:
    """Do the blocks run the other way than the task's own grid has them?

    Otherwise, which thread has which element is the answer's own affair.
    """
    if task.grid != _axes(task.shapes[-1]):
        return None
    if trail.writes.ndim == 1:
        return _mapping(task.output, trail, sizes)
    steps = block_steps(trail)
    if steps is None:
        return None
    (row_x, column_x), (row_y, column_y) = steps
    if (column_x, row_y) != (sizes.tile_columns, sizes.tile_rows) or row_x or column_y:
        return None
    message = say(
        "Blocks run through {output} the wrong way: one block further in x moves along the "
        "columns of {output}, and one further in y down its rows. The launch has as many blocks "
        "in x as cover the rows of {output}, and as many in y as cover its columns.",
        output=task.output,
    )
    hint = say(
        "Which of the two numbers of cuda.grid(2) counts the rows of {output}?", output=task.output
    )
    return Slip("wrong-index", message, hint, ("store", "mapping", "both"))


def diagnose_task(task: Task, outcome: Outcome) -> Slip | None:
    """The same for a task, whose output holds something before that may have to stay."""
    if outcome.right.all():
        return None
    tests = (
        _nothing_written,
        _in_another_place,
        _overwritten,
        partial(_wrong_idea, task),
        at_zeros,
        _of_all(partial(_other_operands, task)),
        _of_all(partial(_displaced, task)),
        _another_number,
        _whole_numbers,
        shifted_or_scaled,
        not_finite,
    )
    with np.errstate(all="ignore"):
        return next(filter(None, (test(outcome) for test in tests)), None)


def _of_all(test: Callable[[Outcome], Slip | None]) -> Callable[[Outcome], Slip | None]:
    """A test whose sentence is about the whole output: not where elements were never written."""

    def slip(outcome: Outcome) -> Slip | None:
        return test(outcome) if (outcome.known | outcome.right).all() else None

    return slip


def _changed(outcome: Outcome) -> tuple[Array, Array]:
    """Which elements should change, and which did."""
    return outcome.expected != outcome.poison, outcome.values != outcome.poison


def _nothing_written(outcome: Outcome) -> Slip | None:
    """Elements that should change and did not, while all others are right."""
    wanted, changed = _changed(outcome)
    left = wanted & ~changed & ~outcome.right
    if not left.any() or not (outcome.right | left).all():
        return None
    out, hint = outcome.output, "Which thread should write there, and what keeps it away?"
    if not (wanted & changed).any():
        message = say("Nothing of {out} has changed.", out=out)
    else:
        message = say(
            "What was written is right, but this was not: {where}.",
            where=where(left, outcome.sizes),
        )
    return Slip("incomplete-output", message, hint, ("store", "missing"))


def _in_another_place(outcome: Outcome) -> Slip | None:
    """One number, right but in the wrong place."""
    wanted, changed = _changed(outcome)
    if wanted.sum() != 1 or changed.sum() != 1 or (wanted & changed).any():
        return None
    if outcome.values[changed] != outcome.expected[wanted]:
        return None
    out, (here,), (there,) = outcome.output, np.argwhere(changed), np.argwhere(wanted)
    message = say(
        "The number is right, but it lies in {array}{here} and not in {array}{there}.",
        array=out,
        here=_index(here),
        there=_index(there),
    )
    return Slip(
        "wrong-index",
        message,
        "Indices begin with 0: which one is the place asked for?",
        ("store",),
    )


def _overwritten(outcome: Outcome) -> Slip | None:
    """Elements that should stay as they were, and did not."""
    wanted, changed = _changed(outcome)
    lost = changed & ~wanted
    if not lost.any() or not (outcome.right | lost).all():
        return None
    out = outcome.output
    stays = "should stay as it was" if lost.sum() == 1 else "should stay as they were"
    there = where(lost, outcome.sizes)
    message = say(
        "What should be written is right, but {there} of {out} {stays}.",
        there=there,
        out=out,
        stays=stays,
    )
    hint = say("Which elements of {out} does this line write, over all threads and turns?", out=out)
    place = ("overwritten", str(int(np.flatnonzero(lost)[0])))
    return Slip("wrong-index", message, hint, place)


def _idea_or(
    task: Task, diagnose: Callable[[Outcome], Slip | None], outcome: Outcome
) -> Slip | None:
    """What the task itself says that wrong answers compute, or else what is known of its family."""
    with np.errstate(all="ignore"):
        idea = None if outcome.right.all() else _wrong_idea(task, outcome)
    return idea or diagnose(outcome)


def _wrong_idea(task: Task, outcome: Outcome) -> Slip | None:
    """What the task itself says that wrong answers compute: of all elements, or of none."""
    for idea in task.wrong_ideas:
        if _explains(outcome, idea.computes(*_in_float64(outcome.inputs))):
            message = say("{out} holds other numbers: {says}.", out=task.output, says=idea.says)
            return Slip("wrong-formula", message, idea.hint, idea.place)
    return None


def _explains(outcome: Outcome, values: Array) -> bool:
    """Are these the numbers that came out, and no finite ones where none came out?

    Where finite numbers should have, what did come was read beyond an array, or from a cell that
    nobody has written: that is said instead.
    """
    lost = _lost(outcome)
    if np.isfinite(np.broadcast_to(values, lost.shape)[lost]).any():
        return False
    return outcome.matches(values) or bool(lost.any() and not outcome.known.any())


def _lost(outcome: Outcome) -> Array:
    """The elements that were written and are no finite numbers."""
    lost: Array = ~np.isfinite(outcome.got) & ~outcome.untouched
    return lost


def _another_number(outcome: Outcome) -> Slip | None:
    """The right place, and another number than asked for, where there is no input to blame."""
    wanted, changed = _changed(outcome)
    if outcome.inputs or (wanted != changed).any():
        return None
    message = say(
        "The right place is written, with another number: {by_how_much}.",
        by_how_much=by_how_much(outcome),
    )
    return Slip("wrong-formula", message, "Which number does the task ask for?", ("store",))


def _index(place: Array) -> str:
    return f"[{', '.join(map(str, place))}]"


def _displaced(exercise: Exercise, outcome: Outcome) -> Slip | None:
    """The right numbers in the wrong places."""
    out = outcome.output
    for number, (text, values) in enumerate(_moved(outcome.expected)):
        if outcome.matches(values):
            turned = number == 0 and _can_turn(outcome.expected)
            message = say(
                "{out} holds the right numbers in the wrong places: it is {text}.",
                out=out,
                text=text,
            )
            hint = say(
                "Take thread (1, 0) of block (0, 0): which element of {out} belongs to it?", out=out
            )
            return Slip("wrong-index", message, hint, TRANSPOSED if turned else ("store",))
    return None


def _other_operands(exercise: Exercise, outcome: Outcome) -> Slip | None:
    """One operand read in another way, or left alone."""
    names = exercise.parameters
    for number, operand in enumerate(outcome.inputs):
        if np.shape(operand) == outcome.expected.shape and outcome.matches(operand):
            message = say("{array} is a copy of {name}.", array=outcome.output, name=names[number])
            return Slip(
                "wrong-formula",
                message,
                say("Compare with {formula}.", formula=exercise.formula),
                ("store",),
            )
        for text, values in _moved(operand):
            changed = list(outcome.inputs)
            changed[number] = values
            if outcome.matches(_reference(exercise, changed)):
                message = say(
                    "{array} is the right result for {name} {text}.",
                    array=outcome.output,
                    name=names[number],
                    text=text,
                )
                hint = say(
                    "Which element of {name} does thread (1, 0) of block (0, 0) need?",
                    name=names[number],
                )
                return Slip("wrong-index", message, hint, ("load", names[number]))
    return _by_the_other_index(exercise, outcome) or _left_out(exercise, outcome)


def _by_the_other_index(exercise: Exercise, outcome: Outcome) -> Slip | None:
    """An operand of one axis read with the column where the row belongs, or the other way round."""
    shape = outcome.expected.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        return None
    for number, operand in enumerate(outcome.inputs):
        if np.ndim(operand) != 1:
            continue
        # All else transposed, and the result transposed back: as if this one had turned alone.
        turned = [each if i == number else each.T for i, each in enumerate(outcome.inputs)]
        if outcome.matches(_reference(exercise, turned).T):
            name = exercise.parameters[number]
            message = say("{name} is read with the wrong one of the two indices.", name=name)
            hint = say("Does {name} have an element for each row, or for each column?", name=name)
            return Slip("wrong-index", message, hint, ("load", name))
    return None


def _left_out(exercise: Exercise, outcome: Outcome) -> Slip | None:
    """The result with an operand of zeros or ones, as if it took no part."""
    for number, operand in enumerate(outcome.inputs):
        for value in (0.0, 1.0):
            changed = list(outcome.inputs)
            changed[number] = np.full(np.shape(operand), value)
            if outcome.matches(_reference(exercise, changed)):
                name = exercise.parameters[number]
                message = say("{name} takes no part in the result.", name=name)
                hint = say(
                    "Where does {name} stand in {formula}?",
                    name=name,
                    formula=exercise.formula or "the formula",
                )
                return Slip("wrong-formula", message, hint, ("store",))
    return None


def _moved(array: Array) -> Iterator[tuple[str, Array]]:
    """An array transposed, or with its elements one place further or less far along an axis."""
    array = np.asarray(array)
    if _can_turn(array):
        yield "transposed", array.T
    for axis, noun in zip(range(array.ndim), _nouns(array), strict=True):
        if array.shape[axis] < 3:
            continue
        # At the end there is nothing to move in; the emulator's poison or a wrapped index stands
        # there, so the first element comes round again.
        yield f"read one {noun} too far", np.roll(array, -1, axis)
        yield f"read one {noun} too early", np.roll(array, 1, axis)
        first = np.take(array, [0], axis=axis)
        if array.ndim == 1:
            yield "in reverse order", array[::-1]
        yield f"with its first {noun} everywhere", np.broadcast_to(first, array.shape)


def _can_turn(array: Array) -> bool:
    """Does an array that is transposed keep its shape, and can one see it?"""
    return array.ndim == 2 and array.shape[0] == array.shape[1] and len(array) > 1


def _nouns(array: Array) -> tuple[str, ...]:
    return ("element",) if array.ndim == 1 else ("row", "column", "layer")[: array.ndim]


def _whole_numbers(outcome: Outcome) -> Slip | None:
    """The right numbers without their fractions."""
    for cut, verb in ((np.trunc, "cut off"), (np.floor, "rounded down"), (np.rint, "rounded")):
        if outcome.matches(cut(outcome.expected)):
            message = say(
                "{array} equals the right result with the fractions {verb}.",
                array=outcome.output,
                verb=verb,
            )
            hint = "Which `//`, cast, variable or array makes whole numbers here?"
            return Slip("integer-arithmetic", message, hint, ("integer",))
    return None
