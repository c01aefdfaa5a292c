"""Why the numbers of some launches are wrong: what explains them, and at which line."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.diagnosis import at_a_glance
from course_lib.diagnosis.codes import APART, DISORDER, OUTSIDE
from course_lib.diagnosis.families.locate import locate
from course_lib.diagnosis.families.product.steps import tiles_slip
from course_lib.diagnosis.faults import guards, kept, number_types
from course_lib.diagnosis.faults.traced import FROM_WHERE_TO_WHERE
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.seen_in_launches import (
    copied,
    ended,
    fixed_loop,
    in_a_fragment,
    independent_of_input,
    made_of,
    multiplied_apart,
    nothing_added,
    one_block,
    stale,
)
from course_lib.diagnosis.slip import TRANSPOSED, Slip, SlipLocation
from course_lib.diagnosis.trial import Trial, exact_of, mostly_right, telling
from course_lib.findings import Finding, finding
from course_lib.sentences import say, with_values

# Places of slips that spoil full tiles as well: where those are right, it is something else.
WRONG_EVERYWHERE = (("pitch",),)
MOST_DIAGNOSED = 3  # launches whose numbers are searched for a slip, beside the exact one


def cause_of(
    launcher: Launcher, trials: Sequence[Trial], faults: Sequence[Finding]
) -> Finding | None:
    """What explains wrong numbers, as a finding; None if nothing does or all are right."""
    wrong = [trial for trial in trials if not trial.right]
    if not wrong:
        return None
    exact = exact_of(trials)
    if exact is None:
        return None
    rebound = at_a_glance.output_rebound(launcher.names[-1], launcher.source)
    if rebound:
        return rebound
    dropped = at_a_glance.result_dropped(launcher.source)
    if dropped:
        return dropped
    raised = ended(launcher, wrong)
    if raised:
        return raised
    trail = launcher.trail(exact.case)
    several = math.prod((*exact.profile.grid, *exact.profile.block)) > 1
    if several and trail.writes.size > 1 == np.count_nonzero(trail.writes):
        return None  # everybody writes one element; that two of them meet says it best
    shortest = min(max(trial.case.shape) for trial in wrong)
    return (
        _in_exact_launch(launcher, exact, trail)
        or in_a_fragment(launcher, exact)
        or multiplied_apart(launcher, trail)
        or (None if exact.right else independent_of_input(launcher, trials))
        or number_types.narrow_index(launcher.source, shortest)
        or _in_other_launches(launcher, exact, wrong)
        or stale(launcher, wrong)
        or made_of(launcher, exact, fewest=1)
        or copied(launcher, exact)
    )


def _in_exact_launch(launcher: Launcher, exact: Trial, trail: Trail) -> Finding | None:
    """What the launch without partial tiles shows: where blocks write, or what the numbers are."""
    mapping = launcher.problem.mapping(trail, exact.outcome.sizes)
    blocks = math.prod(exact.profile.grid)
    alone = blocks > 1 and list(trail.corners) == [(0, 0)] and exact.outcome.untouched.any()
    if alone and not mapping:
        return one_block(launcher, exact, trail)
    made = None if mapping else made_of(launcher, exact)
    if made:
        return made
    slip = launcher.problem.diagnose(exact.outcome)
    if mapping and mapping.place[:2] == ("owner", "thread") and not mostly_right(exact):
        mapping = replace(mapping, place=("owner", "store", mapping.place[-1]))
    if mapping and _comes_first(mapping, slip, exact, reads_where_it_stores(launcher)):
        slip = mapping
    if slip is None or _made_of_nothing(slip, exact):
        return None
    if slip.place == TRANSPOSED and not mapping and blocks > 1:
        slip = other_sums(launcher, slip)
    empty = None
    if slip.code == "incomplete-output" and not launcher.exercise.is_graded:
        empty = nothing_added(launcher, exact, trail)
    return empty or fixed_loop(launcher, slip, exact) or placed(launcher, slip, exact, trail)


def _has_gaps(trial: Trial) -> bool:
    """Are numbers missing because an access left an array? What explains them explains that."""
    outside = any(each.code in OUTSIDE for each in trial.errors)
    return outside and bool(np.isnan(trial.outcome.got[~trial.outcome.untouched]).any())


def _made_of_nothing(slip: Slip, trial: Trial) -> bool:
    """Does a slip only say that numbers are missing? Other launches may say more."""
    return slip.code == "numerical-overflow" and _has_gaps(trial)


def _in_other_launches(launcher: Launcher, exact: Trial, wrong: Sequence[Trial]) -> Finding | None:
    """What the numbers of the most telling of the wrong launches are."""
    gaps = _has_gaps(exact)
    for trial in sorted(wrong, key=telling)[:MOST_DIAGNOSED]:
        if gaps and trial is exact:
            continue
        slip = launcher.problem.diagnose(trial.outcome)
        if slip and exact.right and slip.place[:1] in WRONG_EVERYWHERE:
            continue
        if slip and slip.place in (("steps", "tiles"), ("steps", "left out")):
            slip = tiles_slip(slip, [trial.outcome for trial in wrong])
        if slip:
            found = fixed_loop(launcher, slip, trial) or placed(launcher, slip, trial)
            return found if not gaps or found.code in kept.LEAVES_ARRAYS else None
    return None


def other_sums(launcher: Launcher, slip: Slip) -> Slip:
    """Where a result is transposed though each block stores where it should: the sums are."""
    if not launcher.source.additions():
        return slip
    hint = say(
        "A thread stores {output}[0, 1]: which elements should it read, and which ones does it "
        "read here?",
        output=launcher.names[-1],
    )
    return replace(slip, hint=hint, place=("sum",))


def placed(launcher: Launcher, slip: Slip, trial: Trial, trail: Trail | None = None) -> Finding:
    """A slip as a finding, with its line."""
    trail = trail or launcher.trail(trial.case)
    place = locate(slip, launcher.source, trail, launcher.names, launcher.exercise.parameters)
    hint = slip.hint
    if place.code == "wrong-bounds-check" and slip.code != place.code:
        hint = "For which elements is this test true, and for which should it be?"
        innocent = launcher.source.index_behind_a_right_test(launcher.names[-1], launcher.letters)
        if innocent and "missing" in slip.place:
            changes = isinstance(innocent, ast.Subscript)
            hint = "What stands there before this line runs?" if changes else FROM_WHERE_TO_WHERE
            place = SlipLocation(innocent.lineno)
        elif launcher.source.joins_bits(place.line):
            hint = "`&` is worked out before `<`, and `and` after it. Which one is meant?"
        elif slip.code == "incomplete-output":
            place = _with_clauses(launcher, slip, place, trial)
    code = place.code or slip.code
    hint = place.hint or hint
    found = finding(code, place.message or slip.message, place.line, hint, "error")
    found = launcher.seen_in(trial, found, not trial.case.exact)
    return replace(found, message=with_values(found.message, slip.values))


def _with_clauses(
    launcher: Launcher, slip: Slip, place: SlipLocation, trial: Trial
) -> SlipLocation:
    """A test that keeps threads from storing, worked out for the thread of the first element.

    Where no thread would store that without the test either, the test is not to blame.
    """
    untouched = np.argwhere(trial.outcome.untouched)
    if not len(untouched):
        return place
    cell = [int(index) for index in untouched[0]]
    output, threads = launcher.names[-1], launcher.threads_of(trial)
    kept_away = guards.kept_away(launcher.source, output, cell, place.line, threads)
    if kept_away is None:
        return place
    if kept_away == "nobody":
        stores = launcher.source.store_lines([output])
        return SlipLocation(max(stores, default=place.line or 0), hint=slip.hint)
    message = say(
        "{said} {element} belongs to {thread}, and for it {clauses}.",
        said=slip.message,
        element=kept_away.element,
        thread=kept_away.name,
        clauses=kept_away.clauses,
    )
    return replace(place, message=message)


def reads_where_it_stores(launcher: Launcher) -> bool:
    """Does a line that stores the output read an input as well?"""
    *inputs, output = launcher.names
    reads = (each for name in inputs for each in launcher.source.accesses(name, store=False))
    return not launcher.source.store_lines([output]).isdisjoint(each.lineno for each in reads)


def short_loop(
    launcher: Launcher, trials: Sequence[Trial], faults: Sequence[Finding]
) -> Finding | None:
    """The loop that is too short, if the launches without a race prove it, the exact one too.

    Where such a loop makes no turn at all, its barriers and stores are left out as well.
    """
    if any(each.code in (APART, "timeout") for each in faults):
        return None
    clean = [trial for trial in trials if all(e.code not in DISORDER for e in trial.errors)]
    cause = cause_of(launcher, clean, faults)
    return cause if cause and cause.code == "wrong-loop-bound" else None


def wrapped(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """A loop without end whose counter wraps around before it reaches the size."""
    endless = [trial for trial in trials if any(e.code == "timeout" for e in trial.errors)]
    if not endless or not any(e.code == "wrong-index" for e in endless[0].errors):
        return None
    return number_types.narrow_index(launcher.source, max(endless[0].case.shape))


def _comes_first(mapping: Slip, slip: Slip | None, exact: Trial, in_one_line: bool) -> bool:
    """Does the place where blocks write explain more than the numbers they write?"""
    if slip is None or slip.code in kept.SYMPTOMS or exact.outcome.untouched.any():
        return True
    # An index that is exchanged in the line that reads and stores explains both, if the numbers
    # are wrong on square problems, too.
    exchanged = slip.place in (("store",), TRANSPOSED) or (
        in_one_line and slip.place[0] == "load" and not exact.right
    )
    return mapping.place[-1] == "both" and not exchanged
