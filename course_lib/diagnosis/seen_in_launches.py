"""Causes of wrong numbers that the launches show, whatever the numbers equal."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import Outcome, by_how_much, where
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.trial import Trial, right_in_block_0_alone, telling
from course_lib.diagnosis.words import NEVER_WRITTEN, tell
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line, Sentence, say, with_values


def equal_in_both(first: Outcome, second: Outcome) -> bool:
    """Did the same numbers come out of other inputs? Zeros say little, and not-a-number nothing."""
    written = ~first.untouched
    with np.errstate(invalid="ignore"):
        same = first.got[written] == second.got[written]
    return bool(written.any() and same.all() and first.got[written].any())


def ended(launcher: Launcher, wrong: Sequence[Trial]) -> Finding | None:
    """The finding for threads that an exception has ended, of which nobody hears on a GPU."""
    raising = [each for each in launcher.source.walk() if isinstance(each, ast.Raise | ast.Assert)]
    silent = [trial for trial in wrong if trial.outcome.untouched.any()]
    if not raising or not silent:
        return None
    debugging = launcher.with_kernel(replace(launcher.answer.kernel, is_debugged=True))
    found = debugging.run(silent[0].case).profile.findings
    seen = [each for each in found if each.code == "raised-exception"]
    lines = {each.lineno for each in raising}
    return next((each for each in seen if each.line in lines), None)


def one_block(launcher: Launcher, trail: Trail) -> Finding:
    """The finding for an answer in which block (0, 0) alone writes."""
    lines = trail.store_lines[launcher.names[-1]]
    line = lines[-1] if lines else None
    return tell("one block", line, letter=launcher.exercise.output)


def independent_of_input(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """The finding for an output that stays the same when the inputs change."""
    by_shape: dict[tuple[int, ...], Trial] = {}
    if len(launcher.names) == 1:
        return None  # there are no inputs
    for trial in trials:
        twin = by_shape.setdefault(trial.case.shape, trial)
        if twin is trial or trial.right or twin.right:
            continue
        first, second = twin.outcome, trial.outcome
        if first.known.any() and equal_in_both(first, second):
            trail = launcher.trail(trial.case)
            lines = trail.store_lines[launcher.names[-1]]
            value = first.got[first.known][0]
            C, inputs = first.output, first.operands
            at = ", ".join("0" * first.got.ndim)
            line = lines[-1] if lines else None
            found = tell("independent of input", line, array=C, inputs=inputs)
            values = f"{C}[{at}] is {value:.6g} in any case."
            found = replace(found, message=with_values(found.message, values))
            return launcher.seen_in(trial, found, is_told=False)
    return None


def stale(launcher: Launcher, wrong: Sequence[Trial]) -> Finding | None:
    """Wrong numbers that go with values of an earlier tile."""
    for trial in wrong if launcher.problem.has_steps else ():
        for read in trial.profile.stale_reads:
            return tell(
                "stale",
                read.line,
                sizes=launcher.launched_as(trial.case),
                thread=read.thread,
                cell=read.cell,
                line=Line(read.line),
                inputs=" or ".join(launcher.exercise.parameters[:-1]),
            )
    return None


def wrong_result(launcher: Launcher, trials: Sequence[Trial]) -> Finding:
    """The finding when nothing explains the numbers: where, and by how much.

    Its line is the store of the output: that is where they show, and no guess at their cause.
    """
    wrong = [trial for trial in trials if not trial.right]
    trial = min(wrong, key=lambda trial: (not trial.case.exact, telling(trial)))
    outcome = trial.outcome
    place = where(~outcome.right, outcome.sizes)
    never = outcome.untouched & ~outcome.right
    unwritten: Sentence | str = ""
    if not launcher.problem.starts_blank:  # what was written may be what it held before
        never &= launcher.trail(trial.case).writes == 0
    if never.any():
        unwritten = say(NEVER_WRITTEN, where=where(never, outcome.sizes))
    lines = launcher.trail(trial.case).store_lines[launcher.names[-1]]
    line = lines[-1] if lines else launcher.source.kernel.lineno
    kind = "wrong but for block 0" if right_in_block_0_alone(trial) else "wrong"
    sizes = launcher.launched_as(trial.case)
    found = tell(kind, line, sizes=sizes, place=place, unwritten=unwritten)
    return replace(found, message=with_values(found.message, f"{by_how_much(outcome)}."))


def written_inputs(launcher: Launcher, trials: Sequence[Trial]) -> list[Finding]:
    """The finding for an answer that changes A or B."""
    changed = [trial for trial in trials if not trial.inputs_kept]
    if not changed:
        return []
    known = next((trial for trial in changed if trial.case in launcher.trails), changed[0])
    lines = launcher.trail(known.case).store_lines
    name = next((name for name in launcher.names[:-1] if lines[name]), launcher.names[0])
    line = lines[name][0] if lines[name] else None
    return [tell("written input", line, name=name, formula=launcher.problem.formula)]
