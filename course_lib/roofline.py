"""Say how fast a kernel can be at most: the roofline's arithmetic, and the three kinds of bytes.

A roofline is min(peak, intensity x bandwidth). Intensity is FLOP per byte, and the question is
always *which* byte, so a `Point` cannot be made without naming its kind:

    requested    what the threads' load instructions ask for, before any merging or cache
    through L1   sectors after a warp's addresses were merged, x 32 bytes
    DRAM         what L2 could not serve; the only kind that DRAM's bandwidth limits

A point of requested bytes may stand *above* the DRAM roof. That is no mistake: it shows how much
the caches took over. Nothing in this module is measured and nothing is guessed.

`ceiling` goes further than the roofline: besides DRAM it looks at what one SM can do in a clock,
which is what limits most kernels of the ladder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from course_lib.devices import (
    CACHE_LINE_BYTES,
    SCHEDULERS_PER_SM,
    SECTOR_BYTES,
    WARP_SIZE,
    Ceilings,
    Device,
    ceilings_of,
    device,
)

if TYPE_CHECKING:
    from course_lib.emulator import Profile
    from course_lib.machine_code import CompileReport, InstructionMix

BytesKind = Literal["requested", "through L1", "DRAM"]
BYTES_KINDS: tuple[BytesKind, ...] = get_args(BytesKind)


@dataclass(frozen=True)
class Point:
    """A kernel on the roofline.

    Attributes:
        label: what to write beside the dot.
        intensity: FLOP per byte of the kind named.
        gflops: the speed, measured or published; None if only the roof above it is meant.
        bytes_kind: which bytes the intensity counts.
        source: where `gflops` is from ("measured here", "published: ..."); empty without one.
    """

    label: str
    intensity: float
    gflops: float | None
    bytes_kind: BytesKind
    source: str = ""

    def __post_init__(self) -> None:
        if self.bytes_kind not in BYTES_KINDS:
            known = ", ".join(repr(kind) for kind in BYTES_KINDS)
            raise ValueError(f"Which bytes? {self.bytes_kind!r} is none of {known}.")
        if not self.intensity > 0:
            raise ValueError(f"An intensity is positive, not {self.intensity!r}.")
        if self.gflops is not None and not self.gflops > 0:
            raise ValueError(f"A speed is positive, not {self.gflops!r} GFLOP/s.")


def roof(intensity: float, gpu: str | Device | Ceilings) -> float:
    """GFLOP/s that this intensity allows if every one of its bytes came from DRAM."""
    ceilings = ceilings_of(gpu)
    return min(ceilings.fp32_gflops, intensity * ceilings.dram_gb_per_s)


def matmul_flops(rows: int, columns: int, depth: int) -> int:
    """FLOP of a matrix product C[rows, columns]: a multiply and an add for each step of k."""
    return 2 * rows * columns * depth


def tile_intensity(tile_rows: int, tile_columns: int | None = None, itemsize: int = 4) -> float:
    """FLOP per requested byte when a block computes such a tile of C; T/4 for a square of floats.

    The naive kernel is the 1 x 1 tile. The step along k does not appear: it sets how much shared
    memory is used, not how much is loaded.
    """
    columns = tile_rows if tile_columns is None else tile_columns
    return 2 * tile_rows * columns / (itemsize * (tile_rows + columns))


def requested_bytes(
    shape: tuple[int, int, int], tile: tuple[int, int] = (1, 1), itemsize: int = 4
) -> int:
    """Bytes of A and B that a matmul of shape (M, N, K) asks for when blocks own such tiles of C.

    Each element of A is loaded once for every tile column, each of B once for every tile row.
    """
    rows, columns, depth = shape
    tile_rows, tile_columns = tile
    loads_of_a = rows * depth * _ceil_divide(columns, tile_columns)
    loads_of_b = depth * columns * _ceil_divide(rows, tile_rows)
    return itemsize * (loads_of_a + loads_of_b)


def compulsory_bytes(shape: tuple[int, int, int], itemsize: int = 4) -> int:
    """Bytes that no kernel can avoid: A and B read once, C written once."""
    rows, columns, depth = shape
    return itemsize * (rows * depth + depth * columns + rows * columns)


def square_tile_for(intensity: float, itemsize: int = 4) -> float:
    """Edge of the square tile of C that reaches this intensity in requested bytes."""
    return intensity * itemsize


def _ceil_divide(number: int, divisor: int) -> int:
    return -(-number // divisor)


# --- ceilings: what limits a kernel -----------------------------------------------------------

NO_L2 = "L2: no bandwidth is in the data sheet, so it is left out."


@dataclass(frozen=True)
class Bound:
    """The highest share of FP32 peak that one resource allows.

    Attributes:
        resource: "DRAM", "L1", "shared memory" or "issue slots".
        share: of FP32 peak, at most 1.
        reason: how it was worked out, in words.
        cautious: the share if the dearer reading of an open question is true; else None.
    """

    resource: str
    share: float
    reason: str
    cautious: float | None = None


@dataclass(frozen=True, repr=False)
class Ceiling:
    """How fast a kernel can be at most on a GPU, and what stops it there.

    Attributes:
        kernel, device: of what, on what.
        peak_gflops: the GPU's FP32 peak.
        bounds: one for each resource; the lowest first.
        left_out: a sentence for each resource about which nothing can be said.
    """

    kernel: str
    device: str
    peak_gflops: float
    bounds: tuple[Bound, ...]
    left_out: tuple[str, ...]

    @property
    def share(self) -> float:
        """Of FP32 peak: the lowest of the bounds."""
        return min((bound.share for bound in self.bounds), default=1.0)

    @property
    def gflops(self) -> float:
        """The same as a speed."""
        return self.share * self.peak_gflops

    @property
    def binds(self) -> str:
        """The resource that runs out first; "FP32 lanes" if nothing else does."""
        return self.bounds[0].resource if self.share < 1 else "FP32 lanes"

    @property
    def _verdict(self) -> str:
        if any(bound.resource == "issue slots" for bound in self.bounds):
            return f"The limit: {self.binds}."
        return "Without the instruction mix the true limit may lie lower."

    def __repr__(self) -> str:
        rows = [
            f"{self.kernel} on {self.device}: at most {self.share:.1%} of FP32 peak "
            f"({self.gflops:,.0f} GFLOP/s). {self._verdict}"
        ]
        for bound in self.bounds:
            or_less = "" if bound.cautious is None else f" (perhaps {bound.cautious:.1%})"
            rows.append(f"  {bound.resource:<13} {bound.share:6.1%}{or_less}: {bound.reason}")
        return "\n".join([*rows, *(f"  {sentence}" for sentence in self.left_out)])


def ceiling(
    profile: Profile,
    report: CompileReport,
    gpu: str | Device,
    dram_intensity: float | None = None,
) -> Ceiling:
    """The highest share of FP32 peak that a kernel can reach, and the resource that binds.

    Per clock, one SM starts F multiply-adds (warp instructions: 4 with 128 lanes, 2 with 64),
    moves W wavefronts of 128 bytes out of shared memory or L1, and issues 4 instructions. A
    kernel that needs w wavefronts and i instructions for each multiply-add therefore reaches at
    most 1 / max(1, F w / W, F i / 4) of peak. Instructions are those of the compiled hot loop;
    how many wavefronts each needs comes from the emulated run, so that conflicts count.

    This is a ceiling and no forecast: latency, barriers and the rest of the kernel take more.

    Args:
        profile: of an emulated launch of the kernel.
        report: what it compiles to, for the GPU's compute capability.
        gpu: a name of the data sheet, or its row.
        dram_intensity: FLOP per byte of DRAM, from a counter or a cache model. Without it, every
            byte that the launch touches crosses DRAM once: the least that any cache allows. That
            depends on the size of the matrices; the other bounds hardly do.
    """
    row = device(gpu)
    if profile.kernel_name != report.kernel:
        raise ValueError(
            f"The profile is of {profile.kernel_name}, the report of {report.kernel}: "
            "a ceiling needs both of one kernel."
        )
    if report.cc != row.cc:
        raise ValueError(
            f"{report.kernel} was compiled for {report.cc}, but the {row.name} has {row.cc}: "
            f'compile_report(…, cc="{row.cc}").'
        )
    bounds, left_out = [], [NO_L2]
    for found in (_dram_bound(profile, row, dram_intensity), *_sm_bounds(profile, report, row)):
        if isinstance(found, Bound):
            bounds.append(found)
        else:
            left_out.append(found)
    bounds.sort(key=lambda bound: bound.share)
    return Ceiling(report.kernel, row.product, row.fp32_gflops, tuple(bounds), tuple(left_out))


def _dram_bound(profile: Profile, row: Device, intensity: float | None) -> Bound | str:
    """The classic roof, over the least traffic that is possible."""
    if not profile.flops:
        return "DRAM: the launch does no arithmetic, so there is no share of peak to speak of."
    whence = "given"
    if intensity is None:
        touched = sum(
            (traffic.distinct_elements_loaded + traffic.distinct_elements_stored)
            * traffic.dtype.itemsize
            for traffic in profile.arrays.values()
        )
        if not touched:
            return "DRAM: the launch touches no global memory."
        intensity = profile.flops / touched
        whence = "if every byte that this launch touches crosses once"
    reason = (
        f"{intensity:.3g} FLOP per byte {whence}; "
        f"the lanes outrun {row.dram_gb_per_s:g} GB/s below {row.ridge_fp32:.1f}."
    )
    return Bound("DRAM", min(1.0, intensity / row.ridge_fp32), reason)


def _sm_bounds(profile: Profile, report: CompileReport, row: Device) -> list[Bound | str]:
    """What one SM can do in a clock."""
    mix = report.mix
    if mix is None:
        return [f"Shared memory, L1 and issue slots: {report.note}"]
    if not mix.ffma:
        return ["Shared memory, L1 and issue slots: the hot loop holds no FFMA."]
    return [_issue_bound(mix, row), _shared_bound(profile, mix, row), _l1_bound(profile, mix, row)]


def _ffma_per_clock(row: Device) -> float:
    return row.fp32_lanes / WARP_SIZE


def _wavefronts_per_clock(row: Device) -> float:
    return row.shared_bytes_per_clock / CACHE_LINE_BYTES


def _issue_bound(mix: InstructionMix, row: Device) -> Bound:
    needed = mix.total / mix.ffma
    share = SCHEDULERS_PER_SM / (_ffma_per_clock(row) * needed)
    reason = (
        f"{needed:.2f} instructions per FFMA; an SM issues {SCHEDULERS_PER_SM} a clock "
        f"and starts {_ffma_per_clock(row):g} FFMA."
    )
    return Bound("issue slots", min(1.0, share), reason)


def _shared_bound(profile: Profile, mix: InstructionMix, row: Device) -> Bound | str:
    """Shared-memory loads of the hot loop times the wavefronts that each needs.

    A lane's 8 or 16 bytes take 2 or 4 phases; half as many where neighbouring lanes ask for the
    same bytes (measured on an H200: a broadcast of 16 bytes takes 2). Where the compiler merged
    the loads, addresses are not known here: the share is the friendly reading, `cautious` the one
    with all phases.
    """
    requests = profile.shared_load_requests
    if not mix.lds or not requests:
        return "Shared memory: the hot loop does not load from it."
    needed = profile.shared_load_wavefronts - profile.shared_load_bank_conflicts
    conflicts = profile.shared_load_wavefronts / needed
    phases_seen = needed / requests  # more than one where the source itself loads 8 or 16 bytes
    least = most = 0.0
    for bits, count in mix.lds.items():
        phases = max(1.0, bits / 32)
        least += count * conflicts * min(phases, max(1.0, phases / 2, phases_seen))
        most += count * conflicts * phases
    scale = _wavefronts_per_clock(row) / _ffma_per_clock(row) * mix.ffma
    dearer = "no bank conflicts"
    if conflicts > 1:
        dearer = f"bank conflicts take {conflicts:.3g} times the passes"
    reason = (
        f"{least / mix.ffma:.3g} wavefronts per FFMA (LDS {_widths(mix.lds)} for {mix.ffma} FFMA; "
        f"{dearer}); an SM moves {_wavefronts_per_clock(row):g} a clock."
    )
    cautious = min(1.0, scale / most)
    share = min(1.0, scale / least)
    return Bound("shared memory", share, reason, cautious if cautious < share else None)


def _l1_bound(profile: Profile, mix: InstructionMix, row: Device) -> Bound | str:
    """Global loads of the hot loop: L1 is the same SRAM as shared memory, and no wider."""
    requests = profile.global_load_requests
    if not mix.ldg or not requests:
        return "L1: the hot loop does not load from global memory."
    sectors = profile.global_load_sectors / requests
    sectors_per_wavefront = CACHE_LINE_BYTES // SECTOR_BYTES
    loads = sum(mix.ldg.values()) / mix.ffma
    wavefronts = loads * max(1.0, sectors / sectors_per_wavefront)
    share = _wavefronts_per_clock(row) / (_ffma_per_clock(row) * wavefronts)
    reason = (
        f"{loads:.3g} global loads per FFMA of {sectors:.3g} sectors on average, so at least "
        f"{wavefronts:.3g} wavefronts; an SM moves {_wavefronts_per_clock(row):g} a clock."
    )
    return Bound("L1", min(1.0, share), reason)


def _widths(loads: Mapping[int, int]) -> str:
    return " + ".join(f"{count} x {bits} bits" for bits, count in sorted(loads.items()))
