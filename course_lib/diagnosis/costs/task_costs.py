"""What an exercise or a task asks of its copies, passes and barriers, beside a right result.

Counts are those of the launch that is looked at.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.costs.measured import Measured
from course_lib.diagnosis.costs.words import tell
from course_lib.diagnosis.launches.trail import Journeys
from course_lib.registry.entry_checks import axes
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line

ROOM = 1.02
FLOAT_BYTES, WARP = 4, 32


def costs_of_its_own(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """What is limited by a number of its own, or asked for by name, and missed by the answer."""
    yield from _passes(exercise, measured)
    journeys = measured.journeys or Journeys()
    yield from _stores(journeys) if exercise.asynchronous else ()
    yield from _waits_at_once(journeys) if exercise.overlaps else ()
    if not isinstance(exercise, Task):
        return
    yield from _shared_arrays(measured) if exercise.without_shared else ()
    yield from _reads(exercise, measured)
    yield from _visits(exercise, measured)
    yield from _barriers(exercise, measured) if exercise.barriers else ()


def _shared_arrays(measured: Measured) -> Iterator[Finding]:
    """Shared memory where the task is about what happens without it."""
    for array in measured.profile.shared_arrays[:1]:
        yield tell("not wanted", array.line, array=array.name)


def _passes(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Passes of loads from shared memory, for each multiply-add of a warp."""
    profile = measured.profile
    multiply_adds = profile.flops / 2 / WARP
    most = ROOM * exercise.passes * multiply_adds
    if not exercise.passes or profile.shared_load_wavefronts <= most:
        return
    lines = profile.lines
    busiest = max(lines, key=lambda number: lines[number].shared_load_wavefronts)
    there = lines[busiest]
    found = tell(
        "passes",
        busiest,
        passes=f"{profile.shared_load_wavefronts / multiply_adds:.4g}",
        enough=f"{exercise.passes:.4g}",
        each=f"{there.shared_load_wavefronts / there.shared_load_requests:.3g}",
    )
    yield tell.again("pieces apart", found) if there.shared_load_bank_conflicts else found


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
    counts = {"count": profile.shared_load_bytes // FLOAT_BYTES, "enough": task.reads}
    words = {name: f"{count:,}" for name, count in counts.items()}
    yield tell("idle turns", min(around, default=busiest), hint=task.reads_hint, **words)


def _visits(task: Task, measured: Measured) -> Iterator[Finding]:
    """Numbers that are loaded from global memory again and again, where once is the point."""
    for name, letter in zip(measured.names, task.parameters, strict=True):
        traffic = measured.profile.arrays.get(name)
        if letter not in task.visits or traffic is None:
            continue
        count = math.prod(traffic.shape)
        if traffic.loaded_elements <= task.visits[letter] * count:
            continue
        at, times = traffic.loaded_at, f"{traffic.loaded_elements / count:.3g}"
        line = max(at, key=lambda number: (at[number], number), default=None)
        kind = "visited again" if task.visits[letter] else "read back"
        yield tell(kind, line, count=count, array=letter, times=times)


def _stores(journeys: Journeys) -> Iterator[Finding]:
    """Shared memory that threads fill themselves, so that every number takes a register."""
    if journeys.stored is not None:
        yield tell("stored by threads", journeys.stored)


def _waits_at_once(journeys: Journeys) -> Iterator[Finding]:
    """A tile that the block waits for at once, with nothing to do beside."""
    if journeys.at_once is None:
        return
    ordered, arrived = journeys.at_once
    kind = "copy waited for" if ordered == arrived else "stored at once"
    yield tell(kind, arrived, line=Line(ordered))


def _barriers(task: Task, measured: Measured) -> Iterator[Finding]:
    """More barriers than the task allows a block."""
    profile = measured.profile
    per_block = profile.barriers / math.prod(profile.grid)
    enough = task.barriers + _size(task.barriers_along, task, measured)
    if per_block <= enough:
        return
    lines = profile.lines
    last = max(number for number in lines if lines[number].barriers)
    kind = "barriers of buffers in turns" if task.barriers_along else "barriers of buffers"
    yield tell(kind, last, each=f"{per_block:.4g}", enough=enough)


def _size(letter: str, task: Task, measured: Measured) -> int:
    """How long an axis of the task is in this launch."""
    for letters, name in zip(task.shapes, measured.names, strict=True):
        traffic = measured.profile.arrays.get(name)
        if traffic and letter in axes(letters):
            size: int = traffic.shape[axes(letters).index(letter)]
            return size
    return 0
