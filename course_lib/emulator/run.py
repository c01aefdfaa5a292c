"""Runs a launch: takes the blocks in groups through a machine and collects what was found out."""

import copy
import enum
import math
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np

from course_lib.emulator.budget import (
    MAX_SHARED_BYTES,
    BudgetExceeded,
    EmulationOptions,
    LaunchShape,
    OpenLoop,
    StepCounter,
    too_much_shared,
)
from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.library_functions import STATE
from course_lib.emulator.inference.infer import (
    bytes_per_lane,
    declared_arrays,
    device_arrays,
    float64_arrays,
    may_lack_values,
    orders_by_atomics,
    written_names,
)
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.engine import TIMINGS, Engine
from course_lib.emulator.machine.events import (
    Observer,
    Observers,
)
from course_lib.emulator.machine.expressions import prepared
from course_lib.emulator.machine.given_values import (
    EitherRounding,
    GivenToLaunch,
    HandedValues,
    Instead,
)
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.schedule import Schedule, Unit, warps, warps_of_blocks
from course_lib.emulator.machine.statements import run_block
from course_lib.emulator.observers.access_costs import CostNotes, LaunchCosts
from course_lib.emulator.observers.coverage import WrapNotes, left_out, wrapped_sums
from course_lib.emulator.observers.engine_faults import EngineFaults, waits_in_vain
from course_lib.emulator.observers.faults import CopyFaults, Faults
from course_lib.emulator.observers.findings import (
    NotedFindings,
    ThreadNames,
    causes_only,
    float64_findings,
    timeout,
)
from course_lib.emulator.observers.limits import LimitNotes
from course_lib.emulator.observers.meter import Meter, StreamRecorder
from course_lib.emulator.observers.narrowed_float64 import narrowed_lines
from course_lib.emulator.observers.ordered_races import OrderedRaces
from course_lib.emulator.observers.race_findings import RaceNotes, one_for_each_barrier
from course_lib.emulator.observers.races import BlockRaces, RaceDetector
from course_lib.emulator.observers.serial_work import WaitNotes, waiting
from course_lib.emulator.observers.tracing import Output, Tracer, Unwritten
from course_lib.emulator.observers.values_in_text import float64_sources
from course_lib.emulator.profile.counters import Counters
from course_lib.emulator.profile.profile import Profile, SharedArrayUse
from course_lib.emulator.reach import memories, weigh
from course_lib.emulator.state.hopper import TensorMap
from course_lib.emulator.state.lanes import WARP_SIZE, LaneSpace, Mask
from course_lib.emulator.state.memory import ArrayView, GlobalMemory, Memory
from course_lib.wording.findings import by_importance
from course_lib.wording.sentences import say

MAX_LOCAL_BYTES = 512 * 1024

# Blocks are emulated side by side, up to this many lanes: enough that NumPy's own cost per call
# does not count, few enough that the arrays stay in the processor's cache.
LANES_AT_ONCE = 1 << 17

# What trying a launch out with other values for those that nobody wrote may cost: so many times
# what it cost itself.
STEPS_OF_REPEATS = 12

# The C library gives large blocks back to the system as soon as NumPy frees them, and every page
# that is taken again costs a fault: up to a third of a launch. glibc keeps blocks of the size of
# the largest that it has seen freed (mallopt(3), M_MMAP_THRESHOLD), so it is shown one; nobody
# touches it, and it costs no memory. Elsewhere this changes nothing.
np.empty(16 * LANES_AT_ONCE)


class Run:
    """One launch while it runs, and what its observers found out."""

    notes_writes = True  # of shared and local memory: who reads what nobody has written?

    def __init__(
        self,
        typing: Typing,
        arguments: Sequence[Any],
        shape: LaunchShape,
        options: EmulationOptions,
        observers: Iterable[Observer],
        limits: LimitNotes | None = None,
        handed: HandedValues | None = None,
    ) -> None:
        self.typing = typing
        self.kernel = typing.kernel
        self.shape = shape
        self.options = options
        self.memory = GlobalMemory()
        self._check_shared_memory()
        named = zip(self.kernel.parameters, arguments, strict=True)
        self.values = [self._value(name, value) for name, value in named]
        captured = {
            array: self.memory.captured(name, array.fetch(), array.give_back)
            for array, name in device_arrays(typing).items()
        }
        self.given = GivenToLaunch(
            self.values, captured, shape.dynamic_shared_bytes, options.cluster, handed=handed
        )
        self.names = ThreadNames(shape.grid, shape.block)
        self.findings = NotedFindings()
        self.may_be_written = self._written_allocations()
        self.waits_for_others = any(part.waits_for_others for part in typing.functions)
        self.uses_engine = any(part.uses_engine for part in typing.functions)
        self.is_grid_wide = any(part.meets_grid for part in typing.functions)
        self.stopped_in: OpenLoop | None = None
        self.shared: dict[str, SharedArrayUse] = {}
        if options.either_rounding:
            self.given.products = EitherRounding(options.seed)
        self._make_observers(observers, limits)
        views = [*_views_in(self.values), *captured.values()]
        self.array_types = {str(view.allocation.dtype) for view in views}
        if self.meter:
            arrays = [(view.name, view) for view in views]
            described = [view.allocation.described for view in views]
            arrays += [(found[0].allocation.name, found[0]) for found in described if found]
            for name, view in arrays:
                lengths = tuple(int(length) for length in view.shape)
                self.meter.register(name, view.allocation, lengths)

    def _make_observers(self, others: Iterable[Observer], limits: LimitNotes | None) -> None:
        """Who listens to this launch: what the options ask for, and then the others."""
        options = self.options
        note = self.findings.note
        trees = tuple(typing.kernel.tree for typing in self.typing.functions)
        arrays = self.memory.arguments.items()
        generators = {name for name, array in arrays if array.dtype == STATE}
        numbers = zip(self.kernel.parameters, self.values, strict=True)
        given = {name: value for name, value in numbers if isinstance(value, np.generic)}
        meanings = ChainMap(given, self.kernel.namespace)  # type: ignore[arg-type]
        self.note_race = RaceNotes(trees, generators, meanings, self.names, note)
        self.faults = Faults(self.names, note, options.costs)
        self.unwritten = Unwritten(self.names, note)
        self.output = Output(options.budget.printed_lines)
        self.meter = Meter() if options.counters else None
        self.stream = StreamRecorder() if options.stream else None
        watched = options.costs and options.counters
        self.costs = CostNotes(self.may_be_written) if watched else None
        self.waits = WaitNotes() if self.costs else None
        self.wraps = WrapNotes() if self.costs else None
        wanted = options.trace if isinstance(options.trace, str) else None
        self.tracer = Tracer(wanted) if options.trace else None
        grid, block = self.shape.grid[::-1], self.shape.block[::-1]
        self.beyond_blocks: BlockRaces | OrderedRaces = BlockRaces(grid, self.may_be_written)
        if self.uses_engine or orders_by_atomics(self.typing):
            self.beyond_blocks = OrderedRaces(grid, block, self.may_be_written)
        self.observers = Observers([*self._own_observers(limits), *others])

    def _own_observers(self, limits: LimitNotes | None) -> Iterator[Observer]:
        """In the order in which they are told."""
        always, costs = (self.faults, self.output, self.meter), (self.costs, self.waits, self.wraps)
        wanted = (*always, *costs, self.stream, self.tracer)
        yield from (observer for observer in wanted if observer is not None)
        if self.options.races:
            if isinstance(self.beyond_blocks, BlockRaces):
                yield RaceDetector(self.may_be_written, self.note_race)
            yield CopyFaults(self.names, self.findings.note)
            if self.uses_engine:
                yield EngineFaults(self.names, self.findings.note)
            yield self.beyond_blocks
        yield self.unwritten
        # Warp by warp, the same sites would be met once for every warp, in turns; nothing more.
        if limits and self.options.schedule == "lockstep":
            limits.next_launch()
            yield limits

    def repeated(self, instead: Instead) -> Self:
        """The same launch once more, with other values for what nobody wrote, and unwatched."""
        again = copy.copy(self)
        again.findings, again.shared = NotedFindings(), {}
        products = self.given.products and EitherRounding(self.options.seed)
        again.given = replace(self.given, instead=instead, products=products)
        again.faults = Faults(again.names, again.findings.note, again.options.costs)
        again.output = Output(again.options.budget.printed_lines)
        again.observers = Observers([again.faults, again.output])
        return again

    def _check_shared_memory(self) -> None:
        total, last, cells = 0, None, 0
        for node, is_local, dtype, elements in declared_arrays(self.typing):
            size = elements * dtype.itemsize
            if not is_local:
                total, last = total + size, node
                cells += elements
            elif size > MAX_LOCAL_BYTES:
                message = (
                    "A thread may have at most 524288 bytes (512 KiB) of local memory, but this "
                    "array takes {size} bytes."
                )
                raise rejection("invalid-launch", message, node, size=size)
        if total > MAX_SHARED_BYTES:
            raise too_much_shared(total, last)
        limit = max(MAX_SHARED_BYTES, self.options.max_dynamic_shared)
        if total + self.shape.dynamic_shared_bytes > limit:
            raise too_much_shared(total + self.shape.dynamic_shared_bytes, last, limit)
        self._declared_shared = total + self.shape.dynamic_shared_bytes
        # Of every cell it is kept when it was written.
        self._shared_bytes = total + 4 * cells + 5 * self.shape.dynamic_shared_bytes

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            is_output = name.split("[")[0] in self.options.outputs
            view = self.memory.view(name, value, is_output)
            if isinstance(value, TensorMap):
                described = self.memory.view(f"{name}.array", value.array, is_output)
                view.allocation.described = described, value.box
            return view
        if isinstance(value, np.void):
            return self.memory.record(name, value)
        if isinstance(value, tuple):
            return tuple(self._value(f"{name}[{i}]", item) for i, item in enumerate(value))
        if isinstance(value, enum.Enum) and not isinstance(value, int):
            return T.place_of_member(value)
        kind = T.type_of_scalar(value)
        assert kind is not None
        return kind.type(value)

    def _written_allocations(self) -> set[int]:
        """The arrays that the kernel may write."""
        names = written_names(self.typing)
        arguments = self.memory.arguments
        if names is None:
            return {id(allocation) for allocation in arguments.values()}
        return {id(arguments[name]) for name in names if name in arguments}

    def execute(self) -> Profile:
        self.steps = StepCounter(self.options.budget)
        before = memories(self) if may_lack_values(self.typing) else None
        finished = True
        try:
            self.run_all()
        except BudgetExceeded as stop:
            finished = False
            self.stopped_in = stop.loop
            self._note_stop(stop)
        spent = self.options.budget.steps - max(self.steps.left, 0)
        for race in self.beyond_blocks.races:
            self.note_race(race)
        if before is not None and finished:
            self.steps.left = STEPS_OF_REPEATS * spent
            weigh(self, before)
        self.memory.copy_back()
        return self._profile(finished, spent)

    def _note_stop(self, stop: BudgetExceeded) -> None:
        """Why the launch did not come to its end."""
        for awaited in stop.awaited:
            block, thread = self.engine.space.describe(awaited.lane)
            self.findings.note(waits_in_vain(self.names.full(block, thread), thread, awaited))
        if not stop.awaited:
            self.findings.note(timeout(stop, self.options.budget.steps))

    def run_all(self) -> None:
        """Run all blocks."""
        for space in _spaces(self.shape, self._lanes_at_once()):
            self._run_space(space, self.steps)

    def _lanes_at_once(self) -> int:
        """How many lanes are emulated side by side; at least those of a block."""
        room = self._room()
        if self.waits_for_others:  # then each of its warps has a machine, with a mask of all lanes
            room = min(room, math.isqrt(WARP_SIZE * self.options.budget.bytes // 4))
        if self.is_grid_wide or self.waits_for_others:
            self._check_residency(room)
            return self.shape.threads
        return min(self.options.budget.lanes_at_once or LANES_AT_ONCE, room)

    def _check_residency(self, room: int) -> None:
        """Refuse a grid whose blocks wait for each other and cannot all run at once."""
        blocks, most = self.shape.blocks, self.shape.most_resident(self._declared_shared)
        if self.is_grid_wide and blocks > most:
            message = (
                "A barrier of the whole grid needs all {blocks} blocks on the GPU at once, but no "
                "GPU holds more than {most} of this size, so the launch fails."
            )
            hint = "How many blocks are needed if each goes through the data in strides?"
            raise rejection("invalid-launch", message, None, hint, blocks=blocks, most=most)
        if self.shape.threads > room:
            message = say(
                "The emulator has to run blocks that wait for each other at the same time. It "
                "has room for {room} threads, but these are {threads}.",
                room=room,
                threads=self.shape.threads,
            )
            raise rejection("not-allowed", message, None, "Try a smaller launch.")

    def _room(self) -> int:
        """How many lanes the budget has room for; at least those of a block."""
        budget, threads = self.options.budget, int(np.prod(self.shape.block))
        of_block = self._shared_bytes + threads * bytes_per_lane(self.typing)
        if of_block > budget.bytes:
            message = say(
                "With its local arrays and variables, one block takes {of_block} MB here, but "
                "there is room for only {most}.",
                of_block=of_block >> 20,
                most=budget.bytes >> 20,
            )
            raise rejection("not-allowed", message, None)
        return threads * (budget.bytes // max(of_block, 1))

    def _run_space(self, space: LaneSpace, steps: StepCounter) -> None:
        memory = Memory(space, self.notes_writes)
        timing, seed = TIMINGS[self.options.schedule], self.options.seed
        self.engine = Engine(space, memory, self.observers, timing, seed)
        self.observers.begin(space, memory)
        try:
            order = seed if self.options.schedule == "shuffled" else None
            Schedule(self._units(space, steps), self.engine, order).run()
        finally:
            self.engine.tell_unawaited()
            self.observers.end()
            self._note_shared_arrays(memory)

    def _units(self, space: LaneSpace, steps: StepCounter) -> Iterable[Unit]:
        """What runs together: all lanes, or those of a warp."""

        def machine(active: Mask) -> Machine:
            return Machine(self.typing, self.given, active, steps, self.engine, run_block, prepared)

        if self.waits_for_others:
            return warps_of_blocks(space, machine)
        if self.options.schedule == "lockstep":
            return [Unit(machine(Mask(space)), 0)]
        return warps(space, machine)

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

    def _profile(self, finished: bool, steps: int) -> Profile:
        totals = self.meter.finish() if self.meter else Counters()
        typings = self.typing.functions
        findings = causes_only(self.findings.values(), self.unwritten.has_read)
        findings = one_for_each_barrier(findings, [typing.kernel.tree for typing in typings])
        if self.meter:
            made = float64_arrays(self.typing)
            lines = frozenset(self.meter.float64_lines).difference(*map(narrowed_lines, typings))
            if self.costs and self.waits and self.wraps and finished:
                orders = self.is_grid_wide or orders_by_atomics(self.typing)
                costs = LaunchCosts(self.meter, self.costs, typings, self.shape, orders)
                findings += costs.findings()
                findings += waiting(self.waits, typings, self.shape)
                values = dict(zip(self.kernel.parameters, self.values, strict=True))
                findings += left_out(self.meter, typings, self.shape, values)
                findings += wrapped_sums(self.wraps, typings)
                has_fractions = any("float" in kind for kind in self.array_types)
                lines = float64_sources(typings, lines) if has_fractions else frozenset()
            findings += float64_findings(lines, made, self.array_types)
        return Profile(
            **{field.name: getattr(totals, field.name) for field in fields(Counters)},
            kernel_name=self.kernel.name,
            source=self.kernel.source,
            first_line=self.kernel.first_line,
            grid=self.shape.grid,
            block=self.shape.block,
            schedule=self.options.schedule,
            lines=dict(sorted(self.meter.lines.items())) if self.meter else {},
            findings=by_importance(findings),
            arrays=self.meter.arrays if self.meter else {},
            shared_arrays=list(self.shared.values()),
            stale_reads=list(self.faults.stale_reads.values()),
            output=self.output.lines,
            unkept_lines=self.output.unkept,
            trace=self.tracer.accesses if self.tracer else [],
            stream=self.stream.finish() if self.stream else None,
            counted=self.meter is not None,
            finished=finished,
            stopped_in=self.stopped_in,
            steps=steps,
        )


def _views_in(values: Iterable[Any]) -> Iterator[ArrayView]:
    """The arrays among the arguments, also those in tuples."""
    for value in values:
        if isinstance(value, ArrayView):
            yield value
        elif isinstance(value, tuple):
            yield from _views_in(value)


def _spaces(shape: LaunchShape, lanes: int) -> Iterator[LaneSpace]:
    """The grid in pieces of at most so many lanes (at least one block)."""
    grid, block = shape.grid, shape.block
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
                yield LaneSpace(size_zyx, (z, y, x), blocks, block[::-1], shape.rows)
