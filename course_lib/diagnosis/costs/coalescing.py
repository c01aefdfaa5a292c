"""How many sectors the loads and stores of a warp need, and how many they take."""

from __future__ import annotations

import math
from collections.abc import Iterator

from course_lib.curriculum import Exercise
from course_lib.diagnosis.costs.measured import (
    REPEATED,
    ROOM,
    ROOM_AT_EDGES,
    ROOM_FOR_SHORT_ROWS,
    WARP,
    Measured,
    first_line,
    severity_of,
)
from course_lib.findings import Finding, finding
from course_lib.sentences import say

FLOATS_OF_A_SECTOR = 8
SECTORS_FOR_A_WARP = 4  # 32 lanes x 4 bytes / 32 bytes: what a full, coalesced request needs


def coalescing_at_edges(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Are lanes neighbours on an uneven problem, too?

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
        for code, verb, elements, sectors in (
            ("uncoalesced-load", "loads from", traffic.loaded_elements, traffic.load_sectors),
            ("uncoalesced-store", "stores to", traffic.stored_elements, traffic.store_sectors),
        ):
            needed = _sectors_needed(exercise, measured, elements)
            if sectors <= needed * max(ROOM_AT_EDGES, ROOM_FOR_SHORT_ROWS * begins):
                continue
            sizes = " x ".join(str(size) for size in traffic.shape)
            message = say(
                "Where the blocks do not divide the sizes, {verb} {letter} ({sizes}) touch "
                "{sectors} sectors of 32 bytes; lanes that are neighbours need about {needed}.",
                verb=verb,
                letter=letter,
                sizes=sizes,
                sectors=f"{sectors:,}",
                needed=f"{begins * needed:,.0f}",
            )
            hint = say(
                "Which index of {letter} changes from one lane to the next at the edges?",
                letter=letter,
            )
            line = first_line(measured.source, name, code == "uncoalesced-store")
            yield finding(code, message, line, hint, "error")


def coalescing(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Do the lanes of a warp ask for neighbours?

    A request that touches few sectors is a broadcast and fine; one that touches more than a full
    warp of neighbours would need is spread out.
    """
    severity = severity_of(exercise, "coalesced")
    for name, letter in zip(measured.names, exercise.parameters, strict=False):
        if name not in measured.profile.arrays:
            continue  # a number
        traffic = measured.profile.arrays[name]
        for code, verb, requests, sectors, store in (
            ("uncoalesced-load", "load from", traffic.load_requests, traffic.load_sectors, False),
            ("uncoalesced-store", "store to", traffic.store_requests, traffic.store_sectors, True),
        ):
            elements = traffic.stored_elements if store else traffic.loaded_elements
            needed = _sectors_needed(exercise, measured, elements)
            if requests and sectors / requests > SECTORS_FOR_A_WARP:
                message = say(
                    "A warp's {verb} {letter} touches {per_request} sectors of 32 bytes; 32 "
                    "neighbouring elements need {needed}.",
                    verb=verb,
                    letter=letter,
                    per_request=f"{sectors / requests:.3g}",
                    needed=SECTORS_FOR_A_WARP,
                )
            elif sectors > ROOM * needed:
                message = say(
                    "The lanes of a warp {verb} {letter} apart from each other: {requests} "
                    "requests touch {sectors} sectors of 32 bytes; together, lanes that are "
                    "neighbours need {needed}.",
                    verb=verb,
                    letter=letter,
                    requests=f"{requests:,}",
                    sectors=f"{sectors:,}",
                    needed=f"{needed:,.0f}",
                )
            else:
                continue
            hint = say(
                "Which index of {letter} changes from one lane (threadIdx.x) to the next?",
                letter=letter,
            )
            line = first_line(measured.source, name, store)
            yield finding(code, message, line, hint, severity)


def _sectors_needed(exercise: Exercise, measured: Measured, elements: int) -> float:
    """The sectors that whole warps of neighbours touch; infinite where nobody asks for that.

    An average over the requests of an array is not enough: it is small, too, where one lane works
    at a time, or where accesses to one and the same element fill it up.
    """
    if "coalesced" not in exercise.points:
        return math.inf
    once = math.prod(max(size, 1) for size in measured.shape)
    most = REPEATED * once if exercise.reference is None else elements
    return SECTORS_FOR_A_WARP / WARP * max(once, min(elements, most))
