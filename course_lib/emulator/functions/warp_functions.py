"""Functions across threads: barriers, fences, shuffles, votes and matches; and bit counts."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.functions.math_functions import elementwise
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Barrier,
    Intrinsic,
    Keywords,
    Scope,
    Typed,
    function,
    giving,
    need,
    scalars,
    supported,
)
from course_lib.emulator.language.names import Reference
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import WARP_SIZE, Value
from course_lib.emulator.state.memory import poison
from course_lib.wording.sentences import say


def _ignore(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    """Nothing: a barrier only makes threads wait, and no time passes here."""


def _fence(scope: Scope) -> Intrinsic:
    """One thread's own accesses are in order here; observers say where a fence is missing."""

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> None:
        machine.observers.fence(machine.active, scope)

    return Intrinsic(giving(T.NOTHING, 0), run)


def _nothing_failed(machine: Machine, node: ast.Call, values: list[Any]) -> np.int32:
    return np.int32(0)


INTRINSICS["numba.cuda.syncthreads"] = Barrier(giving(T.NOTHING, 0), _ignore, _ignore)
INTRINSICS["numba.cuda.threadfence"] = INTRINSICS["numba.cuda.threadfence_system"] = _fence("grid")
INTRINSICS["numba.cuda.threadfence_block"] = _fence("block")
GRID = "numba.cuda.cg.GridGroup"
INTRINSICS["numba.cuda.cg.this_grid"] = Intrinsic(giving(T.Static(Reference(GRID)), 0), _ignore)
INTRINSICS[f"{GRID}.sync"] = Barrier(giving(T.INT32, 0), _nothing_failed, _ignore, "grid")
INTRINSICS["numba.cuda.nanosleep"] = Intrinsic(giving(T.NOTHING, 1), _ignore)


# --- Shuffles, votes, matches, `syncwarp`, block-wide votes, bit counts ---------------------------
# Shuffles, votes, matches, `syncwarp`, the voting barriers, and operations on the bits of an
# integer. They join the table in `intrinsics.py`. A lane that reads the value of a lane that takes
# no part gets poison: on a GPU that value is undefined.


# The types that can be shuffled; others are converted to the first that holds them.
_SHUFFLED = (T.INT32, T.INT64, T.FLOAT32, T.FLOAT64)
_LANE_BITS = np.uint64(1) << np.arange(WARP_SIZE, dtype=np.uint64)
_ALL_LANES = np.uint64(2**WARP_SIZE - 1)


def _rows(machine: Machine, value: Any, fill: object = 0) -> np.ndarray:
    """A value as one row of 32 lanes for every warp of the space."""
    return machine.space.warps_of(np.broadcast_to(value, machine.space.shape), fill)


def _rows_or_one(machine: Machine, value: Any) -> np.ndarray:
    """The same for whole numbers; one row for all warps where all lanes have the same number."""
    if np.size(value) == 1:
        return np.full((1, 1, WARP_SIZE), value, np.int64)
    return _rows(machine, value).astype(np.int64)


def _of_lanes(rows: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """What the lanes hold whose numbers are given: a row for each warp, or one row for all."""
    if lanes.shape[:2] == (1, 1):
        held: np.ndarray = rows[:, :, lanes[0, 0]]
        return held
    return np.take_along_axis(rows, np.broadcast_to(lanes, rows.shape), axis=2)


def _active_rows(machine: Machine) -> np.ndarray:
    return machine.space.warps_of(machine.active.full_array, False)


@dataclass(frozen=True)
class Meeting:
    """The lanes that execute a warp-wide function together; all fields are rows of warps."""

    active: np.ndarray  # the lanes that take part
    absent: np.ndarray  # those that a mask names, that have not ended, and that do not come
    masks: np.ndarray  # the mask that each lane passes; one row for all warps if it is the same

    def groups(self) -> np.ndarray:
        """For each lane those that meet it here, as bits."""
        here: np.ndarray = self.masks & (self.active @ _LANE_BITS)[:, :, None]
        return here

    def has(self, lanes: np.ndarray) -> np.ndarray:
        """Whether each lane's partner, given by its number, takes part and is named."""
        named = (self.masks & _LANE_BITS[lanes]) != 0
        given: np.ndarray = named & _of_lanes(self.active, lanes)
        return given


def meet(machine: Machine, node: ast.Call, mask: Value) -> Meeting:
    """Who takes part; lanes that the mask names and that do not arrive are reported.

    A lane that has returned from the kernel need not come any more.
    """
    machine.observers.meets(machine.active)
    active = _active_rows(machine)
    name = ast.unparse(node.func).rsplit(".", 1)[-1]
    masks = _rows_or_one(machine, mask).astype(np.uint64) & _ALL_LANES
    unnamed = active & ((masks & _LANE_BITS) == 0)
    if unnamed.any():
        machine.observers.unnamed(name, unnamed, machine.line)
    absent = np.zeros_like(active)
    frame = machine.frame
    while frame.parent is not None:
        frame = frame.parent
    if machine.active.array is not None and machine.active is not frame.live:
        named = np.bitwise_or.reduce(np.where(active, masks, np.uint64(0)), axis=2, keepdims=True)
        live = machine.space.warps_of(frame.live.full_array, False)
        absent = ((named & _LANE_BITS) != 0) & live & ~active
        if absent.any():
            machine.observers.left_out(name, active, absent, machine.line)
    return Meeting(active, absent, masks)


# -- shuffles -----------------------------------------------------------------------------------


def _shuffle_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    value = scalars(arguments, 3)[1]
    for kind in _SHUFFLED:
        if value == kind or (value.kind in "iub" and np.can_cast(value, kind)):
            return Typed(kind)
    return Typed(T.INT64)


def _shuffle(source: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Intrinsic:
    """A shuffle; `source` gives the lane to read from, of this lane and the last argument."""

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        dtype = machine.number_type(node)
        rows = _rows(machine, machine.convert(values[1], dtype))
        lane = np.arange(WARP_SIZE)
        wanted = source(lane, _rows_or_one(machine, values[2]))
        inside = (wanted >= 0) & (wanted < WARP_SIZE)
        wanted = np.where(inside, wanted, lane)
        meeting = meet(machine, node, values[0])
        undefined = meeting.active & ~meeting.has(wanted) & (wanted != lane)
        given = _of_lanes(rows, wanted)
        if undefined.any():
            name = ast.unparse(node.func).rsplit(".", 1)[-1]
            instead = machine.given.instead_of(name, machine.line, dtype, machine.space)
            there = poison(dtype) if instead is None else _rows(machine, instead)
            given = np.where(undefined, there, given)
            told = undefined & ~_of_lanes(meeting.absent, wanted)
            if told.any():
                wanted = np.broadcast_to(wanted, rows.shape)
                machine.observers.no_such_lane(name, told, wanted, meeting.active, machine.line)
        return machine.space.from_warps(given)

    return Intrinsic(_shuffle_typing, run)


INTRINSICS["numba.cuda.shfl_sync"] = _shuffle(lambda lane, argument: argument % WARP_SIZE)
INTRINSICS["numba.cuda.shfl_up_sync"] = _shuffle(lambda lane, argument: lane - argument)
INTRINSICS["numba.cuda.shfl_down_sync"] = _shuffle(lambda lane, argument: lane + argument)
INTRINSICS["numba.cuda.shfl_xor_sync"] = _shuffle(lambda lane, argument: lane ^ argument)


# -- votes and matches --------------------------------------------------------------------------


def _vote(decide: Callable[[np.ndarray, np.ndarray], Any], result: np.dtype) -> Intrinsic:
    """A vote; `decide` gets, as bits for each lane, who votes with it and which of them say yes."""

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        groups = meet(machine, node, values[0]).groups()
        yes = _rows(machine, machine.truth(values[1]), False) @ _LANE_BITS
        return machine.space.from_warps(decide(groups, groups & yes[:, :, None]).astype(result))

    return Intrinsic(giving(result, 2), run)


def _as_register(bits: np.ndarray) -> np.ndarray:
    """Bits as int32, like the hardware's register."""
    return bits.astype(np.uint32).astype(np.int32)


INTRINSICS["numba.cuda.all_sync"] = _vote(lambda group, yes: yes == group, T.BOOL)
INTRINSICS["numba.cuda.any_sync"] = _vote(lambda group, yes: yes != 0, T.BOOL)
INTRINSICS["numba.cuda.eq_sync"] = _vote(lambda group, yes: (yes == group) | (yes == 0), T.BOOL)
INTRINSICS["numba.cuda.ballot_sync"] = _vote(lambda group, yes: _as_register(yes), T.INT32)


def _no_arguments(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not arguments, "takes no arguments")
    return Typed(T.UINT32)


@function("numba.cuda.activemask", typing=_no_arguments)
def _activemask(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    active = _active_rows(machine)
    bits = np.broadcast_to((active @ _LANE_BITS)[:, :, None], active.shape)
    return machine.space.from_warps(bits.astype(np.uint32))


@function("numba.cuda.lanemask_lt", typing=_no_arguments)
def _lanes_below(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    lane = (machine.space.thread_in_block % WARP_SIZE).astype(np.uint64)
    return ((np.uint64(1) << lane) - np.uint64(1)).astype(np.uint32)


def _equal_lanes(
    machine: Machine, node: ast.Call, values: list[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """For each lane, as bits: which lanes it meets, and which of them hold the same value."""
    rows, groups = _rows(machine, values[1]), meet(machine, node, values[0]).groups()
    same = rows[:, :, :, None] == rows[:, :, None, :]
    return groups, groups & (same @ _LANE_BITS)


@function("numba.cuda.match_any_sync", typing=giving(T.INT32, 2))
def _match_any(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    _, same = _equal_lanes(machine, node, values)
    return machine.space.from_warps(_as_register(same))


@function("numba.cuda.match_all_sync", typing=giving(T.TupleType((T.INT32, T.BOOL)), 2))
def _match_all(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
    groups, same = _equal_lanes(machine, node, values)
    agreed = same == groups
    bits = np.where(agreed, _as_register(groups), np.int32(0))
    return machine.space.from_warps(bits), machine.space.from_warps(agreed)


# -- syncwarp -----------------------------------------------------------------------------------


@function("numba.cuda.syncwarp", typing=giving(T.NOTHING, 0, 1))
def _syncwarp(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    meet(machine, node, values[0] if values else _ALL_LANES)
    machine.observers.syncwarp(machine.active)


# -- barriers that vote -------------------------------------------------------------------------


def _block_vote(decide: Callable[[np.ndarray, np.ndarray], Any]) -> Intrinsic:
    """A barrier that tells every thread how the threads of its block voted."""

    def arrive(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[np.ndarray, ...]:
        """Vote; the lanes that have voted so far, and those that said yes."""
        voted, yes = machine.memory.ballot(node, machine.unit.interval)
        voted |= machine.active.full_array
        yes |= machine.active.full_array & machine.truth(values[0])
        return voted, yes

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        ((voted, yes),) = values
        space = machine.space
        counts = decide(voted.reshape(space.block_count, -1), yes.reshape(space.block_count, -1))
        return counts.astype(np.int32).reshape(*space.blocks, 1, 1, 1)

    return Barrier(giving(T.INT32, 1), run, arrive)


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
