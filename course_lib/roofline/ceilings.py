"""Say what stops a kernel: the highest share of peak that one SM's resources and DRAM allow.

A kernel's hot loop multiplies with one kind of instruction: FFMA on the FP32 lanes, or HMMA on the
tensor cores. All that it needs besides is counted for each of these, and held against what an SM
does in a clock. Instructions are those of the compiled hot loop (machine_code); how many wavefronts
through shared memory they need, comes from an emulated run. Loads and stores share them:
`register_1d` asks for 0.66 in a multiply-add, 0.03 of them stores. Arithmetic only: nothing is
measured here, except where a constant says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_lib.devices import (
    CACHE_LINE_BYTES,
    SCHEDULERS_PER_SM,
    SECTOR_BYTES,
    WARP_SIZE,
    Device,
    device,
)

if TYPE_CHECKING:
    from course_lib.emulator import Profile
    from course_lib.machine_code import CompileReport, InstructionMix

NO_L2 = "L2: no bandwidth is in the data sheet, so it is left out."
# They take less than a pass for 128 bytes: what Nsight Compute saw on an H200 (docs/bench.md, "What
# the tensor cores wait for") leaves a quarter to a half of one. NVIDIA does not say how much it is.
NO_COPIES = "Shared memory: what asynchronous copies take to write their tiles is left out."
WARPS_OF_A_GROUP = 4  # wgmma is an instruction of four warps together
SUBCORES = SCHEDULERS_PER_SM  # each scheduler has a tensor core of its own

# Clocks for which one warp's instruction keeps a tensor core busy, where that is longer than the
# data sheet's rate says. On Hopper that rate is wgmma's. Measured with Nsight Compute on an H200
# (2026-11-20): sm__pipe_tensor_op_hmma_cycles_active over sm__inst_executed_pipe_tensor_op_hmma.
SLOW_MMA: Mapping[tuple[str, str], int] = {
    ("9.0", "HMMA.16816 FP16"): 6,
    ("9.0", "HMMA.1688 FP16"): 4,
    ("9.0", "HMMA.1688 TF32"): 6,
}


@dataclass(frozen=True)
class Bound:
    """The highest share of the peak that one resource allows.

    Attributes:
        resource: "DRAM", "L1", "shared memory", "issue slots" or "tensor cores".
        share: of the peak, at most 1.
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
        peak_gflops: the GPU's peak for the numbers that are multiplied.
        bounds: one for each resource; the lowest first.
        left_out: a sentence for each resource about which nothing can be said.
        peak: which peak that is: "FP32", or "TF32" or "FP16" of the tensor cores (BF16 runs at
            FP16's rate).
    """

    kernel: str
    device: str
    peak_gflops: float
    bounds: tuple[Bound, ...]
    left_out: tuple[str, ...]
    peak: str = "FP32"

    @property
    def share(self) -> float:
        """Of the peak: the lowest of the bounds."""
        return min((bound.share for bound in self.bounds), default=1.0)

    @property
    def gflops(self) -> float:
        """The same as a speed."""
        return self.share * self.peak_gflops

    @property
    def binds(self) -> str:
        """The resource that runs out first; what multiplies, if nothing else does."""
        if self.share < 1:
            return self.bounds[0].resource
        return "FP32 lanes" if self.peak == "FP32" else "tensor cores"

    @property
    def _verdict(self) -> str:
        if any(bound.resource == "issue slots" for bound in self.bounds):
            return f"The limit: {self.binds}."
        return "Without the instruction mix the true limit may lie lower."

    def __repr__(self) -> str:
        rows = [
            f"{self.kernel} on {self.device}: at most {self.share:.1%} of {self.peak} peak "
            f"({self.gflops:,.0f} GFLOP/s). {self._verdict}"
        ]
        for bound in self.bounds:
            or_less = "" if bound.cautious is None else f" (perhaps {bound.cautious:.1%})"
            rows.append(f"  {bound.resource:<13} {bound.share:6.1%}{or_less}: {bound.reason}")
        return "\n".join([*rows, *(f"  {sentence}" for sentence in self.left_out)])


@dataclass(frozen=True)
class Multiplier:
    """The instruction with which a hot loop multiplies.

    Attributes:
        name: its opcode, with the shape for the tensor cores: "FFMA", "HMMA.16816 FP16".
        count: how many a warp issues in a trip.
        flops: of one, for the whole warp.
        per_clock: how many an SM starts in a clock at its peak.
        peak: which peak that is.
        peak_gflops: of all SMs.
    """

    name: str
    count: int
    flops: int
    per_clock: float
    peak: str
    peak_gflops: float


def multiplier(mix: InstructionMix, row: Device) -> Multiplier | None:
    """What a hot loop multiplies with on a GPU; None where it does not multiply."""
    if mix.ffma:
        lanes = row.fp32_lanes / WARP_SIZE
        return Multiplier("FFMA", mix.ffma, 2 * WARP_SIZE, lanes, "FP32", row.fp32_gflops)
    for opcode in mix.opcodes:
        shape = re.match(r"HMMA\.(16)(8)(16|8|4)\.", opcode)  # m, n and k of an mma
        if group := re.match(r"HGMMA\.64x(\d+)x16\.", opcode):
            # Each of the four warps of a group issues it, and does a quarter of its work.
            n = int(group[1])
            flops = 2 * 64 * n * 16 // WARPS_OF_A_GROUP
            per_clock = tensor_flops_per_clock(row, "FP16") / flops
            name, gflops = f"HGMMA.64x{n}x16", _tensor_gflops(row, "FP16")
            return Multiplier(name, mix.hmma, flops, per_clock, "FP16", gflops)
        if shape:
            m, n, k = map(int, shape.groups())
            peak = "TF32" if "TF32" in opcode else "FP16"
            name = f"HMMA.{m}{n}{k} {peak}"
            flops = 2 * m * n * k
            per_clock = tensor_flops_per_clock(row, peak) / flops
            return Multiplier(name, mix.hmma, flops, per_clock, peak, _tensor_gflops(row, peak))
    return None


def _tensor_gflops(row: Device, peak: str) -> float:
    tflops = row.tf32_tflops if peak == "TF32" else row.fp16_tflops
    if tflops is None:
        raise ValueError(f"The {row.name} multiplies no {peak}.")
    return tflops * 1000


def tensor_flops_per_clock(row: Device, peak: str) -> int:
    """Dense FLOP of one SM's tensor cores in a clock: a power of two on every GPU.

    Some data sheets rate tensor cores at another clock than the lanes, so their quotient is not
    quite one; the nearest power of two is meant.
    """
    nearly = _tensor_gflops(row, peak) * 1e9 / (row.sms * row.clock_mhz * 1e6)
    return 1 << round(math.log2(nearly))


def ceiling(
    profile: Profile,
    report: CompileReport,
    gpu: str | Device,
    dram_intensity: float | None = None,
) -> Ceiling:
    """The highest share of peak that a kernel can reach, and the resource that binds.

    Per clock, one SM starts F multiply-adds (warp instructions: FFMA 4 with 128 lanes, 2 with 64;
    HMMA.16816 1 on an H200, 1/2 on an A100), moves W wavefronts of 128 bytes out of shared memory
    or L1, and issues 4 instructions. A kernel that needs w wavefronts and i instructions for each
    multiply-add therefore reaches at most 1 / max(1, F w / W, F i / 4) of peak. Instructions are
    those of the compiled hot loop; how many wavefronts each needs comes from the emulated run, so
    that conflicts count. The peak is that of the FP32 lanes, or of the tensor cores for the
    numbers that they get.

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
    unit = multiplier(report.mix, row) if report.mix else None
    peak, gflops = (unit.peak, unit.peak_gflops) if unit else ("FP32", row.fp32_gflops)
    bounds, left_out = [], [NO_L2]
    dram = _dram_bound(profile, row, dram_intensity, gflops)
    for found in (dram, *_sm_bounds(profile, report, row, unit)):
        if isinstance(found, Bound):
            bounds.append(found)
        else:
            left_out.append(found)
    bounds.sort(key=lambda bound: bound.share)
    return Ceiling(report.kernel, row.product, gflops, tuple(bounds), tuple(left_out), peak)


def wgmma_ceiling(
    kernel: str,
    gpu: str | Device,
    columns: int,
    dram_intensity: float,
    itemsize: int = 2,
    report: CompileReport | None = None,
) -> Ceiling:
    """The same for a kernel whose warpgroups multiply 64 x 16 by 16 x `columns` with wgmma.

    The emulator does not count what a wgmma reads, but the instruction says itself what it asks of
    shared memory: both operands, whole, each time. Without a report on its machine code issue slots
    are left out; one instruction multiplies for a hundred clocks.
    """
    row = device(gpu)
    rows, depth = 64, 16
    clocks = 2 * rows * columns * depth / tensor_flops_per_clock(row, "FP16")
    passes = (rows + columns) * depth * itemsize / CACHE_LINE_BYTES
    share = min(1.0, clocks * _wavefronts_per_clock(row) / passes)
    reason = f"{passes:g} wavefronts for a wgmma that multiplies for {clocks:g} clocks."
    gflops = _tensor_gflops(row, "FP16")
    dram = _dram_share(dram_intensity, "given", row, gflops)
    bounds, left_out = [Bound("shared memory", share, reason), dram], [NO_L2, NO_COPIES]
    unit = multiplier(report.mix, row) if report and report.mix else None
    if report and report.mix and unit:
        bounds.append(_issue_bound(report.mix, unit))
    else:
        left_out.append("Issue slots: a wgmma takes one, and multiplies for many clocks.")
    bounds.sort(key=lambda bound: bound.share)
    return Ceiling(kernel, row.product, gflops, tuple(bounds), tuple(left_out), "FP16")


def _dram_bound(
    profile: Profile, row: Device, intensity: float | None, gflops: float
) -> Bound | str:
    """The classic roof, over the least traffic that is possible."""
    if not profile.flops:
        return "DRAM: the launch does no arithmetic, so there is no share of peak to speak of."
    if intensity is not None:
        return _dram_share(intensity, "given", row, gflops)
    touched = sum(
        (traffic.distinct_elements_loaded + traffic.distinct_elements_stored)
        * traffic.dtype.itemsize
        for traffic in profile.arrays.values()
    )
    if not touched:
        return "DRAM: the launch touches no global memory."
    whence = "if every byte that this launch touches crosses once"
    return _dram_share(profile.flops / touched, whence, row, gflops)


def _dram_share(intensity: float, whence: str, row: Device, gflops: float) -> Bound:
    ridge = gflops / row.dram_gb_per_s
    who = "the lanes outrun" if gflops == row.fp32_gflops else "the tensor cores outrun"
    reason = (
        f"{intensity:.3g} FLOP per byte {whence}; "
        f"{who} {row.dram_gb_per_s:g} GB/s below {ridge:.1f}."
    )
    return Bound("DRAM", min(1.0, intensity / ridge), reason)


def _sm_bounds(
    profile: Profile, report: CompileReport, row: Device, unit: Multiplier | None
) -> list[Bound | str]:
    """What one SM can do in a clock."""
    mix = report.mix
    if mix is None:
        return [f"Shared memory, L1 and issue slots: {report.note}"]
    if unit is None:
        return ["Shared memory, L1 and issue slots: the hot loop holds no FFMA and no HMMA."]
    found: list[Bound | str] = [_issue_bound(mix, unit), _l1_bound(profile, mix, unit, row)]
    if unit.name == "FFMA":
        found.append(_shared_bound(profile, mix, unit, row))
    else:
        found += [_tensor_shared_bound(profile, mix, unit, row), _tensor_bound(unit, row)]
    return [*found, NO_COPIES] if mix.ldgsts else found


def _tensor_bound(unit: Multiplier, row: Device) -> Bound | str:
    """The tensor cores themselves, where an mma does not reach the data sheet's rate."""
    busy = SLOW_MMA.get((row.cc, unit.name))
    if busy is None:
        return f"Tensor cores: {unit.name} is taken at the data sheet's rate."
    needed = SUBCORES / unit.per_clock
    reason = (
        f"{unit.name} keeps a tensor core busy for {busy} clocks (Nsight Compute on an H200); "
        f"at the data sheet's rate it would be {needed:g}."
    )
    return Bound("tensor cores", min(1.0, needed / busy), reason)


def _tensor_shared_bound(
    profile: Profile, mix: InstructionMix, unit: Multiplier, row: Device
) -> Bound | str:
    """All shared-memory loads of the launch, ldmatrix among them, and the hot loop's stores."""
    if not profile.shared_load_requests:
        return "Shared memory: the launch does not load from it."
    stores = _store_wavefronts(profile, mix) / unit.count
    passes = profile.shared_load_wavefronts / (profile.flops / unit.flops) + stores
    share = _wavefronts_per_clock(row) / (unit.per_clock * passes)
    reason = (
        f"{passes:.3g} wavefronts per {unit.name}{_of_stores(stores)}; an SM moves "
        f"{_wavefronts_per_clock(row):g} a clock and starts {unit.per_clock:g} {unit.name}."
    )
    return Bound("shared memory", min(1.0, share), reason)


def _store_wavefronts(profile: Profile, mix: InstructionMix) -> float:
    """What a warp's shared-memory stores take in a trip through the hot loop.

    As many for each as the emulated run counts on average. Where the copies are asynchronous, its
    stores are theirs, which are left out.
    """
    if not mix.sts or mix.ldgsts or not profile.shared_store_requests:
        return 0.0
    return mix.sts * profile.shared_store_wavefronts / profile.shared_store_requests


def _of_stores(stores: float) -> str:
    return f", {stores:.2g} of them for stores" if stores else ""


def _wavefronts_per_clock(row: Device) -> float:
    return row.shared_bytes_per_clock / CACHE_LINE_BYTES


def _issue_bound(mix: InstructionMix, unit: Multiplier) -> Bound:
    needed = mix.total / unit.count
    share = SCHEDULERS_PER_SM / (unit.per_clock * needed)
    reason = (
        f"{needed:.2f} instructions per {unit.name}; an SM issues {SCHEDULERS_PER_SM} a clock "
        f"and starts {unit.per_clock:g} {unit.name}."
    )
    return Bound("issue slots", min(1.0, share), reason)


def _shared_bound(
    profile: Profile, mix: InstructionMix, unit: Multiplier, row: Device
) -> Bound | str:
    """Shared-memory loads and stores of the hot loop times the wavefronts that each needs.

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
    stores = _store_wavefronts(profile, mix)
    least, most = least + stores, most + stores
    scale = _wavefronts_per_clock(row) / unit.per_clock * unit.count
    dearer = "no bank conflicts"
    if conflicts > 1:
        dearer = f"bank conflicts take {conflicts:.3g} times the wavefronts"
    reason = (
        f"{least / mix.ffma:.3g} wavefronts per FFMA{_of_stores(stores / mix.ffma)} "
        f"(LDS {_widths(mix.lds)} for {mix.ffma} FFMA; {dearer}); "
        f"an SM moves {_wavefronts_per_clock(row):g} a clock."
    )
    cautious = min(1.0, scale / most)
    share = min(1.0, scale / least)
    return Bound("shared memory", share, reason, cautious if cautious < share else None)


def _l1_bound(profile: Profile, mix: InstructionMix, unit: Multiplier, row: Device) -> Bound | str:
    """Global loads of the hot loop: L1 is the same SRAM as shared memory, and no wider."""
    requests = profile.global_load_requests
    if not mix.ldg or not requests:
        return "L1: the hot loop does not load from global memory."
    sectors = profile.global_load_sectors / requests
    sectors_per_wavefront = CACHE_LINE_BYTES // SECTOR_BYTES
    loads = sum(mix.ldg.values()) / unit.count
    wavefronts = loads * max(1.0, sectors / sectors_per_wavefront)
    share = _wavefronts_per_clock(row) / (unit.per_clock * wavefronts)
    reason = (
        f"{loads:.3g} global loads per {unit.name} of {sectors:.3g} sectors on average, "
        f"so at least {wavefronts:.3g} wavefronts; "
        f"an SM moves {_wavefronts_per_clock(row):g} a clock."
    )
    return Bound("L1", min(1.0, share), reason)


def _widths(loads: Mapping[int, int]) -> str:
    return " + ".join(f"{count} x {bits} bits" for bits, count in sorted(loads.items()))
