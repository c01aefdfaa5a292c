"""Launches a kernel on the emulator: checks the launch, runs the blocks, collects the profile."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from course_lib.emulator import types as T
from course_lib.emulator.budget import Budget, BudgetExceeded, StepCounter
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.infer import infer
from course_lib.emulator.lanes import WARP_SIZE, LaneSpace, Mask, Value
from course_lib.emulator.machine import Machine
from course_lib.emulator.memory import Access, Allocation, ArrayView, Fault, GlobalMemory, Memory
from course_lib.emulator.meter import Meter
from course_lib.emulator.parse import Kernel, kernel_from
from course_lib.emulator.profile import (
    Counters,
    Profile,
    SharedArrayUse,
    StaleRead,
    TracedAccess,
    TracedStatement,
)
from course_lib.emulator.races import BlockRaces, RaceDetector
from course_lib.emulator.report import Reporter
from course_lib.emulator.stream import StreamRecorder
from course_lib.emulator.typings import Typing
from course_lib.findings import Finding, by_importance, finding

MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED_BYTES = 48 * 1024
SCHEDULES = ("lockstep", "warps", "shuffled")

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
    trace: bool = False
    stream: bool = False
    outputs: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)


def emulate(
    kernel: object,
    *,
    schedule: str = "lockstep",
    seed: int = 0,
    counters: bool = True,
    races: bool = True,
    trace: bool = False,
    stream: bool = False,
    outputs: Sequence[str] = (),
    budget: Budget | None = None,
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
        trace: whether to keep every single access, and which lanes ran each statement (small
            launches only).
        stream: whether to keep the cache lines asked for, for the cache model.
        outputs: parameters whose contents count as undefined until the kernel writes them.
        budget: bounds on steps and memory.

    Raises:
        KernelRejected: if the kernel has no source, or something in it cannot run.
        ValueError: for an unknown schedule.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule must be one of {', '.join(SCHEDULES)}, not {schedule!r}")
    options = Options(
        schedule, seed, counters, races, trace, stream, tuple(outputs), budget or Budget()
    )
    return Emulation(kernel_from(kernel), options)


class Emulation:
    """A kernel that is ready to be launched on the emulator."""

    def __init__(self, kernel: Kernel, options: Options) -> None:
        self.kernel = kernel
        self.options = options
        self._typings: dict[tuple[T.Type, ...], Typing] = {}

    def __getitem__(self, configuration: Any) -> Launch:
        """The launch configuration: [grid, block], [grid, block, stream, dynamic shared bytes]."""
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise rejection("invalid-launch", "A launch needs kernel[grid, block].", None)
        size = int(parts[3]) if len(parts) == 4 else 0
        return Launch(self, parts[0], parts[1], size)

    def typing_for(self, argument_types: Sequence[T.Type]) -> Typing:
        """The kernel's types for these arguments; worked out once, as Numba compiles once."""
        key = tuple(argument_types)
        if key not in self._typings:
            self._typings[key] = infer(self.kernel, argument_types)
        return self._typings[key]


class Launch:
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
            raise rejection(
                "invalid-launch",
                f"A block of {_product(self.block)} has {threads} threads; "
                f"the most that a GPU allows is {MAX_THREADS_PER_BLOCK}.",
                None,
            )
        for name, sizes, limits in (
            ("block", self.block, MAX_BLOCK),
            ("grid", self.grid, MAX_GRID),
        ):
            for axis, size, limit in zip("xyz", sizes, limits, strict=True):
                if size > limit:
                    raise rejection(
                        "invalid-launch",
                        f"The {name} has {size} along {axis}; the most is {limit}.",
                        None,
                    )
        if not 0 <= self.dynamic_shared_bytes <= MAX_SHARED_BYTES:
            raise _too_much_shared(self.dynamic_shared_bytes, None)

    def __call__(self, *arguments: Any) -> Profile:
        """Run the kernel.

        Returns:
            The profile. Mistakes that show while it runs are findings there.

        Raises:
            KernelRejected: if the kernel cannot run with these arguments at all.
        """
        run = _Run(self, arguments)
        # Whatever NumPy would warn of (overflow, 0/0) is ordinary arithmetic on a GPU.
        with np.errstate(all="ignore"):
            return run.execute()


class _Run:
    """One launch while it runs: the instruments of all its parts."""

    def __init__(self, launch: Launch, arguments: Sequence[Any]) -> None:
        self.launch = launch
        self.kernel = launch.emulation.kernel
        self.options = launch.emulation.options
        self.memory = GlobalMemory()
        names = self.kernel.parameters
        if len(arguments) != len(names):
            raise rejection(
                "invalid-launch",
                f"{self.kernel.name} takes {len(names)} arguments ({', '.join(names)}), "
                f"but {len(arguments)} were passed.",
                self.kernel.tree,
            )
        pairs = list(zip(names, arguments, strict=True))
        kinds = [_type_of(name, value) for name, value in pairs]
        self.typing = launch.emulation.typing_for(kinds)
        self._check_shared_memory()
        self.values = [self._value(name, value) for name, value in pairs]
        self.reporter = Reporter(launch.grid, launch.block)
        self.findings: dict[tuple, Finding] = {}
        self.meter = Meter() if self.options.counters else None
        self.block_races = BlockRaces()
        self.written = self._written_allocations() if self.options.races else set()
        self.stale: dict[tuple, StaleRead] = {}
        self.shared: dict[str, SharedArrayUse] = {}
        self.output: list[str] = []
        self.trace: list[TracedAccess] = []
        self.activity: list[TracedStatement] = []
        self.stream = StreamRecorder() if self.options.stream else None
        self.has_float64_data = any(
            isinstance(kind, T.ArrayType) and kind.dtype == T.FLOAT64 for kind in kinds
        )
        if self.meter:
            for name, value in zip(names, self.values, strict=True):
                if isinstance(value, ArrayView):
                    shape = tuple(int(length) for length in value.shape)
                    self.meter.register(name, value.allocation, shape)

    def _check_shared_memory(self) -> None:
        total, last = self.launch.dynamic_shared_bytes, None
        seen: set[int] = set()
        for typing in _all_typings(self.typing, seen):
            for node, shape in typing.layouts.items():
                path = ast.unparse(node.func)
                kind = typing.types[node]
                assert isinstance(kind, T.ArrayType)
                size = int(np.prod(shape, dtype=object)) * kind.dtype.itemsize
                if path.endswith("local.array"):
                    if size > 512 * 1024:
                        raise rejection(
                            "invalid-launch",
                            f"A thread may have 512 KiB of local memory, not {size} bytes.",
                            node,
                        )
                else:
                    total, last = total + size, node
        if total > MAX_SHARED_BYTES:
            raise _too_much_shared(total, last)

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.memory.view(name, value, name in self.options.outputs)
        if isinstance(value, tuple):
            return tuple(self._value(name, item) for item in value)
        kind = T.type_of_scalar(value)
        assert kind is not None
        return kind.type(value)

    def _written_allocations(self) -> set[int]:
        """The arrays that the kernel may write: races are possible on these only."""
        names = _written_names(self.typing)
        arguments = self.memory.arguments
        if names is None:
            return {id(allocation) for allocation in arguments.values()}
        return {id(arguments[name]) for name in names if name in arguments}

    def execute(self) -> Profile:
        steps = StepCounter(self.options.budget)
        finished = True
        try:
            for space in _spaces(self.launch.grid, self.launch.block):
                self._run_space(space, steps)
        except BudgetExceeded as stop:
            finished = False
            self.note(self.reporter.timeout(stop.line))
        for race in self.block_races.races:
            self.note(self.reporter.race(race))
        self.memory.copy_back()
        return self._profile(finished)

    def _run_space(self, space: LaneSpace, steps: StepCounter) -> None:
        local = _local_bytes_per_lane(self.typing)
        if local * space.size > self.options.budget.bytes:
            raise rejection(
                "unsupported", "The blocks need more local memory than the emulator's budget.", None
            )
        part = _Part(self, space)
        memory = Memory(space)
        try:
            if self.options.schedule == "lockstep":
                self._machine(part, memory, Mask(space), steps, part.lockstep_barrier).run()
            else:
                _WarpSchedule(self, part, memory, steps).run()
        finally:
            part.finish(memory)

    def _machine(
        self, part: _Part, memory: Memory, active: Mask, steps: StepCounter, barrier: Any
    ) -> Machine:
        return Machine(
            part.space,
            memory,
            self.typing,
            self.values,
            active,
            part,
            steps,
            barrier,
            self.options.budget,
            self.launch.dynamic_shared_bytes,
        )

    def note(self, found: Finding) -> None:
        """Keep a finding, once per code, line and array."""
        array = found.cell.split("[")[0]
        self.findings.setdefault((found.code, found.line, found.other_line, array), found)

    def _profile(self, finished: bool) -> Profile:
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
            stale_reads=list(self.stale.values()),
            output=self.output,
            trace=self.trace,
            activity=self.activity,
            stream=self.stream.finish() if self.stream else None,
            counted=self.meter is not None,
            finished=finished,
        )

    def _float64_findings(self) -> list[Finding]:
        if self.meter is None or self.has_float64_data:
            return []
        return [
            finding(
                "float64-arithmetic",
                "This line computes in float64 although the arrays are float32.",
                line,
                "Which value here is an integer or a Python float? np.float32(…) makes it float32.",
            )
            for line in sorted(self.meter.float64_lines)
        ]


def _causes_only(findings: Iterable[Finding]) -> list[Finding]:
    """Without reads of unwritten cells that a race in the same array explains."""
    kept = list(findings)
    raced = {each.cell.split("[")[0] for each in kept if each.code.startswith("race-")}
    return [
        each
        for each in kept
        if each.code != "uninitialised-read" or each.cell.split("[")[0] not in raced
    ]


class _Part:
    """The instruments of one space: passes on what the machine tells."""

    def __init__(self, run: _Run, space: LaneSpace) -> None:
        self.run = run
        self.space = space
        self.meter = run.meter
        self.reporter = run.reporter
        self.races = RaceDetector(space, run.written) if run.options.races else None
        self._everyone = Mask(space)

    def statement(self, line: int, mask: Mask) -> None:
        if self.meter:
            self.meter.statement(line, mask)
        if self.run.options.trace:
            order = len(self.run.activity)
            self.run.activity.append(TracedStatement(line, order, len(self.run.trace), mask))

    def flops(self, line: int, count: int, is_float64: bool, is_data: bool) -> None:
        if self.meter:
            self.meter.flops(line, count, is_float64, is_data)

    def branch(self, line: int, condition: Value, mask: Mask) -> None:
        if self.meter:
            self.meter.branch(line, condition, mask)

    def access(self, access: Access) -> None:
        if self.meter:
            self.meter.access(access)
        if self.races:
            self.races.record(access)
            several = max(self.run.launch.grid) > 1
            if several and id(access.allocation) in self.run.written:
                self.run.block_races.record(access, self.space)
        if self.run.stream:
            self.run.stream.record(access, self.space)
        if self.run.options.trace:
            self.run.trace.append(_traced(access, len(self.run.trace)))

    def syncwarp(self, mask: Mask) -> None:
        if self.races:
            self.races.syncwarp(mask)

    def fault(self, fault: Fault, allocation: Allocation, kind: str, line: int) -> None:
        self.run.note(self.reporter.fault(fault, allocation, kind, line, self.space))

    def uninitialised(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        lane, number = self._first(bad, cell)
        found = self.reporter.uninitialised(allocation, number, lane, line, self.space)
        self.run.note(found)

    def stale(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        key = (line, allocation.name)
        if key not in self.run.stale:
            lane, number = self._first(bad, cell)
            block, thread = self.space.describe(lane)
            name = allocation.element_name(number)
            self.run.stale[key] = StaleRead(line, allocation.name, name, thread, block)

    def undefined(self, name: str, bad: Mask, line: int) -> None:
        lane = int(np.argmax(bad.full_array))
        self.run.note(self.reporter.undefined(name, lane, line, self.space))

    def printed(self, text: str) -> None:
        if len(self.run.output) < self.run.options.budget.printed_lines:
            self.run.output.append(text)

    def _first(self, bad: Mask, cell: Value) -> tuple[int, int]:
        lane = int(np.argmax(bad.full_array))
        return lane, int(np.broadcast_to(cell, self.space.shape).reshape(-1)[lane])

    def lockstep_barrier(self, machine: Machine, line: int) -> int:
        """All active lanes arrive together; the others have returned or took another way."""
        self.pass_barrier(line, machine.active, machine.frame.live)
        return machine.unit.interval + 1

    def pass_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """The lanes in `arrived` pass a barrier at `line`."""
        blocks = np.count_nonzero(arrived.full_array.reshape(self.space.block_count, -1), axis=1)
        partly = (blocks > 0) & (blocks < self.space.block_size)
        if partly.any():
            self._divergence(line, int(np.argmax(partly)), arrived, live)
        if self.meter:
            self.meter.barrier(line, int(np.count_nonzero(blocks)))
        if self.races:
            passing = None
            if not blocks.all():
                passed = (blocks > 0).reshape(*self.space.blocks, 1, 1, 1)
                passing = Mask.of(self.space, passed)
            self.races.barrier(passing)

    def _divergence(self, line: int, block: int, arrived: Mask, live: Mask) -> None:
        size = self.space.block_size
        present = arrived.full_array.reshape(-1, size)[block]
        absent = int(np.argmin(present))
        returned = not live.full_array.reshape(-1, size)[block][absent]
        first = block * size
        found = self.reporter.divergence(
            line, first + absent, first + int(np.argmax(present)), returned, self.space
        )
        self.run.note(found)

    def finish(self, memory: Memory) -> None:
        """The kernel has ended for these blocks: judge what is left, note the shared arrays."""
        if self.races:
            self.races.barrier(None)
            # Races between warps first: they are the clearer example of a missing barrier.
            for race in sorted(self.races.races, key=lambda race: race.same_warp):
                self.run.note(self.reporter.race(race))
        for view in memory.shared.values():
            allocation = view.allocation
            size = allocation.cells * allocation.dtype.itemsize
            self.run.shared.setdefault(
                f"{allocation.name}:{allocation.line}",
                SharedArrayUse(
                    allocation.name, allocation.line, allocation.shape, allocation.dtype, size
                ),
            )


class _Stop(Exception):
    """Ends the threads of a warp schedule early."""


class _WarpSchedule:
    """Runs one warp after another, each up to its next barrier, in a chosen order.

    Every warp (the same warp of all blocks at once) has a machine of its own in a thread of its
    own, but only the one that holds the turn runs; so a run is the same every time.
    """

    def __init__(self, run: _Run, part: _Part, memory: Memory, steps: StepCounter) -> None:
        self.run_ = run
        self.part = part
        space = part.space
        self.order = np.random.default_rng(run.options.seed)
        self.errors: list[BaseException] = []
        self.stopping = False
        self.main_turn = threading.Semaphore(0)
        warp_of_thread = space.thread_in_block // WARP_SIZE
        self.warps = [
            _Warp(self, memory, steps, Mask.of(space, warp_of_thread == number))
            for number in range(space.warps_per_block)
        ]

    def run(self) -> None:
        """Run all warps to their ends."""
        threads = [threading.Thread(target=warp.main, daemon=True) for warp in self.warps]
        for thread in threads:
            thread.start()
        try:
            while not self.errors and any(not warp.ended for warp in self.warps):
                for warp in self._round():
                    if not warp.ended and not self.errors:
                        warp.turn.release()
                        self.main_turn.acquire()
                if not self.errors:
                    self._pass_barriers()
        finally:
            self._stop(threads)
        if self.errors:
            raise self.errors[0]

    def _round(self) -> list[_Warp]:
        if self.run_.options.schedule == "shuffled":
            return [self.warps[i] for i in self.order.permutation(len(self.warps))]
        return self.warps

    def _pass_barriers(self) -> None:
        """Every warp waits at a barrier or has ended: let those that wait pass."""
        waiting = [warp for warp in self.warps if not warp.ended]
        live = self._union(warp.machine.frame.live for warp in waiting)
        by_line: dict[int, list[_Warp]] = {}
        for warp in waiting:
            by_line.setdefault(warp.line, []).append(warp)
        for line, group in by_line.items():
            arrived = self._union(warp.machine.active for warp in group)
            self.part.pass_barrier(line, arrived, live)

    def _union(self, masks: Iterator[Mask] | Any) -> Mask:
        whole = Mask.of(self.part.space, np.False_)
        for mask in masks:
            whole = whole.union(mask)
        return whole

    def _stop(self, threads: list[threading.Thread]) -> None:
        self.stopping = True
        for warp, thread in zip(self.warps, threads, strict=True):
            while thread.is_alive():
                warp.turn.release()
                thread.join(0.05)


class _Warp:
    """One warp of a warp schedule."""

    def __init__(
        self, schedule: _WarpSchedule, memory: Memory, steps: StepCounter, active: Mask
    ) -> None:
        self.schedule = schedule
        self.turn = threading.Semaphore(0)
        self.ended = False
        self.line = 0
        run, part = schedule.run_, schedule.part
        self.machine = run._machine(part, memory, active, steps, self.wait)

    def main(self) -> None:
        """The body of this warp's thread."""
        self.turn.acquire()
        try:
            if not self.schedule.stopping:
                with np.errstate(all="ignore"):
                    self.machine.run()
        except _Stop:
            pass
        except BaseException as error:
            self.schedule.errors.append(error)
        finally:
            self.ended = True
            self.schedule.main_turn.release()

    def wait(self, machine: Machine, line: int) -> int:
        """Arrive at a barrier: hand the turn back, and go on when all have arrived."""
        self.line = line
        self.schedule.main_turn.release()
        self.turn.acquire()
        if self.schedule.stopping:
            raise _Stop
        return machine.unit.interval + 1


def _spaces(grid: Triple, block: Triple) -> Iterator[LaneSpace]:
    """The grid in pieces of at most LANES_AT_ONCE lanes (at least one block)."""
    threads = int(np.prod(block))
    at_once = max(1, LANES_AT_ONCE // threads)
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


def _triple(sizes: Any, name: str) -> Triple:
    parts = tuple(sizes) if isinstance(sizes, tuple | list) else (sizes,)
    whole = all(isinstance(part, int | np.integer) and part > 0 for part in parts)
    if not 1 <= len(parts) <= 3 or not whole:
        raise rejection(
            "invalid-launch",
            f"The {name} must be one to three whole numbers above zero, not {sizes!r}.",
            None,
            "Ceiling division keeps a grid's sizes whole: (N + T - 1) // T." * (name == "grid"),
        )
    x, y, z = (*(int(part) for part in parts), 1, 1)[:3]
    return x, y, z


def _product(sizes: Triple) -> str:
    return "x".join(str(size) for size in sizes if size > 1) or "1"


def _too_much_shared(size: int, node: ast.AST | None) -> KernelRejected:
    return rejection(
        "invalid-launch",
        f"The block asks for {size} bytes of shared memory; it can have {MAX_SHARED_BYTES}.",
        node,
    )


def _type_of(name: str, value: Any) -> T.Type:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8 or value.ndim == 0:
            raise rejection("invalid-launch", f"{name} is an array of {value.dtype}.", None)
        return T.ArrayType(value.dtype, value.ndim, value.flags.writeable)
    if isinstance(value, tuple):
        return T.TupleType(tuple(_type_of(name, item) for item in value))
    kind = T.type_of_scalar(value)
    if kind is None:
        raise rejection(
            "invalid-launch",
            f"{name} is a {type(value).__name__}; a kernel takes NumPy arrays and numbers.",
            None,
        )
    return kind


def _all_typings(typing: Typing, seen: set[int]) -> Iterator[Typing]:
    """A kernel's typing and those of all functions that it calls."""
    if id(typing) in seen:
        return
    seen.add(id(typing))
    yield typing
    for target in typing.calls.values():
        if isinstance(target, Typing):
            yield from _all_typings(target, seen)


def _local_bytes_per_lane(typing: Typing) -> int:
    total = 0
    for each in _all_typings(typing, set()):
        for node, shape in each.layouts.items():
            if ast.unparse(node.func).endswith("local.array"):
                kind = each.types[node]
                assert isinstance(kind, T.ArrayType)
                total += int(np.prod(shape, dtype=object)) * (kind.dtype.itemsize + 4)
    return total


def _written_names(typing: Typing) -> set[str] | None:
    """The parameters that the kernel stores into; None if that cannot be told from the names."""
    names: set[str] = set()
    for each in _all_typings(typing, set()):
        is_kernel = each is typing
        for node in ast.walk(each.kernel.tree):
            target: ast.expr | None = None
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                target = node.value
            elif isinstance(node, ast.Call) and _is_atomic(each, node):
                target = node.args[0] if node.args else None
            if target is None:
                continue
            if not isinstance(target, ast.Name) or not is_kernel:
                return None
            if target.id not in each.kernel.parameters and not _is_own_array(each, target.id):
                return None
            names.add(target.id)
    return names


def _is_atomic(typing: Typing, call: ast.Call) -> bool:
    function = typing.types.get(call.func)
    return isinstance(function, T.Static) and ".atomic." in str(function.value)


def _is_own_array(typing: Typing, name: str) -> bool:
    """Whether every assignment to `name` makes a shared or local array."""
    values = [
        node.value
        for node in ast.walk(typing.kernel.tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return bool(values) and all(value in typing.layouts for value in values)


def _traced(access: Access, step: int) -> TracedAccess:
    """An access with every active lane written out."""
    space, allocation = access.mask.space, access.allocation
    lanes = np.flatnonzero(access.mask.full_array)
    cells = np.broadcast_to(access.cell, space.shape).reshape(-1)[lanes]
    shape = allocation.shape or (1,)
    indices = np.stack(np.unravel_index(cells, shape), axis=1)
    threads = np.stack(np.unravel_index(lanes, space.shape), axis=1)
    threads[:, :3] += np.array(space.first_block)
    addresses = allocation.address + cells * allocation.dtype.itemsize
    return TracedAccess(
        access.kind,
        allocation.space,
        access.array,
        access.line,
        step,
        access.interval,
        indices,
        threads,
        addresses,
    )
