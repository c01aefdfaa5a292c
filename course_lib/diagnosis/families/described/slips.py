"""Wrong numbers of a described problem: operands read otherwise, results in other places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.diagnosis.families.common import (
    CUTS,
    added_to_old,
    at_zeros,
    first_slip,
    not_finite,
    not_written,
    shifted_or_scaled,
)
from course_lib.diagnosis.families.hypotheses import Array, Hypothesis, Test, trying
from course_lib.diagnosis.families.mapping import mapping_slip, run_mapping_slip
from course_lib.diagnosis.families.product.steps import step_weights, steps_wrong
from course_lib.diagnosis.launches.outcome import Geometry, Outcome
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.slip import TRANSPOSED, Slip
from course_lib.sentences import say

TURNED = "transposed"


def right_result(exercise: Exercise, inputs: Sequence[Array]) -> Array:
    """What should come out, in float64."""
    assert exercise.reference is not None
    with np.errstate(all="ignore"):
        return np.asarray(exercise.reference(*in_float64(inputs)), np.float64)


def in_float64(inputs: Sequence[Array]) -> list[Array]:
    """Arrays and numbers as they are, in float64.

    np.float64(each) makes a number of an array with one element in NumPy 2.2.
    """
    return [np.asarray(each, np.float64)[()] for each in inputs]


def mapping_of(output: str, trail: Trail, sizes: Geometry) -> Slip | None:
    if trail.writes.ndim == 1:
        return run_mapping_slip(trail, sizes.tile_columns, output, "element")
    return mapping_slip(trail, sizes, output)


def diagnose_described(exercise: Exercise, outcome: Outcome) -> Slip | None:
    """The slip that explains wrong numbers, or None."""
    tests = (
        not_written,
        at_zeros,
        added_to_old,
        steps_of_a_product,
        of_all(partial(displaced, exercise)),
        of_all(partial(other_operands, exercise)),
        whole_numbers,
        shifted_or_scaled,
        not_finite,
    )
    return first_slip(tests, outcome)


def of_all(hypotheses_of: Callable[[Outcome], Iterable[Hypothesis]]) -> Test:
    """Tries what is about the whole output: not where elements were never written."""

    def test(outcome: Outcome) -> Slip | None:
        whole = (outcome.known | outcome.right).all()
        return trying(hypotheses_of)(outcome) if whole else None

    return test


def steps_of_a_product(outcome: Outcome) -> Slip | None:
    """Steps of k that are left out or count several times, where two matrices are multiplied.

    Where the steps do not count alike, the runs that do are the kernel's tiles.
    """
    inputs, expected = in_float64(outcome.inputs), outcome.expected
    if [np.ndim(each) for each in inputs] != [2, 2] or inputs[0].shape[1] != inputs[1].shape[0]:
        return None
    product = inputs[0] @ inputs[1]
    if product.shape != expected.shape or (np.abs(product - expected) > outcome.tolerance).any():
        return None
    multiplied = replace(outcome, sizes=replace(outcome.sizes, steps=inputs[0].shape[1]))
    weights = step_weights(multiplied)
    if weights is None:
        return None
    tile = int(np.gcd.reduce([len(weights), *(np.flatnonzero(np.diff(weights)) + 1)]))
    sizes = replace(multiplied.sizes, tile_steps=tile if tile > 1 else None)
    return steps_wrong(replace(multiplied, sizes=sizes))


def displaced(exercise: Exercise, outcome: Outcome) -> Iterator[Hypothesis]:
    """The right numbers in the wrong places."""
    out = outcome.output
    for text, values in _moved(outcome.expected):
        message = say(
            "{out} holds the right numbers in the wrong places: it is {text}.", out=out, text=text
        )
        hint = say(
            "Take thread (1, 0) of block (0, 0): which element of {out} belongs to it?", out=out
        )
        place = TRANSPOSED if text == TURNED else ("store",)
        yield Hypothesis(values, "wrong-index", message, hint, place)


def other_operands(exercise: Exercise, outcome: Outcome) -> Iterator[Hypothesis]:
    """One operand read in another way, or left alone."""
    out, formula = outcome.output, exercise.formula
    for name, operand, result_for in _operands(exercise, outcome):
        if np.shape(operand) == outcome.expected.shape:
            message = say("{array} is a copy of {name}.", array=out, name=name)
            hint = say("Compare with {formula}.", formula=formula)
            yield Hypothesis(operand, "wrong-formula", message, hint, ("store",))
        for text, moved in _moved(operand):
            message = say(
                "{array} is the right result for {name} {text}.", array=out, name=name, text=text
            )
            hint = say(
                "Which element of {name} does thread (1, 0) of block (0, 0) need?", name=name
            )
            yield Hypothesis(result_for(moved), "wrong-index", message, hint, ("load", name))
    yield from _by_the_other_index(exercise, outcome)
    for name, operand, result_for in _operands(exercise, outcome):
        for value in (0.0, 1.0):  # as if it took no part
            message = say("{name} takes no part in the result.", name=name)
            hint = say(
                "Where does {name} stand in {formula}?",
                name=name,
                formula=formula or "the formula",
            )
            values = result_for(np.full(np.shape(operand), value))
            yield Hypothesis(values, "wrong-formula", message, hint, ("store",))


def _operands(
    exercise: Exercise, outcome: Outcome
) -> Iterator[tuple[str, Array, Callable[[Array], Array]]]:
    """Each operand with its name, and the right result for another array in its place."""
    for number, (name, operand) in enumerate(
        zip(exercise.parameters, outcome.inputs, strict=False)
    ):

        def result_for(other: Array, number: int = number) -> Array:
            inputs = [*outcome.inputs]
            inputs[number] = other
            return right_result(exercise, inputs)

        yield name, operand, result_for


def _by_the_other_index(exercise: Exercise, outcome: Outcome) -> Iterator[Hypothesis]:
    """An operand of one axis read with the column where the row belongs, or the other way round."""
    shape = outcome.expected.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        return
    for number, operand in enumerate(outcome.inputs):
        if np.ndim(operand) != 1:
            continue
        # All else transposed, and the result transposed back: as if this one had turned alone.
        turned = [each if i == number else each.T for i, each in enumerate(outcome.inputs)]
        name = exercise.parameters[number]
        message = say("{name} is read with the wrong one of the two indices.", name=name)
        hint = say("Does {name} have an element for each row, or for each column?", name=name)
        values = right_result(exercise, turned).T
        yield Hypothesis(values, "wrong-index", message, hint, ("load", name))


def _moved(array: Array) -> Iterator[tuple[str, Array]]:
    """An array transposed, or with its elements one place further or less far along an axis."""
    array = np.asarray(array)
    if _can_turn(array):
        yield TURNED, array.T
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


@trying
def whole_numbers(outcome: Outcome) -> Iterator[Hypothesis]:
    """The right numbers without their fractions."""
    hint = "Which `//`, cast, variable or array makes whole numbers here?"
    for cut, verb in CUTS:
        message = say(
            "{array} equals the right result with the fractions {verb}.",
            array=outcome.output,
            verb=verb,
        )
        values = cut(outcome.expected)
        yield Hypothesis(values, "integer-arithmetic", message, hint, ("integer",))
