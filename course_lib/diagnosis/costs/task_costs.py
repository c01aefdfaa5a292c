"""What a task asks of its copies, passes and barriers, beside a right result.

Counts are those of the launch that is looked at.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.costs.measured import Measured
from course_lib.diagnosis.launches.journeys import Journeys
from course_lib.entries import axes
from course_lib.findings import Finding, finding
from course_lib.sentences import Line, say

ROOM = 1.02
FLOAT_BYTES, WIDE_BYTES, WARP = 4, 16, 32


def costs_of_a_task(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """What a task limits by a number of its own, or asks for by name, and the answer misses."""
    if not isinstance(exercise, Task):
        return
    yield from _shared_arrays(measured) if exercise.without_shared else ()
    yield from _narrow_accesses(exercise, measured)
    yield from _passes(exercise, measured)
    yield from _reads(exercise, measured)
    yield from _visits(exercise, measured)
    journeys = measured.journeys or Journeys()
    yield from _stores(journeys) if exercise.asynchronous else ()
    yield from _waits_at_once(journeys) if exercise.overlaps else ()
    yield from _barriers(exercise, measured) if exercise.barriers else ()


def _shared_arrays(measured: Measured) -> Iterator[Finding]:
    """Shared memory where the task is about what happens without it."""
    for array in measured.profile.shared_arrays[:1]:
        message = say("{array} is shared memory; this task is to do without.", array=array.name)
        hint = "Which element can a thread store as soon as it has read it?"
        yield finding("not-allowed", message, array.line, hint)


def _narrow_accesses(task: Task, measured: Measured) -> Iterator[Finding]:
    """Loads and stores of a thread that move less than 16 bytes."""
    for name, letter in zip(measured.names, task.parameters, strict=True):
        traffic = measured.profile.arrays.get(name)
        if letter not in task.wide or traffic is None:
            continue
        for verb, requests, elements, at in (
            ("load", traffic.load_requests, traffic.loaded_elements, traffic.loaded_at),
            ("store", traffic.store_requests, traffic.stored_elements, traffic.stored_at),
        ):
            size = FLOAT_BYTES * elements / (WARP * requests) if requests else WIDE_BYTES
            if size >= WIDE_BYTES:
                continue
            message = say(
                "{requests} {verb} requests move {elements} numbers of {letter}: {size} bytes for "
                "each lane, where one instruction can move 16.",
                requests=f"{requests:,}",
                verb=verb,
                elements=f"{elements:,}",
                letter=letter,
                size=f"{size:.3g}",
            )
            hint = say(
                "Which function {verb}s four neighbours of {letter} at once?",
                verb=verb,
                letter=letter,
            )
            line = max(at, key=lambda each: (at[each], each), default=None)
            yield finding("not-used", message, line, hint, "error")


def _passes(task: Task, measured: Measured) -> Iterator[Finding]:
    """Passes of loads from shared memory, for each multiply-add of a warp."""
    profile = measured.profile
    multiply_adds = profile.flops / 2 / WARP
    if not task.passes or profile.shared_load_wavefronts <= ROOM * task.passes * multiply_adds:
        return
    lines = profile.lines
    busiest = max(lines, key=lambda number: lines[number].shared_load_wavefronts)
    there = lines[busiest]
    message = say(
        "Loads from shared memory take {passes} passes for each multiply-add of a warp, and "
        "{enough} would do. A load here takes {each}.",
        passes=f"{profile.shared_load_wavefronts / multiply_adds:.4g}",
        enough=f"{task.passes:.4g}",
        each=f"{there.shared_load_wavefronts / there.shared_load_requests:.3g}",
    )
    if there.shared_load_bank_conflicts:
        hint = "By how many words do the pieces of neighbouring lanes lie apart here?"
    else:
        hint = "Which lanes read the same piece? Is it lane 0 and 1, or 0 and 2, and so on?"
    yield finding("bank-conflict", message, busiest, hint, "error")


def _reads(task: Task, measured: Measured) -> Iterator[Finding]:
    """More numbers loaded from shared memory than the task needs: a loop with idle turns."""
    profile = measured.profile
    if not task.reads or profile.shared_load_bytes <= task.reads * FLOAT_BYTES:
        return
    lines = profile.lines
    busiest = max(lines, key=lambda number: lines[number].shared_load_bytes)
    around = [
        node.lineno
        for node in measured.source.walk()
        if isinstance(node, ast.For | ast.While)
        and node.lineno <= busiest <= (node.end_lineno or node.lineno)
    ]
    message = say(
        "The loops do more than the result needs: the threads read "
        "{count} numbers from shared memory, and {enough} would do.",
        count=f"{profile.shared_load_bytes // FLOAT_BYTES:,}",
        enough=f"{task.reads:,}",
    )
    line = min(around, default=busiest)
    yield finding("wrong-loop-bound", message, line, task.reads_hint, "error")


def _visits(task: Task, measured: Measured) -> Iterator[Finding]:
    """Numbers that are loaded from global memory again and again, where once is the point."""
    for name, letter in zip(measured.names, task.parameters, strict=True):
        traffic = measured.profile.arrays.get(name)
        if letter not in task.visits or traffic is None:
            continue
        count = math.prod(traffic.shape)
        if traffic.loaded_elements <= task.visits[letter] * count:
            continue
        message = say(
            "The {count} numbers of {array} are loaded {times} times each, on average: the threads "
            "go back to numbers that they have seen.",
            count=count,
            array=letter,
            times=f"{traffic.loaded_elements / count:.3g}",
        )
        at = traffic.loaded_at
        line = max(at, key=lambda each: (at[each], each), default=None)
        hint = "What has to be kept of the numbers before, so that none is needed again?"
        yield finding("excess-global-traffic", message, line, hint, "error")


def _stores(journeys: Journeys) -> Iterator[Finding]:
    """Shared memory that threads fill themselves, so that every number takes a register."""
    if journeys.stored is None:
        return
    message = say(
        "This stores in shared memory what a register holds; an asynchronous copy needs neither "
        "the register nor the store."
    )
    hint = "Which copy goes from global to shared memory by itself?"
    yield finding("not-used", message, journeys.stored, hint, "error")


def _waits_at_once(journeys: Journeys) -> Iterator[Finding]:
    """A tile that the block waits for at once, with nothing to do beside."""
    if journeys.at_once is None:
        return
    ordered, arrived = journeys.at_once
    if ordered == arrived:
        message = say(
            "The copy that begins here is waited for at once: while the tile is on its way, "
            "nothing is multiplied."
        )
    else:
        message = say(
            "This stores at once what {line} has asked for: while the tile is on its way, nothing "
            "is multiplied.",
            line=Line(ordered),
        )
    hint = "What could the threads do before they need the next tile?"
    yield finding("serial-work", message, arrived, hint, "error")


def _barriers(task: Task, measured: Measured) -> Iterator[Finding]:
    """More barriers than the task allows a block."""
    profile = measured.profile
    each = profile.barriers / math.prod(profile.grid)
    enough = task.barriers + _size(task.barriers_along, task, measured)
    if each <= enough:
        return
    lines = profile.lines
    last = max(number for number in lines if lines[number].barriers)
    message = say(
        "Each block passes {each} barriers here, and {enough} would do.",
        each=f"{each:.4g}",
        enough=enough,
    )
    hint = "For each barrier: which buffer is written before it, and who reads it after?"
    if task.barriers_along:
        hint = "Which buffer can be written while the other one is read?"
    yield finding("excess-barriers", message, last, hint, "error")


def _size(letter: str, task: Task, measured: Measured) -> int:
    """How long an axis of the task is in this launch."""
    for letters, name in zip(task.shapes, measured.names, strict=True):
        traffic = measured.profile.arrays.get(name)
        if traffic and letter in axes(letters):
            size: int = traffic.shape[axes(letters).index(letter)]
            return size
    return 0
