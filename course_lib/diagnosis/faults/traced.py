"""What the emulator found in a launch, each fault traced to its cause where the source shows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.codes import APART, OUTSIDE, array_of
from course_lib.diagnosis.faults import arithmetic, control_flow, indices, kept, outside
from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.trial import Trial, all_have_work
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line

SHOWN_WITH_SIZES = (*OUTSIDE, "wrong-bounds-check", "uninitialised-read")
MOST_OF_A_CODE = 12  # findings of one launch that are looked at


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
            each = arithmetic.explain_float64(each, launcher.source)
        if each.code == "timeout":
            each = control_flow.explain_timeout(
                each, trial.profile.stopped_in, launcher.budget_of(trial)
            )
            if trial.case in launcher.trails:
                count, most = launcher.trail(trial.case).most_elements, exercise.most_elements
                each = control_flow.with_elements(each, count, most, exercise.output)
        if each.code == APART:
            each = control_flow.explain_divergence(each, launcher.source)
        each = indices.explain_meeting(each, launcher.source, trial.profile.block)
        each = about_buffers(launcher.exercise, each, bool(trial.profile.barriers))
        own = {array.name: array.shape for array in trial.profile.shared_arrays}
        each = indices.explain_row_length(each, launcher.source, {**shapes, **own})
        each = indices.explain_given_line(each, launcher.exercise, launcher.source)
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
        return tell.again("all threads have work", each)
    named = outside.with_its_index(each, launcher.source)
    return named or tell.again("from where to where", each)


def about_buffers(exercise: Exercise, found: Finding, has_barriers: bool) -> Finding:
    """A race in a kernel with several buffers: another barrier is seldom what is missing."""
    if not isinstance(exercise, Task):
        return found
    in_turns = exercise.barriers_along and has_barriers
    if in_turns and found.code == "race-read-after-write":
        return tell.again("buffers in turns", found)
    if not exercise.overlaps:
        return found
    if found.code != "race-write-after-read" or found.other_line is None:
        return found
    return tell.again("one of several buffers", found, line=Line(found.other_line))
