"""The launches for which an answer has to say how many blocks are resident, as calls."""

from __future__ import annotations

import dataclasses
import random
from functools import cache, lru_cache

from course_lib.curriculum import Exercise
from course_lib.devices import DEVICES, device, occupancy
from course_lib.devices.occupancy import Occupancy, SmLimits
from course_lib.diagnosis.functions.function_calls import Arguments, CallTable
from course_lib.diagnosis.functions.resident_ideas import resident_ideas
from course_lib.diagnosis.functions.words import BINDING, BINDS, NONE_FITS, TOO_LOW
from course_lib.emulator import Record
from course_lib.wording.sentences import Capital, say
from course_lib.wording.words import joined

RANDOM_LAUNCHES = 240
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
ATTRIBUTES = (*(field.name for field in dataclasses.fields(SmLimits)), "threads_per_sm")


@cache
def record_of(gpu: str) -> Record:
    """What the answer is handed as `device`."""
    return Record("device", {name: getattr(device(gpu).sm, name) for name in ATTRIBUTES})


@lru_cache(maxsize=4096)
def launch_of(device: Record, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """The launch of a call, worked out."""
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
    """What `blocks_per_sm` is tried with."""
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
    """The rule by which it is refused, if no division says that by itself."""
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
    each = sm.shared_per_sm_bytes // drawn.randint(1, sm.blocks_per_sm)
    each += drawn.choice((-1024, -1025, -900, 0, 1, -128, -127))
    shared_bytes = max(0, min(each, sm.shared_per_block_bytes))
    return gpu, drawn.choice((32, 33, 64)), drawn.choice((16, 24, 32)), shared_bytes


def _anything(drawn: random.Random) -> Launch:
    gpu = _any_gpu(drawn)
    most = device(gpu).sm.shared_per_block_bytes
    shared_bytes = drawn.choice((0, 2048, 4096, 8192, drawn.randint(0, most)))
    return gpu, drawn.randint(1, 1024), drawn.randint(16, 255), shared_bytes


def _any_gpu(drawn: random.Random) -> str:
    return drawn.choice(sorted(DEVICES))
