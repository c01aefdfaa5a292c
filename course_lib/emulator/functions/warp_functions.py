"""Functions in which the lanes of a warp, or the threads of a block, see each other's values.

Shuffles, votes, matches, the voting barriers, and operations on the bits of an integer. They
join the table in `intrinsics.py`. A lane that reads the value of a lane that takes no part gets
poison: on a GPU that value is undefined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Barrier,
    Intrinsic,
    Keywords,
    Typed,
    elementwise,
    need,
    scalars,
    supported,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import WARP_SIZE, Value
from course_lib.emulator.state.memory import poison
from course_lib.sentences import say

# The types that can be shuffled; others are converted to the first that holds them.
_SHUFFLED = (T.INT32, T.INT64, T.FLOAT32, T.FLOAT64)
_LANE_BITS = np.uint64(1) << np.arange(WARP_SIZE, dtype=np.uint64)


def _rows(machine: Runner, value: Any, fill: object = 0) -> np.ndarray:
    """A value as one row of 32 lanes for every warp of the space."""
    return machine.space.warps_of(np.broadcast_to(value, machine.space.shape), fill)


def _active_rows(machine: Runner) -> np.ndarray:
    return machine.space.warps_of(machine.active.full_array, False)


def _meeting_rows(machine: Runner, node: ast.Call, mask: Value) -> np.ndarray:
    """The lanes that take part; those that the mask names and that do not are reported.

    A lane that has returned from the kernel need not come any more.
    """
    active = _active_rows(machine)
    name = ast.unparse(node.func).rsplit(".", 1)[-1]
    masks = _rows(machine, mask).astype(np.int64).astype(np.uint64)
    unnamed = active & ((masks & _LANE_BITS) == 0)
    if unnamed.any():
        machine.observers.unnamed(name, unnamed, machine.line)
    if machine.active.array is None:
        return active
    frame = machine.frame
    while frame.parent is not None:
        frame = frame.parent
    if machine.active is not frame.live:
        named = np.bitwise_or.reduce(np.where(active, masks, np.uint64(0)), axis=2, keepdims=True)
        live = machine.space.warps_of(frame.live.full_array, False)
        absent = ((named & _LANE_BITS) != 0) & live & ~active
        if absent.any():
            machine.observers.left_out(name, active, absent, machine.line)
    return active


# -- shuffles -----------------------------------------------------------------------------------


def _shuffle_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    value = scalars(arguments, 3)[1]
    for kind in _SHUFFLED:
        if value == kind or (value.kind in "iub" and np.can_cast(value, kind)):
            return Typed(kind)
    return Typed(T.INT64)


def _shuffle(source: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Intrinsic:
    """A shuffle; `source` gives the lane to read from, of this lane and the last argument."""

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
        dtype = machine.typing.types[node]
        assert isinstance(dtype, np.dtype)
        rows = _rows(machine, machine.convert(values[1], dtype))
        lane = np.arange(WARP_SIZE)
        wanted = source(lane, _rows(machine, values[2]).astype(np.int64))
        inside = (wanted >= 0) & (wanted < WARP_SIZE)
        wanted = np.where(inside, wanted, lane)
        given = np.where(_meeting_rows(machine, node, values[0]), rows, poison(dtype))
        return machine.space.from_warps(np.take_along_axis(given, wanted, axis=2))

    return Intrinsic(_shuffle_typing, run)


INTRINSICS["numba.cuda.shfl_sync"] = _shuffle(lambda lane, argument: argument % WARP_SIZE)
INTRINSICS["numba.cuda.shfl_up_sync"] = _shuffle(lambda lane, argument: lane - argument)
INTRINSICS["numba.cuda.shfl_down_sync"] = _shuffle(lambda lane, argument: lane + argument)
INTRINSICS["numba.cuda.shfl_xor_sync"] = _shuffle(lambda lane, argument: lane ^ argument)


# -- votes and matches --------------------------------------------------------------------------


def _vote(decide: Callable[[np.ndarray, np.ndarray], Any], result: np.dtype) -> Intrinsic:
    """A vote; `decide` gets which lanes take part and which of them say yes, row by row."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        scalars(arguments, 2)
        return Typed(result)

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
        active = _meeting_rows(machine, node, values[0])
        yes = _rows(machine, machine.truth(values[1]), False) & active
        verdict = np.broadcast_to(decide(active, yes)[:, :, None], active.shape)
        return machine.space.from_warps(verdict.astype(result))

    return Intrinsic(typing, run)


def _bits(lanes: np.ndarray) -> np.ndarray:
    """The lanes (last axis) as the bits of an integer; as int32, like the hardware register."""
    result: np.ndarray = (lanes @ _LANE_BITS).astype(np.uint32).astype(np.int32)
    return result


INTRINSICS["numba.cuda.all_sync"] = _vote(lambda a, yes: (yes == a).all(axis=2), T.BOOL)
INTRINSICS["numba.cuda.any_sync"] = _vote(lambda a, yes: yes.any(axis=2), T.BOOL)
INTRINSICS["numba.cuda.eq_sync"] = _vote(
    lambda a, yes: (yes == a).all(axis=2) | ~yes.any(axis=2), T.BOOL
)
INTRINSICS["numba.cuda.ballot_sync"] = _vote(lambda a, yes: _bits(yes), T.INT32)


def _activemask_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not arguments, "takes no arguments")
    return Typed(T.UINT32)


def _activemask(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
    active = _active_rows(machine)
    bits = np.broadcast_to(_bits(active)[:, :, None], active.shape)
    return machine.space.from_warps(bits.astype(np.uint32))


def _lanes_below(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
    lane = (machine.space.thread_in_block % WARP_SIZE).astype(np.uint64)
    return ((np.uint64(1) << lane) - np.uint64(1)).astype(np.uint32)


INTRINSICS["numba.cuda.activemask"] = Intrinsic(_activemask_typing, _activemask)
INTRINSICS["numba.cuda.lanemask_lt"] = Intrinsic(_activemask_typing, _lanes_below)


def _equal_lanes(
    machine: Runner, node: ast.Call, values: list[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Which lanes take part, and for each lane which of them hold the same value."""
    rows, active = _rows(machine, values[1]), _meeting_rows(machine, node, values[0])
    same = rows[:, :, :, None] == rows[:, :, None, :]
    return active, same & active[:, :, None, :]


def _match_any(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
    _, same = _equal_lanes(machine, node, values)
    return machine.space.from_warps(_bits(same))


def _match_all(machine: Runner, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
    active, same = _equal_lanes(machine, node, values)
    agreed = (same == active[:, :, None, :]).all(axis=3)
    bits = np.where(agreed, _bits(active)[:, :, None], np.int32(0))
    return machine.space.from_warps(bits), machine.space.from_warps(agreed)


def _match_typing(result: T.Type) -> Callable[[Arguments, Keywords], Typed]:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        scalars(arguments, 2)
        return Typed(result)

    return typing


INTRINSICS["numba.cuda.match_any_sync"] = Intrinsic(_match_typing(T.INT32), _match_any)
INTRINSICS["numba.cuda.match_all_sync"] = Intrinsic(
    _match_typing(T.TupleType((T.INT32, T.BOOL))), _match_all
)


# -- barriers that vote -------------------------------------------------------------------------


def _block_vote(decide: Callable[[np.ndarray, np.ndarray], Any]) -> Intrinsic:
    """A barrier that tells every thread how the threads of its block voted."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        scalars(arguments, 1)
        return Typed(T.INT32)

    def arrive(machine: Runner, node: ast.Call, values: list[Any]) -> tuple[np.ndarray, ...]:
        """Vote; the lanes that have voted so far, and those that said yes."""
        voted, yes = machine.memory.ballot(node, machine.unit.interval)
        voted |= machine.active.full_array
        yes |= machine.active.full_array & machine.truth(values[0])
        return voted, yes

    def run(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
        ((voted, yes),) = values
        space = machine.space
        counts = decide(voted.reshape(space.block_count, -1), yes.reshape(space.block_count, -1))
        return counts.astype(np.int32).reshape(*space.blocks, 1, 1, 1)

    return Barrier(typing, run, arrive)


INTRINSICS["numba.cuda.syncthreads_count"] = _block_vote(lambda voted, yes: yes.sum(axis=1))
INTRINSICS["numba.cuda.syncthreads_and"] = _block_vote(
    lambda voted, yes: (yes == voted).all(axis=1)
)
INTRINSICS["numba.cuda.syncthreads_or"] = _block_vote(lambda voted, yes: yes.any(axis=1))


# -- bits of an integer -------------------------------------------------------------------------


def _unsigned(value: Value) -> Value:
    return value.view(np.dtype(f"u{value.dtype.itemsize}"))


def _width(value: Value) -> int:
    return 8 * value.dtype.itemsize


def _count_leading_zeros(value: Value) -> Value:
    rest, zeros = np.asarray(_unsigned(value)), np.full(np.shape(value), _width(value))
    for _ in range(_width(value)):
        zeros = np.where(rest != 0, zeros - 1, zeros)
        rest = rest >> rest.dtype.type(1)
    return zeros[()]


def _find_first_set(value: Value) -> Value:
    bits = np.asarray(_unsigned(value))
    lowest = bits & (~bits + bits.dtype.type(1))
    place = _width(value) - np.asarray(_count_leading_zeros(lowest))
    return np.where(bits == 0, 0, place)[()]


def _reverse_bits(value: Value) -> Value:
    rest = np.asarray(_unsigned(value))
    one, result = rest.dtype.type(1), np.zeros_like(rest)
    for _ in range(_width(value)):
        result = (result << one) | (rest & one)
        rest = rest >> one
    return result[()]


def _integer(kinds: list[np.dtype]) -> np.dtype:
    cast = "A cast such as np.int64(…) says which bits are meant."
    said = say("needs an integer here, not {type}", type=kinds[0])
    supported(T.is_integer(kinds[0]), said, cast)
    return kinds[0]


def _place_of_bit(kinds: list[np.dtype]) -> np.dtype:
    need(
        _integer(kinds).itemsize >= 4,
        say("needs an integer of 32 or 64 bits, not {type}", type=kinds[0]),
    )
    return T.UINT32


def _reversible(kinds: list[np.dtype]) -> np.dtype:
    return T.UINT64 if _integer(kinds).itemsize == 8 else T.UINT32


INTRINSICS["numba.cuda.popc"] = elementwise(
    lambda value: np.bitwise_count(_unsigned(value)), _integer
)
INTRINSICS["numba.cuda.clz"] = elementwise(_count_leading_zeros, _integer)
INTRINSICS["numba.cuda.ffs"] = elementwise(_find_first_set, _place_of_bit, _integer)
INTRINSICS["numba.cuda.brev"] = elementwise(_reverse_bits, _reversible)
INTRINSICS["numba.cuda.cbrt"] = elementwise(np.cbrt, lambda kinds: T.math_type(kinds[0]), flops=1)


# -- constant memory ----------------------------------------------------------------------------


def _constant_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1, "takes one array")
    kind = arguments[0].type
    need(isinstance(kind, T.ArrayType), "needs an array")
    mend = "Name an array that is defined outside the kernel."
    supported(not getattr(kind, "writable", True), "needs an array from outside here", mend)
    return Typed(kind)


INTRINSICS["numba.cuda.const.array_like"] = Intrinsic(
    _constant_typing, lambda machine, node, values: values[0]
)
