"""HMMA: a product of small matrices that a warp holds in its registers, spread over the lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from course_lib.compiled_counts.operands import (
    WARP,
    LaneRegisters,
    NotFollowed,
    Operand,
    Predicate,
    Register,
)
from course_lib.compiled_counts.whole_numbers import Modifiers, Operation

_GROUP, _IN_GROUP = np.arange(WARP) // 4, np.arange(WARP) % 4
ROWS, COLUMNS = 16, 8
# By shape: steps of k for elements of 16 bits, or of 32 (TF32).
_STEPS = {"16816": 16, "1688": 8, "1684": 4}


def multiply(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """D = A B + C for 16 x 8 results in float32, of float16, bfloat16 or TF32."""
    result, a, b, c = [operand for operand in given if not isinstance(operand, Predicate)][:4]
    steps = next((_STEPS[modifier] for modifier in how if modifier in _STEPS), 0)
    if not steps or "F32" not in how or not isinstance(a, Register) or not isinstance(b, Register):
        raise NotFollowed(f"HMMA.{'.'.join(sorted(how))}")
    read = _reader(lanes, how)
    per_register = 1 if "TF32" in how else 2
    warps = lanes.count // WARP
    left = np.zeros((warps, ROWS, steps), np.float32)
    right = np.zeros((warps, steps, COLUMNS), np.float32)
    for part in range(steps // (4 * per_register)):
        values = read(b, part)
        for at in range(per_register):
            k = 4 * per_register * part + per_register * _IN_GROUP + at
            right[:, k, _GROUP] = values[at]
            for half in (0, 1):
                left[:, _GROUP + 8 * half, k] = read(a, 2 * part + half)[at]
    product = np.matmul(left, right)
    for at in range(4):
        value = product[:, _GROUP + 8 * (at // 2), 2 * _IN_GROUP + at % 2].reshape(-1)
        held = np.broadcast_to(lanes.word(c, at), (lanes.count,))
        lanes.put(result, value + held.view(np.float32), at)


def _reader(
    lanes: LaneRegisters, how: Modifiers
) -> Callable[[Operand, int], tuple[np.ndarray, ...]]:
    """Reads a register's elements, as float32 in rows of warps: one of TF32, or two halves."""

    def read(operand: Operand, above: int) -> tuple[np.ndarray, ...]:
        word = np.broadcast_to(lanes.word(operand, above), (lanes.count,))
        if "TF32" in how:
            return ((word & np.uint32(0xFFFFE000)).view(np.float32).reshape(-1, WARP),)
        halves = (word & np.uint32(0xFFFF), word >> np.uint32(16))
        if "BF16" in how:
            bits = ((half << np.uint32(16)).view(np.float32) for half in halves)
        else:
            bits = (half.astype(np.uint16).view(np.float16).astype(np.float32) for half in halves)
        return tuple(bit.reshape(-1, WARP) for bit in bits)

    return read


OPERATIONS: dict[str, Operation] = {"HMMA": multiply}
