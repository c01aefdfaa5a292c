"""Wrong running sums: what they add up instead, and of which elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.diagnosis.families.common import (
    added_to_old,
    first_slip,
    not_finite,
    shifted_or_scaled,
    whole_numbers,
    zero,
)
from course_lib.diagnosis.families.hypotheses import Hypothesis, trying
from course_lib.diagnosis.families.scan.strides import other_strides
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.problems.scan import RUN, Array, by_run, run_sums
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say
from course_lib.words import at_end


def diagnose_scan(outcome: Outcome) -> Slip | None:
    """The slip that explains wrong running sums, or None."""
    tests = (
        added_to_old,
        zero,
        trying(_other_sums),
        trying(other_strides),
        trying(_of_other_elements),
        whole_numbers,
        shifted_or_scaled,
        not_finite,
        from_where_on,
    )
    return first_slip(tests, outcome)


def _other_sums(outcome: Outcome) -> Iterator[Hypothesis]:
    """What goes by the name of scan, too, and what else can be made of a run."""
    x = outcome.A.astype(np.float64)
    yield from _other_extents(x)
    yield from _other_operations(x)
    yield from _elements_lost(x)
    yield from _parts_alone(x)


def _other_extents(x: Array) -> Iterator[Hypothesis]:
    """Sums that end, or begin, elsewhere."""
    rows, sums, total = by_run(x), run_sums(x), np.cumsum(x)
    window = total - np.concatenate([np.zeros(RUN), total])[: len(x)]
    backwards = rows.sum(1, keepdims=True) - np.cumsum(rows, 1) + rows
    own = "Which elements does y[0] sum, and which y[1]?"
    border = "Which element is the first one of the run that x[100] belongs to?"
    for values, code, message, hint, place in (
        (
            sums - x,
            "wrong-formula",
            "This is the exclusive sum: y[i] lacks x[i].",
            own,
            ("exclusive",),
        ),
        (
            total,
            "wrong-loop-bound",
            "The sums run through all of x; they should start again with every run of 64.",
            border,
            ("loop",),
        ),
        (
            window,
            "wrong-loop-bound",
            say("{cell} sums the last 64 elements, also those of the run before.", cell="y[i]"),
            border,
            ("loop",),
        ),
        (
            backwards.reshape(-1)[: len(x)],
            "wrong-index",
            "The sums run from the end of each run to its beginning.",
            own,
            ("adds", "read"),
        ),
    ):
        yield Hypothesis(values, code, message, hint, place)


def _other_operations(x: Array) -> Iterator[Hypothesis]:
    """Something else than a running sum."""
    rows = by_run(x)
    own = "Which elements does y[0] sum, and which y[1]?"
    text = "Every element holds the sum of its whole run."
    yield Hypothesis(np.repeat(rows.sum(1), RUN)[: len(x)], "wrong-formula", text, own, ("store",))
    text = say("{array} equals x: nothing that was added up reaches {array}.", array="y")
    yield Hypothesis(x, "accumulator-error", text, own, ("copied",))
    hint = "How are two elements combined?"
    for name, function in (
        ("largest element", np.maximum),
        ("smallest element", np.minimum),
        ("product", np.multiply),
        ("difference", np.subtract),
    ):
        values = function.accumulate(rows, axis=1).reshape(-1)[: len(x)]
        text = say(
            "{array} holds the running {name} of each run, and not the running sum.",
            array="y",
            name=name,
        )
        yield Hypothesis(values, "wrong-formula", text, hint, ("adds", "how"))


def _elements_lost(x: Array) -> Iterator[Hypothesis]:
    """The right sums of what is left of x."""
    hint = "Which variable, cast or array has an integer type?"
    text = say("{array} holds the sums of whole numbers: the fractions of x are lost.", array="y")
    for cut in (np.trunc, np.floor, np.rint):
        yield Hypothesis(run_sums(cut(x)), "integer-arithmetic", text, hint, ("integer",))
    for lost in (1, 2):
        which = at_end("last", lost, "element")
        text = say(
            "Right, if {which} of x were zero: the test before the load is too strict.", which=which
        )
        kept = np.where(np.arange(len(x)) < len(x) - lost, x, 0)
        hint = "For which i does x[i] exist?"
        yield Hypothesis(run_sums(kept), "wrong-bounds-check", text, hint, ("guard", "A"))


def _parts_alone(x: Array) -> Iterator[Hypothesis]:
    """Parts of a run that know nothing of each other."""
    for part in (32, 16, 8):
        text = say(
            "The sums start again after {part} elements: what the first {part} of a run add up to "
            "does not reach the others.",
            part=part,
        )
        hint = say(
            "How does thread {part} learn what the threads before it have added up?", part=part
        )
        yield Hypothesis(run_sums(x, part), "accumulator-error", text, hint, ("adds", "read"))


# --- the right sums of the wrong elements ---------------------------------------------------------


def _of_other_elements(outcome: Outcome) -> Iterator[Hypothesis]:
    """The right scan of elements that other threads should have fetched."""
    x = outcome.A.astype(np.float64)
    n = len(x)
    i = np.arange(n)
    run, place = i // RUN, i % RUN
    hint = "Which element of x does thread 0 of block 1 need?"
    for text, index in (
        ("Every run holds the sums of the first one: the offset of the block is missing.", place),
        ("Block b starts at x[b]: the factor 64 is missing.", run + place),
        ("Thread t takes the element after its own.", i + 1),
        ("Thread t takes the element before its own.", i - 1),
        ("Each run is taken in reverse order.", run * RUN + RUN - 1 - place),
    ):
        inside = (index >= 0) & (index < n)
        taken = np.where(inside, x[np.clip(index, 0, n - 1)], 0.0)
        yield Hypothesis(run_sums(taken), "wrong-index", text, hint, ("load", "A"))
    yield Hypothesis(
        by_run(run_sums(x))[:, ::-1].reshape(-1)[:n],
        "wrong-index",
        "The sums are right, but each run is stored in reverse order.",
        "Which element of y belongs to thread 0 of block 1?",
        ("store",),
    )


def from_where_on(outcome: Outcome) -> Slip | None:
    """Nothing explains the numbers, but the beginning of each run is right."""
    wrong = ~outcome.right
    if len(wrong) < 2 * RUN:
        return None
    places = np.unique(np.flatnonzero(wrong) % RUN)
    start = int(places[0])
    if start == 0 or not wrong.reshape(-1)[start::RUN].all():
        return None
    at = int(np.flatnonzero(wrong)[0])
    message = say(
        "Every run is right up to its element {last} and wrong from element {start} on.",
        last=start - 1,
        start=start,
    )
    values = f"y[{at}] is {outcome.values[at]:.4g} and should be {outcome.expected[at]:.4g}."
    hint = say(
        "What does thread {start} add that thread {last} does not?", start=start, last=start - 1
    )
    return Slip("wrong-result", message, hint, ("store",), values=values)
