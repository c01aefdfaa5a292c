"""What holds a contestant back that no clock shows: a part of the GPU that is full, or its power.

Two looks, both after the contest and at one size. Nsight Compute says how full each part of the GPU
was during one launch. And each contestant runs alone for some seconds: samples of 10 ms are too
short to tell what a GPU does at its limit of power, where the driver lowers the clock.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from course_lib.bench.contestants import Contestant, Launch, MatmulProblem
from course_lib.measurements import Entry, Measurements

SIZE = 4096  # as in the lessons
MOST_MS = 20.0  # slower contestants are far from every limit, and take long
NCU_SECONDS = 540
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
    counters: Path | None,
    say: Callable[[str, float | None], None],
) -> tuple[Measurements, list[str]]:
    """The measurements with what was seen, and sentences about what could not be.

    Nothing that goes wrong here may cost what was measured before.
    """
    size = SIZE if SIZE in measured.sizes else max(measured.sizes, default=0)
    notes: list[str] = []
    entries = {(each.name, each.kind): each for each in measured.entries}
    if seconds and size:
        problem = problem_of((size, size, size))
        for each in contestants:
            entry = entries[each.name, each.kind]
            cell = entry.cell(size)
            if each.kind == "twin" or cell is None or cell.median_ms > MOST_MS:
                continue
            say(f"{size}: {each.name} alone for {seconds:g} s", None)
            try:
                found = clock.sustain(each.prepare(problem), cell.median_ms, seconds)
            except Exception as failure:
                notes.append(f"{each.name} could not be kept running: {failure}")
                break
            entries[each.name, each.kind] = replace(entry, sustained={"size": size, **found})
    if counters and size:
        say("Asking Nsight Compute what binds", None)
        busy, why_not = _ask_counters(counters, size)
        notes += [why_not] if why_not else []
        for (name, kind), entry in entries.items():
            if kind in ("rung", "cuBLAS") and name in busy:
                entries[name, kind] = replace(entry, busy=busy[name])
    return replace(measured, entries=tuple(entries.values())), notes


def _ask_counters(script: Path, size: int) -> tuple[Mapping[str, Mapping[str, float]], str]:
    """The shares by contestant, or why there are none."""
    with tempfile.TemporaryDirectory(prefix="counters-") as folder:
        file = Path(folder, "shares.json")
        command = [sys.executable, str(script), "--size", str(size), "--json", str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=NCU_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as problem:
            return {}, f"What binds is not known: {problem}"
        if not file.exists():
            said = (done.stdout + done.stderr).strip().splitlines()
            return {}, f"What binds is not known: {said[-1] if said else 'nothing was printed'}"
        return json.loads(file.read_text(encoding="utf-8")), ""


def table(measured: Measurements) -> Iterator[str]:
    """One line for each contestant that was looked at: what was fullest, and what power did."""
    seen = [each for each in measured.entries if each.busy or each.sustained]
    if not seen:
        return
    width = max(len(each.name) for each in seen)
    yield "\nWhat holds them back:"
    for each in seen:
        parts = [_fullest(each), _power(each)]
        yield f"  {each.name:{width}}  {'; '.join(part for part in parts if part)}"


def _fullest(entry: Entry) -> str:
    if not entry.busy:
        return ""
    part = entry.fullest
    return f"{part} {entry.busy[part]:.0%} full"


def _power(entry: Entry) -> str:
    found = entry.sustained
    if not found:
        return ""
    cell = entry.cell(int(found["size"]))
    left = f", {cell.median_ms / found['ms']:.0%} of its speed in short samples" if cell else ""
    seen = [f"{found[key]:.0f} {unit}" for key, unit in _SEEN.items() if key in found]
    limit = ["at the power limit"] if entry.at_power_limit else []
    return f"after {found['seconds']:g} s {', '.join([*limit, *seen])}{left}"
