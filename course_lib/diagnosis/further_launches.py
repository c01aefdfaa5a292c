"""Launches beyond the usual ones, which settle what a number in an answer means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from course_lib.diagnosis.codes import OUTSIDE
from course_lib.diagnosis.faults import kept
from course_lib.diagnosis.faults.traced import faults_of
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import where
from course_lib.diagnosis.problems.far_launches import DRAW, far_cases
from course_lib.diagnosis.problems.problem import Case
from course_lib.diagnosis.sizes.limits import limit_finding, room_finding
from course_lib.diagnosis.sizes.written_out import size_finding
from course_lib.diagnosis.trial import Trial, leaves_arrays, runs_out
from course_lib.emulator import Kernel
from course_lib.emulator.observers.limits import Site
from course_lib.wording.findings import Finding


def limit_of(launcher: Launcher, trials: list[Trial]) -> tuple[Finding | None, list[Finding]]:
    """The number up to which alone the answer is right, as a finding; warnings of others.

    Adds the launches beyond all limits to the trials: whatever goes wrong there, or costs too much,
    counts as it does elsewhere.
    """
    wrong = [trial for trial in trials if not trial.right or leaves_arrays(trial)]
    warnings: list[Finding] = []
    if not launcher.problem.sizes_vary:
        return None if wrong else size_written_out(launcher, trials), warnings
    if wrong:
        long = [trial for trial in wrong if trial.case.along is not None]
        site = launcher.limits.met_first_in(long[0].case) if long == wrong else None
    else:

        def is_right(case: Case) -> bool:
            trial = launcher.run(case)
            if runs_out(trial) and case.draw >= DRAW:
                return True  # how much a launch so large takes was guessed
            fails = not trial.right or leaves_arrays(trial)
            trials.append(trial)
            wrong.extend([trial] * fails)
            return not fails

        tile = max(*launcher.tile, launcher.step_tile or 1)
        settle = launcher.limits.settle
        site, warnings = settle(launcher.problem, launcher.source, launcher.spent, tile, is_right)
        if not wrong and launcher.exercise.is_graded:
            site = _far_away(launcher, trials, is_right)
    if site is None or wrong[0].right:
        return None, warnings
    beyond = [
        each
        for each in faults_of(launcher, wrong[0])
        if each.code in OUTSIDE and each.line == site.line
    ]
    if site.kind == "axis" and beyond:
        return room_finding(site, launcher.source, beyond[0]), warnings
    label = launcher.launched_as(wrong[0].case)
    return limit_finding(site, launcher.source, label, wrong[0].outcome), warnings


def _far_away(
    launcher: Launcher, trials: list[Trial], is_right: Callable[[Case], bool]
) -> Site | None:
    """The limit that explains a launch far beyond the usual sizes, if one goes wrong."""
    long = [(each.case, each.profile.steps) for each in trials if each.case.along is not None]
    for case in far_cases(launcher.problem, long, launcher.source, launcher.seed):
        if not is_right(case):
            return launcher.limits.met_first_in(case)
    return None


def size_written_out(launcher: Launcher, trials: list[Trial]) -> Finding | None:
    """The size for which alone a right answer is right, as a finding.

    Adds the launch that goes wrong to the trials.
    """
    for case, size in launcher.problem.other_sizes():
        trial = launcher.run(case)
        if trial.right:
            fault = _fault_of(launcher, trial)
            if fault is None:
                continue
            trials.append(replace(trial, profile=replace(trial.profile, findings=[])))
            return fault

        def is_right(kernel: Kernel, case: Case = case) -> bool:
            return launcher.with_kernel(kernel).run(case).right

        part = where(~trial.outcome.right, trial.outcome.sizes)
        found = size_finding(launcher.answer.kernel, launcher.source, size, part, is_right)
        if found.line is not None:  # what else is seen there follows from that number
            trial = replace(trial, profile=replace(trial.profile, findings=[]))
        trials.append(trial)
        return found
    return None


def _fault_of(launcher: Launcher, trial: Trial) -> Finding | None:
    """What threads do wrong in a launch whose numbers are right: where the sizes leave some of them
    without work, they may still leave an array, or a barrier to the others."""
    for each in faults_of(launcher, trial):
        if each.severity == "error" and each.code not in ("uninitialised-read", *kept.SYMPTOMS):
            return each
    return None
