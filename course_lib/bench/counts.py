"""What can be said of the rungs without a clock: counts from the emulator, ceilings from the
compiler."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib import machine_code, roofline
from course_lib.bench.contestants import STORED_AS, format_of_result, precision_of
from course_lib.bench.matrices import as_float64, random_inputs, rounded
from course_lib.devices import Device
from course_lib.machine_code.compiler import find_tool
from course_lib.machine_code.front_ends import GET_COMPILER
from course_lib.roofline.ceilings import wgmma_ceiling
from course_lib.wording.errors import PIP_INSTALL, PlainError

HOPPER = (9, 0)
STEPS_OF_K = 8
LARGE = 4096


@dataclass(frozen=True)
class Counts:
    """What one emulated product takes.

    Attributes:
        rung: its name.
        size: edge of the square matrices.
        requested_bytes: of global memory, loads and stores.
        sectors: of 32 bytes that the loads touch.
        wavefronts: passes of the shared-memory loads.
        flops: an FMA counts as two.
        error: as for a measured one; a wrong result would make the counts worthless.
    """

    rung: str
    size: int
    requested_bytes: int
    sectors: int
    wavefronts: int
    flops: int
    error: float


def count(rung: Any, size: int) -> Counts:
    """Run a rung once on the emulator, on square matrices.

    Raises:
        PlainError: if the emulator won't run it, or the rung can't compute this size.
    """
    profile, error = _emulate(rung, (size, size, size))
    return Counts(
        rung=rung.name,
        size=size,
        requested_bytes=profile.global_load_bytes + profile.global_store_bytes,
        sectors=profile.global_load_sectors,
        wavefronts=profile.shared_load_wavefronts,
        flops=profile.flops,
        error=error,
    )


def _emulate(rung: Any, shape: tuple[int, int, int]) -> tuple[Any, float]:
    """The profile of one product, and how far it is off as a share of the root mean square."""
    stored = STORED_AS[precision_of(rung)]
    a, b = (rounded(array, stored) for array in random_inputs(shape, seed=0))
    result = format_of_result(rung)
    c = rounded(np.full(shape[:2], np.nan, np.float32), result)
    rung.check_inputs(a, b, c)
    profile = rung.emulate(a, b, c)
    errors = [finding for finding in profile.findings if finding.severity == "error"]
    if errors:
        raise PlainError(str(errors[0]))
    product = as_float64(a, stored) @ as_float64(b, stored)
    return profile, float(
        np.abs(as_float64(c, result) - product).max() / np.sqrt(np.mean(product**2))
    )


def ceiling(rung: Any, gpu: Device, size: int = LARGE) -> roofline.Ceiling:
    """The most that a rung can reach on a GPU with large matrices.

    One block over a few steps of K is enough to know what each instruction costs. How often DRAM
    is asked at the least follows from the size.

    Raises:
        PlainError: where the compiler is missing or refuses the kernel, or the emulator does; or
            the disassembler is missing, without which nearly every ceiling would be 100 %.
    """
    rows, columns, depth = rung.tile
    square = (size, size, size)
    itemsize = np.dtype(rung.dtype).itemsize
    of_result = np.dtype(rung.result).itemsize
    traffic = roofline.compulsory_bytes(square, itemsize) + (of_result - itemsize) * size**2
    intensity = roofline.matmul_flops(*square) / traffic
    if tuple(rung.min_cc) >= HOPPER:  # the emulator does not count what a wgmma reads
        report = _compiled(rung, gpu)
        return wgmma_ceiling(rung.name, gpu, columns, intensity, itemsize, report)
    profile, _ = _emulate(rung, (rows, columns, STEPS_OF_K * depth))
    report = _compiled(rung, gpu)
    if report.mix is None:
        raise PlainError(report.note)
    return roofline.ceiling(profile, report, gpu, dram_intensity=intensity)


def _compiled(rung: Any, gpu: Device) -> machine_code.CompileReport:
    try:
        return machine_code.compile_report(rung.kernel, rung.signature, cc=gpu.cc)
    except machine_code.CompileFailed as reason:
        # Numba's own CUDA part lacks intrinsics and alignments that the upper rungs use, and what
        # it says of them sounds like a mistake in the kernel.
        by_numba = str(reason).startswith("Numba's compiler refuses")
        if not by_numba or importlib.util.find_spec("numba_cuda"):
            raise
        raise PlainError(f"Numba's own CUDA part can't compile it: {GET_COMPILER}.") from reason


def ceilings(
    table: Mapping[str, Any], gpu: Device
) -> tuple[dict[str, roofline.Ceiling], list[str]]:
    """The ceilings of the rungs, and sentences about what is missing."""
    missing = machine_code.missing()
    if missing:
        return {}, [f"No ceilings: {missing}"]
    if find_tool("nvdisasm") is None:
        numba_cuda = "" if importlib.util.find_spec("numba_cuda") else "'numba-cuda[cu12]' "
        get = f"{PIP_INSTALL} {numba_cuda}nvidia-cuda-nvdisasm"
        return {}, [f"No ceilings: they are read from machine code, which needs a tool: {get}."]
    too_new = [name for name, rung in table.items() if capability(gpu) < tuple(rung.min_cc)]
    said = [f"Made for newer GPUs than the {gpu.name}: {', '.join(too_new)}."] if too_new else []
    found = {}
    without: dict[str, list[str]] = {}  # who has no ceiling, by the reason: often one for many
    for name, rung in table.items():
        if name in too_new:
            continue
        try:
            found[name] = ceiling(rung, gpu)
        except PlainError as reason:
            without.setdefault(str(reason), []).append(name)
    for why, names in without.items():
        said.append(f"No ceiling for {', '.join(names)} on the {gpu.name}: {why}")
    return found, said


def capability(gpu: Device) -> tuple[int, int]:
    """(7, 5) of a GPU of the data sheet."""
    major, minor = gpu.cc.split(".")
    return int(major), int(minor)
