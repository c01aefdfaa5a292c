"""Says what there is to say of a launch as a whole: steps used up, arithmetic in float64."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from course_lib.emulator.budget import BudgetExceeded
from course_lib.findings import Finding, finding
from course_lib.sentences import Capital, Line, facts_of, say


def timeout(stop: BudgetExceeded, steps: int) -> Finding:
    """The budget ended the run."""
    loop = stop.loop
    used_up = say("when the {steps} steps of this launch were used up", steps=f"{steps:,}")
    if loop is None:
        message = say("The kernel was still running {used_up}.", used_up=used_up)
        return finding("timeout", message, stop.line, "What makes this launch so long?")
    if loop.ends:
        message = say(
            "The loop in {line} was in its iteration {turns} {used_up}.",
            line=Line(loop.line),
            turns=f"{loop.turns:,}",
            used_up=used_up,
        )
        hint = (
            "How many threads share the work, and how many iterations of this loop does each of "
            "them make?"
        )
    else:
        message = say(
            "The loop in {line} had made {turns} iterations {used_up}.",
            line=Line(loop.line),
            turns=f"{loop.turns:,}",
            used_up=used_up,
        )
        hint = "Does its condition ever become false?"
    return finding("timeout", message, loop.line, hint)


def float64_findings(
    lines: Iterable[int], made: Iterable[int], array_types: Collection[str]
) -> list[Finding]:
    """Lines that compute in float64, or make an array of it, as those that were passed in are not.

    Args:
        lines: those that compute.
        made: those that make a shared or a local array, whatever is computed with what it holds.
        array_types: the types of the arrays that were passed in.
    """
    if "float64" in array_types:
        return []
    arrays = "none of the arrays is"
    if len(array_types) == 1:
        arrays = f"the arrays are {next(iter(array_types))}"
    computes = say("This line computes in float64 although {arrays}.", arrays=arrays)
    holds = say("This array holds float64 although {arrays}.", arrays=arrays)
    value = "Which value here is an integer or a Python float? np.float32(…) makes it float32."
    size = "How many bytes does an element take here, and how many would do?"
    return [
        finding("float64-arithmetic", message, line, hint)
        for message, hint, places in ((computes, value, lines), (holds, size, made))
        for line in sorted(places)
    ]


def causes_only(
    findings: Iterable[Finding], reads_unwritten: Callable[[int | None, str], bool]
) -> list[Finding]:
    """Without what something else explains.

    A read of an unwritten cell follows from a race in the same array, or from a misaligned access:
    a GPU stops there, so whatever should have been written later is missing. But what is written
    only after such a read is no race that a barrier mends: the read comes too early. That another
    thread's copy has not been waited for says less than that nothing orders the two lines.

    Args:
        findings: all that were made.
        reads_unwritten: whether a line has read a cell in which nothing had been written.
    """
    kept = list(findings)
    late = [each for each in kept if _is_late_write(each, reads_unwritten)]
    races = [each for each in kept if each.code.startswith("race-") and each not in late]
    raced = {_array(each) for each in races}
    unordered = {_lines(each) for each in races if not _of_anothers_copy(each)}
    stops = any(each.code == "wrong-index" and "size" in facts_of(each.message) for each in kept)
    return [
        _with_late_write(each, late)
        for each in kept
        if not (each.code == "uninitialised-read" and (stops or _array(each) in raced))
        and not (_of_anothers_copy(each) and _lines(each) in unordered)
        and not (each in late and _array(each) not in raced)
    ]


def _is_late_write(each: Finding, reads_unwritten: Callable[[int | None, str], bool]) -> bool:
    """Does a store that races come after a read of a cell in which nothing had been written?"""
    return each.code == "race-write-after-read" and reads_unwritten(each.other_line, each.cell)


def _with_late_write(each: Finding, late: Iterable[Finding]) -> Finding:
    """A read of an unwritten cell; asked for what writes such cells later, if something does."""
    writes = [race.line for race in late if race.other_line == each.line]
    if each.code != "uninitialised-read" or not writes or writes[0] is None:
        return each
    hint = say(
        "{line} writes such cells only after this line has read them. What has to be complete "
        "before?",
        line=Capital(Line(writes[0])),
    )
    return replace(each, hint=hint)


def _array(each: Finding) -> str:
    return each.cell.split("[")[0]


def _lines(each: Finding) -> tuple[str, frozenset[int | None]]:
    return _array(each), frozenset((each.line, each.other_line))


def _of_anothers_copy(each: Finding) -> bool:
    """Is it a finding of CopyFaults about two threads?"""
    return "copy_line" in facts_of(each.message) and len(each.threads) > 1
