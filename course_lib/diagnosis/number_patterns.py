"""What numbers show by themselves, whatever is computed: not written, not finite, cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from course_lib.diagnosis.launches.outcome import Outcome, by_how_much, where, zero_place
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import Sentence, say
from course_lib.words import element, joined

Array = np.ndarray
# How a fraction is lost.
CUTS = ((np.trunc, "cut off"), (np.floor, "rounded down"), (np.rint, "rounded"))
WHOLE = "Which `//`, cast, variable or array makes whole numbers here?"
Answer = Callable[..., tuple[Array, Array]]  # what should come out of inputs, and the room


def not_written(outcome: Outcome) -> Sentence | None:
    """What is said of elements that no thread wrote, while those that were written are right."""
    untouched = outcome.untouched
    if not untouched.any() or not outcome.right[~untouched].all():
        return None
    if np.isnan(outcome.poison):
        return None  # a not-a-number may also have been computed; another poison tells
    if untouched.all():
        return say(
            "{array} was never written: every element still holds what was there before the "
            "launch.",
            array=outcome.output,
        )
    return say(
        "What was written is right, but a part of {array} was never written: {place}.",
        array=outcome.output,
        place=zero_place(outcome, untouched) or where(untouched, outcome.sizes),
    )


def at_zeros(outcome: Outcome) -> Slip | None:
    """Right, but for the elements to which an exact zero of an input belongs."""
    place = zero_place(outcome, ~outcome.right)
    if place is None:
        return None
    message = say("Right but {place}.", place=place)
    hint = say(
        "What does each line make of an element of {letter} that is exactly 0?", letter=place.letter
    )
    values = f"{by_how_much(outcome)}."
    return Slip("wrong-formula", message, hint, ("zero", place.letter), values=values)


def not_finite(outcome: Outcome) -> Slip | None:
    """Infinities, or not-a-number, out of ordinary inputs."""
    odd = ~np.isfinite(outcome.got) & ~outcome.untouched
    if not odd.any():
        return None
    at = tuple(int(index) for index in np.argwhere(odd)[0])
    name = element(outcome.output, at)
    value = float(outcome.values[at])
    if np.isnan(value):
        template = (
            "{name} is {value} although {operands} hold ordinary numbers: a step had no number to "
            "give, as 0 / 0, ∞ / ∞ and ∞ − ∞ have none."
        )
        hint = "Which step can meet an infinity, or divide 0 by 0?"
    elif value < 0:
        template = (
            "{name} is {value} although {operands} hold ordinary numbers: a value grew past its "
            "type, was divided by zero, or is the logarithm of 0."
        )
        hint = "Which step can give −∞? Has anything been added up before it?"
    else:
        template = (
            "{name} is {value} although {operands} hold ordinary numbers: a value grew past its "
            "type, or something was divided by zero."
        )
        hint = "Which step can make a number that large?"
    message = say(template, name=name, value=outcome.values[at], operands=outcome.operands)
    return Slip("numerical-overflow", message, hint, ("exponential", "first"))


def diagnose(answer: Answer, outcome: Outcome) -> Slip | None:
    """What numbers equal, whatever is computed, where that says what is wrong."""
    known = outcome.known
    if outcome.right.all() or (known.any() and outcome.right[known].all()):
        return None
    with np.errstate(all="ignore"):
        return at_zeros(outcome) or cut_numbers(answer, outcome) or whole_numbers(outcome)


def cut_numbers(answer: Answer, outcome: Outcome) -> Slip | None:
    """Fractions cut off, of the inputs or of the result."""
    for verb, place, values in _cut(answer, outcome):
        if not np.array_equal(values, outcome.expected) and outcome.matches(values):
            message = say(
                "{array} equals the right formula with the fractions {verb} {place}.",
                array=outcome.output,
                verb=verb,
                place=place,
            )
            return Slip("integer-arithmetic", message, WHOLE, ("integer",))
    return None


def _cut(answer: Answer, outcome: Outcome) -> Iterator[tuple[str, str, Array]]:
    """How fractions are lost, where, and what that gives."""
    inputs = outcome.inputs
    arrays = [number for number, each in enumerate(inputs) if np.ndim(each)]
    chosen = [{*arrays}, *({n} for n in arrays if len(arrays) > 1)] if arrays else []
    for cut, verb in CUTS:
        yield verb, "in the result", cut(outcome.expected)
        for numbers in chosen:
            some = [cut(each) if n in numbers else each for n, each in enumerate(inputs)]
            if any(not np.array_equal(one, two) for one, two in zip(some, inputs, strict=True)):
                names = joined([outcome.letters[n] for n in sorted(numbers)])
                yield verb, f"in {names}", answer(*some)[0]


def whole_numbers(outcome: Outcome) -> Slip | None:
    """Nothing but whole numbers, where others belong."""
    got, expected = (each[outcome.known] for each in (outcome.values, outcome.expected))
    several = len(np.unique(got)) > 1
    if not several or (got != np.rint(got)).any() or (expected == np.rint(expected)).all():
        return None
    message = say("{array} holds whole numbers only.", array=outcome.output)
    return Slip("integer-arithmetic", message, WHOLE, ("integer",))
