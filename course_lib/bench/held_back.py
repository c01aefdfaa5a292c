"""What the limit of power takes from a contestant: each runs alone for some seconds at one size.

Samples of 10 ms are too short to tell what a GPU does there, where the driver lowers the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from course_lib.bench.contestants import Contestant, Launch, MatmulProblem
from course_lib.measurements import Entry, Measurements

SIZE = 4096  # as in the lessons
MOST_MS = 20.0  # slower contestants are far from every limit, and take long
_SEEN = {"watts": "W", "sm_clock_mhz": "MHz"}


class Sustaining(Protocol):
    """Runs something for seconds on end."""

    def sustain(self, launch: Launch, ms: float, seconds: float) -> dict[str, float]:
        """What `Entry.sustained` holds, but for the size."""


def look(
    measured: Measurements,
    contestants: Sequence[Contestant],
    problem_of: Callable[[tuple[int, int, int]], MatmulProblem],
    clock: Sustaining,
    seconds: float,
    say: Callable[[str, float | None], None],
) -> tuple[Measurements, list[str]]:
    """The measurements with what was seen, and sentences about what could not be.

    Nothing that goes wrong here may cost what was measured before.
    """
    size = SIZE if SIZE in measured.sizes else max(measured.sizes, default=0)
    notes: list[str] = []
    entries = {(entry.name, entry.kind): entry for entry in measured.entries}
    if seconds and size:
        problem = problem_of((size, size, size))
        for contestant in contestants:
            entry = entries[contestant.name, contestant.kind]
            cell = entry.cell(size)
            if contestant.kind == "twin" or cell is None or cell.median_ms > MOST_MS:
                continue
            say(f"{size}: {contestant.name} alone for {seconds:g} s", None)
            try:
                found = clock.sustain(contestant.prepare(problem), cell.median_ms, seconds)
            except Exception as failure:
                notes.append(f"{contestant.name} could not be kept running: {failure}")
                break
            entries[contestant.name, contestant.kind] = replace(
                entry, sustained={"size": size, **found}
            )
    return replace(measured, entries=tuple(entries.values())), notes


def table(measured: Measurements) -> Iterator[str]:
    """One line for each contestant that ran alone."""
    seen = [entry for entry in measured.entries if entry.sustained]
    if not seen:
        return
    width = max(len(entry.name) for entry in seen)
    yield "\nUnder load:"
    for entry in seen:
        yield f"  {entry.name:{width}}  {_power(entry)}"


def _power(entry: Entry) -> str:
    found = entry.sustained
    cell = entry.cell(int(found["size"]))
    left = f", {cell.median_ms / found['ms']:.0%} of its speed in short samples" if cell else ""
    seen = [f"{found[key]:.0f} {unit}" for key, unit in _SEEN.items() if key in found]
    limit = ["at the power limit"] if entry.at_power_limit else []
    return f"after {found['seconds']:g} s {', '.join([*limit, *seen])}{left}"
