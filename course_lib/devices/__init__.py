"""Tell what each GPU of the course can do: a data sheet in numbers, and where each number is from.

Owns: the data sheets of GPUs, occupancy, and formats of 16 bits.
May import: `wording`.
Start with: this file, then `occupancy`.

Two tables. `DEVICES` has one row per product: SMs, clock, peak rates, memory. `CAPABILITIES` has
one row per compute capability: what one SM and one block may use. Peaks are boost-clock figures
of the vendor; a real clock under load is lower, and a device that you hold in your hands beats
any table (`numba.cuda.get_current_device()` reads SM count, L2 and shared-memory limits).

Units: "KiB" and "MiB" are powers of two (NVIDIA's tables print KB and mean KiB); GB/s, GFLOP/s and
TFLOP/s are powers of ten. FP32 means CUDA cores, no tensor cores: SMs x lanes x 2 x clock. Tensor
rates are dense; vendor pages often print the sparse figure, which is twice as high.

`Device.unconfirmed` names the cells for which no source was found, or only a second-hand one.

Sources
    per capability   CUDA C++ Programming Guide, "Compute Capabilities"; Ampere Tuning Guide;
                     cuda_occupancy.h of CUDA 12.9 and 13.5 for granularities
    T4               published specifications, second-hand; shared memory: arXiv 1903.07486
    V100, A100-40    NVIDIA A100 whitepaper, comparison table
    A100-80          the same, bandwidth from specification sheets
    A6000, 3090      NVIDIA GA102 whitepaper (3090 column, shared memory); A6000 second-hand
    L4               NVIDIA L4 data sheet; SM count from device read-outs
    4090             NVIDIA Ada whitepaper, appendix A
    H100, H100-PCIe  NVIDIA H100 data sheet; clocks second-hand for PCIe
    H200             data sheet: H100's compute with 4.8 TB/s; L2 as the device says
                     (measurements/H200.json)
    B200             HGX B200 data sheet and a public device read-out
    5090             RTX Blackwell whitepaper, L2 from press specifications
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from course_lib.devices.occupancy import Occupancy, SmLimits, resident_blocks

WARP_SIZE = 32
MAX_THREADS_PER_BLOCK = 1024
MAX_REGISTERS_PER_THREAD = 255
REGISTERS_PER_SM = 65_536
SCHEDULERS_PER_SM = 4
SHARED_MEMORY_BANKS = 32
BANK_WIDTH_BYTES = 4
SECTOR_BYTES = 32
CACHE_LINE_BYTES = 128
DEFAULT_SHARED_KIB = 48  # the most that a block gets without asking for more

# Cycles until a value arrives, read out on a B200 by a third party; no other GPU has a full set.
LATENCY_CYCLES_B200 = {"shared memory": 29, "L1": 39, "L2": 303, "DRAM": 762}


@dataclass(frozen=True)
class Capability:
    """What one SM and one block may use, by compute capability."""

    cc: str
    shared_per_sm_kib: int
    shared_per_block_kib: int  # with the opt-in attribute; DEFAULT_SHARED_KIB without
    shared_reserved_bytes: int  # taken by the driver from every resident block
    l1_and_shared_kib: int  # one array of SRAM serves as both
    threads_per_sm: int
    blocks_per_sm: int
    shared_unit_bytes: int  # a block's shared memory is rounded up to this
    carve_outs_kib: tuple[int, ...]  # the sizes that shared memory can be set to
    unconfirmed: frozenset[str] = frozenset()

    @property
    def warps_per_sm(self) -> int:
        return self.threads_per_sm // WARP_SIZE

    def limits(self, name: str) -> SmLimits:
        """What an SM of a GPU of this name has: the numbers that occupancy is worked out from."""
        return SmLimits(
            name=name,
            warps_per_sm=self.warps_per_sm,
            blocks_per_sm=self.blocks_per_sm,
            shared_per_sm_bytes=self.shared_per_sm_kib * 1024,
            shared_per_block_bytes=self.shared_per_block_kib * 1024,
            shared_reserved_bytes=self.shared_reserved_bytes,
            shared_unit_bytes=self.shared_unit_bytes,
            registers_per_sm=REGISTERS_PER_SM,
            partitions=SCHEDULERS_PER_SM,
            warp_size=WARP_SIZE,
            threads_per_block=MAX_THREADS_PER_BLOCK,
            registers_per_thread=MAX_REGISTERS_PER_THREAD,
        )


_AMPERE_SMALL = (0, 8, 16, 32, 64, 100)
_HOPPER = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)

CAPABILITIES: dict[str, Capability] = {
    row.cc: row
    for row in (
        Capability("7.0", 96, 96, 0, 128, 2048, 32, 256, (0, 8, 16, 32, 64, 96)),
        Capability("7.5", 64, 64, 0, 96, 1024, 16, 256, (32, 64)),
        Capability("8.0", 164, 163, 1024, 192, 2048, 32, 128, (0, 8, 16, 32, 64, 100, 132, 164)),
        Capability("8.6", 100, 99, 1024, 128, 1536, 16, 128, _AMPERE_SMALL),
        Capability("8.9", 100, 99, 1024, 128, 1536, 24, 128, _AMPERE_SMALL),
        Capability("9.0", 228, 227, 1024, 256, 2048, 32, 128, _HOPPER),
        Capability("10.0", 228, 227, 1024, 256, 2048, 32, 128, _HOPPER),
        # The guide prints 100 KB for the whole array; 128 KB is often quoted for the chip.
        Capability(
            "12.0", 100, 99, 1024, 100, 1536, 24, 128, _AMPERE_SMALL,
            frozenset({"l1_and_shared_kib"}),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Device:
    """One GPU product. `unconfirmed` names the fields whose value has no first-hand source."""

    name: str  # the short name used all over the course
    product: str  # the name on the box
    cc: str
    sms: int
    fp32_lanes: int  # per SM
    clock_mhz: int  # the boost clock that the FP32 peak is quoted for
    fp32_tflops: float
    tf32_tflops: float | None  # dense tensor-core rates; None where the GPU has no such mode
    fp16_tflops: float
    bf16: bool  # does the FP16 rate hold for BF16, too?
    dram_gb_per_s: float
    l2_mib: float
    shared_bytes_per_clock: int  # per SM
    unconfirmed: frozenset[str] = frozenset()

    @property
    def capability(self) -> Capability:
        return CAPABILITIES[self.cc]

    @property
    def sm(self) -> SmLimits:
        """What one SM of this GPU has and what a block of it may ask for."""
        return self.capability.limits(self.name)

    @property
    def fp32_gflops(self) -> float:
        return self.fp32_tflops * 1000

    @property
    def shared_tb_per_s(self) -> float:
        """Shared-memory bandwidth of all SMs together, an upper bound."""
        return self.sms * self.shared_bytes_per_clock * self.clock_mhz * 1e6 / 1e12

    @property
    def registers_kib_per_sm(self) -> int:
        return REGISTERS_PER_SM * 4 // 1024

    @property
    def ridge_fp32(self) -> float:
        """FLOP per DRAM byte from which the FP32 lanes, not DRAM, are the limit."""
        return self.fp32_gflops / self.dram_gb_per_s

    @property
    def ridge_fp16(self) -> float:
        return self.fp16_tflops * 1000 / self.dram_gb_per_s


def _unsure(*fields: str) -> frozenset[str]:
    return frozenset(fields)


_T4_UNSURE = _unsure("sms", "clock_mhz", "fp32_tflops", "fp16_tflops", "dram_gb_per_s", "l2_mib")
_A6000_UNSURE = _T4_UNSURE | {"tf32_tflops"}
_SHARED_UNSURE = _unsure("shared_bytes_per_clock")

# name, product, cc, SMs, lanes, MHz, FP32, TF32, FP16, BF16?, GB/s, L2, shared B/clock, unconfirmed
_ROWS: tuple[Device, ...] = (
    Device("T4", "Tesla T4", "7.5", 40, 64, 1590, 8.1, None, 65, False, 320, 4, 64, _T4_UNSURE),
    Device("V100", "Tesla V100 SXM2", "7.0", 80, 64, 1530, 15.7, None, 125, False, 900, 6, 128),
    Device("A100-40", "A100 SXM 40 GB", "8.0", 108, 64, 1410, 19.5, 156, 312, True, 1555, 40, 128),
    Device(
        "A100-80", "A100 SXM 80 GB", "8.0", 108, 64, 1410, 19.5, 156, 312, True, 2039, 40, 128,
        _unsure("dram_gb_per_s"),
    ),
    Device(
        "A6000", "RTX A6000", "8.6", 84, 128, 1800, 38.7, 77.4, 154.8, True, 768, 6, 128,
        _A6000_UNSURE,
    ),
    Device("3090", "GeForce RTX 3090", "8.6", 82, 128, 1695, 35.6, 35.6, 71, True, 936, 6, 128),
    Device(
        "L4", "L4", "8.9", 58, 128, 2040, 30.3, 60, 121, True, 300, 48, 128,
        _unsure("clock_mhz", "l2_mib") | _SHARED_UNSURE,
    ),
    Device(
        "4090", "GeForce RTX 4090", "8.9", 128, 128, 2520, 82.6, 82.6, 165.2, True, 1008, 72, 128,
        _unsure("tf32_tflops") | _SHARED_UNSURE,
    ),
    # NVIDIA rates H100's FP32 at 1980 MHz and its tensor cores at 1830 MHz.
    Device("H100", "H100 SXM", "9.0", 132, 128, 1980, 66.9, 494.7, 989.4, True, 3350, 50, 128),
    Device(
        "H100-PCIe", "H100 PCIe", "9.0", 114, 128, 1755, 51.2, 378, 756, True, 2000, 50, 128,
        _unsure("clock_mhz"),
    ),
    # NVIDIA's documents on the chip, GH100, say 50 MB of L2; the device itself says 60 MiB.
    Device("H200", "H200 SXM", "9.0", 132, 128, 1980, 66.9, 494.7, 989.4, True, 4800, 60, 128),
    Device("B200", "HGX B200", "10.0", 148, 128, 1965, 75, 1100, 2250, True, 7700, 126.5, 128),
    Device(
        "5090", "GeForce RTX 5090", "12.0", 170, 128, 2407, 104.8, 104.8, 209.5, True, 1792, 96,
        128, _unsure("l2_mib") | _SHARED_UNSURE,
    ),
)  # fmt: skip

DEVICES: dict[str, Device] = {row.name: row for row in _ROWS}


class UnknownDevice(ValueError):
    """The table has no GPU of this name."""


def device(name: str | Device) -> Device:
    """The row of the data sheet for a short name such as "T4" or "A100-80".

    Raises:
        UnknownDevice: with the names that exist, and the nearest one.
    """
    if isinstance(name, Device):
        return name
    by_folded_name = {device_name.casefold(): device_name for device_name in DEVICES}
    folded = str(name).strip().casefold()
    if folded in by_folded_name:
        return DEVICES[by_folded_name[folded]]
    near = difflib.get_close_matches(folded, by_folded_name, n=1)
    question = f" Did you mean {by_folded_name[near[0]]!r}?" if near else ""
    raise UnknownDevice(
        f"No GPU {name!r} in the data sheet.{question} Known: {', '.join(DEVICES)}."
    )


def occupancy(gpu: str | Device, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """How many blocks of a launch one SM of this GPU holds, and which limit says so.

    `registers` per thread come from the compiler (`course_lib.compile_report`), never from a
    guess; `shared_bytes` are all that a block declares.

    Raises:
        UnknownDevice: for a GPU that the data sheet does not have.
        ValueError: for numbers that no launch can have.
    """
    return resident_blocks(device(gpu).sm, threads, registers, shared_bytes)


# What drivers call these GPUs: every word of a row has to occur in the reported name.
_REPORTED_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("A100-80", ("A100", "80GB")),
    ("A100-40", ("A100", "40GB")),
    ("H100-PCIe", ("H100", "PCIE")),
    ("H100", ("H100", "HBM3")),
    ("H200", ("H200",)),
    ("B200", ("B200",)),
    ("A6000", ("RTX", "A6000")),
    ("V100", ("V100", "SXM2")),
    ("T4", ("T4",)),
    ("L4", ("L4",)),
    ("3090", ("RTX", "3090")),
    ("4090", ("RTX", "4090")),
    ("5090", ("RTX", "5090")),
)


def recognise(reported_name: str) -> Device | None:
    """The row for a name that a driver reports ("NVIDIA A100-SXM4-40GB"), or None.

    None rather than a guess: a "Ti", a "D" or a mobile part has other numbers.
    """
    words = set(reported_name.upper().replace("-", " ").replace("_", " ").split())
    if words & {"TI", "D", "SUPER", "LAPTOP", "ADA", "MIG"}:
        return None
    for name, needed in _REPORTED_WORDS:
        if all(word in words for word in needed):
            return DEVICES[name]
    return None


CeilingSource = Literal["data sheet", "measured here", "measured on that GPU"]


@dataclass(frozen=True)
class Ceilings:
    """The two roofs over a kernel, and whether each was looked up or measured on this machine."""

    name: str
    fp32_gflops: float
    dram_gb_per_s: float
    fp32_source: CeilingSource = "data sheet"
    dram_source: CeilingSource = "data sheet"

    @property
    def ridge(self) -> float:
        """FLOP per DRAM byte at which the two roofs meet."""
        return self.fp32_gflops / self.dram_gb_per_s


def ceilings_of(gpu: str | Device | Ceilings) -> Ceilings:
    """The data sheet's roofs for a GPU; ceilings that are given stay as they are."""
    if isinstance(gpu, Ceilings):
        return gpu
    row = device(gpu)
    return Ceilings(row.product, row.fp32_gflops, row.dram_gb_per_s)
