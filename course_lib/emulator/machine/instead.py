"""What stands for values that nobody wrote, in a launch that tries out whether they matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# A line of the kernel, and the name of the array or variable that it reads.
Place = tuple[int | None, str]


@dataclass(frozen=True)
class Instead:
    """Which unwritten values are replaced, and by what: a "high" or "low" number, 0 or 1.

    `ones` are replaced as well, by 1: one value that spoils a result must not hide another, nor
    must a factor of 0.
    """

    places: frozenset[Place]
    kind: str
    ones: frozenset[Place] = frozenset()

    def value(self, name: str, line: int, dtype: np.dtype) -> np.generic | None:
        """What stands for the unwritten values of `name` in this line; None for what always does"""
        if (line, name) in self.ones:
            result: np.generic | None = dtype.type(1)
            return result
        if (line, name) not in self.places:
            return None
        if self.kind in ("0", "1"):
            result = dtype.type(int(self.kind))
            return result
        if dtype.kind == "b":
            result = dtype.type(self.kind == "high")
            return result
        limits = np.finfo(dtype) if dtype.kind in "fc" else np.iinfo(dtype)
        extreme = limits.max if self.kind == "high" else limits.min
        result = dtype.type(extreme / 4 if dtype.kind in "fc" else extreme // 2)
        return result
