"""Read what a profiler saw of the upper rungs: how busy each resource was, what warps waited for.

One file per device, from docs/shared_memory_measured.md, which says how it was seen. How busy a
rung kept the GPU is read from `measurements.ncu` and stands nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from course_lib.measurements.files import content_of
from course_lib.measurements.ncu import busy

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class ProfiledLaunch:
    """One launch of a rung under Nsight Compute; shares are those of the most that is possible.

    Attributes:
        label: device and date, which have to stand beside the numbers.
        kernel: the rung.
        passes: of loads from shared memory, for each multiply-add of a warp.
        busy: resource -> share from 0 to 1: "L1 and shared memory", "issue slots", "multiply-add
            units", "L2", "DRAM".
        waiting_for_global: how many warps of a scheduler waited for global memory, on average over
            the instructions that it issued; None where nobody looked.
    """

    label: str
    kernel: str
    passes: float
    busy: Mapping[str, float]
    waiting_for_global: float | None = None

    def __str__(self) -> str:
        told = ", ".join(f"{name} {share:.0%}" for name, share in self.busy.items())
        return f"{self.kernel}: {told}"


def seen(kernel: str, device: str = "H200") -> ProfiledLaunch:
    """What was seen of a rung.

    Raises:
        KeyError: if it was not profiled on this device.
    """
    plain = content_of(FOLDER, device, "no profile was taken on")
    row = next((row for row in plain["rows"] if row["kernel"] == kernel), None)
    if row is None:
        raise KeyError(f"{kernel} was not profiled on {device}")
    label = f"{plain['device']}, {plain['seen']}"
    shares = busy(kernel, device)
    return ProfiledLaunch(label, kernel, row["passes"], shares, row.get("waiting_for_global"))
