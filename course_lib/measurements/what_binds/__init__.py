"""Read what Nsight Compute saw of the rungs and of cuBLAS: how full each part of the GPU was.

One file per device, with one launch of each contestant, the clocks as they were. What becomes of
their speed after seconds of load stands in the file of `bench` (`Entry.sustained`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("what_binds.py",)
SHARED, SLOTS, TENSOR_CORES = "L1 and shared memory", "issue slots", "tensor cores"
CUBLAS = "cuBLAS bfloat16, result bfloat16"
_BUSY_AT_ALL, _BUSY_IN_A_TABLE = 0.02, 0.05  # shares; less is not shown


@dataclass(frozen=True)
class Profiled:
    """One launch under Nsight Compute; what this GPU or this run did not count is None.

    Attributes:
        name: of the rung, or "cuBLAS bfloat16".
        label: device and date, which have to stand beside the numbers.
        size: edge of the matrices.
        busy: how full each part of the GPU was, as a share of the most that is possible; without
            the tensor cores, where the kernel leaves them alone.
        ms: how long the launch took.
        mhz: the SM clock of this launch.
        l2_gb: what L2 handed out, in GB.
        shared_load_wavefronts: of loads from shared memory.
        waiting_for_global: how many warps of a scheduler waited for global memory, on average over
            the instructions that it issued.
        clocks_of_an_mma: how long an `mma` keeps its tensor core busy.
    """

    name: str
    label: str
    size: int
    busy: Mapping[str, float]
    ms: float | None = None
    mhz: float | None = None
    l2_gb: float | None = None
    shared_load_wavefronts: float | None = None
    waiting_for_global: float | None = None
    clocks_of_an_mma: float | None = None

    @property
    def fullest(self) -> str:
        """The part that was busiest."""
        return max(self.busy, key=lambda part: self.busy[part])

    @property
    def wavefronts(self) -> float:
        """Of loads from shared memory, for each multiply-add of a warp; NaN if not counted.

        It says something of kernels that multiply on the FP32 lanes.
        """
        counted = self.shared_load_wavefronts
        return float("nan") if counted is None else counted / (self.size**3 / 32)

    def __str__(self) -> str:
        told = ", ".join(f"{name} {share:.0%}" for name, share in self.busy.items())
        return f"{self.name}: {told}"


def seen(name: str, device: str = "H200") -> Profiled:
    """What was seen of one launch.

    Raises:
        KeyError: if it was not profiled there; with the names that were.
    """
    stored = _stored(device)
    if name not in stored["launches"]:
        there = ", ".join(stored["launches"])
        raise KeyError(f"{name} was not profiled on {device}; there are: {there}")
    row = stored["launches"][name]
    busy = {
        part: share
        for part, share in row["busy"].items()
        if part != TENSOR_CORES or share > _BUSY_AT_ALL
    }
    label = f"{stored['device']}, {stored['counted']}"
    return Profiled(name, label, stored["size"], **{**row, "busy": busy})


def names(device: str = "H200") -> tuple[str, ...]:
    """Who was profiled."""
    return tuple(_stored(device)["launches"])


def table(*names: str, device: str = "H200") -> str:
    """Several launches, one a line: how busy each part was, in per cent, and GB out of L2."""
    rows = [seen(name, device) for name in names]
    wide = max(map(len, names))
    shown = (p for row in rows for p in row.busy if row.busy[p] > _BUSY_IN_A_TABLE)
    columns = {part: f"{part:>3}" for part in shown}
    titles = "".join(f"  {column}" for column in (*columns.values(), "GB from L2"))
    lines = [f"busy, in %, on an {rows[0].label}, {' x '.join([str(rows[0].size)] * 3)}"]
    lines.append(" " * wide + titles)
    for row in rows:
        shares = "".join(
            f"  {100 * row.busy.get(part, 0):{len(head)}.0f}" for part, head in columns.items()
        )
        moved = "?" if row.l2_gb is None else f"{row.l2_gb:.2f}"
        lines.append(f"{row.name:{wide}}{shares}  {moved:>10}")
    return "\n".join(lines)


def _stored(device: str) -> dict[str, Any]:
    return content_of(FOLDER, device, "no launch was profiled on")
