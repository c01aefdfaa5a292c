"""Run the kernels of the questions on the emulator: for numbers, and as proof of wrong lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from course_lib.emulator import Profile, emulate, load_program

# What every listing may use without showing it; one line, so that only one is added.
_ABOVE = "from numba import cuda, float32, float64, int32; import numpy as np\n"

Dimensions = int | tuple[int, ...]


def run(
    text: str,
    grid: Dimensions,
    block: Dimensions,
    *arguments: object,
    trace: bool = False,
    shared_bytes: int = 0,
) -> Profile:
    """The profile of the last kernel in a listing, launched on the emulator."""
    program = load_program(_ABOVE + text)
    kernel = list(program.functions.values())[-1]
    return emulate(kernel, trace=trace)[grid, block, 0, shared_bytes](*arguments)


def line_of(profile: Profile, code: str) -> int:
    """The line of the listing that the first finding with this code names."""
    found = (
        finding.line
        for finding in profile.findings
        if finding.code == code and finding.line is not None
    )
    return next(found) - 1


def sectors(addresses: Sequence[int]) -> int:
    """How many boxes of 32 bytes a request for these addresses touches."""
    return len({address // 32 for address in addresses})


def ones(*shape: int) -> NDArray[np.float32]:
    """An array of float32 ones."""
    return np.ones(shape, dtype=np.float32)
