"""What numbers show by themselves, whatever is computed: not written, not finite, cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from course_lib.diagnosis.launches.outcome import Outcome, by_how_much, where, zero_place
from course_lib.diagnosis.slip import Slip
from course_lib.diagnosis.words import tell
from course_lib.wording.sentences import Sentence
from course_lib.wording.words import element, joined

Array = np.ndarray
# How a fraction is lost.
CUTS = ((np.trunc, "cut off"), (np.floor, "rounded down"), (np.rint, "rounded"))
Answer = Callable[..., tuple[Array, Array]]  # what should come out of inputs, and the room


def not_written(outcome: Outcome) -> Sentence | None:
    """What is said of elements that no thread wrote, while those that were written are right."""
    untouched = outcome.untouched
    if not untouched.any() or not outcome.right[~untouched].all():
        return None
    if np.isnan(outcome.poison):
        return None  # a not-a-number may also have been computed; another poison tells
    if untouched.all():
        return tell.says("nothing written", array=outcome.output)
    place = zero_place(outcome, untouched) or where(untouched, outcome.sizes)
    return tell.says("a part not written", array=outcome.output, place=place)


def _slip(kind: str, place: tuple[str, ...], values: str = "", /, **facts: object) -> Slip:
    """A slip of a kind, and where in the source to look for it."""
    found = tell(kind, None, **facts)
    return Slip(found.code, found.message, found.hint, place, values)


def at_zeros(outcome: Outcome) -> Slip | None:
    """Right, but for the elements to which an exact zero of an input belongs."""
    place = zero_place(outcome, ~outcome.right)
    if place is None:
        return None
    values = f"{by_how_much(outcome)}."
    at = ("zero", place.letter)
    return _slip("wrong at zeros", at, values, place=place, letter=place.letter)


def not_finite(outcome: Outcome) -> Slip | None:
    """Infinities, or not-a-number, out of ordinary inputs."""
    odd = ~np.isfinite(outcome.got) & ~outcome.untouched
    if not odd.any():
        return None
    at = tuple(int(index) for index in np.argwhere(odd)[0])
    name = element(outcome.output, at)
    value = float(outcome.values[at])
    kind = "not a number" if np.isnan(value) else "minus infinity" if value < 0 else "infinity"
    words = {"name": name, "value": outcome.values[at], "operands": outcome.operands}
    return _slip(kind, ("exponential", "first"), **words)


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
            words = {"array": outcome.output, "verb": verb, "place": place}
            return _slip("fractions", ("integer",), **words)
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
    return _slip("whole numbers", ("integer",), array=outcome.output)
