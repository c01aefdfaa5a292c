"""A change to a task's answer, tried out in the launches that went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from course_lib.curriculum import Task
from course_lib.diagnosis.launcher import BUDGET, Launcher
from course_lib.diagnosis.problems.inputs import as_held
from course_lib.diagnosis.repairs.repaired import explained_by_a_change
from course_lib.diagnosis.trial import Trial
from course_lib.emulator import Kernel, KernelRejected, emulate
from course_lib.findings import Finding

# What these say is true and shows late; where one change makes an answer right says more.
SYMPTOMS = (
    *("wrong-result", "uninitialised-read", "out-of-bounds-read", "out-of-bounds-write"),
    "race-write-after-write",
)
LONGER = 8  # times the steps of a wrong answer: what a change of it may take


def with_a_change(
    launcher: Launcher, found: list[Finding], trials: Sequence[Trial]
) -> list[Finding]:
    """The findings, the first error explained by the change that repairs the answer."""
    task = launcher.exercise
    first = next((each for each in found if each.severity == "error"), None)
    if first is None:
        return found
    better = _changed_task(launcher, task, first, trials) if isinstance(task, Task) else None
    if better:
        return [better, *(each for each in found if each.severity != "error")]
    return found


def _changed_task(
    launcher: Launcher, task: Task, first: Finding, trials: Sequence[Trial]
) -> Finding | None:
    order = sorted(trials, key=lambda each: (each.right and not each.errors, each.profile.steps))
    launched = partial(repairs, launcher, order)
    return explained_by_a_change(task, launcher.answer.kernel, first, launched)


def repairs(
    launcher: Launcher, trials: Sequence[Trial], kernel: Kernel, steps: int
) -> tuple[bool, int]:
    """Is a changed kernel right in all of these launches? And how many steps did it take?

    Where the first one is right, which is one that went wrong, the others may take as long as
    they do: few changes come so far.
    """
    taken = 0
    for trial in trials:
        case, outcome = trial.case, trial.outcome
        most = 4 * case.steps(launcher.problem)
        if not taken:  # a change with which a loop never ends should not use up all there is
            most = min(steps, most, LONGER * trial.profile.steps)
        launch = launcher.launch(case)
        emulation = emulate(
            kernel,
            schedule=case.schedule,
            seed=launcher.seed,
            counters=False,
            budget=replace(BUDGET, steps=most),
            outputs=launcher.names[-1:] if launcher.problem.starts_blank else (),
        )
        output = np.full(outcome.expected.shape, case.poison, np.float32, launcher.problem.order)
        inputs = as_held(launcher.problem, outcome.inputs)
        try:
            profile = emulation[launch.grid, launch.block](*inputs, output)
        except KernelRejected:
            return False, taken + 1
        taken += profile.steps
        right = replace(outcome, got=output).right.all()
        if not right or any(each.severity == "error" for each in profile.findings):
            return False, taken
    return True, taken
