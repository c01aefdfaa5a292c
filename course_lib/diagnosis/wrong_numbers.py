"""What the numbers of wrong launches equal, where that alone says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.diagnosis import at_a_glance
from course_lib.diagnosis.codes import APART, DISORDER, OUTSIDE
from course_lib.diagnosis.faults import arithmetic, kept
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.number_patterns import diagnose
from course_lib.diagnosis.places.locate import locate
from course_lib.diagnosis.seen_in_launches import ended, independent_of_input, one_block, stale
from course_lib.diagnosis.slip import Slip
from course_lib.diagnosis.trial import Trial, exact_of, telling
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import with_values

MOST_DIAGNOSED = 3  # launches whose numbers are looked at, beside the exact one


def cause_of(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """What explains wrong numbers, as a finding; None if nothing does or all are right."""
    wrong = [trial for trial in trials if not trial.right]
    exact = exact_of(trials)
    if not wrong or exact is None:
        return None
    found = (
        at_a_glance.output_rebound(launcher.names[-1], launcher.source)
        or at_a_glance.result_dropped(launcher.source)
        or ended(launcher, wrong)
    )
    if found:
        return found
    trail = launcher.trail(exact.case)
    several = math.prod((*exact.profile.grid, *exact.profile.block)) > 1
    if several and trail.writes.size > 1 == np.count_nonzero(trail.writes):
        return None  # everybody writes one element; that two of them meet says it best
    blocks = math.prod(exact.profile.grid)
    if blocks > 1 and trail.blocks == {(0, 0)} and exact.outcome.untouched.any():
        return one_block(launcher, trail)
    shortest = min(max(trial.case.shape) for trial in wrong)
    return (
        _of_the_numbers(launcher, exact, wrong)
        or (None if exact.right else independent_of_input(launcher, trials))
        or arithmetic.narrow_index(launcher.source, shortest)
        or stale(launcher, wrong)
    )


def _of_the_numbers(launcher: Launcher, exact: Trial, wrong: Sequence[Trial]) -> Finding | None:
    """What the numbers of the most telling of the wrong launches are, of the exact one first."""
    gaps = _has_gaps(exact)
    for trial in (exact, *sorted(wrong, key=telling)[:MOST_DIAGNOSED]):
        slip = diagnose(launcher.problem.answer, trial.outcome)
        if slip is None or (trial is exact and gaps and slip.code == "numerical-overflow"):
            continue
        found = placed(launcher, slip, trial)
        if slip.code == "integer-arithmetic" and found.line is None:
            continue  # nothing in the text makes whole numbers
        return found if trial is exact or not gaps or found.code in kept.LEAVES_ARRAYS else None
    return None


def _has_gaps(trial: Trial) -> bool:
    """Are numbers missing because an access left an array? What explains them explains that."""
    outside = any(each.code in OUTSIDE for each in trial.errors)
    return outside and bool(np.isnan(trial.outcome.got[~trial.outcome.untouched]).any())


def placed(launcher: Launcher, slip: Slip, trial: Trial) -> Finding:
    """A slip as a finding, with its line."""
    trail = launcher.trail(trial.case)
    place = locate(slip, launcher.source, trail, launcher.names, launcher.exercise.parameters)
    hint = place.hint or slip.hint
    found = finding(place.code or slip.code, place.message or slip.message, place.line, hint)
    found = launcher.seen_in(trial, replace(found, severity="error"), not trial.case.exact)
    return replace(found, message=with_values(found.message, slip.values))


def short_loop(
    launcher: Launcher, trials: Sequence[Trial], faults: Sequence[Finding]
) -> Finding | None:
    """The loop that is too short, if the launches without a race prove it, the exact one too.

    Where such a loop makes no turn at all, its barriers and stores are left out as well.
    """
    if any(each.code in (APART, "timeout") for each in faults):
        return None
    clean = [trial for trial in trials if all(e.code not in DISORDER for e in trial.errors)]
    cause = cause_of(launcher, clean)
    return cause if cause and cause.code == "wrong-loop-bound" else None


def wrapped(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """A loop without end whose counter wraps around before it reaches the size."""
    endless = [trial for trial in trials if any(e.code == "timeout" for e in trial.errors)]
    if not endless or not any(e.code == "wrong-index" for e in endless[0].errors):
        return None
    return arithmetic.narrow_index(launcher.source, max(endless[0].case.shape))
