"""Wrong attention: what came out instead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.diagnosis.families.attention.formula import (
    other_operands,
    other_scales,
    other_softmax,
    part_of_the_products,
    starts_again,
    whole_numbers,
)
from course_lib.diagnosis.families.attention.keys import (
    other_keys,
    overlapping_tiles,
    ties,
    without_mask,
)
from course_lib.diagnosis.families.attention.lanes import among_lanes, by_lanes
from course_lib.diagnosis.families.attention.online import of_another_query, without_rescale
from course_lib.diagnosis.families.common import (
    added_to_old,
    first_slip,
    not_finite,
    shifted_or_scaled,
    zero,
)
from course_lib.diagnosis.families.hypotheses import Hypothesis, first_that_fits
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.problems.attention import Array, scores_of
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say

LARGE = 80.0  # beyond this, the exponential of a float32 leaves its range before long


def diagnose_attention(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong attention, or None."""
    tests = (
        added_to_old,
        zero,
        other_attention,
        shifted_or_scaled,
        never_finite,
        not_finite,
    )
    if outcome.right.all():
        return None
    with np.errstate(all="ignore"):
        return overflow(outcome) or first_slip(tests, outcome)


def overflow(outcome: Outcome) -> Slip | None:
    """Right where the scores are small, and lost where an exponential leaves float32."""
    scores = scores_of(*outcome.inputs[:2])
    bad = ~outcome.right.all(axis=1)
    lost = (~np.isfinite(outcome.got) | (outcome.got == 0)).any(axis=1)
    largest = scores.max(axis=1)
    if not (bad & lost).any() or not (np.abs(largest[bad]) > LARGE / 2).all():
        return None
    row = int(np.flatnonzero(bad & lost)[0])
    lost_at = f"{outcome.output}[{row}, 0] is lost"
    values = (
        f"{outcome.output}[{row}, 0] is {outcome.values[row, 0]:.4g}; the largest score of this "
        f"query is {largest[row]:.4g}."
    )
    below = bool((largest[bad] < 0).all())
    place = "exp"
    hint = "Which number can be subtracted from all scores of a query without changing a weight?"
    if not (~bad & (largest > LARGE)).any():
        why = (
            "all scores of this query lie far below zero, every exponential underflows to zero, "
            "and so does their sum"
            if below
            else "a score of this query lies far above zero, and its exponential overflows"
        )
        message = say("{lost_at}: {why}.", lost_at=lost_at, why=why)
    elif below:
        message = say(
            "{lost_at}: all scores of this query lie far below zero, and the running maximum lies "
            "above them. So every exponential underflows to zero, and so does their sum. Large "
            "positive scores come out right.",
            lost_at=lost_at,
        )
        hint = "With which value does the running maximum begin, and is every score larger?"
        place = "first maximum"
    else:
        message = say(
            "{lost_at}: a score of this query lies far above the maximum that is subtracted, and "
            "its exponential overflows. Other queries with scores as large come out right.",
            lost_at=lost_at,
        )
        hint = "Over which scores does the maximum run, and which ones does it leave out?"
        place = "max"
    return Slip("numerical-overflow", message, hint, ("attention", place), values=values)


def never_finite(outcome: Outcome) -> Slip | None:
    """Not one number, although the scores are small: the first tile of keys spoils it already."""
    if outcome.untouched.any() or np.isfinite(outcome.got).any():
        return None
    if np.abs(scores_of(*outcome.inputs[:2])).max() > LARGE / 2:
        return None
    message = say(
        "Every element of {array} is {value}, although all scores are small: before the first "
        "tile of keys the maximum is −∞, or as good as that, and with it something becomes "
        "infinite.",
        array=outcome.output,
        value=f"{outcome.values[0, 0]:.4g}",
    )
    hint = "What does each exponential give for the first tile? Which maximum should it subtract?"
    return Slip("numerical-overflow", message, hint, ("attention", "old maximum"))


def other_attention(outcome: Outcome) -> Slip | None:
    """The first hypothesis that gives the numbers that came out, and not the right ones."""
    Q, K, V = (each.astype(np.float64) for each in outcome.inputs)
    known, got = outcome.known.all(axis=1), outcome.values
    if not known.any():
        return None

    def fits(values: Array) -> bool:
        if values.shape != got.shape or not np.isfinite(values[known]).all():
            return False
        room = 3e-4 * np.abs(values).max(axis=1, keepdims=True) + 2 * outcome.tolerance
        near = (np.abs(values - got) <= room)[known].all()
        differs = (np.abs(values - outcome.expected) > room)[known].any()
        return bool(near and differs)

    return first_that_fits(_hypotheses(Q, K, V, got), fits)


def _hypotheses(Q: Array, K: Array, V: Array, got: Array) -> Iterator[Hypothesis]:
    yield from ties(Q, K, V)
    yield from other_scales(Q, K, V)
    yield from other_softmax(Q, K, V)
    yield from by_lanes(Q, K, V)
    yield from part_of_the_products(Q, K, V)
    yield from other_keys(Q, K, V, got)
    yield from without_mask(Q, K, V)
    yield from without_rescale(Q, K, V)
    yield from overlapping_tiles(Q, K, V)
    yield from other_operands(Q, K, V)
    yield from whole_numbers(Q, K, V)
    yield from among_lanes(Q, K, V)
    yield from of_another_query(Q, K, V)
    yield from starts_again(Q, K, V)
