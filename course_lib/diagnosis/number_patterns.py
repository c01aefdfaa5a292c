"""Causes of wrong numbers that the numbers show by themselves, whatever is computed.

First patterns of one output (not written, not finite, cut off), then those of all launches
(independent of the input, of another tile), which `cause_of` tries in order. At the end the ideas
of an entry: data, tried on the numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis import answer
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import (
    Outcome,
    Trial,
    by_how_much,
    exact_of,
    where,
)
from course_lib.diagnosis.places import locate
from course_lib.diagnosis.words import NEVER_WRITTEN, SEEN_ON, tell
from course_lib.problems.described import in_float64
from course_lib.problems.problem import Problem
from course_lib.registry.exercise import WrongIdea
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line, Sentence, say, with_values
from course_lib.wording.words import element, joined

Array = np.ndarray
# How a fraction is lost.
CUTS = ((np.trunc, "cut off"), (np.floor, "rounded down"), (np.rint, "rounded"))
Answer = Callable[..., tuple[Array, Array]]  # what should come out of inputs, and the room


def not_finite(outcome: Outcome) -> Finding | None:
    """Infinities, or not-a-number, out of ordinary inputs."""
    odd = ~np.isfinite(outcome.got) & ~outcome.untouched
    if not odd.any():
        return None
    at = tuple(int(index) for index in np.argwhere(odd)[0])
    name = element(outcome.output, at)
    value = float(outcome.values[at])
    kind = "not a number" if np.isnan(value) else "minus infinity" if value < 0 else "infinity"
    return tell(kind, None, name=name, value=outcome.values[at], operands=outcome.operands)


def diagnose(answer: Answer, outcome: Outcome) -> Finding | None:
    """What numbers equal, whatever is computed, where that says what is wrong."""
    known = outcome.known
    if outcome.right.all() or (known.any() and outcome.right[known].all()):
        return None
    with np.errstate(all="ignore"):
        return cut_numbers(answer, outcome) or whole_numbers(outcome)


def cut_numbers(answer: Answer, outcome: Outcome) -> Finding | None:
    """Fractions cut off, of the inputs or of the result."""
    for verb, place, values in _cut(answer, outcome):
        if not np.array_equal(values, outcome.expected) and outcome.matches(values):
            return tell("fractions", None, array=outcome.output, verb=verb, place=place)
    return None


def whole_numbers(outcome: Outcome) -> Finding | None:
    """Nothing but whole numbers, where others belong."""
    got, expected = (numbers[outcome.known] for numbers in (outcome.values, outcome.expected))
    several = len(np.unique(got)) > 1
    if not several or (got != np.rint(got)).any() or (expected == np.rint(expected)).all():
        return None
    return tell("whole numbers", None, array=outcome.output)


def _cut(answer: Answer, outcome: Outcome) -> Iterator[tuple[str, str, Array]]:
    """How fractions are lost, where, and what that gives."""
    inputs = outcome.inputs
    arrays = [number for number, array in enumerate(inputs) if np.ndim(array)]
    chosen = [{*arrays}, *({n} for n in arrays if len(arrays) > 1)] if arrays else []
    for cut, verb in CUTS:
        yield verb, "in the result", cut(outcome.expected)
        for numbers in chosen:
            some = [cut(array) if n in numbers else array for n, array in enumerate(inputs)]
            if any(not np.array_equal(one, two) for one, two in zip(some, inputs, strict=True)):
                names = joined([outcome.letters[n] for n in sorted(numbers)])
                yield verb, f"in {names}", answer(*some)[0]


# --- Patterns over all launches -------------------------------------------------------------------


def equal_in_both(first: Outcome, second: Outcome) -> bool:
    """Did the same numbers come out of other inputs? Zeros say little, and not-a-number nothing."""
    written = ~first.untouched
    with np.errstate(invalid="ignore"):
        same = first.got[written] == second.got[written]
    return bool(written.any() and same.all() and first.got[written].any())


def ended(launcher: Launcher, wrong: Sequence[Trial]) -> Finding | None:
    """The finding for threads that an exception has ended, which a GPU does not report."""
    raising = [node for node in launcher.source.walk() if isinstance(node, ast.Raise | ast.Assert)]
    silent = [trial for trial in wrong if trial.outcome.untouched.any()]
    if not raising or not silent:
        return None
    debugging = launcher.with_kernel(replace(launcher.answer.kernel, is_debugged=True))
    found = debugging.run(silent[0].case).profile.findings
    seen = [finding for finding in found if finding.code == "raised-exception"]
    lines = {node.lineno for node in raising}
    return next((finding for finding in seen if finding.line in lines), None)


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
            line = _made_at(launcher, lines[-1]) if lines else None
            found = tell("independent of input", line, array=C, inputs=inputs)
            values = f"{C}[{at}] is {value:.6g} in any case."
            found = replace(found, message=with_values(found.message, values))
            return launcher.seen_in(trial, found, is_told=False)
    return None


def _made_at(launcher: Launcher, line: int) -> int:
    """Where the number that a line stores is worked out: there, or in the one line that sets it."""
    statement = launcher.source.at_line(line)
    value = statement.value if isinstance(statement, ast.Assign) else None
    made = launcher.source.value_of(value.id) if isinstance(value, ast.Name) else None
    return made.lineno if made else line


def stale(launcher: Launcher, wrong: Sequence[Trial]) -> Finding | None:
    """Wrong numbers that go with values of an earlier tile; of several buffers one holds them."""
    one_buffer = launcher.problem.has_steps and not launcher.exercise.overlaps
    for trial in wrong if one_buffer else ():
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
    trial = min(wrong, key=lambda trial: (not trial.case.exact, trial.telling))
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
    seen_on: Sentence | str = ""
    if launcher.problem.sizes_vary:
        seen_on = say(SEEN_ON, sizes=launcher.launched_as(trial.case))
    found = tell("wrong", line, seen_on=seen_on, place=place, unwritten=unwritten)
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


# --- The order in which patterns are tried --------------------------------------------------------


MOST_DIAGNOSED = 3  # launches whose numbers are looked at, beside the exact one


def cause_of(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """What explains wrong numbers, as a finding; None if nothing does or all are right."""
    wrong = [trial for trial in trials if not trial.right]
    exact = exact_of(trials)
    if not wrong or exact is None:
        return None
    found = answer.output_rebound(launcher.names[-1], launcher.source) or ended(launcher, wrong)
    if found:
        return found
    return (
        _of_the_numbers(launcher, exact, wrong)
        or (None if exact.right else independent_of_input(launcher, trials))
        or stale(launcher, wrong)
    )


def _of_the_numbers(launcher: Launcher, exact: Trial, wrong: Sequence[Trial]) -> Finding | None:
    """What the numbers of the most telling of the wrong launches are, of the exact one first."""
    for trial in (exact, *sorted(wrong, key=lambda trial: trial.telling)[:MOST_DIAGNOSED]):
        slip = diagnose(launcher.problem.answer, trial.outcome)
        found = placed(launcher, slip, ("integer",), trial) if slip else None
        if found and found.line is not None:  # else nothing in the text makes whole numbers
            return found
    return None


def placed(launcher: Launcher, found: Finding, place: Sequence[str], trial: Trial) -> Finding:
    """A finding at the line of what an idea names, with the launch that shows it."""
    trail, names = launcher.trail(trial.case), launcher.names
    line = locate(place, launcher.source, trail, names, launcher.exercise.parameters)
    told = replace(found, line=line, severity="error")
    return launcher.seen_in(trial, told, not trial.case.exact)


# --- What an entry itself says that wrong answers compute -----------------------------------------


ROOM = 1e-3  # of a row's largest number, by which other launches may be off an idea


def ideas_of(exercise: Exercise, problem: Problem) -> list[WrongIdea]:
    """What the entry says, and what is known of its kind of problem."""
    of_the_entry = exercise.wrong_ideas if isinstance(exercise, Task) else ()
    return [*of_the_entry, *problem.wrong_ideas()]


def idea_behind(
    ideas: Sequence[WrongIdea], outcome: Outcome, others: Sequence[Outcome]
) -> WrongIdea | None:
    """The idea that gives the numbers that came out: all of them, or none where none did.

    Those of the `others`, right or wrong, must not be different ones: then it is chance.
    """
    if outcome.right.all():
        return None
    with np.errstate(all="ignore"):
        for idea in ideas:
            if _explains(outcome, _computed(idea, outcome), idea):
                if not any(_contradicts(other, idea) for other in others):
                    return idea
    return None


def _computed(idea: WrongIdea, outcome: Outcome) -> Array:
    return np.asarray(idea.computes(*in_float64(outcome.inputs)))


def _contradicts(outcome: Outcome, idea: WrongIdea) -> bool:
    """Is there a number where the idea has clearly another one?"""
    values = _computed(idea, outcome)
    if not np.isfinite(values).all() or not outcome.known.any():
        return False
    return not _near(outcome, values, idea.room or ROOM)[outcome.known].all()


def _explains(outcome: Outcome, values: Array, idea: WrongIdea) -> bool:
    """Are these the numbers that came out, and no finite ones where none came out?

    Where finite numbers should have, what did come was read beyond an array, or from a cell that
    nobody has written: that is said instead. Nor do a few numbers say where the others would be.
    """
    lost = ~np.isfinite(outcome.got) & ~outcome.untouched
    finite = (np.isfinite(values) | (not idea.code)) & (values != outcome.poison)
    stored = np.broadcast_to(finite, outcome.got.shape)
    if 2 * np.count_nonzero(stored & outcome.untouched) >= np.count_nonzero(stored) > 0:
        return False
    if np.isfinite(np.broadcast_to(values, lost.shape)[lost]).any():
        return False
    if not outcome.known.any():  # numbers that are none are like any others
        return bool(lost.any()) and (not idea.code or idea.code == "numerical-overflow")
    return _is_near(outcome, values, idea.room) if idea.room else outcome.matches(values)


def _is_near(outcome: Outcome, values: Array, share: float) -> bool:
    """Are these the numbers, up to a share of the largest of a row, and not the right ones?"""
    near = _near(outcome, values, share)
    with np.errstate(invalid="ignore"):
        differs = ~(np.abs(values - outcome.expected) <= _room(outcome, values, share))
    return bool(near[outcome.known].all() and (differs & ~outcome.untouched).any())


def _near(outcome: Outcome, values: Array, share: float) -> Array:
    near: Array = np.abs(values - outcome.values) <= _room(outcome, values, share)
    return near


def _room(outcome: Outcome, values: Array, share: float) -> Array:
    room: Array = share * np.abs(values).max(axis=-1, keepdims=True) + 2 * outcome.tolerance
    return room
