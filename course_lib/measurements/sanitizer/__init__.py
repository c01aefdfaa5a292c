"""Read what compute-sanitizer said of the broken kernels of lesson 05c, on a GPU.

One file per device; benchmarks/sanitizer.py runs the tools and says how.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("sanitizer.py",)
_ADDRESS = r"\b0x[0-9a-f]{9,}"
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


class ToolSaid(NamedTuple):
    """What one tool said of one launch.

    Attributes:
        errors: how many errors it counted, or hazards displayed.
        first: the lines of the first one; none where it found nothing.
    """

    errors: int
    first: tuple[str, ...]


class SanitizerRun(NamedTuple):
    """What was found in one run.

    Attributes:
        label: GPU, version of the tools, and date.
        said: by kernel, then by tool.
        right: by kernel, whether the numbers were right without any tool.
    """

    label: str
    said: Mapping[str, Mapping[str, ToolSaid]]
    right: Mapping[str, bool]

    def text(self, kernel: str, tool: str) -> str:
        """The first error in the tool's own words, or that there is none.

        Addresses are shortened: another run has others.
        """
        lines = self.said[kernel][tool].first or ("0 errors",)
        return "\n".join(f"========= {re.sub(_ADDRESS, '0x…', line)}" for line in lines)


def load(device: str = "H200") -> SanitizerRun:
    """What was stored for a device, by its short name.

    Raises:
        KeyError: if the tools were not run on it.
    """
    plain = content_of(FOLDER, device, "compute-sanitizer was not run on")
    said: dict[str, dict[str, ToolSaid]] = {}
    for row in plain["rows"]:
        found = ToolSaid(row["errors"], tuple(row["first"]))
        said.setdefault(row["kernel"], {})[row["tool"]] = found
    label = f"{plain['device']}, compute-sanitizer {plain['version']}, {plain['date']}"
    return SanitizerRun(label, said, plain["right"])
