"""The number of blocks that an SM holds, and what wrong answers compute in its place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

from course_lib.devices import device as gpu
from course_lib.devices.occupancy import SmLimits
from course_lib.emulator import Record
from course_lib.registry.exercise import WrongIdea

UNLIMITED = 1 << 40
Rounding = Callable[[float], float]
Ideas = tuple[tuple[dict[str, Any], str, str, tuple[str, ...]], ...]


def blocks(
    device: Record,
    threads: int,
    registers: int,
    shared_bytes: int,
    *,
    warps_of: Rounding = math.ceil,
    by_registers: Callable[[SmLimits, int, int, float], float] = lambda *of: _by_warp(*of),
    shared_of: str = "shared_per_sm_bytes",
    in_units_of: int = 1,
    fits: Rounding = math.floor,
    gives: Callable[[float, int, SmLimits], float] = lambda blocks, warps, sm: blocks,
    **fixed: int,
) -> float:
    """The blocks of a launch that is possible; and its slips.

    Args:
        warps_of: the warps of a block, of its threads over those of a warp.
        by_registers: blocks that the registers have room for.
        shared_of: which of the device's numbers is shared out, `in_units_of` so many bytes.
        fits: how the limits are rounded.
        gives: what is returned, of blocks, warps of a block, and limits.
        fixed: numbers in place of the device's own: a unit of 1, or a limit that is never met.
    """
    sm: SmLimits = replace(gpu(device.values["name"]).sm, **fixed)  # type: ignore[arg-type]
    warps = warps_of(threads / sm.warp_size)
    need = _round_up(shared_bytes + sm.shared_reserved_bytes, sm.shared_unit_bytes)
    limits = (
        sm.warps_per_sm / warps,
        by_registers(sm, registers, threads, warps),
        getattr(sm, shared_of) // in_units_of / need if need else UNLIMITED,
        sm.blocks_per_sm,
    )
    return gives(fits(min(limits)), math.ceil(threads / sm.warp_size), sm)


def _by_warp(sm: SmLimits, registers: int, threads: int, warps: float) -> float:
    per_warp = _round_up(registers * sm.warp_size, sm.register_unit)
    return sm.partitions * (sm.registers_per_sm // sm.partitions // per_warp) / warps


def _by_block(sm: SmLimits, registers: int, threads: int, warps: float) -> float:
    exact = math.ceil(registers * sm.warp_size * warps)
    return sm.registers_per_sm / _round_up(exact, sm.register_unit)


def _by_thread(sm: SmLimits, registers: int, threads: int, warps: float) -> float:
    return sm.registers_per_sm / (registers * threads)


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _at_least_one(quotient: float) -> int:
    return max(1, math.floor(quotient))


DOWN = "33 threads need two warps."
UNIT = "A warp gets registers in steps of device.register_unit."
SHARE = "Occupancy is what follows from the blocks: their warps over the most warps."
FILE = ("registers_per_sm", "65536", "16384", "registers")
SHARED = ("shared_bytes", "shared_per_sm_bytes")


@cache
def resident_ideas() -> tuple[WrongIdea, ...]:
    return tuple(
        WrongIdea(partial(blocks, **changes), says, hint, place)
        for changes, says, hint, place in (*_limits(), *_needs(), *_results())
    )


def _limits() -> Ideas:
    return (
        ({"warps_per_sm": UNLIMITED}, "the limit by warps is left out",
         "How many warps may be resident, and how many does one block bring?", ()),
        ({"registers_per_sm": UNLIMITED}, "the limit by registers is left out",
         "How many registers does a warp take, and how many warps find room?", ()),
        ({"shared_per_sm_bytes": UNLIMITED}, "the limit by shared memory is left out",
         "Which of the device's numbers are in bytes?", ()),
        ({"blocks_per_sm": UNLIMITED}, "the cap on blocks is left out",
         "An SM keeps a fixed number of blocks at most, however small they are.", ()),
        ({"shared_of": "shared_per_block_bytes"}, "what one block may have is shared out, in place "
         "of what the SM has", "Which number belongs to the SM, and which one to a single block?",
         ("shared_per_block_bytes", *SHARED)),
        ({"in_units_of": 1024}, "KiB of the SM are divided by bytes of the block",
         "Which numbers are in bytes already?", ("shared_per_sm_bytes",)),
        ({"fits": math.ceil}, "the limits are rounded up, and a part of a block cannot be resident",
         "Which divisions ask what is needed, and which ones ask what fits?",
         ("warps_per_sm", "threads_per_sm", "registers_per_sm", "shared_per_sm_bytes")),
    )  # fmt: skip


def _needs() -> Ideas:
    rounded_down = "the warps of a block are rounded down"
    return (
        ({"warps_of": math.floor}, rounded_down, DOWN, ("threads",)),
        ({"warps_of": _at_least_one}, rounded_down, DOWN, ("threads",)),
        ({"warps_of": float}, "threads are counted where whole warps are taken",
         "A warp that is half empty takes the room of a whole one.", ("threads",)),
        ({"register_unit": 1}, "the registers of a warp are not rounded up", UNIT, ("registers",)),
        ({"by_registers": _by_block}, "registers are rounded up once for the block, and each warp "
         "is given its own, rounded up", UNIT, ("registers",)),
        ({"by_registers": _by_thread}, "registers are counted by thread, and they are handed out "
         "by warp, rounded up",
         "How many registers does one warp get, and how many such warps find room?",
         ("registers",)),
        ({"partitions": 1}, "the registers are shared out as if they were one file",
         "Each of the device.partitions holds whole warps only; what is left over in one cannot be "
         "joined with what is left over in the next.", FILE),
        ({"shared_reserved_bytes": 0}, "the driver's reserve is not added",
         "What does a resident block take besides what it declares?", SHARED),
        ({"shared_unit_bytes": 1}, "a block's shared memory is not rounded up",
         "Shared memory is handed out in steps of device.shared_unit_bytes.", SHARED),
    )  # fmt: skip


def _results() -> Ideas:
    share = "this is the occupancy; the number of blocks was asked for"
    return (
        ({"gives": lambda blocks, warps, sm: blocks * warps},
         "this is the number of warps; blocks were asked for",
         "How many warps does one block bring?", ()),
        ({"gives": lambda blocks, warps, sm: blocks * warps / sm.warps_per_sm}, share, SHARE, ()),
        ({"gives": lambda blocks, warps, sm: 100 * blocks * warps / sm.warps_per_sm}, share, SHARE,
         ()),
    )  # fmt: skip
