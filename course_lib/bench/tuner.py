"""Try out the tiles of a rung on this GPU: which is the fastest at which size?

Every candidate takes part in a contest like that of the rungs: it is checked on odd shapes and at
each size, and only then timed, in turn with the others and with cuBLAS.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from course_lib.bench import contestants, fingerprints
from course_lib.bench.contest import SAMPLE_MS, Clock, Contest
from course_lib.bench.contestants import Contestant, MatmulProblem
from course_lib.kernels.rung import RungKernel
from course_lib.kernels.variants import TEMPLATES, variant
from course_lib.measurements import Entry
from course_lib.measurements.tuning import TileTiming, Tuning

Constants = Mapping[str, int]
USUAL: Constants = {}


def _cp_async(down: int, across: int, a_groups: int, b_groups: int, steps: int) -> Constants:
    return {
        "WARPS_DOWN": down,
        "WARPS_ACROSS": across,
        "A_GROUPS": a_groups,
        "B_GROUPS": b_groups,
        "BK": steps,
    }


def _bf16(warps_down: int, warps_across: int, down: int, across: int, stages: int) -> Constants:
    return {
        "WARPS_DOWN": warps_down,
        "WARPS_ACROSS": warps_across,
        "DOWN": down,
        "ACROSS": across,
        "STAGES": stages,
    }


# What is tried. Each takes some seconds to compile, so these are tiles that one might expect to win
# somewhere: small ones for small matrices, with many warps or few, and strips for large ones.
CANDIDATES: Mapping[str, tuple[Constants, ...]] = {
    "cp_async": (
        USUAL,  # 128 x 256
        {"STRIP": 8},
        _cp_async(2, 4, 2, 2, 8),  # 128 x 128
        {**_cp_async(2, 4, 2, 2, 8), "STRIP": 8},
        _cp_async(4, 2, 1, 2, 16),  # 128 x 64
        _cp_async(2, 2, 2, 2, 8),  # 128 x 64 by four warps
        _cp_async(2, 4, 1, 2, 8),  # 64 x 128
        _cp_async(2, 4, 1, 2, 16),
        _cp_async(1, 4, 2, 2, 8),  # 64 x 128 by four warps
        _cp_async(2, 2, 1, 2, 8),  # 64 x 64 by four warps
        _cp_async(2, 2, 1, 2, 16),
        _cp_async(2, 4, 1, 1, 16),  # 64 x 64 by eight
    ),
    "tensor_core_bf16": (
        USUAL,  # 128 x 256, three stages
        {"STAGES": 4},
        {"STRIP": 8},
        _bf16(2, 4, 4, 4, 3),  # 128 x 128
        _bf16(2, 4, 4, 4, 4),
        {**_bf16(2, 4, 4, 4, 3), "STRIP": 8},
        _bf16(4, 2, 2, 4, 4),  # 128 x 64
        _bf16(2, 4, 2, 8, 3),  # 64 x 256
        _bf16(2, 4, 2, 4, 4),  # 64 x 128
        _bf16(1, 4, 4, 4, 4),  # 64 x 128 by four warps
        _bf16(2, 2, 2, 8, 4),
        _bf16(2, 2, 2, 4, 5),  # 64 x 64 by four warps
        _bf16(2, 4, 2, 2, 4),  # 64 x 64 by eight
    ),
}


@dataclass(frozen=True)
class _Candidate:
    """One tile of one rung, as it takes part."""

    constants: Constants
    rung: RungKernel
    contestant: Contestant


def candidates(names: Iterable[str], cc: tuple[int, int]) -> Iterator[tuple[str, _Candidate]]:
    """Name of the rung and candidate, for the rungs that this compute capability can run."""
    for name in names:
        for constants in CANDIDATES.get(name, ()):
            rung = variant(name, **constants) if constants else TEMPLATES[name].RUNG
            if tuple(rung.min_cc) <= cc:
                about = replace(contestants.rung_in_python(rung), name=label(name, constants))
                yield name, _Candidate(constants, rung, about)


def label(name: str, constants: Constants) -> str:
    """ "cp_async BK=16 WARPS_DOWN=4"."""
    return " ".join(
        [name, *(f"{constant}={value}" for constant, value in sorted(constants.items()))]
    )


def tune(
    taking_part: Sequence[tuple[str, _Candidate]],
    cublas: Sequence[Contestant],
    problem_of: Callable[[tuple[int, int, int]], MatmulProblem],
    clock: Clock,
    blank: Tuning,
    *,
    sizes: Sequence[int],
    rounds: int,
    seed: int = 0,
    say: Callable[[str, float | None], None] = lambda text, seconds_left: None,
) -> tuple[Tuning, list[str]]:
    """Time them all; the tuning, and sentences about who was wrong or failed."""
    precisions = {candidate.contestant.precision for _, candidate in taking_part}
    opponents = [contestant for contestant in cublas if contestant.precision in precisions]
    contest = Contest(
        [*(candidate.contestant for _, candidate in taking_part), *opponents],
        problem_of,
        clock,
        rounds=rounds,
        seed=seed,
        say=say,
    )
    contest.run(sorted(sizes))
    entries = {entry.name: entry for entry in contest.entries()}
    tried: dict[str, tuple[TileTiming, ...]] = {}
    for name, candidate in taking_part:
        tried[name] = (*tried.get(name, ()), *_tried(candidate, entries[candidate.contestant.name]))
    found = replace(
        blank,
        sources={name: fingerprints.of_python(TEMPLATES[name].RUNG.source) for name in tried},
        tried=tried,
        cublas_ms={
            name: _fastest(entries, candidate.contestant.precision, sizes)
            for name, candidate in taking_part
        },
    )
    problems = {cell.problem: entry for entry in entries.values() for cell in entry.cells}
    said = [f"{entry.name}: {problem}" for problem, entry in problems.items() if problem]
    return found, [*contest.notes, *said]


def _tried(candidate: _Candidate, entry: Entry) -> Iterator[TileTiming]:
    for cell in entry.cells:
        if cell.samples_ms:
            yield TileTiming(
                constants=dict(candidate.constants),
                tile=tuple(candidate.rung.tile),
                threads=candidate.rung.block[0],
                size=cell.size,
                samples_ms=cell.samples_ms,
                error=cell.error,
            )


def _fastest(
    entries: Mapping[str, Entry], precision: str, sizes: Sequence[int]
) -> dict[str, float]:
    """The median of the fastest of cuBLAS's products at each size."""
    theirs = [
        entry
        for entry in entries.values()
        if entry.kind == "cuBLAS" and entry.precision == precision
    ]
    found = {}
    for size in sizes:
        cells = [cell for entry in theirs if (cell := entry.cell(size))]
        if cells:
            found[str(size)] = min(cell.median_ms for cell in cells)
    return found


def tune_here(
    names: Sequence[str],
    sizes: Sequence[int],
    rounds: int,
    say: Callable[[str, float | None], None],
) -> tuple[Tuning, list[str]]:
    """The same on this machine's GPU."""
    from course_lib.bench import gpu, libraries, session
    from course_lib.bench.matrices import Matrices
    from course_lib.bench.nvml import Nvml

    name, cc, bus_id = gpu.device()
    nvml, library, seed = Nvml(bus_id), libraries.find(), secrets.randbits(32)
    blank = Tuning(
        device=name,
        short_name=session.short_name(name),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={**gpu.versions(), **library.versions()},
        method={"rounds": rounds, "sample_ms": SAMPLE_MS, "seed": seed, "library": library.name},
    )
    return tune(
        list(candidates(names, cc)),
        list(library.contestants(cc)),
        lambda shape: Matrices(shape, library, seed),
        gpu.EventClock(nvml),
        blank,
        sizes=sizes,
        rounds=rounds,
        seed=seed,
        say=say,
    )


def table(found: Tuning) -> Iterator[str]:
    """Every size of every rung, the fastest tile first."""
    for rung in found.tried:
        for size in found.sizes(rung):
            yield f"{rung}, {size} x {size} x {size}, {found.label}"
            for timing in found.at(rung, size):
                share = found.share_of_cublas(rung, timing)
                of_cublas = f"{share:6.1%} of cuBLAS" if share else ""
                tile = " x ".join(map(str, timing.tile))
                rest = {k: v for k, v in timing.constants.items() if k in ("STAGES", "STRIP")}
                more = "  ".join(f"{k} {v}" for k, v in rest.items())
                yield (
                    f"  {tile:>14}  {timing.threads:3} threads  {timing.median_ms:8.4g} ms  "
                    f"{timing.gflops:9,.0f} GFLOP/s  {of_cublas}  {more}".rstrip()
                )
