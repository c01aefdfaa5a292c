"""Read what a GPU's memory was seen to do: bytes level by level, and speed by number of threads.

One file per device. benchmarks/cache_model.py counts `levels`, benchmarks/bytes_in_flight.py times
`speeds` and `latency_ns`, and benchmarks/loop_forms.py `loops`; each keeps what the others have
written. What else was timed for a kernel stands in the file of `bench`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from course_lib.measurements import load
from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("bytes_in_flight.py", "cache_model.py", "loop_forms.py")


@dataclass(frozen=True)
class Levels:
    """What the loads of one kernel drew through each level of memory, and how long it took.

    The kernel is CUDA C++ with blocks of 32 × 32 threads, one for each element of C; A, B and C
    are float32, `size` × `size`.

    Attributes:
        kernel: a rung of the ladder, "naive".
        size: edge of the matrices.
        label: device and date, which have to stand beside the numbers.
        requested_gb: what the threads' loads ask for, in GB; arithmetic.
        l1_gb: sectors that passed through L1.
        l2_gb: what L2 delivered.
        dram_gb: what DRAM delivered.
        ms: how long a launch takes, in milliseconds, also in CUDA C++; other forms: `forms`.
        dram_gb_per_s: what this GPU's DRAM was seen to deliver at most.
    """

    kernel: str
    size: int
    label: str
    requested_gb: float
    l1_gb: float
    l2_gb: float
    dram_gb: float
    ms: float
    dram_gb_per_s: float

    @property
    def dram_ms(self) -> float:
        """How long DRAM alone needs for what it delivered."""
        return 1000 * self.dram_gb / self.dram_gb_per_s

    def __str__(self) -> str:
        return (
            f"{self.kernel}, {self.size} x {self.size} x {self.size}, {self.label}\n"
            f"requested {self.requested_gb:,.1f} GB, through L1 {self.l1_gb:,.1f}, "
            f"from L2 {self.l2_gb:,.1f}, from DRAM {self.dram_gb:,.1f}\n"
            f"time {self.ms:,.1f} ms; DRAM alone needs {self.dram_ms:,.1f} ms for its share"
        )


class Timed(NamedTuple):
    """How long a launch takes, in milliseconds, with device and date."""

    ms: float
    label: str


@dataclass(frozen=True)
class InFlight:
    """How fast numbers arrive if few or many threads wait for them.

    Attributes:
        label: device and date, which have to stand beside the numbers.
        array_bytes: how many bytes the array has that is read.
        gb_per_s: threads in the launch -> bytes read and written together, in GB/s, by a
            grid-stride loop `y[i] = 2 * x[i]` over an array that no cache holds.
        latency_ns: "L1", "L2", "DRAM" -> how long one load takes in a chain of loads, in ns.
        dram_gb_per_s: what this GPU's DRAM was seen to deliver at most.
    """

    label: str
    array_bytes: int
    gb_per_s: Mapping[int, float]
    latency_ns: Mapping[str, float]
    dram_gb_per_s: float


def levels(kernel: str, size: int = 4096, device: str = "H200") -> Levels:
    """What was counted and timed for a kernel ("naive", "coalesced" or "tiled").

    Raises:
        KeyError: if it was not counted or not timed at this size.
    """
    counted = {(row["kernel"], row["size"]): row for row in _file(device)["levels"]}
    bench = load(device)
    twin = bench.entry(kernel, "twin")
    timed = twin.cell(size) if twin else None
    if (kernel, size) not in counted or timed is None or twin is None:
        there = ", ".join(f"{name} at {edge}" for name, edge in counted)
        raise KeyError(f"no counts and time of {kernel!r} at {size} on {device}; counted: {there}")
    row = counted[kernel, size]
    # A tile of so many steps of k is loaded once for a whole row or column of threads.
    shared = twin.tile[0] if twin.tile[2] > 1 else 1
    return Levels(
        kernel=kernel,
        size=size,
        label=bench.label,
        requested_gb=8 * size**3 / shared / 1e9,
        l1_gb=row["l1_gb"],
        l2_gb=row["l2_gb"],
        dram_gb=row["dram_gb"],
        ms=timed.median_ms,
        dram_gb_per_s=bench.measured_roofs["dram_gb_per_s"],
    )


def forms(kernel: str, size: int = 4096, device: str = "H200") -> dict[str, Timed]:
    """The forms of a kernel ("naive", "coalesced", "tiled") and what was timed, slowest first.

    "Numba, range" is the kernel as a student types it, "Numba, while" the same with a loop that
    counts k by itself, where that was timed, and "CUDA C++" its twin.
    """
    bench, plain = load(device), _file(device)
    found: dict[str, Timed] = {}
    for row in plain.get("loops", {"rows": []})["rows"]:
        if (row["kernel"], row["size"]) == (kernel, size):
            label = f"{plain['device']}, {plain['loops']['timed']}"
            found[f"Numba, {row['form']}"] = Timed(row["ms"], label)
    for form, entry in (
        ("Numba, range", bench.entry(kernel, "rung")),
        ("CUDA C++", bench.entry(kernel, "twin")),
    ):
        if entry and (cell := entry.cell(size)):
            found[form] = Timed(cell.median_ms, bench.label)
    return dict(sorted(found.items(), key=lambda timed: -timed[1].ms))


def counted(device: str = "H200") -> list[dict[str, Any]]:
    """GB at each level for each kernel and size, and by the cache model ("model_gb")."""
    return list(_file(device)["levels"])


def label(device: str = "H200") -> str:
    """Device and date of what was counted."""
    plain = _file(device)
    return f"{plain['device']}, {plain['counted']}"


def in_flight(device: str = "H200") -> InFlight:
    """What few and many threads were seen to move.

    Raises:
        KeyError: if nothing was measured on this device.
    """
    plain = _file(device)
    return InFlight(
        label=f"{plain['device']}, {plain['timed']}",
        array_bytes=plain["array_bytes"],
        gb_per_s={speed["threads"]: speed["gb_per_s"] for speed in plain["speeds"]},
        latency_ns=plain["latency_ns"],
        dram_gb_per_s=load(device).measured_roofs["dram_gb_per_s"],
    )


def _file(device: str) -> dict[str, Any]:
    return content_of(FOLDER, device, "nothing was measured of the memory of")
