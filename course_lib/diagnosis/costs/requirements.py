"""What an exercise asks beyond a right result: cost and tools, read off the emulator's counters.

Counts are taken on a problem that every tile divides, so that the ideal is exact; and once more on
an uneven one, with room for what the edges need, so that no detour is taken there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from course_lib.curriculum import Exercise, Task
from course_lib.devices import WARP_SIZE
from course_lib.diagnosis.costs.measured import ROOM, Measured, first_line, severity_of, traffic_of
from course_lib.diagnosis.costs.transactions import (
    FLOAT_BYTES,
    bank_conflicts,
    coalescing,
    coalescing_at_edges,
    loads_of_a_task,
    narrow_accesses,
    register_reuse,
)
from course_lib.diagnosis.costs.words import NEED, tell
from course_lib.diagnosis.launches.trail import Journeys
from course_lib.emulator.profile.request_costs import SECTOR_BYTES
from course_lib.registry.entry_checks import axes
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line, say
from course_lib.wording.words import counted, joined

SMALLEST_TILE = 4  # a smaller one reuses next to nothing
WARP_FUNCTIONS = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
FEW_VISITS = 3  # of a thread to one element of the output; more of them are a running result
ROOM_FOR_NEIGHBOURS = 2  # times the bytes asked for, in sectors
ROOM_FOR_A_HALO = 2  # what may be fetched, in times of once, where neighbours belong to a tile
ROOM_FOR_REUSE = 1.02  # what may be fetched beyond once, where all tiles are whole
SHARE_OF_THREADS = 0.1  # of a tensor core's operations: scaling, a bias, and the like


def judge(exercise: Exercise, measured: Measured) -> list[Finding]:
    """Every requirement that is missed (errors), and what could be better (warnings)."""
    found = list(_shared_memory(exercise, measured))
    if not found:
        found += _reuse(exercise, measured)
        found += register_reuse(exercise, measured)
        found += narrow_accesses(exercise, measured)
        found += _tensor_cores(exercise, measured)
        found += loads_of_a_task(exercise, measured)
        found += costs_of_its_own(exercise, measured)
    found += coalescing(exercise, measured)
    found += bank_conflicts(measured, severity_of(exercise, "conflict-free"))
    found += _barriers(measured)
    found += _one_thread_works(exercise, measured)
    found += _one_block_works(measured)
    found += _elements_of_a_thread(exercise, measured)
    found += _atomics(measured)
    found += _kept_in_the_output(exercise, measured)
    if not any(finding.severity == "error" for finding in found):  # these name what comes of it
        found += _keeps_to_itself(exercise, measured)
    return found


def _keeps_to_itself(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Is shared memory used as if each thread had some of its own?"""
    arrays = measured.profile.shared_arrays
    if "shared-memory" not in exercise.points or measured.hands_over or not arrays:
        return
    name = arrays[0].name
    yield tell(
        "nothing handed over", first_line(measured.source, name) or arrays[0].line, array=name
    )


def judge_uneven(exercise: Exercise, measured: Measured) -> list[Finding]:
    """What is missed where the tiles do not divide the sizes.

    A kernel that stages tiles on even sizes alone has left out what is hard about them.
    """
    return [*_reuse(exercise, measured, at_edges=True), *coalescing_at_edges(exercise, measured)]


def _shared_memory(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Is shared memory there, and do the operands come from it?"""
    if not {"shared-memory", "registers"} & exercise.points.keys():
        return
    profile, source = measured.profile, measured.source
    arrays = profile.shared_arrays
    names = joined(array.name for array in arrays)
    if not arrays:
        kind = "warps alone" if source.calls(WARP_FUNCTIONS) else "no shared memory"
        yield tell(kind, source.kernel.lineno)
    elif not profile.shared_load_requests:
        fetched = traffic_of(profile, measured.names[0])
        line = _busiest(fetched.loaded_at) if fetched else None
        done = "filled" if profile.shared_store_requests else "there"
        are = "is" if len(arrays) == 1 else "are"
        yield tell("never read", line or arrays[0].line, names=names, are=are, done=done)
    elif measured.hands_over and _is_for_show(measured):
        yield tell("for show", arrays[0].line, names=names)


def _is_for_show(measured: Measured) -> bool:
    """Does nothing come of what threads read of each other in shared memory?

    Where a block fetches everything once, and its threads neighbours alone, they have handed it on.
    Elsewhere that is tried out, at the cost of some launches.
    """
    profile = measured.profile
    loads = (traffic_of(profile, name) for name in measured.names[:-1])
    elements = [traffic.loaded_elements for traffic in loads if traffic]
    fetched = list(zip(elements, measured.fetched_once, strict=False))
    sectors = profile.global_load_sectors + profile.global_store_sectors
    bytes_asked = profile.global_load_bytes + profile.global_store_bytes
    is_thrifty = all(count <= ROOM_FOR_REUSE * once for count, once in fetched)
    if is_thrifty and sectors * SECTOR_BYTES <= ROOM_FOR_NEIGHBOURS * bytes_asked:
        return False
    return not measured.hands_on(all(count <= ROOM_FOR_A_HALO * once for count, once in fetched))


def shares(measured: Measured) -> bool:
    """Do the threads of a block hand numbers to each other, in shared memory or within warps?

    Where none does, there is no race to avoid, no bank to meet at and nothing to reuse.
    """
    profile = measured.profile
    if measured.source.calls(WARP_FUNCTIONS):
        return True
    in_common = bool(profile.shared_arrays) and profile.shared_load_requests > 0
    return in_common and not _is_for_show(measured)


def _reuse(exercise: Exercise, measured: Measured, at_edges: bool = False) -> Iterator[Finding]:
    """Does a block fetch each element once, or nearly so where its tiles are partial?"""
    if "reuse" not in exercise.points:
        return
    kind, digits = ("fetched again at edges", 3) if at_edges else ("fetched again", 4)
    room = [ROOM_FOR_REUSE * once for once in measured.fetched_once]
    most = measured.at_most if at_edges else room
    for name, letter, once, enough in zip(
        measured.names, exercise.parameters, measured.fetched_once, most, strict=False
    ):
        traffic = traffic_of(measured.profile, name)
        if traffic is None:
            continue  # a number
        elements, line = math.prod(traffic.shape), _busiest(traffic.loaded_at)
        times, least = traffic.loaded_elements / elements, f"{once / elements:.4g}"
        if traffic.loaded_elements > enough:
            often = "once" if once == elements else f"{least} times"
            yield tell(kind, line, least=often, times=f"{times:.{digits}g}", letter=letter)
        elif not at_edges and measured.step_tile and measured.step_tile < SMALLEST_TILE:
            yield tell("tiny tile", line, step=measured.step_tile, letter=letter, least=least)


def _busiest(elements_at: Mapping[int, int]) -> int | None:
    """The line that fetches, or stores, most elements of an array; of equal ones the last."""
    return max(elements_at, key=lambda line: (elements_at[line], line), default=None)


def _tensor_cores(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Products that the threads make themselves where tensor cores should."""
    profile = measured.profile
    by_threads = profile.flops - profile.tensor_flops
    if "tensor" not in exercise.points or by_threads <= SHARE_OF_THREADS * profile.tensor_flops:
        return
    lines = profile.lines
    busiest = max(lines, key=lambda number: lines[number].flops - lines[number].tensor_flops)
    words = {"by_threads": f"{by_threads:,}", "flops": f"{profile.flops:,}"}
    yield tell("products of threads", busiest, **words)


def _barriers(measured: Measured) -> Iterator[Finding]:
    """More barriers than the work needs."""
    profile, needed = measured.profile, measured.barriers
    blocks = math.prod(profile.grid)
    per_block = profile.barriers / blocks if blocks else 0
    if needed is None or (not needed and profile.shared_arrays):
        return  # what a kernel of its own design needs is its own affair
    if per_block <= (needed + 1 if measured.step_tile else max(needed, 1)):
        return
    lines = [number for number in profile.lines if profile.lines[number].barriers]
    busiest = max(lines, key=lambda number: profile.lines[number].barriers, default=None)
    need = "enough" if needed else "none"
    need = say(NEED["tiles" if measured.step_tile else need], tiles=needed // 2, needed=needed)
    yield tell("barriers", busiest, each=f"{per_block:.4g}", need=need)


def _one_thread_works(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """A sum that a single thread of each warp adds up, while the others wait."""
    lines = measured.profile.lines
    if math.prod(measured.profile.block) == 1:
        return  # there is nobody else to wait
    adding = [number for number in lines if lines[number].flops]
    busiest = max(adding, key=lambda number: lines[number].flops, default=None)
    if busiest is None or lines[busiest].active_lanes >= 2 * lines[busiest].executed:
        return
    found = tell("one lane", busiest, executed=f"{lines[busiest].executed:,}")
    yield replace(found, severity=severity_of(exercise, "parallel"))


def _one_block_works(measured: Measured) -> Iterator[Finding]:
    """More loads from global memory in one block than in others, where tiles divide all sizes."""
    busiest = measured.shares.busiest() if measured.shares else None
    if busiest is not None and busiest.times > ROOM:
        words = {"block": busiest.block, "times": f"{busiest.times:.3g}"}
        yield tell("one block", busiest.line, blocks=math.prod(measured.profile.grid), **words)


def _elements_of_a_thread(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """More elements of the output from one thread than the statement allows."""
    most = exercise.most_elements
    if not most or measured.most_elements <= most:
        return
    line = first_line(measured.source, measured.names[-1], store=True)
    words = {"output": exercise.output, "most": "one" if most == 1 else most}
    yield tell("many elements", line, count=measured.most_elements, **words)


def _kept_in_the_output(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """A running result that goes to global memory, and perhaps back, again and again."""
    name, letter = measured.names[-1], exercise.output
    traffic = measured.profile.arrays[name]
    elements = math.prod(traffic.shape)
    in_registers = "registers" in exercise.points
    if traffic.stored_elements < (ROOM_FOR_REUSE if in_registers else FEW_VISITS) * elements:
        return
    written, read = (
        count / elements for count in (traffic.stored_elements, traffic.loaded_elements)
    )
    words = {"letter": letter, "written": f"{written:.4g}", "read": f"{read:.4g}"}
    line = _busiest(traffic.stored_at)
    if in_registers:
        found = tell("running result", line, **words)
        yield replace(found, code="not-used", severity="error")
    elif read < 1:  # a slip at any time
        yield tell("stored too often", line, **words)
    elif exercise.is_graded:  # a task may not speak of registers yet
        yield tell("running result", line, **words)


def _atomics(measured: Measured) -> Iterator[Finding]:
    """Atomic operations that meet at one cell, where they take turns."""
    profile = measured.profile
    elements = math.prod(profile.arrays[measured.names[-1]].shape)
    if profile.atomics <= elements:
        return
    line = next((number for number in sorted(profile.lines) if profile.lines[number].atomics), None)
    yield tell(
        "atomics", line, atomics=f"{profile.atomics:,}", elements=counted(elements, "element")
    )


# --- Limits of their own: copies, passes and barriers ---------------------------------------------


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
    yield from _barriers_allowed(exercise, measured) if exercise.barriers else ()


def _shared_arrays(measured: Measured) -> Iterator[Finding]:
    """Shared memory where the task is about what happens without it."""
    for array in measured.profile.shared_arrays[:1]:
        yield tell("not wanted", array.line, array=array.name)


def _passes(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Passes of loads from shared memory, for each multiply-add of a warp."""
    profile = measured.profile
    multiply_adds = profile.flops / 2 / WARP_SIZE
    most = ROOM_FOR_REUSE * exercise.passes * multiply_adds
    if not exercise.passes or profile.shared_load_wavefronts <= most:
        return
    lines = profile.lines
    busiest = max(lines, key=lambda number: lines[number].shared_load_wavefronts)
    there = lines[busiest]
    yield tell(
        "passes",
        busiest,
        passes=f"{profile.shared_load_wavefronts / multiply_adds:.4g}",
        enough=f"{exercise.passes:.4g}",
        each=f"{there.shared_load_wavefronts / there.shared_load_requests:.3g}",
    )


def _reads(task: Task, measured: Measured) -> Iterator[Finding]:
    """More numbers loaded from shared memory than the task needs: a loop with idle turns."""
    profile = measured.profile
    if not task.reads or profile.shared_load_bytes <= task.reads * FLOAT_BYTES:
        return
    lines = profile.lines
    busiest = max(lines, key=lambda number: lines[number].shared_load_bytes)
    statement = measured.source.at_line(busiest)
    around = measured.source.loops_around(statement) if statement else []
    counts = {"count": profile.shared_load_bytes // FLOAT_BYTES, "enough": task.reads}
    words = {name: f"{count:,}" for name, count in counts.items()}
    line = around[0].lineno if around else busiest
    yield tell("idle turns", line, hint=task.reads_hint, **words)


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


def _barriers_allowed(task: Task, measured: Measured) -> Iterator[Finding]:
    """More barriers than the task allows a block."""
    profile = measured.profile
    per_block = profile.barriers / math.prod(profile.grid)
    enough = task.barriers + _size(task.barriers_along, task, measured)
    if per_block <= enough:
        return
    lines = profile.lines
    last = max(number for number in lines if lines[number].barriers)
    yield tell("barriers of buffers", last, each=f"{per_block:.4g}", enough=enough)


def _size(letter: str, task: Task, measured: Measured) -> int:
    """How long an axis of the task is in this launch."""
    for letters, name in zip(task.shapes, measured.names, strict=True):
        traffic = measured.profile.arrays.get(name)
        if traffic and letter in axes(letters):
            size: int = traffic.shape[axes(letters).index(letter)]
            return size
    return 0
