"""Wrong numbers in a task, whose output holds something before that may have to stay."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from course_lib.curriculum import Task
from course_lib.diagnosis.families.common import at_zeros, not_finite, shifted_or_scaled
from course_lib.diagnosis.families.described.slips import (
    displaced,
    in_float64,
    mapping_of,
    of_all,
    other_operands,
    steps_of_a_product,
    whole_numbers,
)
from course_lib.diagnosis.families.hypotheses import Array, first_explanation
from course_lib.diagnosis.families.mapping import block_steps
from course_lib.diagnosis.launches.outcome import Geometry, Outcome, by_how_much, where
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.slip import Slip
from course_lib.entries import axes as _axes
from course_lib.sentences import say
from course_lib.words import element


def mapping_of_task(task: Task, trail: Trail, sizes: Geometry) -> Slip | None:
    """Do the blocks run the other way than the task's own grid has them?

    Otherwise, which thread has which element is the answer's own affair.
    """
    if task.grid != _axes(task.shapes[-1]):
        return None
    if trail.writes.ndim == 1:
        return mapping_of(task.output, trail, sizes)
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
    tests = (
        _nothing_written,
        _in_another_place,
        _overwritten,
        partial(_wrong_idea, task),
        steps_of_a_product,
        at_zeros,
        of_all(partial(other_operands, task)),
        of_all(partial(displaced, task)),
        partial(_places_exchanged, task),
        _another_number,
        whole_numbers,
        shifted_or_scaled,
        not_finite,
    )
    return first_explanation(tests, outcome)


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
        here=element("", here),
        there=element("", there),
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
    hint = say(
        "Which elements of {out} does this line write, over all threads and iterations?", out=out
    )
    place = ("overwritten", str(int(np.flatnonzero(lost)[0])))
    return Slip("wrong-index", message, hint, place)


def idea_or(
    task: Task, diagnose: Callable[[Outcome], Slip | None], outcome: Outcome
) -> Slip | None:
    """What the task itself says that wrong answers compute, or else what is known of its family."""
    with np.errstate(all="ignore"):
        idea = None if outcome.right.all() else _wrong_idea(task, outcome)
    return idea or diagnose(outcome)


def _wrong_idea(task: Task, outcome: Outcome) -> Slip | None:
    """What the task itself says that wrong answers compute: of all elements, or of none."""
    for idea in task.wrong_ideas:
        if _explains(outcome, idea.computes(*in_float64(outcome.inputs))):
            message = say("{out} holds other numbers: {says}.", out=task.output, says=idea.says)
            return Slip("wrong-formula", message, idea.hint, idea.place)
    return None


def _explains(outcome: Outcome, values: Array) -> bool:
    """Are these the numbers that came out, and no finite ones where none came out?

    Where finite numbers should have, what did come was read beyond an array, or from a cell that
    nobody has written: that is said instead. Nor do a few numbers say where the others would be.
    """
    lost, stored = _lost(outcome), np.broadcast_to(values != outcome.poison, outcome.got.shape)
    if 2 * np.count_nonzero(stored & outcome.untouched) > np.count_nonzero(stored):
        return False
    if np.isfinite(np.broadcast_to(values, lost.shape)[lost]).any():
        return False
    return outcome.matches(values) or bool(lost.any() and not outcome.known.any())


def _lost(outcome: Outcome) -> Array:
    """The elements that were written and are no finite numbers."""
    lost: Array = ~np.isfinite(outcome.got) & ~outcome.untouched
    return lost


def _places_exchanged(task: Task, outcome: Outcome) -> Slip | None:
    """The numbers asked for, each once, in places that the answer has worked out for its caller."""
    got, expected = outcome.values.ravel(), outcome.expected.ravel()
    if not task.caller or outcome.inputs or len(np.unique(expected)) < expected.size:
        return None
    if not np.array_equal(np.sort(got), np.sort(expected)):
        return None
    number = expected[np.flatnonzero(got != expected)[0]]
    (here,), (there,) = (np.argwhere(each == number) for each in (outcome.values, outcome.expected))
    message = say(
        "All numbers are there, but not in their places: {number} stands in {array}{here} and "
        "belongs in {array}{there}.",
        number=f"{number:.4g}",
        array=outcome.output,
        here=element("", here),
        there=element("", there),
    )
    hint = say(
        "Which place does {name} return for the thread that writes {number}?",
        name=task.id,
        number=f"{number:.4g}",
    )
    return Slip("wrong-formula", message, hint, ("store",))


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
