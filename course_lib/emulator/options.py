"""How a launch is emulated, its shape, and how much shared memory a block may have."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from course_lib.emulator.budget import Budget
from course_lib.emulator.errors import KernelRejected, rejection

MAX_SHARED_BYTES = 48 * 1024

# What the largest GPU holds at a time, a B200: its SMs, and of one of them the blocks, threads and
# bytes of shared memory (CUDA Programming Guide, "Technical Specifications per Compute
# Capability", 10.0). Each block takes 1 KiB of shared memory for the system.
SMS, BLOCKS_OF_SM, THREADS_OF_SM, SHARED_OF_SM, SHARED_OF_SYSTEM = 148, 32, 2048, 228 << 10, 1 << 10

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
    cluster: int = 1


@dataclass(frozen=True)
class LaunchShape:
    """Grid and block, each as (x, y, z), and the bytes of dynamic shared memory of a block.

    With `rows`, a z of this grid is one copy of a launch whose own grid has so many rows of blocks:
    its y and z lie one behind the other along y here, and a kernel sees those.
    """

    grid: Triple
    block: Triple
    dynamic_shared_bytes: int
    rows: int = 0

    @classmethod
    def of_copies(cls, grid: Sequence[int], block: Sequence[int], copies: int) -> LaunchShape:
        """So many copies of one launch, whose grid and block have up to three sizes, x first."""
        wide, high, deep, *_ = (*grid, 1, 1)
        x, y, z, *_ = (*block, 1, 1)
        return cls((wide, high * deep, copies), (x, y, z), 0, high)

    @property
    def blocks(self) -> int:
        """How many blocks the grid has."""
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        """How many threads the grid has."""
        return self.blocks * math.prod(self.block)

    def most_resident(self, shared_bytes: int) -> int:
        """How many such blocks no GPU exceeds at a time, with so much shared memory each."""
        warps = -(-math.prod(self.block) // 32)
        by_shared = SHARED_OF_SM // (shared_bytes + SHARED_OF_SYSTEM)
        return SMS * min(BLOCKS_OF_SM, THREADS_OF_SM // (32 * warps), by_shared)


def too_much_shared(
    size: int, node: ast.AST | None, limit: int = MAX_SHARED_BYTES
) -> KernelRejected:
    message = "The block asks for {size} bytes of shared memory, but it can have only {limit}."
    return rejection("invalid-launch", message, node, size=size, limit=limit)
