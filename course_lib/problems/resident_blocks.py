"""How many blocks an SM holds: the launches asked about, and what wrong answers compute."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache, lru_cache, partial
from typing import Any

from course_lib.curriculum import Exercise
from course_lib.devices import DEVICES, device, occupancy
from course_lib.devices.occupancy import Occupancy, SmLimits
from course_lib.emulator import Record
from course_lib.problems.call_table import Arguments, CallTable
from course_lib.registry.exercise import WrongIdea
from course_lib.wording.sentences import Capital, say
from course_lib.wording.words import joined

RANDOM_LAUNCHES = 240
# Of the least of several limits; where it was drawn, without the arithmetic.
BINDING, TOO_LOW = "{arithmetic}.", "All limits are higher than your result: {limits}."
BINDS, NONE_FITS = "The limit that decides there is {limiters}.", "Not a single block fits."
Launch = tuple[str, int, int, int]  # GPU, threads, registers, shared bytes


def _most_of_each(gpu: str) -> tuple[Launch, ...]:
    """As many threads, registers and shared bytes as one block may have, each beside little else:
    an answer may be right up to some number of them."""
    sm = device(gpu).sm
    return (
        (gpu, sm.threads_per_block, 16, 0),
        (gpu, sm.warp_size, sm.registers_per_thread, 0),
        (gpu, sm.warp_size, 16, sm.shared_per_block_bytes),
    )


# The launches of FACTS §2.3 and their like: each shows one rule in numbers for a pencil.
EXAMPLES: tuple[Launch, ...] = (
    ("A6000", 1024, 37, 8192),
    ("A6000", 1024, 64, 8192),
    ("A6000", 1024, 65, 8192),
    ("A6000", 768, 40, 8192),
    ("A6000", 256, 40, 2048),
    ("A6000", 256, 128, 8192),
    ("A6000", 256, 64, 49_152),
    ("A6000", 32, 32, 0),
    ("L4", 32, 32, 0),
    ("L4", 256, 38, 2048),
    ("T4", 1024, 46, 8192),
    ("T4", 256, 128, 32_768),
    ("T4", 256, 42, 2100),
    ("A100-40", 1024, 32, 8192),
    ("A100-40", 256, 32, 2100),
    ("A100-40", 96, 40, 0),
    ("A100-40", 256, 128, 98_304),
    ("H100", 1024, 37, 8192),
    ("H100", 256, 128, 8192),
    ("H100", 256, 130, 8192),
    ("H100", 384, 168, 196_608),
    ("5090", 1024, 38, 8192),
    # one rule each, with a clear difference
    ("A6000", 320, 16, 0),
    ("A6000", 100, 16, 0),
    ("H100", 512, 42, 8192),
    ("A100-40", 128, 42, 0),
    ("A6000", 48, 100, 0),
    ("A6000", 32, 16, 8192),
    ("A6000", 32, 16, 9216),
    ("H100", 256, 32, 32_768),
    ("T4", 256, 32, 0),
    ("T4", 32, 16, 5000),
    ("T4", 32, 16, 6500),
    ("H100", 32, 16, 20_000),
    ("T4", 64, 16, 8192),
    ("H100", 32, 24, 1024),
    ("A6000", 64, 16, 1024),
    # launches that a GPU refuses, or nearly
    ("T4", 1025, 32, 0),
    ("A6000", 1056, 16, 0),
    ("A100-40", 2048, 16, 0),
    ("H100", 32, 256, 0),
    ("L4", 128, 300, 1024),
    ("A6000", 288, 200, 0),
    ("A6000", 64, 32, 101_376),
    ("A6000", 64, 32, 101_377),
    *(call for gpu in sorted(DEVICES) for call in _most_of_each(gpu)),
)
# The numbers of a device that an answer may read.
ATTRIBUTES = (*(field.name for field in fields(SmLimits)), "threads_per_sm")


@cache
def record_of(gpu: str) -> Record:
    """What the answer is handed as `device`."""
    return Record("device", {name: getattr(device(gpu).sm, name) for name in ATTRIBUTES})


@lru_cache(maxsize=4096)
def launch_of(device: Record, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """The launch of a call, with its occupancy."""
    return occupancy(device.values["name"], threads, registers, shared_bytes)


@cache
def launches(seed: int) -> tuple[Arguments, ...]:
    """The examples, then launches drawn over all GPUs, half of them where rounding decides."""
    drawn = random.Random(seed)
    calls = list(EXAMPLES)
    for _ in range(RANDOM_LAUNCHES):
        calls.append(drawn.choice((_bound_by_registers, _bound_by_shared, _anything))(drawn))
    return tuple((record_of(gpu), *numbers) for gpu, *numbers in calls)


def resident_blocks(exercise: Exercise, seed: int) -> CallTable:
    """The calls with which `blocks_per_sm` is tried."""
    calls = launches(seed)
    drawn = frozenset(calls[len(EXAMPLES) :]) - {*calls[: len(EXAMPLES)]}
    return CallTable(
        exercise,
        calls,
        lambda *call: launch_of(*call).blocks,
        resident_ideas(),
        drawn=drawn,
        refused=lambda *call: _refused(launch_of(*call)),
        worked=lambda call, value: _worked(launch_of(*call), value, call in drawn),
    )


def _refused(launch: Occupancy) -> tuple[str, str] | None:
    """The rule by which a launch is refused, if no division says that by itself."""
    sm = launch.sm
    if launch.threads > sm.threads_per_block:
        return "threads", launch.why_not
    return ("registers", launch.why_not) if launch.registers > sm.registers_per_thread else None


def _worked(launch: Occupancy, value: float | None, drawn: bool) -> str:
    """The arithmetic of a limit that binds; where the result is lower, all limits."""
    too_low = value is not None and value < launch.blocks
    return say(
        TOO_LOW if too_low else BINDING,
        graded=(BINDS if launch.blocks else NONE_FITS) if drawn else "",
        arithmetic=Capital(launch.arithmetic[launch.limiters[0]]),
        limits=", ".join(f"{name} {limit}" for name, limit in launch.limits.items()),
        limiters=joined(launch.limiters),
    )


def _bound_by_registers(drawn: random.Random) -> Launch:
    threads = 32 * drawn.randint(1, 16) + drawn.choice((0, 0, 0, -1, 1, -17))
    return _any_gpu(drawn), threads, drawn.randint(33, 200), drawn.choice((0, 2048))


def _bound_by_shared(drawn: random.Random) -> Launch:
    """Within one unit of what a whole number of blocks leaves for each."""
    gpu = _any_gpu(drawn)
    sm = device(gpu).sm
    per_block = sm.shared_per_sm_bytes // drawn.randint(1, sm.blocks_per_sm)
    per_block += drawn.choice((-1024, -1025, -900, 0, 1, -128, -127))
    shared_bytes = max(0, min(per_block, sm.shared_per_block_bytes))
    return gpu, drawn.choice((32, 33, 64)), drawn.choice((16, 24, 32)), shared_bytes


def _anything(drawn: random.Random) -> Launch:
    gpu = _any_gpu(drawn)
    most = device(gpu).sm.shared_per_block_bytes
    shared_bytes = drawn.choice((0, 2048, 4096, 8192, drawn.randint(0, most)))
    return gpu, drawn.randint(1, 1024), drawn.randint(16, 255), shared_bytes


def _any_gpu(drawn: random.Random) -> str:
    return drawn.choice(sorted(DEVICES))


# --- Results of wrong answers ---------------------------------------------------------------------


UNLIMITED = 1 << 40
Rounding = Callable[[float], float]
Ideas = tuple[tuple[dict[str, Any], str, str, tuple[str, ...]], ...]


def _sm_of(record: Record) -> SmLimits:
    return device(record.values["name"]).sm


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
    sm: SmLimits = replace(_sm_of(device), **fixed)  # type: ignore[arg-type]
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
UNIT = "A warp gets its registers in units of device.register_unit."
SHARE = "Occupancy is the warps of these blocks, divided by the most warps that an SM can hold."
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
        ({"warps_per_sm": UNLIMITED}, "the limit on warps is left out",
         "How many warps may be resident on an SM, and how many warps does one block have?", ()),
        ({"registers_per_sm": UNLIMITED}, "the limit on registers is left out",
         "How many registers does a warp take, and for how many warps is there room?", ()),
        ({"shared_per_sm_bytes": UNLIMITED}, "the limit on shared memory is left out",
         "Which of the device's numbers are in bytes?", ()),
        ({"blocks_per_sm": UNLIMITED}, "the limit on blocks is left out",
         "An SM holds only so many blocks, however small they are.", ()),
        ({"shared_of": "shared_per_block_bytes"}, "your function divides the shared memory that "
         "one block may have instead of the shared memory of the SM",
         "Which number belongs to the SM, and which one to a single block?",
         ("shared_per_block_bytes", *SHARED)),
        ({"in_units_of": 1024}, "your function divides the KiB of the SM by the bytes of the block",
         "Which numbers are in bytes already?", ("shared_per_sm_bytes",)),
        ({"fits": math.ceil}, "your function rounds the limits up, but part of a block cannot be "
        "resident",
         "Which divisions tell you how much is needed, and which ones tell you how much "
            "fits?",
         ("warps_per_sm", "threads_per_sm", "registers_per_sm", "shared_per_sm_bytes")),
    )  # fmt: skip


def _needs() -> Ideas:
    rounded_down = "your function rounds the number of warps in a block down"
    return (
        ({"warps_of": math.floor}, rounded_down, DOWN, ("threads",)),
        ({"warps_of": _at_least_one}, rounded_down, DOWN, ("threads",)),
        ({"warps_of": float}, "your function counts threads, but an SM allocates whole warps",
         "A half-empty warp takes up as much room as a full one.", ("threads",)),
        ({"register_unit": 1}, "the registers of a warp are not rounded up", UNIT, ("registers",)),
        ({"by_registers": _by_block}, "the registers are rounded up once for the block, but the "
         "hardware rounds them up for each warp", UNIT, ("registers",)),
        ({"by_registers": _by_thread}, "your function counts registers thread by thread, but the "
         "hardware gives them to whole warps and rounds up",
         "How many registers does one warp get, and for how many such warps is there room?",
         ("registers",)),
        ({"partitions": 1}, "your function divides the registers as if they were all in one "
        "register file",
         "An SM has device.partitions partitions. Each of them holds whole warps only, so a warp "
         "cannot use registers that are left over in two of them.", FILE),
        ({"shared_reserved_bytes": 0}, "your function leaves out the shared memory that the "
        "driver reserves",
         "How much shared memory does a resident block take besides what it declares?", SHARED),
        ({"shared_unit_bytes": 1}, "a block's shared memory is not rounded up",
         "Shared memory is allocated in units of device.shared_unit_bytes.", SHARED),
    )  # fmt: skip


def _results() -> Ideas:
    share = "your function returns the occupancy, but the exercise asks for the number of blocks"
    return (
        ({"gives": lambda blocks, warps, sm: blocks * warps},
         "your function returns the number of warps, but the exercise asks for the number of "
         "blocks",
         "How many warps does one block have?", ()),
        ({"gives": lambda blocks, warps, sm: blocks * warps / sm.warps_per_sm}, share, SHARE, ()),
        ({"gives": lambda blocks, warps, sm: 100 * blocks * warps / sm.warps_per_sm}, share, SHARE,
         ()),
    )  # fmt: skip
