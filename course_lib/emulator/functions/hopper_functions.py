"""Hopper's functions in a kernel: mbarriers, TMA loads and stores, clusters, named barriers.

They are the emulator's side of `course_lib.intrinsics` for compute capability 9.0. A copy by TMA is
only started here: `machine/engine.py` carries it out and decides when its bytes arrive,
`state/hopper.py` has the boxes and barriers, `warpgroup_products.py` wgmma.
"""

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.address_functions import (
    ROW,
    array_at_or_refuse,
    swizzled,
    tile_at,
    values_of_lanes,
)
from course_lib.emulator.functions.wide_functions import HOME, Parameter, an_array, taking
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Beside,
    Typed,
    WaitFunction,
    function,
    giving,
    need,
)
from course_lib.emulator.machine.engine import EngineTask, Waiting
from course_lib.emulator.machine.events import EngineAccess
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.hopper import Box, Key, Phases, base_of, bytes_of
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView
from course_lib.wording.sentences import say

BARRIER = 8  # bytes of an mbarrier


# --- mbarriers ------------------------------------------------------------------------------------


def _key(machine: Machine, lane: int, address: int) -> Key:
    return lane // machine.space.block_size, address


def _touch(machine: Machine, lane: int, block: int, address: int, kind: str) -> None:
    """Record that a thread makes a block's barrier (a store) or uses it (an atomic operation)."""
    allocation = array_at_or_refuse(machine, address).allocation
    begin = np.array([address - base_of(machine.memory, allocation)])
    touched = EngineAccess(lane, lane, kind, allocation, begin, block, BARRIER, machine.line)
    machine.observers.by_agent(touched)


def _need_room_for_barrier(machine: Machine, view: ArrayView, address: int) -> None:
    begin = address - base_of(machine.memory, view.allocation)
    if begin % BARRIER or view.allocation.alignment < BARRIER:
        message = say(
            "A barrier needs an address that is a multiple of {size}, and nothing guarantees that "
            "byte {begin} of {name} has one.",
            size=BARRIER,
            begin=begin,
            name=view.name,
        )
        where = say("cuda.shared.array takes alignment={size}.", size=BARRIER)
        raise rejection("wrong-index", message, machine.line, where)


@function(f"{HOME}.mbarrier_init", typing=giving(T.NOTHING, 2))
def _init(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    for lane, address, count in values_of_lanes(machine, *values):
        _need_room_for_barrier(machine, array_at_or_refuse(machine, address), address)
        _touch(machine, lane, lane // machine.space.block_size, address, "store")
        machine.engine.make(_key(machine, lane, address), count, machine.line, lane)


@function(f"{HOME}.fence_mbarrier_init", typing=giving(T.NOTHING, 0))
def _fence_init(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    lanes = np.flatnonzero(machine.active.full_array).tolist()
    machine.engine.fence(lanes, ("copies", "blocks"))
    machine.observers.fence_async(machine.active)


def _ready(machine: Machine, lane: int, key: Key, address: int) -> bool:
    """Whether there is such a barrier; a finding says so if there is none."""
    if key in machine.engine.barriers:
        _touch(machine, lane, int(key[0]), address, "atomic")
        return True
    machine.observers.no_barrier(lane, address, machine.line)
    return False


@function(f"{HOME}.mbarrier_arrive", typing=giving(T.NOTHING, 1))
@function(f"{HOME}.mbarrier_arrive_with_bytes", typing=giving(T.NOTHING, 2))
def _arrive(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    for lane, address, *announced in values_of_lanes(machine, *values):
        key = _key(machine, lane, address)
        if _ready(machine, lane, key, address):
            machine.engine.arrive(key, [lane], machine.line, *announced)


@function(f"{HOME}.mbarrier_arrive_at", typing=giving(T.NOTHING, 3))
def _arrive_at(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    for lane, address, rank, wanted in values_of_lanes(machine, *values):
        key = machine.cluster_block(lane, rank), address
        if wanted and _ready(machine, lane, key, address):
            if key[0] != lane // machine.space.block_size:
                machine.engine.need_fence(key, "blocks", machine.line)
            machine.engine.arrive(key, [lane], machine.line)


def _begin_wait(machine: Machine, node: ast.Call, values: list[Any]) -> list[Waiting]:
    waits: dict[tuple[Key, int], list[int]] = {}
    for lane, address, parity in values_of_lanes(machine, *values):
        key = _key(machine, lane, address)
        if _ready(machine, lane, key, address):
            machine.engine.barriers[key].is_awaited = True
            waits.setdefault((key, parity), []).append(lane)
    return [
        Waiting(key, lanes, partial(_has_parity, parity)) for (key, parity), lanes in waits.items()
    ]


def _has_parity(parity: int, barrier: Phases) -> bool:
    return barrier.has_passed(parity)


def _is_later(phase: int, barrier: Phases) -> bool:
    return barrier.phase > phase


def is_over(machine: Machine, waiting: list[Waiting]) -> bool:
    """Whether everything that the lanes wait for has happened."""
    return all(wait.is_over(machine.engine.barriers[wait.key]) for wait in waiting)


def _after_wait(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    for wait in values[0]:
        phase = machine.engine.barriers[wait.key].phase - 1
        machine.engine.passed(wait.key, wait.lanes, phase)


INTRINSICS[f"{HOME}.mbarrier_wait"] = WaitFunction(
    giving(T.NOTHING, 2), _after_wait, _begin_wait, is_over
)


# --- Barriers of some warps, and of a cluster -----------------------------------------------------


def _meet(
    machine: Machine, groups: dict[Key, list[int]], expected: dict[Key, int]
) -> list[Waiting]:
    met = []
    for key, lanes in groups.items():
        if key not in machine.engine.barriers:
            machine.engine.make(key, expected[key], machine.line)
        phase = machine.engine.barriers[key].phase
        met.append(Waiting(key, lanes, partial(_is_later, phase)))
        machine.engine.arrive(key, lanes, machine.line)
    return met


def _meet_group(machine: Machine, node: ast.Call, values: list[Any]) -> list[Waiting]:
    groups: dict[Key, list[int]] = {}
    expected: dict[Key, int] = {}
    for lane, number, threads in values_of_lanes(machine, *values):
        key: Key = ("group", lane // machine.space.block_size, number)
        groups.setdefault(key, []).append(lane)
        expected[key] = threads
    return _meet(machine, groups, expected)


def _meet_cluster(machine: Machine, node: ast.Call, values: list[Any]) -> list[Waiting]:
    groups: dict[Key, list[int]] = {}
    for (lane,) in values_of_lanes(machine):
        groups.setdefault(("cluster", machine.cluster_block(lane, 0)), []).append(lane)
    threads = machine.cluster * machine.space.block_size
    return _meet(machine, groups, dict.fromkeys(groups, threads))


@function(f"{HOME}.group_arrive", typing=giving(T.NOTHING, 2))
def _arrive_only(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    _meet_group(machine, node, values)


@function(f"{HOME}.cluster_rank", typing=giving(T.UINT32, 0))
def _rank(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    x = machine.space.block_index[2]
    return machine.convert(x % np.int32(machine.cluster), T.UINT32)


def _need_registers(argument: Typed) -> None:
    count = argument.literal
    fits = isinstance(count, int) and count % 8 == 0 and 24 <= count <= 256
    need(fits, "takes a constant, a multiple of 8 from 24 to 256")


def _set_registers(change: Callable[[int, int], int]) -> Beside:
    """`change` makes a warp's new register count of its present one and the one it asks for."""

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> None:
        lanes = np.flatnonzero(machine.active.full_array)
        machine.observers.registers(lanes, int(np.max(values[0])), change, machine.line)

    return Beside(taking(T.NOTHING, ("a constant", _need_registers)), run)


INTRINSICS[f"{HOME}.group_sync"] = WaitFunction(
    giving(T.NOTHING, 2), _after_wait, _meet_group, is_over
)
INTRINSICS[f"{HOME}.cluster_sync"] = WaitFunction(
    giving(T.NOTHING, 0), _after_wait, _meet_cluster, is_over
)
INTRINSICS[f"{HOME}.more_registers"] = _set_registers(max)
INTRINSICS[f"{HOME}.fewer_registers"] = _set_registers(min)


# --- TMA: copies of boxes -------------------------------------------------------------------------


def _need_whole(argument: Typed) -> None:
    need(T.is_integer(argument.type), say("needs whole numbers, not {it}", it=argument))


def _need_coordinates(argument: Typed) -> None:
    kind = argument.type
    whole = isinstance(kind, T.TupleType) and all(map(T.is_integer, kind.items))
    need(whole, "needs a tuple of whole numbers as coordinates")


ADDRESS: Parameter = ("an address", _need_whole)
TENSOR_MAP = an_array(8, name="a tensor map")
COORDINATES: Parameter = ("a tuple of coordinates", _need_coordinates)
TO_LOAD: tuple[Parameter, ...] = (
    *(ADDRESS, TENSOR_MAP, COORDINATES),
    ("the address of a barrier", _need_whole),
)


@function(f"{HOME}.tma_prefetch", typing=taking(T.NOTHING, TENSOR_MAP))
def _prefetch(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    """Nothing that the emulator has to do."""


def box_at(tensor_map: ArrayView, first: Sequence[int]) -> Box:
    """The box of a tensor map that begins at these coordinates.

    Raises KernelRejected if the array is no tensor map, or has another number of axes.
    """
    described = tensor_map.allocation.described
    if described is None:
        message, hint = "{name} is not a tensor map.", "tensor_map(array, box) makes one."
        raise rejection("invalid-launch", message, None, hint, name=tensor_map.name)
    array, sizes = described
    if len(first) != len(sizes):
        message = "{name} describes an array with {axes} axes, and {count} coordinates were given."
        raise rejection(
            "wrong-index", message, None, name=tensor_map.name, axes=len(sizes), count=len(first)
        )
    return Box(array, sizes, first)


@function(f"{HOME}.tma_load", typing=taking(T.NOTHING, *TO_LOAD), kind=Beside)
@function(
    f"{HOME}.tma_load_multicast",
    typing=taking(T.NOTHING, *TO_LOAD, ("a mask", _need_whole)),
    kind=Beside,
)
def _load(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    to, tensor_map, start, barrier, *blocks = values
    columns = (to, barrier, *start, *blocks)
    for lane, place, at, *rest in values_of_lanes(machine, *columns):
        first = rest[: len(start)]
        targets = [lane // machine.space.block_size]
        if blocks:
            wanted = range(machine.cluster)
            targets = [machine.cluster_block(lane, i) for i in wanted if rest[-1] >> i & 1]
        _start_load(machine, lane, tensor_map, first, (place, at), targets)


def _start_load(
    machine: Machine,
    lane: int,
    tensor_map: ArrayView,
    first: Sequence[int],
    to: tuple[int, int],
    blocks: Sequence[int],
) -> None:
    """Start to copy a box of an array into the shared memory of some blocks."""
    line, agent = machine.line, machine.engine.agent([lane])
    place, barrier = to
    box = box_at(tensor_map, first)
    array, begin = tile_at(machine, place, box.bytes, ROW, "store")
    for block in blocks:
        if _ready(machine, lane, (block, barrier), barrier):
            machine.engine.need_fence((block, barrier), "copies", line)

    phases = [machine.engine.phase_of((block, barrier)) for block in blocks]

    def carry_out() -> None:
        contents = box.read()
        machine.observers.by_agent(
            EngineAccess(agent, lane, "load", box.allocation, box.starts, -1, box.width, line)
        )
        where = swizzled(begin + np.arange(contents.size))
        for block, phase in zip(blocks, phases, strict=True):
            memory, key = bytes_of(machine.memory, array, block), (block, barrier)
            for first, last in machine.engine.parts(key, contents.size, ROW):
                memory[where[first:last]] = contents[first:last]
                rows = begin + np.arange(first, last, ROW)
                machine.observers.by_agent(
                    EngineAccess(agent, lane, "store", array, rows, block, ROW, line)
                )
                machine.engine.come(key, agent, last - first, phase, line)

    machine.engine.start(EngineTask(agent, lane, carry_out))


@function(
    f"{HOME}.tma_store", typing=taking(T.NOTHING, TENSOR_MAP, COORDINATES, ADDRESS), kind=Beside
)
def _store(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    tensor_map, start, source = values
    for lane, place, *first in values_of_lanes(machine, source, *start):
        _start_store(machine, lane, tensor_map, first, place)


def _start_store(
    machine: Machine, lane: int, tensor_map: ArrayView, first: Sequence[int], place: int
) -> None:
    """Start to copy a box from the lane's block to an array."""
    line, agent = machine.line, machine.engine.agent([lane])
    box, block = box_at(tensor_map, first), lane // machine.space.block_size
    array, begin = tile_at(machine, place, box.bytes, ROW, "load")

    def carry_out() -> None:
        rows = begin + np.arange(0, box.bytes, ROW)
        machine.observers.by_agent(EngineAccess(agent, lane, "load", array, rows, block, ROW, line))
        where = swizzled(begin + np.arange(box.bytes))
        box.write(bytes_of(machine.memory, array, block)[where])
        machine.observers.by_agent(
            EngineAccess(agent, lane, "store", box.allocation, box.starts, -1, box.width, line)
        )

    machine.engine.start(EngineTask(agent, lane, carry_out, in_group=True))


@function(f"{HOME}.tma_store_wait", typing=giving(T.NOTHING, 1))
def _store_wait(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    for lane, left in values_of_lanes(machine, values[0]):
        machine.engine.wait_for_groups(lane, left)


@function(f"{HOME}.fence_async", typing=giving(T.NOTHING, 0))
def _fence(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    machine.engine.fence(np.flatnonzero(machine.active.full_array).tolist(), ("copies",))
    machine.observers.fence_async(machine.active)
