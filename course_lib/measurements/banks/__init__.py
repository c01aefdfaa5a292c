"""Read what bank conflicts and padding were seen to cost, in a transpose and in a tiled matmul.

One file per device, in CUDA C++ (benchmarks/bank_conflicts.cu).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("bank_conflicts.py",)


@dataclass(frozen=True)
class TransposeTimes:
    """How long the transpose of a square float32 matrix takes, in CUDA C++.

    Attributes:
        label: device and date, which have to stand beside the numbers.
        size: edge of the matrix.
        ms: kernel -> milliseconds: "copy" (nothing is transposed), "no tile", "tile" (32 words in
            a row of it), "padded" (33), "row & 7" and "row & 31" (32, with that XOR).
    """

    label: str
    size: int
    ms: Mapping[str, float]

    @property
    def gb_per_s(self) -> dict[str, float]:
        """Bytes read and written together, in GB/s."""
        return {kernel: 8 * self.size**2 / ms / 1e6 for kernel, ms in self.ms.items()}


@dataclass(frozen=True)
class Tiled:
    """The tiled matmul of lesson 05 in CUDA C++, float32, with or without a column to pad.

    Attributes:
        label: device and date, which have to stand beside the numbers.
        size: edge of the matrices.
        ms: how long a launch takes, in milliseconds.
        loads_per_fma: shared loads in the machine code for each multiply-add.
    """

    label: str
    size: int
    ms: float
    loads_per_fma: float


def transpose(device: str = "H200") -> TransposeTimes:
    """What was timed for the transpose.

    Raises:
        KeyError: if nothing was measured on this device.
    """
    plain = _file(device)
    return TransposeTimes(_label(plain), plain["transpose"]["size"], plain["transpose"]["ms"])


def tiled(tile: int, padded: bool, device: str = "H200") -> Tiled:
    """What was timed for the matmul with tiles of this edge, 16 or 32.

    Raises:
        KeyError: if this was not measured on this device.
    """
    plain = _file(device)
    rows = {(row["tile"], row["padded"]): row for row in plain["matmul"]["rows"]}
    row = rows[tile, padded]
    return Tiled(_label(plain), plain["matmul"]["size"], row["ms"], row["lds"] / row["ffma"])


def _label(plain: Mapping[str, Any]) -> str:
    return f"{plain['device']}, {plain['timed']}"


def _file(device: str) -> dict[str, Any]:
    return content_of(FOLDER, device, "nothing was measured of the banks of")
