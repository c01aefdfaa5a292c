"""Read what Nsight Compute counted of single launches, for machines that have no counters to read.

One file per device, by benchmarks/ncu_reports.py, which anywhere counts source and machine code
anew (`--compiled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("ncu_reports.py",)


@dataclass(frozen=True)
class Stored:
    """One launch as it was counted.

    Attributes:
        label: kernel, size, device and date, which have to stand beside the numbers.
        counts: by the emulator's names of the counters, as far as they were read.
        seen: what only a GPU knows, as course_lib.ncu has it; often empty.
        written, compiled: the emulator's counts of the source and of the machine code for that
            device.
    """

    label: str
    counts: Mapping[str, float]
    seen: Mapping[str, float]
    written: Mapping[str, int]
    compiled: Mapping[str, int]


def stored(name: str, device: str = "H200") -> Stored:
    """The report of a name, such as "transpose, no tile".

    Raises:
        KeyError: with the names that there are.
    """
    plain = _file(device)
    if name not in plain["reports"]:
        raise KeyError(f"no report {name!r} of {device}; there are: {', '.join(names(device))}")
    row = plain["reports"][name]
    label = f"{name}, {row['launch']}, on {plain['device']}, {plain['counted']}"
    written, compiled = row.get("written", {}), row.get("compiled", {})
    return Stored(label, row["counts"], row.get("seen", {}), written, compiled)


def names(device: str = "H200") -> tuple[str, ...]:
    """The stored reports."""
    return tuple(_file(device)["reports"])


def _file(device: str) -> dict[str, Any]:
    return content_of(FOLDER, device, "no reports of")
