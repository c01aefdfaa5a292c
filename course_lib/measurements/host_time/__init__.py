"""Read what launches take the host, and what a loop of them reaches, beside PyTorch.

One file per device; benchmarks/host_time.py measures it and says how.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("host_time.py",)


class Way(NamedTuple):
    """One way to call a product or attention: microseconds a call.

    Attributes:
        loop_us: in a loop, until the GPU has done the last call.
        host_us: of the host alone; None for a CUDA graph of several calls.
    """

    loop_us: float
    host_us: float | None = None


class HostTimes(NamedTuple):
    """All ways for each problem: "product 1024 x 1024 x 1024", then "launch"."""

    label: str
    problems: dict[str, dict[str, Way]]


def load(device: str = "H200") -> HostTimes:
    """What was stored for a device, by its short name.

    Raises:
        KeyError: if nothing was measured on it.
    """
    plain = content_of(FOLDER, device, "host times were not measured on")
    problems = {
        problem: {name: Way(**row) for name, row in ways.items()}
        for problem, ways in plain["rows"].items()
    }
    return HostTimes(f"{plain['device']}, {plain['date']}", problems)
