"""What stands for values that nobody wrote, in a launch that tries out whether they matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.emulator.state.lanes import LaneSpace, Value

# A line of the kernel, and the name of the array or variable that it reads.
Place = tuple[int | None, str]


@dataclass(frozen=True)
class Instead:
    """Which unwritten values are replaced, and by what: 0, 1, a "high" or "low" number, or "left".

    What another kernel has "left" is a small number, another one for each lane: of many, some lie
    in any range that a test may ask for.

    `ones` are replaced as well, by 1: one value that spoils a result must not hide another, nor
    must a factor of 0.
    """

    places: frozenset[Place]
    kind: str
    ones: frozenset[Place] = frozenset()

    def value(self, name: str, line: int, dtype: np.dtype, space: LaneSpace) -> Value | None:
        """What stands for the unwritten values of `name` in this line; None for what always does"""
        if (line, name) in self.ones:
            result: Value = dtype.type(1)
            return result
        if (line, name) not in self.places:
            return None
        if self.kind in ("0", "1"):
            result = dtype.type(int(self.kind))
            return result
        if self.kind == "left":
            return _left_there(dtype, line, space)
        if dtype.kind == "b":
            result = dtype.type(self.kind == "high")
            return result
        limits = np.finfo(dtype) if dtype.kind in "fc" else np.iinfo(dtype)
        extreme = limits.max if self.kind == "high" else limits.min
        result = dtype.type(extreme / 4 if dtype.kind in "fc" else extreme // 2)
        return result


def _left_there(dtype: np.dtype, line: int, space: LaneSpace) -> np.ndarray:
    numbers = np.random.default_rng(line).integers(-128, 128, space.shape)
    if dtype.kind in "fc":
        return (numbers / 64).astype(dtype)
    return numbers > 0 if dtype.kind == "b" else numbers.astype(dtype)
