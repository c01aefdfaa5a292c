"""Asks whether a value that nobody wrote reaches a result: runs the launch again with others.

A read of an unwritten cell is an error only if something comes of it. Threads past the edge often
read such a cell and then store nothing; a GPU gives the right result all the same. So the launch
is repeated from the same start with other values in place of those that nobody wrote. If all it
leaves in memory, prints and does wrong stays as it was, no result depends on them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np

from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.errors import KernelRejected
from course_lib.emulator.machine.given_values import Cell, Instead
from course_lib.emulator.observers.findings import NotedFindings
from course_lib.emulator.observers.tracing import Output
from course_lib.emulator.state.memory import GlobalMemory
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import say

MOST_PLACES = 4  # that are looked at one by one
# By what unwritten values are replaced, beside not-a-number: see machine/events.py.
KINDS = ("0", "1", "left", "high", "low")
Memories = list[tuple[np.ndarray, np.ndarray | None]]


class Repeatable(Protocol):
    """What a launch has to give, and to do, so that it can be tried again; see run.py."""

    findings: NotedFindings
    memory: GlobalMemory
    may_be_written: set[int]
    output: Output

    def repeated(self, instead: Instead) -> Self: ...

    def run_all(self) -> None: ...


def memories(run: Repeatable) -> Memories:
    """The contents of all global memory that the kernel may write, to be restored."""
    return [
        (
            allocation.storage.copy(),
            None if allocation.written_in is None else allocation.written_in.copy(),
        )
        for allocation in _written(run)
    ]


def weigh(run: Repeatable, before: Memories) -> None:
    """Turn reads of unwritten values that reach no result of an ended launch into warnings."""
    suspects = {key: finding for key, finding in run.findings.items() if _is_suspect(run, finding)}
    places = {_place(suspect) for suspect in suspects.values()}
    if not places:
        return
    after = memories(run)
    try:
        harmless = _harmless(run, places, before, after)
    finally:
        _restore(run, after)
    for key, suspect in suspects.items():
        if _place(suspect) in harmless:
            message = say("{seen} No result depends on that value.", seen=suspect.message)
            run.findings[key] = replace(suspect, severity="warning", message=message)


def _is_suspect(run: Repeatable, found: Finding) -> bool:
    """Whether it is a read of shared or local memory, or of a variable, that nothing explains."""
    name = found.cell.split("[")[0]
    raced = {
        finding.cell.split("[")[0] for finding in run.findings.values() if "race-" in finding.code
    }
    if found.code != "uninitialised-read" or not name:  # a barrier has none
        return False
    return name not in {*raced, *run.memory.arguments}


def _place(found: Finding) -> Cell:
    return found.line, found.cell.split("[")[0]


def _harmless(run: Repeatable, places: set[Cell], before: Memories, after: Memories) -> set[Cell]:
    if not _reaches(run, places, before, after):
        return places
    if not 1 < len(places) <= MOST_PLACES:
        return set()
    _restore(run, before)
    try:
        run.repeated(Instead(frozenset(places), "1")).run_all()
    except (BudgetExceeded, KernelRejected):
        return set()
    cleared = memories(run)
    return {cell for cell in places if not _reaches(run, {cell}, before, cleared, places - {cell})}


def _reaches(
    run: Repeatable,
    places: Iterable[Cell],
    before: Memories,
    after: Memories,
    ones: Iterable[Cell] = (),
) -> bool:
    for kind in KINDS:
        _restore(run, before)
        again = run.repeated(Instead(frozenset(places), kind, frozenset(ones)))
        try:
            again.run_all()
        except (BudgetExceeded, KernelRejected):
            return True
        if again.output.lines != run.output.lines or _faults(again) != _faults(run):
            return True
        if not _same(_written(run), after):
            return True
    return False


def _faults(run: Repeatable) -> set[tuple[str, int | None]]:
    """What went wrong, but for races and for unwritten values."""
    return {
        (finding.code, finding.line)
        for finding in run.findings.values()
        if finding.code != "uninitialised-read" and "race-" not in finding.code
    }


def _written(run: Repeatable) -> list[Any]:
    allocations = {id(argument): argument for argument in run.memory.arguments.values()}
    by_copies = [
        allocation.described[0].allocation
        for allocation in allocations.values()
        if allocation.described
    ]
    return [
        allocation for key, allocation in allocations.items() if key in run.may_be_written
    ] + by_copies


def _restore(run: Repeatable, saved: Memories) -> None:
    for allocation, (storage, written_in) in zip(_written(run), saved, strict=True):
        allocation.storage[...] = storage
        allocation.ages = None
        allocation.fields.clear()  # and what was noted of them
        if allocation.written_in is not None:
            allocation.written_in[...] = written_in


def _same(allocations: Sequence[Any], saved: Memories) -> bool:
    """Whether memory holds the same bytes, so that one NaN is like another."""
    return all(
        np.array_equal(allocation.storage.view(np.uint8), storage.view(np.uint8))
        for allocation, (storage, _) in zip(allocations, saved, strict=True)
    )
