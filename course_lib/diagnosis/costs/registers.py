"""Does a thread keep in registers what it needs again: values from the tiles, and its sums?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.costs.measured import Measured
from course_lib.findings import Finding, finding
from course_lib.sentences import say

ROOM = 1.02
FLOAT_BYTES = 4
BYTES = {"float32": FLOAT_BYTES, "float16": 2, "bfloat16": 2}


def register_reuse(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Every value that is fetched again although a register could have kept it."""
    if "registers" not in exercise.points:
        return
    outside = list(_sums_in_global_memory(measured))
    flat = _several_sums(measured) or _second_axis(exercise, measured)
    yield from outside or flat or _loads_per_fma(measured)


def loads_of_a_task(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Does a thread load a number again that it could have kept, from whatever memory?"""
    if not isinstance(exercise, Task) or not exercise.loads:
        return
    profile = measured.profile
    of_a_number = min((BYTES[each] for each in exercise.formats), default=FLOAT_BYTES)
    loads = (profile.global_load_bytes + profile.shared_load_bytes) / of_a_number
    multiply_adds = profile.flops / 2
    if loads <= ROOM * exercise.loads * multiply_adds:
        return
    lines = profile.lines
    busiest = max(lines, key=lambda n: lines[n].global_load_bytes + lines[n].shared_load_bytes)
    message = say(
        "The threads load {loads} numbers for {multiply_adds} multiply-adds: {each} for each, "
        "where {enough} would do.",
        loads=f"{loads:,.0f}",
        multiply_adds=f"{multiply_adds:,.0f}",
        each=f"{loads / multiply_adds:.3g}",
        enough=f"{exercise.loads:.3g}",
    )
    hint = "Which number does a thread load here that it has loaded before?"
    yield finding("not-used", message, busiest, hint, "error")


def _several_sums(measured: Measured) -> list[Finding]:
    """With one output for each thread, no value in a register serves another sum."""
    if math.prod(measured.thread_tile) > 1:
        return []
    message = "A thread computes one element, so no value in its registers serves a second sum."
    hint = "Which constants say how many elements one thread computes?"
    return [finding("not-used", message, measured.source.kernel.lineno, hint, "error")]


def _second_axis(exercise: Exercise, measured: Measured) -> list[Finding]:
    """With outputs in one line where a rectangle is asked for, half of the reads serve one sum.

    The smallest square, 2 x 2, reads one number for a multiply-add, and every line reads more.
    """
    both_chosen = all(isinstance(side, str) for side in exercise.thread_tile or (1,))
    loads = _reads_per_product(measured)
    if not both_chosen or min(measured.thread_tile) > 1 or loads <= 1:
        return []
    rows, columns = measured.thread_tile
    sums, letter = rows * columns, "A" if columns == 1 else "B"
    message = say(
        "A thread's tile is a line of {rows} x {columns}: it reads {loads_per_sum} numbers for "
        "{sums} multiply-adds in a step of k, and a number of {letter} serves one sum only.",
        rows=rows,
        columns=columns,
        loads_per_sum=f"{loads * sums:.4g}",
        sums=sums,
        letter=letter,
    )
    hint = "Which of TM and TN is 1? How many reads would a square of as many outputs need?"
    return [finding("not-used", message, measured.source.kernel.lineno, hint, "error")]


def _reads_per_product(measured: Measured) -> float:
    """How many numbers are read from shared memory for each multiply-add."""
    result: float = measured.profile.shared_load_bytes / FLOAT_BYTES / math.prod(measured.shape)
    return result


def _loads_per_fma(measured: Measured) -> Iterator[Finding]:
    """Loads from shared memory for every multiply-add: TM + TN for TM * TN are enough."""
    loads = _reads_per_product(measured)
    rows, columns = measured.thread_tile
    enough = (rows + columns) / (rows * columns)
    if loads <= ROOM * enough:
        return
    lines = measured.profile.lines
    busiest = max(lines, key=lambda number: lines[number].shared_load_bytes)
    message = say(
        "In a step of k a thread reads {loads_now} numbers from shared memory for its {sums} "
        "multiply-adds: {loads} for each. A tile of {rows} x {columns} needs {rows} + {columns} = "
        "{numbers}, {enough} for each.",
        loads_now=f"{loads * rows * columns:.4g}",
        sums=rows * columns,
        loads=f"{loads:.4g}",
        rows=rows,
        columns=columns,
        numbers=rows + columns,
        enough=f"{enough:.4g}",
    )
    hint = "Which number does this thread read more than once in the same step of k?"
    yield finding("not-used", message, busiest, hint, "error")


def _sums_in_global_memory(measured: Measured) -> Iterator[Finding]:
    """Sums that are collected in the output, and not in registers."""
    name = measured.names[-1]
    traffic = measured.profile.arrays[name]
    times = traffic.stored_elements / math.prod(traffic.shape)
    if times <= ROOM:
        return
    stores = measured.source.accesses(name, store=True)
    line = max(stores, key=lambda each: len(measured.source.loops_around(each)), default=None)
    message = say(
        "Each element of {name} is written {times} times: its sum grows in global memory, and a "
        "register could keep it to the end.",
        name=name,
        times=f"{times:.4g}",
    )
    hint = say("How often has a thread to touch {name}, if it keeps its sums to itself?", name=name)
    yield finding("not-used", message, line.lineno if line else None, hint, "error")
