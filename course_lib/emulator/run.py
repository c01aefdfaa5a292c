"""Runs a launch: takes the blocks in groups through a machine and collects what was found out."""

from __future__ import annotations

import ast
import copy
import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from course_lib.emulator.budget import Budget, BudgetExceeded, OpenLoop, StepCounter
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions.random_functions import STATE
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.machine.events import Observer, Observers
from course_lib.emulator.machine.instead import Instead
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.schedules import WarpSchedule
from course_lib.emulator.observers.block_races import BlockRaces
from course_lib.emulator.observers.faults import CopyFaults, Faults
from course_lib.emulator.observers.meter import Meter
from course_lib.emulator.observers.races import RaceDetector
from course_lib.emulator.observers.report import Reporter
from course_lib.emulator.observers.stream import StreamRecorder
from course_lib.emulator.observers.tracing import Output, Tracer
from course_lib.emulator.observers.unwritten import Unwritten
from course_lib.emulator.profile.profile import (
    Counters,
    Profile,
    SharedArrayUse,
)
from course_lib.emulator.reach import memories, weigh
from course_lib.emulator.state.lanes import LaneSpace, Mask
from course_lib.emulator.state.memory import ArrayView, GlobalMemory, Memory
from course_lib.findings import Finding, by_importance, finding
from course_lib.sentences import say

if TYPE_CHECKING:
    from course_lib.emulator.launch import Emulation, Launch

MAX_SHARED_BYTES = 48 * 1024
MAX_LOCAL_BYTES = 512 * 1024

# Blocks are emulated side by side, up to this many lanes: enough that NumPy's own cost per call
# does not count, few enough that the arrays stay in the processor's cache.
LANES_AT_ONCE = 1 << 17

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Options:
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


class Run:
    """One launch while it runs, and what its observers found out."""

    def __init__(self, launch: Launch, arguments: Sequence[Any]) -> None:
        self.launch = launch
        self.kernel = launch.emulation.kernel
        self.options = launch.emulation.options
        self.memory = GlobalMemory()
        names = self.kernel.parameters
        if len(arguments) != len(names):
            raise rejection(
                "invalid-launch",
                say(
                    "{kernel} takes {wanted} arguments ({names}), but {given} {were} passed.",
                    kernel=self.kernel.name,
                    wanted=len(names),
                    names=", ".join(names),
                    given=len(arguments),
                    were="was" if len(arguments) == 1 else "were",
                ),
                self.kernel.tree,
            )
        pairs = list(zip(names, arguments, strict=True))
        kinds = [type_of_argument(name, value) for name, value in pairs]
        self.typing = launch.emulation.typing_for(kinds)
        self._check_shared_memory()
        self.values = [self._value(name, value) for name, value in pairs]
        self.reporter = Reporter(launch.grid, launch.block)
        self.findings: dict[tuple[Any, ...], Finding] = {}
        self.may_be_written = self._written_allocations()
        self.stopped_in: OpenLoop | None = None
        self.shared: dict[str, SharedArrayUse] = {}
        self.instead: Instead | None = None
        self._make_observers(launch.emulation)
        views = _views_in(self.values)
        self.array_types = {str(view.allocation.dtype) for view in views}
        if self.meter:
            for view in _views_in(self.values):
                shape = tuple(int(length) for length in view.shape)
                self.meter.register(view.name, view.allocation, shape)

    def _make_observers(self, emulation: Emulation) -> None:
        """Who listens to this launch: what the options ask for, and then the others."""
        options, grid = self.options, self.launch.grid
        self.faults = Faults(self.reporter, self.note)
        self.output = Output(options.budget.printed_lines)
        self.meter = Meter() if options.counters else None
        self.stream = StreamRecorder() if options.stream else None
        wanted = options.trace if isinstance(options.trace, str) else None
        self.tracer = Tracer(wanted) if options.trace else None
        written = self.may_be_written
        self.block_races = BlockRaces(grid[::-1], written, _fence_lines(self.typing))
        chosen: list[Observer | None] = [
            self.faults,
            self.output,
            self.meter,
            self.stream,
            self.tracer,
        ]
        if options.races:
            chosen.append(RaceDetector(written, lambda race: self.note(self.reporter.race(race))))
            chosen.append(CopyFaults(self.reporter, self.note))
        if options.races and max(grid) > 1:
            chosen.append(self.block_races)
        chosen.append(Unwritten(self.reporter, self.note))
        # Warp by warp, the same sites would be met once for every warp, in turns; nothing more.
        if emulation.limits and options.schedule == "lockstep":
            emulation.limits.next_launch()
            chosen.append(emulation.limits)
        chosen += emulation.observers
        self.observers = Observers(each for each in chosen if each is not None)

    def repeated(self, instead: Instead) -> Self:
        """The same launch once more, with other values for what nobody wrote, and unwatched."""
        again = copy.copy(self)
        again.findings, again.shared, again.instead = {}, {}, instead
        again.faults = Faults(again.reporter, again.note)
        again.output = Output(again.options.budget.printed_lines)
        again.observers = Observers([again.faults, again.output])
        return again

    def _check_shared_memory(self) -> None:
        total, last, cells = 0, None, 0
        seen: set[int] = set()
        for typing in _all_typings(self.typing, seen):
            for node, shape in typing.layouts.items():
                path = ast.unparse(node.func)
                kind = typing.types[node]
                assert isinstance(kind, T.ArrayType)
                size = int(np.prod(shape, dtype=object)) * kind.dtype.itemsize
                if path.endswith("local.array"):
                    if size > MAX_LOCAL_BYTES:
                        raise rejection(
                            "invalid-launch",
                            say(
                                "A thread may have 512 KiB of local memory, not {size} bytes.",
                                size=size,
                            ),
                            node,
                        )
                else:
                    total, last = total + size, node
                    cells += size // kind.dtype.itemsize
        if total > MAX_SHARED_BYTES:
            raise too_much_shared(total, last)
        limit = max(MAX_SHARED_BYTES, self.options.max_dynamic_shared)
        if total + self.launch.dynamic_shared_bytes > limit:
            raise too_much_shared(total + self.launch.dynamic_shared_bytes, last, limit)
        # Of every cell it is kept when it was written.
        self._shared_bytes = total + 4 * cells + 5 * self.launch.dynamic_shared_bytes

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            is_output = name.split("[")[0] in self.options.outputs
            return self.memory.view(name, value, is_output)
        if isinstance(value, tuple):
            return tuple(self._value(f"{name}[{i}]", item) for i, item in enumerate(value))
        kind = T.type_of_scalar(value)
        assert kind is not None
        return kind.type(value)

    def _written_allocations(self) -> set[int]:
        """The arrays that the kernel may write."""
        names = _written_names(self.typing)
        arguments = self.memory.arguments
        if names is None:
            return {id(allocation) for allocation in arguments.values()}
        return {id(arguments[name]) for name in names if name in arguments}

    def execute(self) -> Profile:
        self.steps = StepCounter(self.options.budget)
        before = memories(self) if _may_lack_values(self.typing) else None
        finished = True
        try:
            self.run_all()
        except BudgetExceeded as stop:
            finished = False
            self.stopped_in = stop.loop
            self.note(self.reporter.timeout(stop, self.options.budget.steps))
        spent = self.options.budget.steps - max(self.steps.left, 0)
        for race in self.block_races.races:
            self.note(self.reporter.race(race))
        if before is not None and finished:
            weigh(self, before)
        self.memory.copy_back()
        return self._profile(finished, spent)

    def run_all(self) -> None:
        """Run all blocks."""
        for space in _spaces(self.launch.grid, self.launch.block, self._lanes_at_once()):
            self._run_space(space, self.steps)

    def _lanes_at_once(self) -> int:
        """How many lanes the budget has room for; at least those of a block."""
        budget, threads = self.options.budget, int(np.prod(self.launch.block))
        of_block = self._shared_bytes + threads * _bytes_per_lane(self.typing)
        if of_block > budget.bytes:
            raise rejection(
                "not-allowed",
                say(
                    "One block takes {of_block} MB here, with its local arrays and variables; "
                    "there is room for {most}.",
                    of_block=of_block >> 20,
                    most=budget.bytes >> 20,
                ),
                None,
            )
        return min(
            budget.lanes_at_once or LANES_AT_ONCE, threads * (budget.bytes // max(of_block, 1))
        )

    def _run_space(self, space: LaneSpace, steps: StepCounter) -> None:
        memory = Memory(space)
        self.observers.begin(space, memory)
        try:
            if self.options.schedule == "lockstep":
                machine = self.machine(memory, Mask(space), steps)
                for line in machine.run():
                    self.observers.barrier(line, machine.active, machine.frame.live)
            else:
                seed = self.options.seed if self.options.schedule == "shuffled" else None
                machines = partial(self.machine, memory, steps=steps)
                WarpSchedule(space, machines, self.observers, seed).run()
        finally:
            self.observers.end()
            self._note_shared_arrays(memory)

    def _note_shared_arrays(self, memory: Memory) -> None:
        for view in memory.shared.values():
            allocation = view.allocation
            size = allocation.cells * allocation.dtype.itemsize
            self.shared.setdefault(
                f"{allocation.name}:{allocation.line}",
                SharedArrayUse(
                    allocation.name, allocation.line, allocation.shape, allocation.dtype, size
                ),
            )

    def machine(self, memory: Memory, active: Mask, steps: StepCounter) -> Machine:
        return Machine(
            active.space,
            memory,
            self.typing,
            self.values,
            active,
            self.observers,
            steps,
            self.options.budget,
            self.launch.dynamic_shared_bytes,
            self.instead,
        )

    def note(self, found: Finding) -> None:
        """Keep a finding, once per code, severity, line and array."""
        array = found.cell.split("[")[0]
        key = (found.code, found.severity, found.line, found.other_line, array)
        self.findings.setdefault(key, found)

    def _profile(self, finished: bool, steps: int) -> Profile:
        totals = self.meter.finish() if self.meter else Counters()
        findings = _causes_only(self.findings.values()) + self._float64_findings()
        return Profile(
            **{each.name: getattr(totals, each.name) for each in fields(Counters)},
            kernel_name=self.kernel.name,
            source=self.kernel.source,
            first_line=self.kernel.first_line,
            grid=self.launch.grid,
            block=self.launch.block,
            schedule=self.options.schedule,
            lines=dict(sorted(self.meter.lines.items())) if self.meter else {},
            findings=by_importance(findings),
            arrays=self.meter.arrays if self.meter else {},
            shared_arrays=list(self.shared.values()),
            stale_reads=list(self.faults.stale_reads.values()),
            output=self.output.lines,
            unkept_lines=self.output.unkept,
            trace=self.tracer.accesses if self.tracer else [],
            activity=self.tracer.statements if self.tracer else [],
            stream=self.stream.finish() if self.stream else None,
            counted=self.meter is not None,
            finished=finished,
            stopped_in=self.stopped_in,
            steps=steps,
        )

    def _of_the_arrays(self) -> str:
        if len(self.array_types) == 1:
            return f"the arrays are {next(iter(self.array_types))}"
        return "none of the arrays is"

    def _float64_findings(self) -> list[Finding]:
        if self.meter is None or str(T.FLOAT64) in self.array_types:
            return []
        return [
            finding(
                "float64-arithmetic",
                say(
                    "This line computes in float64 although {arrays}.", arrays=self._of_the_arrays()
                ),
                line,
                "Which value here is an integer or a Python float? np.float32(…) makes it float32.",
            )
            for line in sorted(self.meter.float64_lines)
        ]


def _views_in(values: Iterable[Any]) -> Iterator[ArrayView]:
    """The arrays among the arguments, also those in tuples."""
    for value in values:
        if isinstance(value, ArrayView):
            yield value
        elif isinstance(value, tuple):
            yield from _views_in(value)


def _causes_only(findings: Iterable[Finding]) -> list[Finding]:
    """Without reads of unwritten cells that a race in the same array explains."""
    kept = list(findings)
    raced = {each.cell.split("[")[0] for each in kept if each.code.startswith("race-")}
    return [
        each
        for each in kept
        if each.code != "uninitialised-read" or each.cell.split("[")[0] not in raced
    ]


def _spaces(grid: Triple, block: Triple, lanes: int) -> Iterator[LaneSpace]:
    """The grid in pieces of at most so many lanes (at least one block)."""
    threads = int(np.prod(block))
    at_once = max(1, lanes // threads)
    x_step = min(grid[0], at_once)
    y_step = min(grid[1], max(1, at_once // x_step)) if x_step == grid[0] else 1
    z_step = min(grid[2], max(1, at_once // (x_step * y_step))) if y_step == grid[1] else 1
    size_zyx = (grid[2], grid[1], grid[0])
    for z in range(0, grid[2], z_step):
        for y in range(0, grid[1], y_step):
            for x in range(0, grid[0], x_step):
                blocks = (
                    min(z_step, grid[2] - z),
                    min(y_step, grid[1] - y),
                    min(x_step, grid[0] - x),
                )
                yield LaneSpace(size_zyx, (z, y, x), blocks, (block[2], block[1], block[0]))


def too_much_shared(
    size: int, node: ast.AST | None, limit: int = MAX_SHARED_BYTES
) -> KernelRejected:
    return rejection(
        "invalid-launch",
        say(
            "The block asks for {size} bytes of shared memory; it can have {limit}.",
            size=size,
            limit=limit,
        ),
        node,
    )


def type_of_argument(name: str, value: Any) -> T.Type:
    """The type of an argument.

    Raises:
        KernelRejected: with `invalid-launch` for what no launch takes, else with `unsupported`.
    """
    if isinstance(value, np.ndarray):
        if value.dtype == STATE:
            return T.ArrayType(STATE, value.ndim, value.flags.writeable)
        if isinstance(value, np.ma.MaskedArray):
            message = say("Argument {name} is a masked array, and Numba takes none.", name=name)
            raise rejection(
                "invalid-launch", message, None, say("{name}.filled(…) is a plain one.", name=name)
            )
        known = value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and value.dtype.isnative
        if not known or value.ndim == 0:
            raise _unknown_array(name, value)
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return T.ArrayType(value.dtype, value.ndim, flags.writeable, layout)
    if isinstance(value, tuple):
        items = (type_of_argument(f"{name}[{i}]", item) for i, item in enumerate(value))
        return T.TupleType(tuple(items), getattr(type(value), "_fields", ()))
    kind = T.type_of_scalar(value)
    if kind is not None:
        return kind
    if isinstance(value, int):
        message = say(
            "Argument {name} is a whole number of more than 64 bits, and none can hold it.",
            name=name,
        )
        raise rejection("invalid-launch", message, None, "What is the largest number it must be?")
    if isinstance(value, complex | np.complexfloating | np.void | np.datetime64 | np.timedelta64):
        what = type(value).__name__
        message = say(
            "Argument {name} is of type {what}, and the emulator has no numbers of that type.",
            name=name,
            what=what,
        )
        raise rejection("unsupported", message, None, _PARTS)
    if isinstance(value, enum.Enum):
        message = say(
            "Argument {name} is a member of {type}, which is no number here.",
            name=name,
            type=type(value).__name__,
        )
        raise rejection("unsupported", message, None, say("{name}.value is its number.", name=name))
    raise rejection(
        "invalid-launch",
        say(
            "Argument {name} is of type {type}; a kernel takes NumPy arrays and numbers.",
            name=name,
            type=type(value).__name__,
        ),
        None,
        "np.array(…) makes an array." if isinstance(value, list) else "What is it made of?",
    )


_PARTS = "Pass the numbers that it is made of, each by itself."


def _unknown_array(name: str, array: np.ndarray) -> KernelRejected:
    """Numba has more kinds of arrays than the emulator, but not those of any byte order or mask."""
    if array.ndim == 0:
        message = say(
            "Argument {name} is an array without axes, and the emulator takes none.", name=name
        )
        hint: str = say(
            "{name}[()] is its number, {name}.reshape(1) an array with one element.", name=name
        )
        return rejection("unsupported", message, None, hint)
    if array.dtype.kind in "cSUMmV":
        message = say(
            "Argument {name} is an array of {dtype}, and the emulator has none of those.",
            name=name,
            dtype=array.dtype,
        )
        hint = "It has booleans, integers and floats of up to 64 bits."
        if array.dtype.names:
            first = array.dtype.names[0]
            hint = say(
                'Pass every field as an array of its own, such as {name}["{first}"].copy().',
                name=name,
                first=first,
            )
        return rejection("unsupported", message, None, hint)
    message = say(
        "Argument {name} is an array of {dtype}, which no kernel takes.",
        name=name,
        dtype=array.dtype,
    )
    return rejection(
        "invalid-launch", message, None, say("Is {name}.astype(np.float32) meant?", name=name)
    )


def _all_typings(typing: Typing, seen: set[int]) -> Iterator[Typing]:
    """A kernel's typing and those of all functions that it calls."""
    if id(typing) in seen:
        return
    seen.add(id(typing))
    yield typing
    for target in typing.calls.values():
        if isinstance(target, Typing):
            yield from _all_typings(target, seen)


@lru_cache(maxsize=8)
def _bytes_per_lane(typing: Typing) -> int:
    """What the local arrays and the variables of one thread take, at most."""
    total = 0
    for each in _all_typings(typing, set()):
        leaves: dict[str, int] = {}
        for node, kind in each.types.items():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                several = kind.leaves if isinstance(kind, T.TupleType) else 1
                leaves[node.id] = max(several, leaves.get(node.id, 0))
        total += 8 * sum(leaves.values())
        for call, shape in each.layouts.items():
            if ast.unparse(call.func).endswith("local.array"):
                array = each.types[call]
                assert isinstance(array, T.ArrayType)
                total += int(np.prod(shape, dtype=object)) * (array.dtype.itemsize + 4)
    return total


@lru_cache(maxsize=8)
def _may_lack_values(typing: Typing) -> bool:
    """Whether there is memory, or a variable, that may be read before it is written."""
    return any(each.layouts or each.uncertain for each in _all_typings(typing, set()))


@lru_cache(maxsize=8)
def _fence_lines(typing: Typing) -> tuple[int, ...]:
    """The lines that order a thread's writes for other blocks to see."""
    return tuple(
        call.lineno
        for each in _all_typings(typing, set())
        for call in each.calls
        if ast.unparse(call.func).endswith(("threadfence", "threadfence_system"))
    )


@lru_cache(maxsize=8)
def _written_names(typing: Typing) -> frozenset[str] | None:
    """The parameters that the kernel stores into; None if that cannot be told from the names."""
    names: set[str] = set()
    for each in _all_typings(typing, set()):
        targets, own_arrays = _store_targets(each)
        for target in targets:
            if not isinstance(target, ast.Name) or each is not typing:
                return None
            if target.id not in each.kernel.parameters and target.id not in own_arrays:
                return None
            names.add(target.id)
    return frozenset(names)


def _store_targets(typing: Typing) -> tuple[list[ast.expr], set[str]]:
    """What a function stores into, and the names that only ever stand for arrays of its own."""
    targets: list[ast.expr] = []
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(typing.kernel.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            targets.append(node.value)
        elif isinstance(node, ast.Call) and node.args and _stores(typing, node):
            targets.append(node.args[0])
        elif isinstance(node, ast.Assign):
            for name in node.targets:
                if isinstance(name, ast.Name):
                    values.setdefault(name.id, []).append(node.value)
    layouts = typing.layouts
    own = {name for name, given in values.items() if all(value in layouts for value in given)}
    return targets, own


def _stores(typing: Typing, call: ast.Call) -> bool:
    """Whether a call changes the array that is its first argument."""
    function = typing.types.get(call.func)
    stores = (".atomic.", "intrinsics.store4", "intrinsics.cp_async16")
    return isinstance(function, T.Static) and any(each in str(function.value) for each in stores)
