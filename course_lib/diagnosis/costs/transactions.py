"""Costs of memory accesses: bank conflicts, uncoalesced sectors, and values fetched again.

A bank conflict is told on its line, with what makes it so.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from course_lib.curriculum import Exercise, Task
from course_lib.devices import WARP_SIZE
from course_lib.diagnosis.costs.measured import (
    REPEATED,
    ROOM,
    ROOM_AT_EDGES,
    ROOM_FOR_SHORT_ROWS,
    Measured,
    first_line,
    severity_of,
)
from course_lib.diagnosis.costs.words import WHY, tell
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import indices_of, root_name
from course_lib.wording.findings import Finding, Severity
from course_lib.wording.sentences import Line, say

BANKS = 32
FLOATS_OF_A_SECTOR = 8
VERBS = {False: {"verb": "load", "to": "from"}, True: {"verb": "store", "to": "to"}}
SECTORS_OF_A_FRAGMENT = 8  # an `mma` leaves eight rows to a warp, 8 columns of each
SECTORS_FOR_A_WARP = 4  # 32 lanes x 4 bytes / 32 bytes: what a full, coalesced request needs


def bank_conflicts(measured: Measured, severity: Severity) -> Iterator[Finding]:
    """Accesses to shared memory that take more wavefronts than needed.

    Those that cost most wavefronts come first. Where the exercise forbids them, every line is told;
    else the worst, which is a hint at speed.
    """
    found = []
    for number, counters in measured.profile.lines.items():
        reads = (counters.shared_load_requests, counters.shared_load_wavefronts)
        writes = (counters.shared_store_requests, counters.shared_store_wavefronts)
        found += [
            (conflicts, number, store, wavefronts / requests, (wavefronts - conflicts) / requests)
            for store, conflicts, (requests, wavefronts) in (
                (False, counters.shared_load_bank_conflicts, reads),
                (True, counters.shared_store_bank_conflicts, writes),
            )
            if conflicts and requests
        ]
    found.sort(key=lambda conflict: (-conflict[0], conflict[1]))
    for _, number, store, wavefronts, least in found if severity == "error" else found[:1]:
        finding = replace(_conflict(measured, number, store, wavefronts), severity=severity)
        yield tell.again("wide access", finding, least=f"{least:.3g}") if least > 1 else finding


def _conflict(measured: Measured, line: int, store: bool, wavefronts: float) -> Finding:
    accesses = shared_accesses(measured.source, line, store)
    verb = "write" if store else "read"
    if len(accesses) != 1 or wavefronts != int(wavefronts):
        return tell("conflicts on average", line, verb=verb, wavefronts=f"{wavefronts:.3g}")
    (access,), lanes = accesses, int(wavefronts)
    shape = _shape(measured, root_name(access.value) or "")
    kind = _why(measured, access, shape)
    why = say(
        WHY[kind],
        lanes=lanes,
        all=BANKS,
        width=shape[-1] if shape else 0,
    )
    words = {"verb": verb, "access": ast.unparse(access), "wavefronts": lanes, "why": why}
    found = tell("conflict", line, **words)
    long = len(shape) == 2 and shape[-1] % BANKS == 0 and shape[0] > BANKS
    if kind == "down a column" and long:
        made = measured.source.own_arrays().get(root_name(access.value) or "")
        if made:
            facts = {"seen": found.message, "line": Line(line), "shape": _sizes(shape)}
            return tell.again("length of a row", found, made.lineno, **facts)
    return found


def shared_accesses(source: Source, line: int, store: bool) -> list[ast.Subscript]:
    """The accesses to shared arrays that begin on a line."""
    return [
        access
        for name in sorted(source.shared_names())
        for access in source.accesses(name, store)
        if access.lineno <= line <= (access.end_lineno or access.lineno)
    ]


def _why(measured: Measured, access: ast.Subscript, shape: Sequence[int]) -> str:
    """Why the lanes meet in one bank."""
    in_rows = measured.thread_tile == (1, 1) and measured.profile.block[0] >= BANKS
    if len(shape) != 2 or not in_rows or not _walks_down(measured, access):
        return "unknown"
    return "down a column"


def _walks_down(measured: Measured, access: ast.Subscript) -> bool:
    """Does each lane of a warp take another row, and all of them one column?"""
    moves = [measured.source.moves_with([index]) for index in indices_of(access)]
    return len(moves) == 2 and "threadIdx.x" in moves[0] - moves[1]


def _shape(measured: Measured, name: str) -> Sequence[int]:
    arrays = measured.profile.shared_arrays
    return next((array.shape for array in arrays if array.name == name), ())


def _sizes(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))})"


def coalescing_at_edges(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Do neighbouring lanes access neighbouring elements on an uneven problem, too?

    Rows begin anywhere in a sector there, and some warps are nearly empty; so only what is far
    from neighbours counts.
    """
    if "coalesced" not in exercise.points:
        return
    for name, letter in zip(measured.names, exercise.parameters, strict=False):
        traffic = measured.profile.arrays.get(name)
        if traffic is None or not traffic.shape:
            continue
        row = traffic.shape[measured.contiguous_axis]
        begins = 1 + FLOATS_OF_A_SECTOR / max(row, 1)  # each row takes a part of one sector more
        for store, elements, sectors in (
            (False, traffic.loaded_elements, traffic.load_sectors),
            (True, traffic.stored_elements, traffic.store_sectors),
        ):
            needed = _sectors_needed(exercise, measured, elements)
            if sectors <= needed * max(ROOM_AT_EDGES, ROOM_FOR_SHORT_ROWS * begins):
                continue
            yield tell(
                "stores apart at edges" if store else "loads apart at edges",
                first_line(measured.source, name, store),
                **VERBS[store],
                letter=letter,
                sizes=" x ".join(str(size) for size in traffic.shape),
                sectors=f"{sectors:,}",
                needed=f"{begins * needed:,.0f}",
            )


def coalescing(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Do the lanes of a warp access neighbouring elements?

    A request that touches few sectors is a broadcast and fine; one that touches more than a full
    warp of neighbours would need is spread out.
    """
    severity = severity_of(exercise, "coalesced")
    for name, letter in zip(measured.names, exercise.parameters, strict=False):
        if name not in measured.profile.arrays:
            continue  # a number
        traffic = measured.profile.arrays[name]
        for store, requests, sectors, elements in (
            (False, traffic.load_requests, traffic.load_sectors, traffic.loaded_elements),
            (True, traffic.store_requests, traffic.store_sectors, traffic.stored_elements),
        ):
            needed = _sectors_needed(exercise, measured, elements)
            per_request = sectors / requests if requests else 0
            full = _sectors_of_a_request(requests, elements)
            if store and "tensor" in exercise.points and per_request <= SECTORS_OF_A_FRAGMENT:
                continue
            if per_request > full:
                kind = "store of many sectors" if store else "load of many sectors"
                enough = f"{full:.3g}"
            elif sectors > ROOM * needed:
                kind = "stores apart" if store else "loads apart"
                enough = f"{needed:,.0f}"
            else:
                continue
            found = tell(
                kind,
                first_line(measured.source, name, store),
                **VERBS[store],
                letter=letter,
                per_request=f"{per_request:.3g}",
                requests=f"{requests:,}",
                sectors=f"{sectors:,}",
                needed=enough,
                elements=f"{FLOATS_OF_A_SECTOR * full:.3g}",
            )
            yield replace(found, severity=severity)


def _sectors_of_a_request(requests: int, elements: int) -> float:
    """The sectors that the lanes of a warp touch together if they are neighbours, wide or not."""
    wide = elements / requests / FLOATS_OF_A_SECTOR if requests else 0
    return max(SECTORS_FOR_A_WARP, wide)


def _sectors_needed(exercise: Exercise, measured: Measured, elements: int) -> float:
    """The sectors that whole warps of neighbours touch; infinite where nobody asks for that.

    An average over the requests of an array is not enough: it is small, too, where one lane works
    at a time, or where accesses to one and the same element fill it up.
    """
    if "coalesced" not in exercise.points:
        return math.inf
    once = math.prod(max(size, 1) for size in measured.shape)
    most = REPEATED * once if exercise.reference is None else elements
    return SECTORS_FOR_A_WARP / WARP_SIZE * max(once, min(elements, most))


# --- Reuse in registers: values from the tiles, and sums ------------------------------------------


ROOM_OF_REGISTERS = 1.02
FLOAT_BYTES, WIDE_BYTES = 4, 16
BYTES = {"float32": FLOAT_BYTES, "float16": 2, "bfloat16": 2}


def register_reuse(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Every value that is fetched again although a register could have kept it."""
    if "registers" not in exercise.points:
        return
    yield from _second_axis(exercise, measured) or _loads_per_fma(measured)


def loads_of_a_task(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Does a thread load a number again that it could have kept, from whatever memory?"""
    if not isinstance(exercise, Task) or not exercise.loads:
        return
    profile = measured.profile
    of_a_number = min((BYTES[format_name] for format_name in exercise.formats), default=FLOAT_BYTES)
    loads = (profile.global_load_bytes + profile.shared_load_bytes) / of_a_number
    multiply_adds = profile.flops / 2
    if loads <= ROOM_OF_REGISTERS * exercise.loads * multiply_adds:
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


def narrow_accesses(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Loads and stores of a thread that move less than 16 bytes, where wide ones are the point.

    They are judged array by array; where it gives points, so are loads from shared memory.
    """
    widths = measured.widths
    if widths is None:
        return
    places = [
        (widths.narrowest("global", name, verb, WIDE_BYTES), letter)
        for name, letter in zip(measured.names, exercise.parameters, strict=True)
        for verb in ("load", "store")
        if letter in exercise.wide
    ]
    if "wide" in exercise.points:
        places.append((widths.narrowest("shared", "", "load", WIDE_BYTES), ""))
    for place, letter in places:
        if place:
            lanes, moved = widths.lanes[place], widths.bytes[place]
            yield tell(
                "narrow",
                place.line,
                verb=place.verb,
                letter=letter or place.array,
                accesses=f"{lanes:,}",
                elements=f"{moved // FLOAT_BYTES:,}",
                size=f"{moved / lanes:.3g}",
            )


def _second_axis(exercise: Exercise, measured: Measured) -> list[Finding]:
    """With one output for each thread, or outputs in one line where a rectangle is asked for, half
    of the reads serve one sum.

    The smallest square, 2 x 2, reads one number for a multiply-add, and every line reads more.
    """
    rows, columns = measured.thread_tile
    both_chosen = all(isinstance(side, str) for side in exercise.thread_tile or (1,))
    loads = _reads_per_product(measured)
    if min(rows, columns) > 1 or (rows * columns > 1 and (not both_chosen or loads <= 1)):
        return []
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
    if loads <= ROOM_OF_REGISTERS * enough:
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
