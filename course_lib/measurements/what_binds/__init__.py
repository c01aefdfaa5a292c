"""Read what a profiler saw of the tensor-core rungs: which part of the GPU was how busy.

One file per device. Nsight Compute counted each launch as `benchmarks/what_binds.py` makes it, with
the clocks as they were; docs/bench.md has the same table and how it was made. What two seconds of
nothing else give stands beside it, and how long one m16n8k16 keeps a tensor core busy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
RUNG, LIBRARY = "tensor_core_bf16", "cuBLAS bfloat16"


@dataclass(frozen=True)
class Busy:
    """One launch under the profiler.

    Attributes:
        name: of the rung, or "cuBLAS bfloat16".
        label: device and date, which have to stand beside the numbers.
        share: how busy each part of the GPU was, of the most that is possible, in per cent.
        l2_gb: what L2 handed out, in GB.
        mhz: the SM clock of this launch.
    """

    name: str
    label: str
    share: Mapping[str, int]
    l2_gb: float
    mhz: int

    @property
    def fullest(self) -> str:
        """The part that was busiest."""
        return max(self.share, key=lambda part: self.share[part])


@dataclass(frozen=True)
class Sustained:
    """What a launch reaches after two seconds of nothing else, and between which clocks."""

    name: str
    tflops: int
    mhz: tuple[int, int]


def busy(name: str, device: str = "H200") -> Busy:
    """What the profiler saw of one launch.

    Raises:
        KeyError: if it was not profiled there.
    """
    stored = _stored(device)
    row = stored["launches"][name]
    share = dict(zip(stored["columns"], row["busy"], strict=True))
    return Busy(name, _label(stored), share, row["l2_gb"], row["mhz"])


def sustained(name: str, device: str = "H200") -> Sustained:
    """What a launch reaches when the GPU is warm."""
    found = _stored(device)["sustained"]
    return Sustained(name, found["tflops"][name], tuple(found["mhz"][name]))


def power_limit(device: str = "H200") -> int:
    """The most that the GPU may take, in watt."""
    return int(_stored(device)["sustained"]["limit_watt"])


def clocks_of_an_mma(device: str = "H200") -> tuple[int, int]:
    """Clocks that one m16n8k16 keeps a tensor core busy: counted, and by the data sheet's peak."""
    found = _stored(device)["clocks_of_an_mma"]
    return found["counted"], found["by_the_data_sheet"]


def table(*names: str, device: str = "H200") -> str:
    """Several launches, one a line: how busy each part was, in per cent, and GB out of L2."""
    stored = _stored(device)
    size = stored["size"]
    parts = stored["columns"]
    lines = [f"busy, in %, on an {_label(stored)}, {size} x {size} x {size}"]
    lines.append(" " * 18 + "".join(f"{each:>15}" for each in parts) + f"{'GB from L2':>13}")
    for name in names:
        row = busy(name, device)
        shares = "".join(f"{row.share[part]:15}" for part in parts)
        lines.append(f"{name:18}{shares}{row.l2_gb:13.2f}")
    return "\n".join(lines)


def _stored(device: str) -> dict[str, Any]:
    return content_of(FOLDER, device, "no launch was profiled on")


def _label(stored: Mapping[str, Any]) -> str:
    return f"{stored['device']}, {stored['date']}"
