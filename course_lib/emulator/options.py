"""How a launch is emulated, its shape, and how much shared memory a block may have."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from course_lib.emulator.budget import Budget
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.wording.sentences import say

MAX_SHARED_BYTES = 48 * 1024

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class EmulationOptions:
    """How a launch is emulated; see `emulate`."""

    schedule: str = "lockstep"
    seed: int = 0
    counters: bool = True
    races: bool = True
    trace: bool | str = False
    stream: bool = False
    outputs: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    max_dynamic_shared: int = MAX_SHARED_BYTES
    either_rounding: bool = False
    costs: bool = False


@dataclass(frozen=True)
class LaunchShape:
    """Grid and block, each as (x, y, z), and the bytes of dynamic shared memory of a block."""

    grid: Triple
    block: Triple
    dynamic_shared_bytes: int


def too_much_shared(
    size: int, node: ast.AST | None, limit: int = MAX_SHARED_BYTES
) -> KernelRejected:
    message = say(
        "The block asks for {size} bytes of shared memory; it can have {limit}.",
        size=size,
        limit=limit,
    )
    return rejection("invalid-launch", message, node)
