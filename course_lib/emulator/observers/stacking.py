"""Puts accesses that look alike into one array: what is asked of each is then asked of all at once.

Where few lanes run, NumPy's price for a call is most of what watching them costs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import Access

Shape = tuple[int, ...]


def shapes_of(access: Access) -> tuple[Shape, Shape | None]:
    """The axes along which its cells vary, and its mask; equal for accesses that can be stacked."""
    active = access.mask.array
    return access.cell.shape, None if active is None else active.shape


def stacked(accesses: Sequence[Access]) -> tuple[np.ndarray, np.ndarray]:
    """The cells of accesses of equal shapes (int64) and who takes part (bool).

    The first axis of both counts the accesses; the other six are those of lanes, of length 1 where
    nothing varies.
    """
    active = [access.mask.array for access in accesses]
    cells = _piled([access.cell for access in accesses]).astype(np.int64, copy=False)
    if active[0] is None:
        return cells, np.ones((1,) * 7, bool)
    return cells, _piled([each for each in active if each is not None])


def _piled(values: Sequence[Value]) -> np.ndarray:
    array = np.asarray(values[0])[None] if len(values) == 1 else np.array(values)
    return array if array.ndim == 7 else array.reshape(len(values), *(1,) * 6)
