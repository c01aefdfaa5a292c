"""Speeds of rungs for a lesson (measured here, stored, or published), and the tables of `bench`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from course_lib import curriculum, measurements
from course_lib.bench.counts import Counts
from course_lib.host import runtime
from course_lib.measurements import Cell, Entry, Measurements, Speeds
from course_lib.roofline import Ceiling

ROUNDS = 9  # a lesson does not wait long


def speeds(
    rungs: Sequence[str] | None = None,
    size: int = 4096,
    precisions: Sequence[str] = ("float32",),
) -> Speeds:
    """How fast the rungs are, with the label that has to be shown beside the numbers.

    On a GPU they are measured now, as `course.py bench` does it. Without one they are the newest
    stored measurements; and while there are none of this size, the published ladder.

    Args:
        rungs: names; all of the ladder's if None.
        size: edge of the square matrices.
        precisions: which of them to show: "float32", "tf32", "float16", "bfloat16".
    """
    if runtime.on_gpu():
        found = _measured_here(rungs, size).speeds(size, precisions)
    else:
        stored = measurements.latest()
        found = stored.speeds(size, precisions) if stored else published()
        if not found.gflops:
            found = published()
    return _only(found, rungs)


def published() -> Speeds:
    """The ladder as others published it, used until there are measurements of ours."""
    return Speeds(
        label=f"{curriculum.PUBLISHED_BY}, {curriculum.PUBLISHED_ON}",
        origin="published",
        gflops={rung.name: rung.published_gflops for rung in curriculum.RUNGS},
        of_cublas={rung.name: rung.share_of_cublas for rung in curriculum.RUNGS},
    )


def _measured_here(rungs: Sequence[str] | None, size: int) -> measurements.Measurements:
    from course_lib.bench.session import Options, measure
    from course_lib.kernels import RUNG_KERNELS

    names = tuple(rungs) if rungs is not None else None
    options = Options(sizes=(size,), rungs=names, rounds=ROUNDS, tuned=False, ceilings=False)
    measured, _ = measure(RUNG_KERNELS, options)
    return measured


def _only(found: Speeds, rungs: Sequence[str] | None) -> Speeds:
    if rungs is None:
        return found
    return replace(
        found,
        gflops={name: found.gflops[name] for name in rungs if name in found.gflops},
        of_cublas={name: found.of_cublas[name] for name in rungs if name in found.of_cublas},
    )


# --- Tables in text: measurements, and counts where nothing can be measured -----------------------


_KIND = {"rung": "", "tuned": ", tuned", "twin": " in C++", "cuBLAS": ""}
_ORDER = ("float32", "tf32", "float16", "bfloat16")


def measured(results: Measurements) -> str:
    """All sizes, the contestants of each precision together."""
    rows = [row for size in _sizes(results) for row in _size(results, size)]
    return "\n".join([*_head(results), *rows])


def _head(results: Measurements) -> Iterator[str]:
    facts = results.facts
    yield (
        f"{results.device}: {facts.get('sms', '?')} SMs, compute capability "
        f"{facts.get('compute_capability', '?')}, driver {facts.get('driver') or 'unknown'}, "
        f"{results.date}"
    )
    yield (
        f"Each time is the median of up to {results.method.get('rounds', '?')} rounds (quartiles "
        "in brackets); in each round, all kernels take turns. L2 still contains what the same "
        "product left there just before. The times are the GPU's, with all launches queued in "
        "advance; only the last column is the host's time."
    )
    roofs = results.measured_roofs
    if roofs:
        yield (
            f"Reached here: {roofs['fp32_gflops']:,.0f} GFLOP/s of float32 multiply-adds, "
            f"{roofs['dram_gb_per_s']:,.0f} GB/s of copying."
        )


def _sizes(results: Measurements) -> list[int]:
    return sorted({cell.size for entry in results.entries for cell in entry.cells})


def _size(results: Measurements, size: int) -> Iterator[str]:
    megabytes = 3 * 4 * size**2 / 1e6
    l2 = results.facts.get("l2_bytes")
    of_l2 = f", L2 {l2 / 1e6:.0f} MB" if l2 else ""
    yield f"\n{size} x {size} x {size}: A, B and C take {megabytes:.0f} MB in float32{of_l2}"
    width = max((len(_name(entry)) for entry in results.entries), default=0)
    yield (
        f"  {'':{width}}  {'ms':>8}  {'(quartiles)':^19}  {'GFLOP/s':>9}  {'of cuBLAS':>9}  "
        f"{'same C':>7}  {'of peak':>7}  {'of ceiling':>10}  {'of C++':>7}  {'SM MHz':>6}  "
        f"{'error':>7}  {'host us':>7}"
    )
    for precision in _ORDER:
        entries = [entry for entry in results.entries if entry.precision == precision]
        if entries:
            yield f"  {precision}"
        for entry in entries:
            cell = next((cell for cell in entry.cells if cell.size == size), None)
            if cell is not None:
                yield f"  {_name(entry):{width}}  {_cell(results, entry, cell)}"


def _cell(results: Measurements, entry: Entry, cell: Cell) -> str:
    if not cell.samples_ms:
        return cell.problem
    low, high = cell.quartiles_ms
    size = cell.size
    shares = (
        (results.share_of_cublas(entry, size), 9),
        (results.share_of_same_result(entry, size), 7),
        (results.share_of_peak(entry, size), 7),
        (results.share_of_ceiling(entry, size), 10),
        (results.share_of_twin(entry, size) if entry.kind == "rung" else None, 7),
    )
    told = "  ".join(f"{f'{share:.1%}' if share else '':>{width}}" for share, width in shares)
    clock = cell.sm_clock_mhz[1] if cell.sm_clock_mhz else ""
    bound = "  the host's launches, not the kernel" if cell.launch_bound else ""
    error = "" if cell.error is None else f"{cell.error:.1e}"
    host = "" if cell.host_us is None else f"{cell.host_us:.1f}"
    return (
        f"{cell.median_ms:8.4g}  ({low:8.4g} {high:8.4g})  {cell.gflops:9,.0f}  {told}  "
        f"{clock:>6}  {error:>7}  {host:>7}{bound}"
    )


def _name(entry: Entry) -> str:
    return f"{entry.name}{_KIND[entry.kind]}"


def counted(rows: Sequence[Counts], problems: Sequence[str]) -> str:
    """What the rungs ask for, from the emulator. Counts only: nothing here is a time."""
    width = max((len(counts.rung) for counts in rows), default=4)
    lines = [
        f"  {'':{width}}  {'size':>5}  {'MB requested':>12}  {'FLOP per byte':>13}  "
        f"{'sectors loaded':>14}  {'shared wavefronts':>17}  {'FLOP':>13}  {'error':>7}"
    ]
    for counts in rows:
        lines.append(
            f"  {counts.rung:{width}}  {counts.size:5}  {counts.requested_bytes / 1e6:12,.1f}  "
            f"{counts.flops / counts.requested_bytes:13.2f}  {counts.sectors:14,}  "
            f"{counts.wavefronts:17,}  {counts.flops:13,}  {counts.error:7.1e}"
        )
    return "\n".join([*lines, *(f"  {problem}" for problem in problems)])


def ceilings(found: Mapping[str, Ceiling]) -> Iterator[str]:
    """How much of a GPU's peak each rung can reach at most, and what stops it there."""
    width = max(map(len, found), default=4)
    for name, ceiling in found.items():
        share = f"{ceiling.share:6.1%} of {ceiling.peak} peak"
        yield f"{name:{width}}  {ceiling.device:13}  at most {share}: {ceiling.binds}"


def stored(results: Measurements, names: Iterable[str], size: int) -> Iterator[str]:
    """What rungs reached on a GPU that was measured earlier, and what they could reach at most."""
    entries = [entry for entry in map(results.entry, names) if entry and entry.cell(size)]
    width = max((len(entry.name) for entry in entries), default=4)
    for entry in entries:
        cell = entry.cell(size)
        speed = f"{cell.gflops:9,.0f} GFLOP/s" if cell else ""
        # What can be reached at most stands beside the share of the same peak, not that of cuBLAS.
        of_peak, of_cublas = (
            results.share_of_peak(entry, size),
            results.share_of_cublas(entry, size),
        )
        at_most = f" (at most {entry.ceiling:.1%}: {entry.binds})" if entry.ceiling else ""
        reached = f", {of_peak:6.1%} of the {entry.precision} peak{at_most}" if of_peak else ""
        beside = f"; {of_cublas:.1%} of the speed of cuBLAS" if of_cublas else ""
        yield f"{entry.name:{width}}  {speed}{reached}{beside}"
