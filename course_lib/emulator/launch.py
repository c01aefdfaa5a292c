"""Launches on the emulator: checked as a GPU's driver would, or for the numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from course_lib.emulator.arguments import as_declared, types_of_arguments
from course_lib.emulator.budget import (
    MAX_SHARED_BYTES,
    Budget,
    EmulationOptions,
    LaunchShape,
    StepCounter,
    Triple,
    too_much_shared,
)
from course_lib.emulator.errors import rejection
from course_lib.emulator.inference.infer import infer, static_shared_bytes
from course_lib.emulator.language import types as T
from course_lib.emulator.language.kernel import Kernel, holds
from course_lib.emulator.language.parse import kernel_from
from course_lib.emulator.language.signatures import types_of_numba
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.machine.given_values import HandedValues
from course_lib.emulator.observers.limits import LimitNotes
from course_lib.emulator.profile.profile import Profile
from course_lib.emulator.run import Run
from course_lib.emulator.state.indices import Fault
from course_lib.emulator.state.lanes import LaneSpace
from course_lib.emulator.state.memory import Allocation, Memory
from course_lib.wording.sentences import say

MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
SCHEDULES = ("lockstep", "warps", "shuffled")


def emulate(
    kernel: object,
    *,
    schedule: str = "lockstep",
    seed: int = 0,
    counters: bool = True,
    races: bool = True,
    trace: bool | Literal["global"] = False,
    stream: bool = False,
    outputs: Sequence[str] = (),
    budget: Budget | None = None,
    max_dynamic_shared: int = MAX_SHARED_BYTES,
    either_rounding: bool = False,
    costs: bool = False,
    cluster: int = 1,
) -> Emulation:
    """Prepare a kernel to run on the emulator, on any machine.

    Use it like a launch: `profile = emulate(kernel)[grid, block](A, B, C)`. Arrays are changed
    as they would be on a GPU.

    Args:
        kernel: a function decorated with `@cuda.jit`, a plain function, or a Kernel.
        schedule: "lockstep" runs all lanes together; "warps" one warp after another up to each
            barrier, which shows what a missing barrier does; "shuffled" warps in random order.
        seed: for "shuffled".
        counters: whether to count memory traffic, FLOPs and branches.
        races: whether to look for races.
        trace: whether to keep every single access ("global": those to the arrays that were passed
            in, which costs far less); small launches only.
        stream: whether to keep the cache lines asked for, for the cache model.
        outputs: parameters whose contents count as undefined until the kernel writes them.
        budget: bounds on steps and memory.
        max_dynamic_shared: bytes of dynamic shared memory that a launch may ask for. From 48 KiB
            on, a program must raise this limit itself, as far as its GPU allows.
        either_rounding: whether a float32 product is rounded up or down by chance. A GPU may round
            it together with a sum that it is a part of, or not; what comes out the same here does
            not depend on that.
        costs: whether what a launch costs beyond its need is among the findings, as warnings.
        cluster: how many neighbouring blocks, along x, make up a cluster.

    Raises:
        KernelRejected: if the kernel has no source, or something in it cannot run.
        ValueError: for an unknown schedule.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule must be one of {', '.join(SCHEDULES)}, not {schedule!r}")
    bounds = budget or Budget()
    options = EmulationOptions(
        schedule,
        seed,
        counters,
        races,
        trace,
        stream,
        tuple(outputs),
        bounds,
        max_dynamic_shared,
        either_rounding,
        costs,
        cluster,
    )
    return Emulation(kernel_from(kernel), options)


Typings = dict[tuple[T.Type, ...], Typing]


class Emulation:
    """A kernel that is ready to be launched on the emulator.

    Attributes:
        typings: what types the kernel was found to have, for arguments of each kind; emulations
            of one kernel may share them. Those of a decorated kernel do: what it was launched
            with before is not worked out again, with the values that global names had then.
        observers: told what happens in a launch, beside those that the options ask for.
        limits: notes of several launches where a number may act as a limit; a launch adds to them
            if it runs in lockstep.
        handed: hears what threads read of each other, and may exchange it.
    """

    def __init__(self, kernel: Kernel, options: EmulationOptions) -> None:
        self.kernel = kernel
        self.options = options
        self.typings: Typings = {} if kernel.compiled is None else kernel.compiled
        self.observers: list[Observer] = []
        self.limits: LimitNotes | None = None
        self.handed: HandedValues | None = None

    def __getitem__(self, configuration: Any) -> ConfiguredKernel:
        """The launch configuration: [grid, block], [grid, block, stream, dynamic shared bytes]."""
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            message = "A launch needs its grid and its block: kernel[grid, block](…)."
            raise rejection("invalid-launch", message, None)
        size = int(parts[3]) if len(parts) == 4 else 0
        return ConfiguredKernel(self, parts[0], parts[1], size)

    def typing_for(self, argument_types: Sequence[T.Type]) -> Typing:
        """The kernel's types for these arguments; worked out once, as Numba compiles once."""
        key = tuple(argument_types)
        if key not in self.typings:
            remembers = self.typings is self.kernel.compiled
            self.typings[key] = infer(self.kernel, argument_types, remembers)
        return self.typings[key]

    def function_at(self, line: int | None) -> Kernel:
        """The function that has a line which a finding names: the kernel, or one that it calls."""
        reached = (function for typing in self.typings.values() for function in typing.functions)
        for kernel in (self.kernel, *(typing.kernel for typing in reached)):
            if holds(kernel.tree, line):
                return kernel
        return self.kernel


def shared_bytes_of(kernel: object, argument_types: Sequence[Any]) -> int:
    """What the shared arrays of a block take in a kernel for arguments of these types of Numba's.

    Raises KernelRejected if it does not compile for them, or they are not supported here.
    """
    emulation = emulate(kernel)
    if not emulation.typings:
        emulation.typing_for(types_of_numba(argument_types))
    return max(map(static_shared_bytes, emulation.typings.values()))


def result_type(kernel: Kernel, elements: Sequence[np.dtype]) -> np.dtype:
    """What the function returns that a kernel applies to elements of these types.

    Raises KernelRejected if it does not compile, or returns no number.
    """
    arrays = [T.ArrayType(dtype, 1) for dtype in (*elements, np.dtype(complex))]
    typing = Emulation(kernel, EmulationOptions()).typing_for(arrays)
    (result,) = (call.return_type for call in typing.calls.values() if isinstance(call, Typing))
    assert isinstance(result, np.dtype)
    return result


class ConfiguredKernel:
    """A kernel with its grid and block; call it with the kernel's arguments."""

    def __init__(
        self, emulation: Emulation, grid: Any, block: Any, dynamic_shared_bytes: int
    ) -> None:
        self.emulation = emulation
        self.grid = _triple(grid, "grid")
        self.block = _triple(block, "block")
        self.dynamic_shared_bytes = dynamic_shared_bytes
        self._check()

    def _check(self) -> None:
        threads = int(np.prod(self.block))
        if threads > MAX_THREADS_PER_BLOCK:
            product = _product(self.block)
            message = say(
                "{block} {threads} threads; the most that a GPU allows is {most}.",
                block="A block has" if product == str(threads) else f"A block of {product} has",
                threads=threads,
                most=MAX_THREADS_PER_BLOCK,
            )
            raise rejection("invalid-launch", message, None)
        for name, sizes, limits in (
            ("block", self.block, MAX_BLOCK),
            ("grid", self.grid, MAX_GRID),
        ):
            for axis, size, limit in zip("xyz", sizes, limits, strict=True):
                if size > limit:
                    message = say(
                        "The {name} has {size} along {axis}, but at most {limit} are allowed.",
                        name=name,
                        size=size,
                        axis=axis,
                        limit=limit,
                    )
                    raise rejection("invalid-launch", message, None)
        limit = self.emulation.options.max_dynamic_shared
        if not 0 <= self.dynamic_shared_bytes <= limit:
            raise too_much_shared(self.dynamic_shared_bytes, None, limit)

    def __call__(self, *arguments: Any) -> Profile:
        """Run the kernel. Mistakes that show while it runs are findings of the profile.

        Raises KernelRejected if the kernel cannot run with these arguments at all.
        """
        emulation = self.emulation
        arguments = tuple(as_declared(emulation.kernel, arguments))
        rest = emulation.kernel.tree.args.vararg
        if rest is not None:  # whatever else is passed becomes one tuple
            named = len(emulation.kernel.parameters) - 1
            arguments = (*arguments[:named], arguments[named:])
        typing = emulation.typing_for(types_of_arguments(emulation.kernel, arguments))
        shape = LaunchShape(self.grid, self.block, self.dynamic_shared_bytes)
        listening = emulation.observers, emulation.limits, emulation.handed
        run = Run(typing, arguments, shape, emulation.options, *listening)
        # Whatever NumPy would warn of (overflow, 0/0) is ordinary arithmetic on a GPU.
        with np.errstate(all="ignore"):
            return run.execute()


def _triple(sizes: Any, name: str) -> Triple:
    parts = tuple(sizes) if isinstance(sizes, tuple | list) else (sizes,)
    if any(isinstance(part, float | np.floating) for part in parts):
        message = "The {what} must be whole numbers, but it is {dimensions}."
        hint = "The operator // divides integers. math.ceil rounds up."
        raise rejection("invalid-launch", message, None, hint, what=name, dimensions=repr(sizes))
    whole = all(isinstance(part, int | np.integer) and part > 0 for part in parts)
    if not 1 <= len(parts) <= 3 or not whole:
        raise rejection(
            "invalid-launch",
            say(
                "The {name} must be one to three whole numbers above zero, not {sizes}.",
                name=name,
                sizes=repr(sizes),
            ),
            None,
            "Ceiling division keeps a grid's sizes whole: (N + T - 1) // T." * (name == "grid"),
        )
    x, y, z = (*(int(part) for part in parts), 1, 1)[:3]
    return x, y, z


def _product(sizes: Triple) -> str:
    return "x".join(str(size) for size in sizes if size > 1) or "1"


# --- For the numbers alone: nothing is counted, and no fault is told ------------------------------


class OutsideNotes(Observer):
    """In which copy of a launch a lane leaves an array."""

    def __init__(self, copies: int) -> None:
        self.outside = np.zeros(copies, bool)
        self.first = 0

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self.first = space.first_block[0]
        self.count = space.blocks[0]

    def fault(self, fault: Fault, allocation: Allocation, kind: str, line: int) -> None:
        if fault.kind == "outside" and fault.lanes is not None:
            lanes = fault.lanes.array
            rows = np.True_ if lanes is None else lanes.any(axis=(1, 2, 3, 4, 5))
            self.outside[self.first : self.first + self.count] |= rows


class _Unwatched(Run):
    notes_writes = False
    only: tuple[int, int] | None = None  # the one block (x, y) that runs, with every z

    def run_all(self) -> None:
        if self.only is None:
            super().run_all()
            return
        (x, y), (wide, high, copies) = self.only, self.shape.grid
        threads = self.shape.block[::-1]
        step = max(1, self._lanes_at_once() // prod(threads))
        for first in range(0, copies, step):
            blocks = (min(step, copies - first), 1, 1)
            space = LaneSpace((copies, high, wide), (first, y, x), blocks, threads, self.shape.rows)
            self._run_space(space, self.steps)

    def _own_observers(self, limits: LimitNotes | None) -> Iterator[Observer]:
        return iter(())

    def run_for_numbers(self) -> int:
        """Run all blocks; how many steps that took.

        Raises BudgetExceeded if there are not enough.
        """
        self.steps = StepCounter(self.options.budget)
        with np.errstate(all="ignore"):
            self.run_all()
        self.memory.copy_back()
        return self.options.budget.steps - self.steps.left


def typing_for(kernel: Kernel, arguments: Sequence[Any]) -> Typing:
    """A kernel's types for these arguments. Raises KernelRejected as Numba's compiler would."""
    return infer(kernel, types_of_arguments(kernel, tuple(arguments)))


def run_unwatched(
    typing: Typing,
    arguments: Sequence[Any],
    shape: LaunchShape,
    options: EmulationOptions,
    notes: Sequence[Observer] = (),
    only: tuple[int, int] | None = None,
) -> int:
    """Launch a kernel whose types are known; the arrays are changed. Returns the steps taken.

    With `only`, no block but that one, (x, y), runs, with every z of the grid.
    """
    run = _Unwatched(typing, arguments, shape, options, notes)
    run.only = only
    return run.run_for_numbers()
