"""Instructions in which the lanes of a warp see each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.compiled_counts.operands import (
    ALWAYS,
    WARP,
    LaneRegisters,
    NotFollowed,
    Operand,
    Predicate,
)
from course_lib.compiled_counts.whole_numbers import Modifiers, Operation

_REDUCE = {"SUM": np.add, "MIN": np.minimum, "MAX": np.maximum,
           "AND": np.bitwise_and, "OR": np.bitwise_or, "XOR": np.bitwise_xor}  # fmt: skip


def lane_numbers(lanes: LaneRegisters) -> np.ndarray:
    """Each lane's number within its warp: int64."""
    return np.arange(lanes.count, dtype=np.int64) % WARP


def shuffle(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """SHFL: each lane reads a register of another one of its warp."""
    out, result, source, by, limits = given
    lane = lane_numbers(lanes)
    step, packed = lanes.integer(by).astype(np.int64) & 31, lanes.integer(limits).astype(np.int64)
    segment, clamp = (packed >> 8) & 31, packed & 31
    first, last = lane & segment, (lane & segment) | (clamp & ~segment)
    if "UP" in how:
        other = lane - step
        inside = other >= last
    elif "DOWN" in how:
        other = lane + step
        inside = other <= last
    else:
        other = lane ^ step if "BFLY" in how else first | (step & ~segment)
        inside = other <= last
    other = np.where(inside, other, lane)
    place = np.arange(lanes.count) // WARP * WARP + other
    value = np.broadcast_to(lanes.integer(source), (lanes.count,))[place]
    lanes.put(result, value)
    lanes.set_predicate(out, inside)


def vote(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """VOTE: a mask of the lanes where a predicate holds, and whether it is any or all of them."""
    *results, out, source = given
    active = lanes.active.reshape(-1, WARP)
    held = np.broadcast_to(lanes.predicate(source), (lanes.count,)).reshape(-1, WARP) & active
    ballot = (held.astype(np.uint64) << np.arange(WARP, dtype=np.uint64)).sum(axis=1)
    for result in results:
        lanes.put(result, np.repeat(ballot, WARP).astype(np.uint32))
    some, every = held.any(axis=1), (held | ~active).all(axis=1)
    verdicts = {"EQ": every | ~some, "ALL": every}
    verdict = next((verdicts[modifier] for modifier in how if modifier in verdicts), some)
    lanes.set_predicate(out, np.repeat(verdict, WARP))


def to_uniform(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """R2UR: the first active lane's register for the whole warp."""
    operands = [operand for operand in given if not isinstance(operand, Predicate)]
    value = np.broadcast_to(lanes.integer(operands[1]), (lanes.count,)).reshape(-1, WARP)
    first = lanes.active.reshape(-1, WARP).argmax(axis=1)
    chosen = value[np.arange(len(value)), first]
    lanes.put(operands[0], np.repeat(chosen, WARP))


def reduce(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """REDUX: one result from the active lanes of a warp."""
    name = next((modifier for modifier in how if modifier in _REDUCE), "SUM")
    signed = "S32" in how
    read = lanes.signed(given[1]) if signed else lanes.integer(given[1]).astype(np.int64)
    rows = np.broadcast_to(read, (lanes.count,)).reshape(-1, WARP)
    active = lanes.active.reshape(-1, WARP)
    result = np.zeros(len(rows), np.int64)
    for warp in np.flatnonzero(active.any(axis=1)):
        result[warp] = _REDUCE[name].reduce(rows[warp][active[warp]])
    lanes.put(given[0], np.repeat(result, WARP))


def match(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """MATCH.ANY: a mask of the lanes that hold the same value."""
    operands = [operand for operand in given if not isinstance(operand, Predicate)]
    if "ANY" not in how or "U64" in how:
        raise NotFollowed(f"MATCH.{'.'.join(sorted(how))}")
    value = np.broadcast_to(lanes.integer(operands[1]), (lanes.count,)).reshape(-1, WARP)
    active = lanes.active.reshape(-1, WARP)
    same = (value[:, :, None] == value[:, None, :]) & active[:, None, :]
    found = (same.astype(np.uint64) << np.arange(WARP, dtype=np.uint64)).sum(axis=2)
    lanes.put(operands[0], found.reshape(-1).astype(np.uint32))


def elect(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """ELECT: one lane of the warp, the first active one."""
    out = next(
        operand for operand in given if isinstance(operand, Predicate) and operand.number != ALWAYS
    )
    first = lanes.active.reshape(-1, WARP).argmax(axis=1)
    lanes.set_predicate(out, lane_numbers(lanes) == np.repeat(first, WARP))


OPERATIONS: dict[str, Operation] = {
    "SHFL": shuffle,
    **dict.fromkeys(("VOTE", "VOTEU"), vote),
    "R2UR": to_uniform,
    "REDUX": reduce,
    "MATCH": match,
    "ELECT": elect,
}
