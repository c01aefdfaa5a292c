"""What an exercise asks beyond a right result: cost and tools, read off the emulator's counters.

All counts are taken on a problem that every tile divides, so that the ideal is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from course_lib.curriculum import Exercise
from course_lib.diagnosis.source import Source
from course_lib.findings import Finding, Severity, finding

SECTORS_FOR_A_WARP = 4  # 32 lanes x 4 bytes / 32 bytes: what a full, coalesced request needs
SMALLEST_TILE = 4  # a smaller one reuses next to nothing


@dataclass(frozen=True)
class Measured:
    """One launch on the exact shape.

    Attributes:
        profile: the emulator's counters.
        shape: M, N, K.
        tile: rows and columns of C that a block computes.
        step_tile: how many steps of k the kernel stages at a time, if the exercise says so.
        names: the kernel's names for the exercise's arrays, in order.
        source: the syntax tree.
    """

    profile: Any
    shape: tuple[int, int, int]
    tile: tuple[int, int]
    step_tile: int | None
    names: tuple[str, ...]
    source: Source


def judge(exercise: Exercise, measured: Measured) -> list[Finding]:
    """Every requirement that is missed (errors), and what could be better (warnings)."""
    found = list(_shared_memory(exercise, measured))
    if not found:
        found += _reuse(exercise, measured)
    found += _coalescing(exercise, measured)
    found += _banks(measured)
    found += _barriers(exercise, measured)
    return found


def _severity(exercise: Exercise, requirement: str) -> Severity:
    return "error" if requirement in exercise.points else "warning"


def _shared_memory(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Is shared memory there, and read from?"""
    if "shared-memory" not in exercise.points:
        return
    arrays = measured.profile.shared_arrays
    hint = "Which elements do several threads of a block need? Where could they lie in common?"
    if not arrays:
        message = "No shared memory is used: every thread fetches its operands from global memory."
        yield finding("not-used", message, measured.source.kernel.lineno, hint, "error")
    elif not measured.profile.shared_load_requests:
        names = " and ".join(array.name for array in arrays)
        message = f"{names} {'is' if len(arrays) == 1 else 'are'} filled, but never read."
        yield finding("not-used", message, arrays[0].line, hint, "error")


def _reuse(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Does a block fetch each element once?"""
    if "reuse" not in exercise.points:
        return
    M, N, K = measured.shape
    high, wide = measured.tile
    once = (M * K * math.ceil(N / wide), K * N * math.ceil(M / high))
    for name, letter, ideal, other in zip(measured.names, "AB", once, (N, M), strict=False):
        loaded = measured.profile.arrays[name].loaded_elements
        size = ideal // math.ceil(other / (wide if letter == "A" else high))
        tile = wide if letter == "A" else high
        hint = f"How often does one block read the same element of {letter}?"
        line = _first_line(measured.source, name)
        if loaded > 1.02 * ideal:
            message = (
                f"Each element of {letter} is fetched {loaded / size:.4g} times in a problem of "
                f"{M} x {K} x {N}; with tiles of {tile} it takes {ideal // size}."
            )
            yield finding("excess-global-traffic", message, line, hint, "error")
        elif tile < SMALLEST_TILE:
            message = (
                f"A tile of {tile} saves next to nothing: each element of {letter} is fetched "
                f"{ideal // size} times."
            )
            yield finding("excess-global-traffic", message, line, hint, "error")


def _first_line(source: Source, array: str, store: bool = False) -> int | None:
    accesses = source.accesses(array, store)
    return accesses[-1].lineno if accesses else None


def _coalescing(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """Do the lanes of a warp ask for neighbours?

    A request that touches few sectors is a broadcast and fine; one that touches more than a full
    warp of neighbours would need is spread out.
    """
    severity = _severity(exercise, "coalesced")
    for name, letter in zip(measured.names, exercise.parameters, strict=False):
        traffic = measured.profile.arrays[name]
        for code, verb, requests, sectors, store in (
            ("uncoalesced-load", "load from", traffic.load_requests, traffic.load_sectors, False),
            ("uncoalesced-store", "store to", traffic.store_requests, traffic.store_sectors, True),
        ):
            if not requests or sectors / requests <= SECTORS_FOR_A_WARP:
                continue
            message = (
                f"A warp's {verb} {letter} touches {sectors / requests:.3g} sectors of 32 bytes; "
                f"32 neighbouring elements need {SECTORS_FOR_A_WARP}."
            )
            hint = f"Which index of {letter} changes from one lane (threadIdx.x) to the next?"
            line = _first_line(measured.source, name, store)
            yield finding(code, message, line, hint, severity)


def _banks(measured: Measured) -> Iterator[Finding]:
    """Shared-memory accesses served in more turns than needed; always a warning here."""
    lines = measured.profile.lines
    for number in sorted(lines):
        counters = lines[number]
        for verb, requests, wavefronts, conflicts in (
            (
                "read",
                counters.shared_load_requests,
                counters.shared_load_wavefronts,
                counters.shared_load_bank_conflicts,
            ),
            (
                "write",
                counters.shared_store_requests,
                counters.shared_store_wavefronts,
                counters.shared_store_bank_conflicts,
            ),
        ):
            if conflicts and requests:
                message = (
                    f"A warp's {verb} of shared memory takes {wavefronts / requests:.3g} turns on "
                    "average: lanes ask one bank for different words."
                )
                hint = "By how many words do the addresses of neighbouring lanes differ?"
                yield finding("bank-conflict", message, number, hint, "warning")
                return


def _barriers(exercise: Exercise, measured: Measured) -> Iterator[Finding]:
    """More barriers than the work needs."""
    profile = measured.profile
    blocks = math.prod(profile.grid)
    each = profile.barriers / blocks if blocks else 0
    tiles = math.ceil(measured.shape[2] / measured.step_tile) if measured.step_tile else 0
    if each <= 2 * tiles + 1 or (not tiles and profile.shared_arrays):
        return  # what a kernel of its own design needs is its own affair
    lines = [number for number in profile.lines if profile.lines[number].barriers]
    busiest = max(lines, key=lambda number: profile.lines[number].barriers, default=None)
    need = f"{tiles} tiles need {2 * tiles}" if tiles else "no thread needs what another one wrote"
    message = f"Each block passes {each:.4g} barriers; {need}."
    hint = "What does each barrier wait for?"
    yield finding("excess-barriers", message, busiest, hint, "warning")
