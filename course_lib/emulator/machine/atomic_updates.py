"""What atomic functions do to cells: as if the lanes did so one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.state.lanes import Value


@dataclass(frozen=True, eq=False)
class AtomicUpdate:
    """What an atomic function does to a cell.

    Attributes:
        operands: its values, one or two.
        combine: from the old value and the operands to the new one.
        returns_old: whether the kernel uses the value that each lane found.
    """

    operands: Sequence[Value]
    combine: Callable[[Any, Any], Any]
    returns_old: bool

    @property
    def one_by_one(self) -> bool:
        """Whether the lanes take turns: NumPy does many at once, but tells no old values."""
        return self.returns_old or not isinstance(self.combine, np.ufunc)

    def carry_out(
        self, storage: np.ndarray, place: np.ndarray, operands: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Update cells; the value that each lane found, or zeros if nobody asks."""
        old = np.zeros(len(place), storage.dtype)
        if isinstance(self.combine, np.ufunc) and not self.returns_old:
            self.combine.at(storage, place, operands[0])
            return old
        for lane, cell in enumerate(place):
            old[lane] = storage[cell]
            operand = operands[0][lane] if len(operands) == 1 else tuple(v[lane] for v in operands)
            storage[cell] = self.combine(storage[cell], operand)
        return old
