"""What a kernel may use up, so that no text can hang the machine; how it is emulated; its launch.

Work is counted in steps, not in seconds, so that a verdict is the same on every machine.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from course_lib.emulator.errors import KernelRejected, rejection

# A statement costs one step for so many parts of its expressions, times one for so many lanes.
PARTS_PER_STEP = 16
LANES_PER_STEP = 16384
# Indices that follow no pattern are looked at one by one; so many take as long as an access does.
CELLS_PER_ACCESS = 1024

MAX_SOURCE_CHARACTERS = 60_000
MAX_STATEMENTS = 3000
MAX_NESTING = 60
MAX_INTEGER_BITS = 256
MAX_TUPLE_ITEMS = 1000  # beside a kernel
MAX_LEAVES = 64  # of a tuple in a kernel, at any depth
MAX_ARGUMENTS = 64  # of one call
# Of type inference: expressions looked at, in all functions and passes over loops together.
MAX_TYPED_EXPRESSIONS = 40_000
# How deeply statements, expressions and calls may lie in each other when a kernel runs.
MAX_DEPTH = 150
# The same for functions that call themselves, counted while the kernel runs.
MAX_DEPTH_OF_CALLS = 300


@dataclass(frozen=True)
class Budget:
    """What one launch may use."""

    steps: int = 4_000_000  # executed statements (see PARTS_PER_STEP)
    bytes: int = 1 << 30  # memory and variables of the blocks that are emulated side by side
    printed_lines: int = 1000  # how many lines of `print` are kept
    lanes_per_step: int = LANES_PER_STEP  # a statement that more lanes execute costs more steps
    # how many lanes are emulated side by side, if a block does not have more; None for as many as
    # are fast
    lanes_at_once: int | None = None
    # what an access to memory costs beside its statement, where steps are to stand for time:
    # counting it and looking for races takes some six statements' time
    access_steps: int = 0

    def cost_for(self, lanes: int) -> int:
        """How many times its weight a statement costs that so many lanes may execute."""
        return 1 + lanes // self.lanes_per_step

    def cost_of_access(self, lanes: int, cells: int) -> int:
        """The steps of an access to memory: `cells` is how many indices had to be worked out."""
        return self.access_steps * (self.cost_for(lanes) + cells // CELLS_PER_ACCESS)


# For somebody who waits for the result: a few seconds' worth, whatever the kernel does with them.
INTERACTIVE = Budget(steps=1_000_000, access_steps=6)


@dataclass(frozen=True)
class OpenLoop:
    """The loop that a launch did not come out of when its steps were used up."""

    line: int  # the loop's line
    turns: int  # how often it had turned
    ends: bool  # it is a `for`, which ends some day; a `while` may not
    for_lock: bool = False  # it turns until an atomic exchange gives it a lock
    in_vain: bool = False  # nothing changed any more on which its end depends


@dataclass(frozen=True)
class Awaited:
    """A barrier in shared memory at which threads wait in vain."""

    line: int  # where they wait
    lane: int  # one of them, by its number in its space
    barrier: Any  # as it is then: `Phases` of state/hopper.py
    is_product: bool  # whether it stands for a product, at which the warps of a group arrive


class BudgetExceeded(Exception):
    """The kernel used up its steps, or waits for what never comes; `line` is where.

    `loop` is the loop it was in, `awaited` what threads wait for if that is known.
    """

    def __init__(
        self, line: int, loop: OpenLoop | None = None, awaited: Sequence[Awaited] = ()
    ) -> None:
        super().__init__(line)
        self.line = line
        self.loop = loop
        self.awaited = awaited


class StepCounter:
    """Counts the steps of one launch down to zero."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.left = budget.steps

    def spend(self, steps: int, line: int) -> None:
        """Use up `steps`. Raises BudgetExceeded when none are left."""
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded(line)


# --- How a launch is emulated, its shape, and how much shared memory a block may have ------------


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
