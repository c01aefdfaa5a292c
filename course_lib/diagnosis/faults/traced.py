"""What the emulator found in a launch, each fault traced to its cause where the source shows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from course_lib.diagnosis.codes import APART, OUTSIDE, array_of
from course_lib.diagnosis.faults import kept, number_types, outside, timeout, worked_out
from course_lib.diagnosis.faults.divergence import explain_divergence
from course_lib.diagnosis.faults.flat_rows import explain_row_length
from course_lib.diagnosis.faults.given_lines import explain_given_line
from course_lib.diagnosis.faults.numbering import explain_meeting
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.journeys import about_buffers
from course_lib.diagnosis.trial import Trial, all_have_work
from course_lib.findings import Finding

SHOWN_WITH_SIZES = (*OUTSIDE, "wrong-bounds-check", "uninitialised-read")
MOST_OF_A_CODE = 12  # findings of one launch that are looked at
# Of a thread outside an array, where no thread of the launch is surplus.
FROM_WHERE_TO_WHERE = "Which index does the very first thread have, and which the very last?"
ALL_HAVE_WORK = "There is an element for every thread here. Which one is this thread's?"


def _few_of_each_code(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The first findings of each code: a text of thousands of lines can have thousands of them."""
    seen: Counter[str] = Counter()
    for each in findings:
        seen[each.code] += 1
        if seen[each.code] <= MOST_OF_A_CODE:
            yield each


def faults_of(launcher: Launcher, trial: Trial) -> list[Finding]:
    """What the emulator found in one launch, traced to causes where the source shows them."""
    exercise, launch = launcher.exercise, launcher.threads_of(trial)
    shapes = launch.shapes
    reach = {
        name: launcher.reach(number, shape) for number, (name, shape) in enumerate(shapes.items())
    }
    found = []
    for each in _few_of_each_code(kept.without_wraps(trial.profile.findings)):
        if each.code in launcher.exercise.forgiven:
            continue
        if each.code in OUTSIDE:
            each = outside.explain_outside(each, reach, launcher.source, launcher.letters, launch)
            each = _where_nobody_is_surplus(launcher, each, trial, shapes)
        if each.code == "float64-arithmetic":
            each = number_types.explain_float64(each, launcher.source)
        if each.code == "timeout":
            each = timeout.explain_timeout(
                each, trial.profile.stopped_in, launcher.budget_of(trial)
            )
            if trial.case in launcher.trails:
                count, most = launcher.trail(trial.case).most_elements, exercise.most_elements
                each = timeout.with_elements(each, count, most, exercise.output)
        if each.code == APART:
            each = explain_divergence(each, launcher.source)
        each = explain_meeting(each, launcher.source, trial.profile.block)
        each = about_buffers(launcher.exercise, each, bool(trial.profile.barriers))
        own = {array.name: array.shape for array in trial.profile.shared_arrays}
        each = explain_row_length(each, launcher.source, {**shapes, **own})
        each = explain_given_line(each, launcher.exercise, launcher.source)
        is_shown = each.code in SHOWN_WITH_SIZES and not trial.case.exact
        tells_sizes = launcher.problem.sizes_vary and (each.code == APART or is_shown)
        found.append(launcher.seen_in(trial, each, tells_sizes))
    return outside.without_wide_followers(found, launcher.source)


def _where_nobody_is_surplus(
    launcher: Launcher, each: Finding, trial: Trial, shapes: Mapping[str, tuple[int, ...]]
) -> Finding:
    """What to look at where a thread leaves an array in a launch of which all are needed."""
    if launcher.problem.sizes_vary or each.code not in OUTSIDE:
        return each
    array = array_of(each.cell)
    if array not in shapes:  # the kernel's own, of a size that fits its threads
        return each
    elements = trial.outcome.expected.size
    if math.prod(shapes[array]) < elements or not all_have_work(trial):
        return each
    threads = math.prod((*trial.profile.grid, *trial.profile.block))
    if elements < 2 * threads:
        return replace(each, hint=ALL_HAVE_WORK)
    named = worked_out.with_its_index(each, launcher.source)
    return named or replace(each, hint=FROM_WHERE_TO_WHERE)
