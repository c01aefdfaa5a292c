"""One run of `bench` on a GPU: who takes part, the contest, and all that belongs to the numbers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course_lib import devices
from course_lib.bench import contestants, counts, gpu, held_back, libraries
from course_lib.bench.contest import SAMPLE_MS, Contest
from course_lib.bench.contestants import Contestant
from course_lib.bench.matrices import Matrices
from course_lib.bench.nvml import Nvml
from course_lib.measurements import Entry, Measurements
from course_lib.timing import measured_ceilings
from course_lib.wording.errors import PlainError

Say = Callable[[str, float | None], None]  # what is going on, and the seconds that are left
SIZES = (1024, 2048, 4096, 8192)


@dataclass(frozen=True)
class Options:
    """What to measure.

    Attributes:
        sizes: edges of the square matrices, smallest first.
        rungs: names; None for all.
        rounds: samples of each contestant at each size.
        budget_seconds: for one contestant at one size.
        twins: the folder of the C++ twins; None to leave them out.
        sustain: seconds for which each runs alone at the end, to see what the limit of power does;
            0 to leave it out.
        tuned: let the rungs that were tuned on this GPU take part with those tiles, too.
        ceilings: work them out, where the compiler is there.
        commit: of the course.
    """

    sizes: tuple[int, ...] = SIZES
    rungs: tuple[str, ...] | None = None
    rounds: int = 20
    budget_seconds: float = 5.0
    twins: Path | None = None
    sustain: float = 0.0
    tuned: bool = True
    ceilings: bool = True
    commit: str = ""


def measure(
    table: Mapping[str, Any],
    options: Options,
    say: Say = lambda text, seconds_left: None,
    keep: Callable[[Measurements], object] = lambda measured: None,
) -> tuple[Measurements, list[str]]:
    """Measure the rungs of the table on this machine's GPU.

    `say` hears what is going on and how many seconds are left; `keep` gets what there is after
    each size. Returns the measurements, and sentences about what did not go as it should.
    """
    name, cc, bus_id = gpu.device()
    nvml = Nvml(bus_id)
    library = libraries.find()
    chosen = choose(table, options.rungs)
    taking_part, notes = _contestants(chosen, library, (name, cc), options, say)
    seed = secrets.randbits(32)
    blank = _about_the_run(name, nvml, library, options, seed)
    say("Measuring how fast this GPU copies and multiplies", None)
    blank, roofs_note = _with_roofs(blank)
    clock = gpu.EventClock(nvml)
    contest = Contest(
        taking_part,
        lambda shape: Matrices(shape, library, seed),
        clock,
        rounds=options.rounds,
        budget_seconds=options.budget_seconds,
        seed=seed,
        say=say,
        after_size=lambda: keep(replace(blank, entries=contest.entries())),
    )
    contest.run(sorted(options.sizes))
    measured = replace(blank, entries=contest.entries(), complete=not contest.stopped)
    keep(measured)
    if contest.stopped:
        return measured, [*notes, *roofs_note, *contest.notes]
    measured, seen_notes = held_back.look(
        measured,
        taking_part,
        lambda shape: Matrices(shape, library, seed),
        clock,
        options.sustain,
        say,
    )
    keep(measured)
    ceilings, ceiling_notes = _ceilings(chosen, name, options, say)
    entries = tuple(_with_ceiling(entry, ceilings) for entry in measured.entries)
    return replace(measured, entries=entries), [
        *notes, *roofs_note, *contest.notes, *seen_notes, *ceiling_notes
    ]  # fmt: skip


def choose(table: Mapping[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """The rungs of these names, in the ladder's order.

    Raises:
        PlainError: with the names that there are.
    """
    unknown = [name for name in names or () if name not in table]
    if unknown:
        raise PlainError(f"There is no rung {unknown[0]!r}; there are: {', '.join(table)}.")
    return {name: rung for name, rung in table.items() if names is None or name in names}


def short_name(reported: str) -> str:
    """The data sheet's name for a GPU; else the driver's, as a file name can hold it."""
    row = devices.recognise(reported)
    if row is not None:
        return row.name
    kept = "".join(
        character if character.isalnum() else "-" for character in reported.removeprefix("NVIDIA ")
    )
    return "-".join(part for part in kept.split("-") if part)


def peaks(row: devices.Device | None) -> dict[str, float]:
    """The data sheet's GFLOP/s by precision; nothing for a GPU that it does not have."""
    if row is None:
        return {}
    found = {"float32": row.fp32_gflops, "float16": row.fp16_tflops * 1000}
    if row.tf32_tflops:
        found["tf32"] = row.tf32_tflops * 1000
    if row.bf16:
        found["bfloat16"] = row.fp16_tflops * 1000
    return found


def _about_the_run(
    name: str, nvml: Nvml, library: libraries.Library, options: Options, seed: int
) -> Measurements:
    """All that belongs to the numbers, before there are any."""
    return Measurements(
        device=name,
        short_name=short_name(name),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        facts=gpu.facts(nvml),
        commit=options.commit,
        versions={**gpu.versions(), **library.versions()},
        method={
            "clock": "CUDA events around a queue that the host has filled before it starts",
            "rounds": options.rounds,
            "order": "every contestant once in each round, in random order",
            "sample_ms": SAMPLE_MS,
            "budget_seconds": options.budget_seconds,
            "l2": "warm: the same product ran just before, on the same matrices",
            "inputs": "uniform between -1 and 1",
            "seed": seed,
            "library": library.name,
        },
        peaks_gflops=peaks(devices.recognise(name)),
        complete=False,
    )


def _contestants(
    table: Mapping[str, Any],
    library: libraries.Library,
    gpu_at_hand: tuple[str, tuple[int, int]],
    options: Options,
    say: Say,
) -> tuple[list[Contestant], list[str]]:
    """Who takes part, and sentences about who does not."""
    device, cc = gpu_at_hand
    found: list[Contestant | str] = [*contestants.rungs(table, cc)]
    if options.tuned:
        found += contestants.tuned_rungs(table, device)
    found += library.contestants(cc)
    if options.twins:
        say("Building the C++ twins", None)
        found += contestants.twins(table, options.twins, cc)
    if not any(
        isinstance(candidate, Contestant) and candidate.kind == "cuBLAS" for candidate in found
    ):
        found.append("Neither CuPy nor PyTorch is here, so there is no cuBLAS to compare with.")
    return (
        [candidate for candidate in found if isinstance(candidate, Contestant)],
        [candidate for candidate in found if isinstance(candidate, str)],
    )


def _with_roofs(blank: Measurements) -> tuple[Measurements, list[str]]:
    try:
        roofs = measured_ceilings()
    except PlainError as reason:
        return blank, [f"The roofs were not measured: {reason}"]
    found = {"fp32_gflops": roofs.fp32_gflops, "dram_gb_per_s": roofs.dram_gb_per_s}
    return replace(blank, measured_roofs=found), []


def _ceilings(
    table: Mapping[str, Any],
    device: str,
    options: Options,
    say: Say,
) -> tuple[dict[str, Any], list[str]]:
    row = devices.recognise(device)
    if not options.ceilings:
        return {}, []
    if row is None:
        return {}, [f"No ceilings: the data sheet of the course has no {device}."]
    say("Working out what each rung can reach", None)
    return counts.ceilings(table, row)


def _with_ceiling(entry: Entry, ceilings: Mapping[str, Any]) -> Entry:
    ceiling = ceilings.get(entry.name) if entry.kind == "rung" else None
    return replace(entry, ceiling=ceiling.share, binds=ceiling.binds) if ceiling else entry
