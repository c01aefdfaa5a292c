"""Slips that a result of any family may show: not written, scaled, shifted, cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from course_lib.diagnosis.families.hypotheses import (
    Array,
    Hypothesis,
    Test,
    first_explanation,
    first_that_fits,
)
from course_lib.diagnosis.launches.outcome import Outcome, by_how_much, where, zero_place
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import Sentence, say
from course_lib.words import element, joined

# How a fraction is lost.
CUTS = ((np.trunc, "cut off"), (np.floor, "rounded down"), (np.rint, "rounded"))
WHOLE = "Which `//`, cast, variable or array makes whole numbers here?"
Answer = Callable[..., tuple[Array, Array]]  # what should come out of inputs, and the room
MOST_TIMES = 1025  # that a term may be added by mistake, once by each thread of a block


def first_slip(tests: Sequence[Test], outcome: Outcome) -> Slip | None:
    """The first of the tests that explains a wrong output.

    Where all is right that was written, the numbers say nothing.
    """
    if outcome.known.any() and outcome.right[outcome.known].all():
        return None
    return first_explanation(tests, outcome)


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


def added_to_old(outcome: Outcome) -> Slip | None:
    """C += ... instead of C = ...: the old contents take part."""
    if np.isnan(outcome.poison) or not outcome.poison:
        return None
    extra = outcome.values - outcome.expected
    share = np.abs(extra - outcome.poison) <= 2 * outcome.tolerance + 1e-5 * abs(outcome.poison)
    if not share.any() or not (share | outcome.right).all() or outcome.right.mean() > 0.9:
        return None
    C = outcome.output
    message = say(
        "The old contents of {array} take part in the sum: {array} is read before it was written.",
        array=C,
    )
    hint = say("What does {array} hold when the kernel starts?", array=C)
    return Slip("uninitialised-read", message, hint, ("load", C))


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


def zero(outcome: Outcome) -> Slip | None:
    """Nothing but zeros."""
    if outcome.values.any():
        return None
    C = outcome.output
    hint = say("Does any number reach the sum, and does the sum reach {array}?", array=C)
    return Slip(
        "accumulator-error",
        say("{array} is zero everywhere: nothing was added up.", array=C),
        hint,
        ("sum", "nothing"),
    )


def diagnose(answer: Answer, outcome: Outcome) -> Slip | None:
    """What numbers equal, whatever is computed, where that says what is wrong."""
    if outcome.known.any() and outcome.right[outcome.known].all():
        return None
    cut = partial(cut_numbers, answer)
    return first_explanation((at_zeros, cut, whole_numbers), outcome)


def cut_numbers(answer: Answer, outcome: Outcome) -> Slip | None:
    """Fractions cut off, of the inputs or of the result."""
    return first_that_fits(_cut(answer, outcome), outcome.matches)


def _cut(answer: Answer, outcome: Outcome) -> Iterator[Hypothesis]:
    inputs = outcome.inputs
    for cut, verb in CUTS:
        variants = [("in the result", cut(outcome.expected))]
        arrays = [n for n, each in enumerate(inputs) if np.ndim(each)]
        chosen = [{*arrays}, *({n} for n in arrays if len(arrays) > 1)] if arrays else []
        for numbers in chosen:
            names = joined([outcome.letters[n] for n in sorted(numbers)])
            some = [cut(each) if n in numbers else each for n, each in enumerate(inputs)]
            if any(not np.array_equal(one, two) for one, two in zip(some, inputs, strict=True)):
                variants.append((f"in {names}", answer(*some)[0]))
        for text, values in variants:
            if np.array_equal(values, outcome.expected):
                continue  # they had no fractions
            message = say(
                "{array} equals the right formula with the fractions {verb} {text}.",
                array=outcome.output,
                verb=verb,
                text=text,
            )
            yield Hypothesis(values, "integer-arithmetic", message, WHOLE, ("integer",))


def whole_numbers(outcome: Outcome) -> Slip | None:
    """Nothing but whole numbers, where others belong."""
    got, expected = (each[outcome.known] for each in (outcome.values, outcome.expected))
    several = len(np.unique(got)) > 1
    if not several or (got != np.rint(got)).any() or (expected == np.rint(expected)).all():
        return None
    message = say("{array} holds whole numbers only.", array=outcome.output)
    return Slip("integer-arithmetic", message, WHOLE, ("integer",))


def shifted_or_scaled(outcome: Outcome) -> Slip | None:
    """The right numbers plus a constant, or times a constant."""
    known = outcome.known
    if known.sum() < 4:
        return None
    extra = float(np.median((outcome.values - outcome.expected)[known]))
    factor = float(np.median((outcome.values / outcome.expected)[known]))
    if abs(extra) > 1e-3 and outcome.matches(outcome.expected + extra):
        message: str = "Every number is off by the same amount."
        hint = "Which constant is added?"
        return Slip("wrong-formula", message, hint, ("store",), values=f"It is {extra:.4g}.")
    if abs(factor - 1) > 1e-3 and outcome.matches(outcome.expected * factor):
        if 1.5 < factor < MOST_TIMES and abs(factor - round(factor)) < 1e-4:
            times = round(factor)
            message = say("Every number is {times} times too large.", times=times)
            hint = "How often does each term reach the sum, and with which factor?"
            return Slip("accumulator-error", message, hint, ("sum",))
        said: Sentence | str = "Every number is the right one times a constant."
        values = f"The constant is {factor:.4g}."
        if abs(factor + 1) < 1e-4:
            said, values = "Every number has the wrong sign.", ""
        hint = say("Compare the line that stores {array} with the formula.", array=outcome.output)
        return Slip("wrong-formula", said, hint, ("scale",), values=values)
    return None
