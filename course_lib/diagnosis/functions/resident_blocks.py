"""Examines `blocks_per_sm`: calls it for many launches, and says which rule it has differently.

The function is never executed: the emulator's walk over plain functions interprets it, so that a
student's own machine and a grader's come to the same verdict. What is right is worked out by
`course_lib.devices.occupancy`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.curriculum import Exercise
from course_lib.devices import device
from course_lib.devices.occupancy import Occupancy
from course_lib.diagnosis.functions import resident_slips
from course_lib.diagnosis.functions.resident_launches import examples, launches, record_of
from course_lib.diagnosis.functions.resident_slips import ResidentSlip
from course_lib.diagnosis.functions.resident_source import ResidentSource
from course_lib.diagnosis.report import Report, make_report
from course_lib.emulator import Budget, Kernel, KernelRejected
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.emulator.plain.values import kind_of
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import Capital, Sentence, say
from course_lib.wording.words import joined

# Steps of the walk, which bound the work: the right answer takes about 100 for a launch, one that
# finds each number by counting up to it 30,000.
STEPS_PER_CALL = 200_000
STEPS = 10_000_000


@dataclass(frozen=True)
class TriedLaunch:
    """One launch, and what the answer made of it: a value, or a finding where it stopped."""

    launch: Occupancy
    value: object = None
    stopped: Finding | None = None
    steps: int = 0

    @property
    def number(self) -> float | None:
        """The value as a number; None where there is none."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            return None
        return self.value if math.isfinite(self.value) else None

    @property
    def right(self) -> bool:
        return type(self.value) is int and self.value == self.launch.blocks


def examine(exercise: Exercise, function: Kernel, seed: int) -> Report:
    """The verdict on a function that should be `blocks_per_sm`."""
    missing = _missing(exercise, function)
    if missing:
        return make_report(exercise, [missing])
    tried: list[TriedLaunch] = []
    for launch in launches(seed):
        left = STEPS - sum(each.steps for each in tried)
        tried.append(_try(function, launch, min(STEPS_PER_CALL, left)))
        stopped = tried[-1].stopped
        if stopped and stopped.code in ("timeout", "not-allowed", "unsupported"):
            return make_report(exercise, [_stopped(tried[-1])])
    plain = [each for each in tried if not _refused(each.launch)]
    wrong = [each for each in plain if not each.right]
    source = ResidentSource(function)
    found = list(_wrong(plain, wrong, source)) if wrong else []
    numbers = any(each.number is not None for each in plain)
    if numbers and all(each.code == "wrong-formula" for each in found):  # else it is too early
        refused = [each for each in tried if _refused(each.launch)]
        found += _accepted(refused, source, {each.line for each in found})
    count = sum(each.right for each in tried)
    held = [f"right for {count} of {len(tried)} launches"] if 2 * count > len(tried) else []
    return make_report(exercise, found, held, numbers_right=not wrong)


def _missing(exercise: Exercise, function: Kernel) -> Finding | None:
    wanted, names = exercise.parameters, function.parameters
    if len(names) != len(wanted):
        message: str = say(
            "It takes ({names}); the exercise asks for {signature}.",
            names=", ".join(names),
            signature=exercise.signature,
        )
        return finding("missing-answer", message, function.tree.lineno, "Compare the parameters.")
    if function.is_empty:
        message = "The function is still empty: it returns nothing."
        hint = "Start with one limit, for instance that by warps, and return it."
        return finding("missing-answer", message, function.tree.lineno, hint)
    return None


def _try(function: Kernel, launch: Occupancy, steps: int) -> TriedLaunch:
    arguments = [record_of(launch.sm), launch.threads, launch.registers, launch.shared_bytes]
    walk = Interpreter(Budget(steps=steps))
    try:
        value = walk.run(function, arguments)
    except KernelRejected as stop:
        return TriedLaunch(launch, stopped=stop.findings[0], steps=steps - walk.steps.left)
    return TriedLaunch(launch, value, steps=steps - walk.steps.left)


def _refused(launch: Occupancy) -> bool:
    """Is it refused by a rule that no division says by itself?"""
    sm = launch.sm
    return launch.threads > sm.threads_per_block or launch.registers > sm.registers_per_thread


# --- what is wrong --------------------------------------------------------------------------


def _wrong(
    plain: Sequence[TriedLaunch], wrong: Sequence[TriedLaunch], source: ResidentSource
) -> Iterator[Finding]:
    """Why launches that are possible, or that arithmetic alone rules out, come out wrong."""
    nothing = [each for each in wrong if each.value is None and not each.stopped]
    if nothing:
        yield _returns_nothing(nothing, plain, source)
        return
    if not any(each.number is not None for each in plain):
        yield _no_number(wrong[0], source)
        return
    values = {each.number for each in plain}
    if len(values) == 1:
        yield _always_the_same(wrong[0], source)
        return
    yield from _by_slips(plain, wrong, source)


def _by_slips(
    plain: Sequence[TriedLaunch], wrong: Sequence[TriedLaunch], source: ResidentSource
) -> Iterator[Finding]:
    cases = [each.launch for each in plain]
    answers = [each.number for each in plain]
    fraction = next((each for each in wrong if isinstance(each.value, float)), None)
    whole = [None if number is None else math.floor(number) for number in answers]
    if fraction and whole == [each.blocks for each in cases]:
        yield _fraction(fraction, source)
        return
    gpu = resident_slips.of_which_gpu(answers, cases)
    if gpu:
        yield _numbers_of(gpu, wrong, source)
        return
    slips = resident_slips.explain(answers, cases)
    if fraction and not slips:
        yield _fraction(fraction, source)
        slips = resident_slips.explain(whole, cases)
    for slip in slips:
        yield _of_slip(slip, wrong, source)
    if not slips and not fraction:
        stopped = next((each for each in wrong if each.stopped), None)
        yield _stopped(stopped) if stopped else _unexplained(wrong[0], source)


def _of_slip(slip: ResidentSlip, wrong: Sequence[TriedLaunch], source: ResidentSource) -> Finding:
    """A slip with the launch that shows it: one that it alone gets wrong, if there is one."""
    alone = slip.change(resident_slips.Rules())
    shown = next(
        (each for each in wrong if each.number == alone.answer(each.launch)),
        next((each for each in wrong if alone.answer(each.launch) != each.launch.blocks), wrong[0]),
    )
    worked = shown.launch.arithmetic.get(slip.limit) or _binding(shown.launch)
    message = _compared(shown, slip.says, _sentence(worked))
    return finding(slip.code, message, source.line(slip.looks_at, slip.beside), slip.hint)


def _numbers_of(gpu: str, wrong: Sequence[TriedLaunch], source: ResidentSource) -> Finding:
    shown = wrong[0]
    slip = say("the numbers of the {gpu} are used for every GPU", gpu=gpu)
    message = _compared(shown, slip, _sentence(_binding(shown.launch)))
    numbers = [f"number {getattr(device(gpu).sm, name)}" for name in resident_slips.OF_ONE_GPU]
    hint = "What is different from GPU to GPU stands in device."
    return finding("hardcoded-answer", message, source.line((*numbers, "return")), hint)


def _always_the_same(shown: TriedLaunch, source: ResidentSource) -> Finding:
    message = say(
        "The same {value} comes out for every launch. {compared}",
        graded="The same number comes out for every launch. {compared}",
        value=_show(shown.value),
        compared=_compared(shown, "", _sentence(_binding(shown.launch))),
    )
    hint = "Which of the four parameters does each limit depend on?"
    return finding("hardcoded-answer", message, source.line(("return",)), hint)


def _returns_nothing(
    nothing: Sequence[TriedLaunch], plain: Sequence[TriedLaunch], source: ResidentSource
) -> Finding:
    if len(nothing) < len(plain):
        shown = nothing[0]
        message: str = _about(
            shown,
            "On {launch} it returns nothing, and it is {right}.",
            "it returns nothing",
            right=shown.launch.blocks,
        )
        hint = _pencil(
            shown, "Follow the branches with these numbers: which one ends without a return?"
        )
        return finding("wrong-formula", message, source.line(("return",)), hint)
    printed = source.prints()
    if printed:
        message = "The number is printed, and nothing is returned."
        return finding(
            "missing-answer",
            message,
            printed,
            "What can a caller do with a number that is only printed?",
        )
    message = "It works something out, and returns nothing."
    return finding("missing-answer", message, source.definition, "What does the last line say?")


def _no_number(shown: TriedLaunch, source: ResidentSource) -> Finding:
    if shown.stopped:
        return _stopped(shown)
    message = _about(
        shown,
        "On {launch} it returns {value}, and no number of blocks.",
        "it comes to no result",
        value=_show(shown.value),
    )
    return finding("wrong-formula", message, source.line(("return",)), "How many blocks fit?")


def _fraction(shown: TriedLaunch, source: ResidentSource) -> Finding:
    worked = _sentence(_binding(shown.launch))
    message = _compared(shown, "a whole number of blocks, as an int", worked)
    hint = "A division with / gives a fraction; one with // rounds down and stays whole."
    return finding("wrong-formula", message, source.line(("division", "return")), hint)


def _accepted(
    refused: Sequence[TriedLaunch], source: ResidentSource, told: set[int | None]
) -> Iterator[Finding]:
    """Launches that no GPU makes, and that got an answer other than 0.

    That the function stops there too is nothing new where a line was told already.
    """
    too_many: dict[str, Callable[[Occupancy], bool]] = {
        "threads": lambda launch: launch.threads > launch.sm.threads_per_block,
        "registers": lambda launch: launch.registers > launch.sm.registers_per_thread,
    }
    for what, applies in too_many.items():
        # 0.0 refuses it as well; that it should be an int is said of the other launches.
        accepted = (each for each in refused if each.number != each.launch.blocks)
        shown = next((each for each in accepted if applies(each.launch)), None)
        if shown is None:
            continue
        if shown.stopped:
            if shown.stopped.line not in told:
                told.add(shown.stopped.line)
                yield _stopped(shown)
            continue
        message = _compared(shown, "a GPU refuses this launch", shown.launch.why_not)
        hint = "Which launches must give 0, whatever would fit?"
        yield finding("invalid-launch", message, source.line((f"test {what}", "def")), hint)


def _unexplained(shown: TriedLaunch, source: ResidentSource) -> Finding:
    launch = shown.launch
    number = shown.number
    if number is not None and number < launch.blocks:
        limits = ", ".join(f"{name} {limit}" for name, limit in launch.limits.items())
        worked: str = say("No limit is so low: {limits}", limits=limits)
    else:
        worked = _binding(launch)
    hint = _pencil(shown, "Work this launch out with a pencil, one limit after another.")
    message = _compared(shown, "", _sentence(worked))
    return finding("wrong-result", message, source.line(("return",)), hint)


# --- in words -------------------------------------------------------------------------------


def _on(launch: Occupancy) -> str:
    return say(
        "the {device} with {threads} threads, {registers} registers and {shared_bytes} shared "
        "bytes",
        device=launch.sm.name,
        threads=launch.threads,
        registers=launch.registers,
        shared_bytes=launch.shared_bytes,
    )


def _compared(shown: TriedLaunch, slip: str, worked: str) -> Sentence:
    """What came out of a launch beside what is right; the slip, if it is known; the arithmetic."""
    return _about(
        shown,
        "On {launch} {got}, and right is {right}{slip}. {worked}",
        say("the result is wrong: {slip}", slip=slip) if slip else "the result is wrong",
        got="it stops" if shown.stopped else say("it returns {value}", value=_show(shown.value)),
        right=shown.launch.blocks,
        slip=say(": {slip}", slip=slip) if slip else "",
        worked=worked,
    )


def _about(shown: TriedLaunch, template: str, drawn: str, **facts: Any) -> Sentence:
    """What is said of a launch; of one that the seed drew, a graded student reads no number.

    Whatever the answer made of it may carry the launch out: the value that it returns, or what it
    stops with. So `drawn` is all that is said there, beside the limit that binds.
    """
    launch = shown.launch
    limits = say(" The limit that binds there: {limiters}.", limiters=joined(launch.limiters))
    return say(
        template,
        graded="" if launch in examples() else _DRAWN,
        launch=_on(launch),
        drawn=drawn,
        limits=limits if launch.blocks else "",
        **facts,
    )


def _pencil(shown: TriedLaunch, hint: str) -> str:
    """A hint that speaks of the launch, where the student is told which one it is."""
    return hint if shown.launch in examples() else say(hint, graded=_OF_NO_LAUNCH)


_DRAWN = "For a launch that was drawn for grading, {drawn}.{limits}"
_OF_NO_LAUNCH = "Work out launches of your own with a pencil, near the edge of each limit."


def _show(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return kind_of(value)
    return str(value) if value == round(value, 0) and abs(value) < 10**9 else f"{value:.4g}"


def _binding(launch: Occupancy) -> str:
    """The arithmetic of a limit that binds."""
    return launch.arithmetic[launch.limiters[0]]


def _sentence(text: str) -> Sentence:
    return say("{text}.", text=Capital(text))


def _stopped(shown: TriedLaunch) -> Finding:
    """Where the function stopped, and for which launch."""
    assert shown.stopped is not None
    if shown.stopped.code == "unsupported" and shown.launch not in examples():
        # This one becomes a reason in the gradebook, so it may not carry the launch even here.
        message = "The checker cannot run this line for one of the launches that were drawn."
        return dataclasses.replace(shown.stopped, message=message)
    message = _about(
        shown,
        "{seen} Seen on {launch}.",
        "it comes to no result",
        seen=shown.stopped.message,
    )
    hint = shown.stopped.hint
    if not hint and shown.launch.shared_per_block == 0:
        hint = "What does a block take that declares no shared memory, where nothing is reserved?"
    return dataclasses.replace(shown.stopped, message=message, hint=hint)
