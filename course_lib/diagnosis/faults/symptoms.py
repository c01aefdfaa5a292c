"""Faults that only follow from others, or from a cause that is known: they are dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from course_lib.diagnosis.launches.outcome import DISORDER, OUTSIDE, array_of, is_misaligned
from course_lib.emulator.observers.findings import touching
from course_lib.wording.findings import Finding, by_importance

# What else a slip in the numbers brings about. An index that goes astray also leaves arrays, and
# makes threads meet at one element; a wrong formula reads where nothing is.
FOLLOWS = {
    **dict.fromkeys(
        ("wrong-index", "index-overflow"),
        (*OUTSIDE, *DISORDER, "wrong-bounds-check", "wrong-loop-bound", "wrong-index"),
    ),
    "wrong-formula": ("out-of-bounds-read", "wrong-bounds-check"),
    "hardcoded-answer": (*OUTSIDE, "wrong-bounds-check"),
}
# What only says that something is missing or wrong: dropped once a cause is known.
SYMPTOMS = ("stale-shared-read", "incomplete-output", "numerical-overflow", "wrong-result")


def is_orderly(exact: Any, output: str) -> bool:
    """Did the launch on the exact shape go wrong without any fault but the store of the output?"""
    if exact is None or exact.right:
        return False
    return not any(error.code in DISORDER and not _on(error, output) for error in exact.errors)


def without_wraps(faults: Sequence[Finding]) -> list[Finding]:
    """What the emulator found, without those of an access whose index is negative.

    Such an index means another element, counted from the end: one that nobody has written, or
    that another thread writes.
    """
    wraps = {
        (array_of(finding.cell), finding.line)
        for finding in faults
        if finding.code == "wrong-index" and finding.severity == "error"
    }
    return [
        finding
        for finding in faults
        if finding.code not in ("uninitialised-read", "race-write-after-write")
        or (array_of(finding.cell), finding.line) not in wraps
    ]


def without_strays(faults: Sequence[Finding], tiles: set[str]) -> list[Finding]:
    """Faults without those that a store outside a tile causes in the same tile.

    What should have filled a cell has gone elsewhere, so the cell stays empty, or another store
    hits it, too. A store that meets itself is wrong also where it stays inside.
    """
    strays = [finding for finding in faults if finding.code == "out-of-bounds-write"]
    left = {array_of(stray.cell) for stray in strays} & tiles
    lines = {stray.line for stray in strays}

    def follows(fault: Finding) -> bool:
        if array_of(fault.cell) not in left or fault.code == "uninitialised-read":
            return array_of(fault.cell) in left
        ends = {fault.line, fault.other_line}
        return fault.code == "race-write-after-write" and len(ends) > 1 and bool(ends & lines)

    return [fault for fault in faults if not follows(fault)]


def keep_causes(
    faults: Iterable[Finding], cause: Finding | None, output: str, orderly: bool = False
) -> list[Finding]:
    """Faults of the emulator and the cause read from the numbers, without mere consequences.

    `cause` is None if the numbers are right, or explain nothing. `orderly`: they were wrong where
    all tiles are full, too, without any fault; then cells that are empty elsewhere do not matter.
    """
    faults = once(faults)
    explains = cause is not None and cause.code == "index-overflow"  # all that an index brings
    if cause is None or (in_disorder(faults, output, orderly) and not explains):
        return by_importance(_without_symptoms(faults))
    if cause.code in SYMPTOMS:
        return by_importance(_without_symptoms([*faults, cause]))
    follows = FOLLOWS.get(cause.code, ()) + SYMPTOMS
    if orderly:
        follows += ("uninitialised-read",)
    kept = [finding for finding in faults if finding.code not in follows]
    return by_importance(once([cause, *kept]))


def arrays_left(faults: Iterable[Finding], arrays: Collection[str]) -> set[str]:
    """Those of these arrays that an access leaves."""
    return {array_of(finding.cell) for finding in faults if finding.code in OUTSIDE} & set(arrays)


def lines_beyond(faults: Iterable[Finding], arrays: Collection[str]) -> set[int | None]:
    """The lines of accesses that leave one of these arrays."""
    return {
        finding.line
        for finding in faults
        if finding.code in OUTSIDE and array_of(finding.cell) in arrays
    }


def in_disorder(faults: Iterable[Finding], output: str, orderly: bool) -> bool:
    """Is there a fault that makes every number doubtful?"""
    return any(
        is_misaligned(finding)
        or (
            finding.severity == "error"
            and finding.code in DISORDER
            and not _on(finding, output)
            and not (orderly and finding.code == "uninitialised-read")
        )
        for finding in faults
    )


def _on(finding: Finding, array: str) -> bool:
    """Is the finding about this array?"""
    return array_of(finding.cell) == array


def _without_symptoms(findings: Sequence[Finding]) -> list[Finding]:
    """Drop what only follows, unless there is nothing else."""
    errors = [finding for finding in findings if finding.severity == "error"]
    symptoms: tuple[str, ...] = SYMPTOMS
    if any(finding.code == "barrier-divergence" for finding in errors):
        symptoms = (*SYMPTOMS, *DISORDER[1:])  # without the barrier, everything may happen
    causes = [finding for finding in errors if finding.code not in symptoms]
    if not causes:
        lowest = min(errors, key=lambda finding: SYMPTOMS.index(finding.code), default=None)
        return [finding for finding in findings if finding.severity != "error" or finding is lowest]
    return [finding for finding in findings if finding.severity != "error" or finding in causes]


def once(findings: Iterable[Finding]) -> list[Finding]:
    """The first finding of each code and line; a later one of the same adds nothing.

    Of barriers that not all threads reach, the first is to blame: once the threads of a block are
    apart, they miss the later ones as well. Of cells that are overwritten too early, the line
    that still reads them names the race. A race of the same threads, lines and cell is the same.
    """
    seen: dict[tuple[str, int | None], Finding] = {}
    races: set[object] = set()
    # What is harmless in one launch may be an error in another one.
    for finding in sorted(findings, key=lambda finding: finding.severity != "error"):
        line, other_line = touching(finding)
        if finding.code.startswith("race-"):
            race = (
                finding.code,
                frozenset((line, other_line)),
                finding.cell,
                finding.threads,
                finding.blocks,
            )
            if race in races:
                continue
            races.add(race)
        if finding.code == "barrier-divergence":
            line = None
        if finding.code == "race-write-after-read":
            line = other_line
        seen.setdefault((finding.code, line), finding)
    return list(seen.values())


def one_for_each_array(faults: Sequence[Finding], own: Collection[str]) -> list[Finding]:
    """Of the accesses outside an array that the kernel makes itself the first one; a write first.

    Where an array is too small, or filled with the wrong index, all the others only follow.
    """
    outside = [finding for finding in faults if finding.cell in own and finding.code in OUTSIDE]
    first: dict[str, Finding] = {}
    for finding in sorted(outside, key=lambda finding: finding.code != "out-of-bounds-write"):
        first.setdefault(finding.cell, finding)
    return [
        finding for finding in faults if finding not in outside or finding is first[finding.cell]
    ]
