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
from course_lib.findings import Finding, finding
from course_lib.sentences import Line, Sentence, say, with_values


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
    letter = launcher.exercise.output
    message = say(
        "Only block (0, 0) writes: all others leave their part of {letter} as it was.",
        letter=letter,
    )
    hint = "What keeps the threads of the other blocks from the line that stores?"
    return finding("incomplete-output", message, lines[-1] if lines else None, hint)


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
            message = say(
                "{array} does not depend on {inputs}: other inputs give the same output.",
                array=C,
                inputs=inputs,
            )
            said = with_values(message, f"{C}[{at}] is {value:.6g} in any case.")
            hint = say(
                "Which line carries a value from {inputs} to {array}?", inputs=inputs, array=C
            )
            line = lines[-1] if lines else None
            return launcher.seen_in(
                trial, finding("hardcoded-answer", said, line, hint), is_told=False
            )
    return None


def stale(launcher: Launcher, wrong: Sequence[Trial]) -> Finding | None:
    """Wrong numbers that go with values of an earlier tile."""
    for trial in wrong if launcher.problem.has_steps else ():
        for read in trial.profile.stale_reads:
            message = say(
                "Wrong on {sizes}: thread {thread} reads {cell} at {line}, which still "
                "holds the value of an earlier tile.",
                sizes=launcher.launched_as(trial.case),
                thread=read.thread,
                cell=read.cell,
                line=Line(read.line),
            )
            inputs = " or ".join(launcher.exercise.parameters[:-1])
            hint = say(
                "What does a thread put into the tile when it stands outside of {inputs}?",
                inputs=inputs,
            )
            return finding("stale-shared-read", message, read.line, hint)
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
        unwritten = say(" Never written: {where}.", where=where(never, outcome.sizes))
    message = say(
        "Wrong on {sizes}, in {place}.{unwritten}",
        sizes=launcher.launched_as(trial.case),
        place=place,
        unwritten=unwritten,
    )
    hint = "Work out that one element by hand, step by step."
    if right_in_block_0_alone(trial):
        hint = "Block 0 is right, and no other. Where does cuda.blockIdx come in, and how far?"
    lines = launcher.trail(trial.case).store_lines[launcher.names[-1]]
    line = lines[-1] if lines else launcher.source.kernel.lineno
    return finding("wrong-result", with_values(message, f"{by_how_much(outcome)}."), line, hint)


def written_inputs(launcher: Launcher, trials: Sequence[Trial]) -> list[Finding]:
    """The finding for an answer that changes A or B."""
    changed = [trial for trial in trials if not trial.inputs_kept]
    if not changed:
        return []
    known = next((trial for trial in changed if trial.case in launcher.trails), changed[0])
    lines = launcher.trail(known.case).store_lines
    name = next((name for name in launcher.names[:-1] if lines[name]), launcher.names[0])
    line = lines[name][0] if lines[name] else None
    message = say("{name} is an input, and the kernel writes into it.", name=name)
    hint = say("Which array should hold the result of {formula}?", formula=launcher.problem.formula)
    return [finding("wrong-index", message, line, hint)]
