"""Rounds products up or down by chance, as a GPU may round each of them, or not.

Numba lets the compiler fuse a product with a sum that it is a part of: `x * x - y` becomes one
instruction that rounds once. Which products are fused is up to the compiler, across statements too.
The exact product lies between two float32 numbers next to each other; where the result of a
kernel is the same whichever of them is taken, by each lane anew, it does not depend on that choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.state.lanes import Value

# The bits of a float64 that a float32 lacks. Where they are cut off, a number is rounded towards
# zero; where so much is added before that one of them is carried, away from it.
LACKING = np.int64((1 << 29) - 1)
KEPT = ~LACKING
DRAWN = 1 << 16


class EitherRounding:
    """Takes one of the two float32 numbers around an exact product, lane by lane."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng((seed, 32))
        self._added = rng.integers(0, 2, DRAWN) * LACKING
        self._used = 0

    def __call__(self, compute: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
        """The product, or power, of float32 numbers that `compute` works out."""
        exact = np.asarray(compute(left.astype(np.float64), right))
        bits = self._draw(exact.size).reshape(exact.shape) + exact.view(np.int64)
        bits &= KEPT
        result: Value = bits.view(np.float64).astype(np.float32)
        return result if result.ndim else result[()]

    def _draw(self, count: int) -> np.ndarray:
        if count > DRAWN:
            return np.resize(self._added, count)
        self._used = 0 if self._used + count > DRAWN else self._used
        self._used += count
        return self._added[self._used - count : self._used]
