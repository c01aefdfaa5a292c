"""Twins of `course_lib.intrinsics` that name or take addresses in shared memory, and store there.

Addresses are those of `state/hopper.py`. Where a tile may begin is for this module to say.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.math_functions import elementwise
from course_lib.emulator.functions.tensor_cores import bfloat16_of
from course_lib.emulator.functions.wide_functions import FOUR_WORDS, HOME, an_array, taking
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Intrinsic,
    function,
    giving,
    need,
)
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.hopper import address_of, array_at, base_of, elements_at
from course_lib.emulator.state.lanes import WARP_SIZE, Value, spread
from course_lib.emulator.state.memory import Allocation, ArrayView
from course_lib.wording.sentences import say

ROW, ATOM = 128, 1024  # bytes of a swizzled row, and of eight: then the pattern begins again


def values_of_lanes(machine: Machine, *values: Any) -> Iterator[tuple[int, ...]]:
    """Each active lane's number in the space, and its values."""
    lanes = np.flatnonzero(machine.active.full_array)
    columns = [spread(np.asarray(v), machine.space.shape).reshape(-1)[lanes] for v in values]
    yield from zip(lanes.tolist(), *(column.tolist() for column in columns), strict=True)


def swizzled(address: np.ndarray) -> np.ndarray:
    """Where a byte lies with the 128-byte swizzle: row r's piece p at place p ^ (r % 8)."""
    result: np.ndarray = address ^ ((address >> 7 & 7) << 4)
    return result


@function(
    f"{HOME}.shared_address", typing=taking(T.UINT32, an_array(1, 2, 4, 8, name="a shared array"))
)
def _address(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    return address_of(machine.memory, values[0])


@function(f"{HOME}.uniform", typing=giving(T.UINT32, 1))
def _uniform(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    rows = machine.space.warps_of(spread(values[0], machine.space.shape))
    first = np.repeat(rows[:, :, :1], WARP_SIZE, axis=2)
    return machine.convert(machine.space.from_warps(first), T.UINT32)


def array_at_or_refuse(machine: Machine, address: int) -> ArrayView:
    """The shared array in which an address lies. Raises KernelRejected if there is none."""
    array = array_at(machine.memory, address)
    if array is None:
        message = say("No shared array of this block has the address {address}.", address=address)
        raise rejection(
            "out-of-bounds-read",
            message,
            machine.line,
            "What was added to the address where the array begins?",
        )
    return array


def tile_at(
    machine: Machine, address: int, size: int, multiple: int, kind: str
) -> tuple[Allocation, int]:
    """The array in which a swizzled tile of `size` bytes lies, and where it begins there.

    It has to begin at a multiple of so many bytes. The swizzle goes by addresses, so the array has
    to promise where it begins. Raises KernelRejected if it begins elsewhere, or ends outside of the
    array.
    """
    view = array_at_or_refuse(machine, address)
    array = view.allocation
    begin = address - base_of(machine.memory, array)
    if array.alignment < ATOM:
        message = (
            "A tile with the 128-byte swizzle is in {name}, and nothing guarantees that this "
            "array begins at a multiple of {size} bytes."
        )
        promise = say("cuda.shared.array takes alignment={size}.", size=ATOM)
        raise rejection("wrong-index", message, machine.line, promise, name=view.name, size=ATOM)
    if begin % multiple:
        message = say(
            "The tile begins {begin} bytes into {name}. With the 128-byte swizzle this has to be "
            "a multiple of {multiple}.",
            begin=begin,
            name=view.name,
            multiple=multiple,
        )
        at = "How many bytes come before the tile?"
        raise rejection("wrong-index", message, machine.line, at)
    room = array.cells * array.dtype.itemsize
    if begin + size > room:
        message = (
            "The tile of {size} bytes begins at byte {begin} of {name}, which has only {room}."
        )
        code = "out-of-bounds-read" if kind == "load" else "out-of-bounds-write"
        room_for = "Is there room for all stages, or does an offset reach too far?"
        raise rejection(
            code, message, machine.line, room_for, size=size, begin=begin, name=view.name, room=room
        )
    return array, begin


def _store_words_at(
    machine: Machine, address: Value, dtype: np.dtype, numbers: Sequence[Value]
) -> None:
    """Store neighbours at each active lane's address."""
    if machine.active.empty:
        return
    lanes = machine.active.full_array
    places = spread(address, machine.space.shape)[lanes]
    array = array_at_or_refuse(machine, int(places[0]))
    if (places % np.uint32(dtype.itemsize)).any():
        message = say("Not every address here is a multiple of {size} bytes.", size=dtype.itemsize)
        hint = "What was added to the address of the array, and in which unit?"
        raise rejection("wrong-index", message, machine.line, hint)
    view, index = elements_at(machine.memory, array, address, dtype)
    machine.unit.store_wide(view, index, numbers, machine.active, machine.line)


def _store_at(count: int) -> Intrinsic:
    """Stores so many float32 at an address of shared memory."""

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> None:
        numbers = [machine.convert(value, T.FLOAT32) for value in values[1:]]
        _store_words_at(machine, values[0], T.FLOAT32, numbers)

    return Intrinsic(giving(T.NOTHING, 1 + count), run)


def _stmatrix(transposed: bool) -> Intrinsic:
    """Stores four 8 x 8 matrices; lane l points at row l % 8 of matrix l // 8."""

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> None:
        space = machine.space
        words = np.stack([space.warps_of(spread(word, space.shape)) for word in values[1]])
        words = words.reshape(4, -1, WARP_SIZE)
        halves = np.ascontiguousarray(words).view(T.UINT16).reshape(4, -1, 8, 8)
        if transposed:
            halves = np.ascontiguousarray(halves.swapaxes(2, 3))
        rows = halves.view(T.UINT32).swapaxes(0, 1).reshape(-1, WARP_SIZE, 4)
        numbers = [space.from_warps(np.ascontiguousarray(rows[:, :, i])) for i in range(4)]
        _store_words_at(machine, values[0], T.UINT32, numbers)

    return Intrinsic(taking(T.NOTHING, ("an address", None), FOUR_WORDS), run)


def _pack(first: Value, second: Value) -> Value:
    low, high = (bfloat16_of(np.asarray(v, T.FLOAT32)).astype(T.UINT32) for v in (first, second))
    return low | high << np.uint32(16)


def _floats(kinds: list[np.dtype]) -> np.dtype:
    need(all(T.is_float(kind) for kind in kinds), "needs float32")
    return T.UINT32


INTRINSICS[f"{HOME}.store_shared"] = _store_at(1)
INTRINSICS[f"{HOME}.store_shared2"] = _store_at(2)
INTRINSICS[f"{HOME}.stmatrix_x4"] = _stmatrix(transposed=False)
INTRINSICS[f"{HOME}.stmatrix_x4_trans"] = _stmatrix(transposed=True)
INTRINSICS[f"{HOME}.pack_bf16"] = elementwise(_pack, _floats, operands=lambda _: T.FLOAT32, low=2)
