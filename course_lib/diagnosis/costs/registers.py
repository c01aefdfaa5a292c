"""Does a thread keep in registers what it needs again: values from the tiles, and its sums?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from course_lib.curriculum import Exercise, Task
from course_lib.diagnosis.costs.measured import Measured
from course_lib.diagnosis.costs.words import tell
from course_lib.wording.findings import Finding

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
    yield tell(
        "loaded again",
        busiest,
        loads=f"{loads:,.0f}",
        multiply_adds=f"{multiply_adds:,.0f}",
        each=f"{loads / multiply_adds:.3g}",
        enough=f"{exercise.loads:.3g}",
    )


def _several_sums(measured: Measured) -> list[Finding]:
    """With one output for each thread, no value in a register serves another sum."""
    if math.prod(measured.thread_tile) > 1:
        return []
    return [tell("one element", measured.source.kernel.lineno)]


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
    words = {"rows": rows, "columns": columns, "sums": sums, "letter": letter}
    line, read = measured.source.kernel.lineno, f"{loads * sums:.4g}"
    return [tell("tile of one line", line, loads_per_sum=read, **words)]


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
    yield tell(
        "read again in a step",
        busiest,
        loads_now=f"{loads * rows * columns:.4g}",
        sums=rows * columns,
        loads=f"{loads:.4g}",
        rows=rows,
        columns=columns,
        numbers=rows + columns,
        enough=f"{enough:.4g}",
    )


def _sums_in_global_memory(measured: Measured) -> Iterator[Finding]:
    """Sums that are collected in the output, and not in registers."""
    name = measured.names[-1]
    traffic = measured.profile.arrays[name]
    times = traffic.stored_elements / math.prod(traffic.shape)
    if times <= ROOM:
        return
    stores = measured.source.accesses(name, store=True)
    line = max(stores, key=lambda each: len(measured.source.loops_around(each)), default=None)
    at = line.lineno if line else None
    yield tell("sums in global memory", at, name=name, times=f"{times:.4g}")
