"""The load/store unit: accesses of all active lanes to arrays, and slices, each one checked."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.budget import StepCounter
from course_lib.emulator.errors import rejection
from course_lib.emulator.machine.engine import Engine
from course_lib.emulator.machine.events import AtomicUpdate
from course_lib.emulator.machine.given_values import GivenToLaunch
from course_lib.emulator.state.indices import Fault, IndexChecker, flat_cells
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, joint_shape, spread
from course_lib.emulator.state.memory import (
    NEVER_WRITTEN,
    Access,
    Ages,
    Allocation,
    ArrayView,
    poison,
)


def last_named(item: Any, length: Value) -> Value:
    """An index, or the last one of a slice as written: NumPy ends the slice with the array."""
    if not isinstance(item, slice):
        result: Value = item
        return result
    if item.step is not None:  # where it ends is a matter of its step; NumPy cuts it
        return np.int64(0)
    return (length if item.stop is None else item.stop) - np.int64(1)


def cut(item: slice, length: Value, line: int) -> tuple[Value, Value, int]:
    """Where a slice of an axis begins, how many elements it has, and its step, as in NumPy.

    Raises KernelRejected if the step differs between lanes; strides are those of an array.
    """
    step = 1 if item.step is None else int(np.min(item.step))
    if item.step is not None and step != np.max(item.step):
        message = "The threads of this launch slice an array with different steps."
        raise rejection("unsupported", message, line, "A loop with a step does the same.")
    if step == 0:
        raise rejection("unsupported", "The step of a slice must not be zero.", line)
    # Downwards the places before the first and behind the last are -1 and length - 1.
    low, high = (np.int64(0), length) if step > 0 else (np.int64(-1), length - np.int64(1))
    first, last = (low, high) if step > 0 else (high, low)
    start, stop = (
        default if bound is None else _bound(bound, length, low, high)
        for bound, default in ((item.start, first), (item.stop, last))
    )
    count = np.maximum((stop - start + step - np.sign(step)) // step, np.int64(0))
    # An empty part begins at 0: nobody can reach it, and it lies inside for NumPy.
    return np.where(count > 0, start, np.int64(0))[()], count, step


def _bound(bound: Value, length: Value, low: Value, high: Value) -> Value:
    bound = bound.astype(np.int64)
    result: Value = np.clip(np.where(bound < 0, bound + length, bound), low, high)[()]
    return result


# --- The unit itself ------------------------------------------------------------------------------
# Every access is checked against the bounds of its array, against memory that nobody has written,
# and then told to the observers, which count it and look for races.


def as_dtype(value: Value, dtype: np.dtype) -> Value:
    """`value` as `dtype`; itself if it is of that type already."""
    return value if value.dtype == dtype else value.astype(dtype)


# Looking through the cells of an array costs steps, too: one for so many.
CELLS_PER_STEP = 1 << 15


class LoadStoreUnit:
    """Accesses to memory by the lanes of one space.

    `interval` counts the barriers passed, `count` the accesses made; `moment` says in which turn of
    which loops, and in which calls, the lanes are.
    """

    def __init__(self, engine: Engine, steps: StepCounter, given: GivenToLaunch) -> None:
        self.space, self.memory, self.observers = engine.space, engine.memory, engine.observers
        self.steps = steps
        self.given, self.handed = given, given.handed
        self.interval = 0
        self.count = 0
        self.reads = 0
        self.writes = 0  # that may have changed something
        self.moment: tuple[int, ...] = ()
        self._checker = IndexChecker(engine.space)
        self._access_steps = steps.budget.access_steps
        # Local arrays by cells, each a row of lanes; a view keeps its array, and so the array's id.
        self._rows: dict[int, np.ndarray] = {}

    def part(
        self, view: ArrayView, items: Sequence[Any], active: Mask, line: int, kind: str = "load"
    ) -> tuple[ArrayView, Mask]:
        """The part of an array that a partial index or a slice names, and the lanes inside."""
        active = view.lanes(active)
        if view.allocation.space != "global":
            last = [
                last_named(item, length) for item, length in zip(items, view.shape, strict=False)
            ]
            self.observers.index(view, last, active, line)
        offset, shape, strides = view.offset, [], []
        faults: list[Fault] = []
        mask = active
        for axis, item in enumerate(items):
            length, stride = view.shape[axis], np.int64(view.strides[axis])
            if isinstance(item, slice):
                start, count, step = cut(item, length, line)
                offset = offset + start * stride
                shape.append(count)
                strides.append(step * view.strides[axis])
            else:
                index, mask = self._checker.inside(item, length, axis, mask, faults)
                offset = offset + index * stride
        self.report_faults(faults, view.allocation, kind, line)
        left = len(items)
        lengths, steps = (*shape, *view.shape[left:]), (*strides, *view.strides[left:])
        inside = view.inside if mask is active else mask
        return ArrayView(view.name, view.allocation, lengths, steps, offset, inside), mask

    def load(self, view: ArrayView, indices: Sequence[Value], active: Mask, line: int) -> Value:
        """Read one element for each active lane."""
        allocation = view.allocation
        cell, mask, active = self._reached(view, indices, active, line, "load")
        if mask is not active and mask.empty:
            return poison(allocation.dtype)
        value = self._fetch(allocation, cell)
        return self._read(view, cell, value, mask, mask is not active, line)

    def load_wide(
        self, view: ArrayView, index: Value, elements: int, active: Mask, line: int
    ) -> np.ndarray:
        """Read neighbouring elements at once for each active lane, from a flat index on; the first
        axis of what it returns counts them, the others are lanes.
        """
        allocation = view.allocation
        cell, mask = self.flat_cells(view, index, elements, active, line, "load")
        if mask.empty:
            return np.full(elements, poison(allocation.dtype))
        found = allocation.storage.take(self._neighbours(allocation, cell, elements))
        is_part = mask is not active
        values: np.ndarray = self._read(view, cell, found, mask, is_part, line, elements)
        return values

    def _reached(
        self, view: ArrayView, indices: Sequence[Value], active: Mask, line: int, kind: str
    ) -> tuple[Value, Mask, Mask]:
        """The target of an access, the lanes for which it is allowed, and those that want it."""
        active = view.lanes(active)
        if view.allocation.space != "global":
            self.observers.index(view, indices, active, line)
        cell, mask, faults = self._checker.cells(view, indices, active)
        if faults:
            self.report_faults(faults, view.allocation, kind, line)
        return cell, mask, active

    def _read(
        self,
        view: ArrayView,
        cell: Value,
        found: Any,
        mask: Mask,
        is_part: bool,
        line: int,
        elements: int = 1,
    ) -> Any:
        """What lanes get of what was found: no value if it `is_part` of them that may read."""
        allocation = view.allocation
        if is_part and mask.array is not None:
            found = np.where(mask.array, found, poison(allocation.dtype))
        if allocation.written_in is not None:
            unwritten = self._check_written(allocation, cell, mask, line, elements)
            if unwritten is not None:
                found = np.where(unwritten[0].full_array, unwritten[1], found)
        if self.handed is not None and allocation.space == "shared":
            place = self.memory.place(allocation, cell)
            if elements > 1:
                place = self._neighbours(allocation, cell, elements)
            found = self.handed.loaded(allocation.storage, place, found, line)
        self.observe("load", view, cell, mask, line, elements)
        return found

    def _neighbours(self, allocation: Allocation, cell: Value, elements: int) -> np.ndarray:
        """Where in storage the elements from `cell` on lie; the first axis counts them."""
        place = self.memory.place(allocation, cell)
        apart = self.space.size if allocation.space == "local" else 1
        steps = np.arange(0, elements * apart, apart).reshape(elements, *(1,) * np.ndim(place))
        return steps + place

    def _fetch(self, allocation: Allocation, cell: Value) -> Value:
        if allocation.space == "local" and np.ndim(cell) == 0 and not allocation.by_lane:
            return self._local_row(allocation.storage, cell).copy()
        if allocation.storage.size == 0:
            return poison(allocation.dtype)
        place = self.memory.place(allocation, cell)
        if allocation.within is not None:  # `take` would copy the field of all records first
            return allocation.storage[place]
        return allocation.storage.take(place)

    def _local_row(self, storage: np.ndarray, cell: Value) -> np.ndarray:
        """One cell of a local array for all lanes, without gathering."""
        rows = self._rows.get(id(storage))
        if rows is None:
            rows = self._rows[id(storage)] = storage.reshape(-1, *self.space.shape)
        return rows[cell]

    def store(
        self, view: ArrayView, indices: Sequence[Value], value: Value, active: Mask, line: int
    ) -> None:
        """Write one element for each active lane; of several to one cell, the last lane wins."""
        cell, mask, _ = self._reached(view, indices, active, line, "store")
        if mask.empty:
            return
        self.observers.converted(view, value, mask, line)
        self.write(view.allocation, cell, mask, as_dtype(value, view.allocation.dtype))
        self.observe("store", view, cell, mask, line)

    def store_wide(
        self, view: ArrayView, index: Value, values: Sequence[Value], active: Mask, line: int
    ) -> None:
        """Write neighbouring elements at once for each active lane, from a flat index on."""
        cell, mask = self.flat_cells(view, index, len(values), active, line)
        if mask.empty:
            return
        for i, value in enumerate(values):
            self.write(view.allocation, cell + np.int64(i), mask, value)
        self.observe("store", view, cell, mask, line, len(values))

    def flat_cells(
        self,
        view: ArrayView,
        index: Value,
        elements: int,
        active: Mask,
        line: int,
        kind: str = "store",
    ) -> tuple[Value, Mask]:
        """Where a wide access goes, and the lanes for which it is allowed."""
        if view.allocation.space != "global":
            last = index + np.int64(elements - 1)
            self.observers.index(view.flattened, [last], active, line)
        cell, mask, faults = flat_cells(self._checker, view, index, elements, active)
        self.report_faults(faults, view.allocation, kind, line)
        return cell, mask

    def write(self, allocation: Allocation, cell: Value, mask: Mask, value: Value) -> None:
        """Put values into cells that are known to be inside, unobserved."""
        self.writes += 1
        targets = [(allocation.storage, value)]
        if self._counts(allocation):
            assert allocation.written_in is not None
            targets.append((allocation.written_in, np.int32(self.interval)))
            if allocation.space == "shared":
                allocation.ages = None
        if allocation.space == "local" and np.ndim(cell) == 0 and not allocation.by_lane:
            where = True if mask.array is None else mask.array
            for storage, new in targets:
                np.copyto(self._local_row(storage, cell), new, where=where)
            return
        place = self.memory.place(allocation, cell)
        for storage, new in targets:
            _scatter(storage, place, new, mask.array)

    def _counts(self, allocation: Allocation) -> bool:
        """Whether the time of a write matters: not once all cells are written, except in shared
        memory.
        """
        if allocation.written_in is None:
            return False
        ages = allocation.ages
        return ages is None or allocation.space == "shared" or not ages.all_fresh

    def _check_written(
        self, allocation: Allocation, cell: Value, mask: Mask, line: int, elements: int = 1
    ) -> tuple[Mask, Value] | None:
        """Notice reads of cells that were never written, or not in the latest round of writes: the
        lanes that read what was never written, and what they are to read instead, if so.
        """
        unwritten = None
        written = allocation.written_in
        assert written is not None
        # Elsewhere than in shared memory, more writes cannot make an array less written. Parts of
        # complex numbers may have been written as a whole, or the other way round.
        shares = allocation.within is not None or bool(allocation.fields)
        if (
            allocation.ages is None
            or (shares and allocation.space == "shared")
            or not (allocation.space == "shared" or allocation.ages.all_fresh)
        ):
            self.steps.spend(written.size // CELLS_PER_STEP, line)
            allocation.ages = _ages(allocation, self.space)
        if allocation.ages.all_fresh:
            return None
        if elements == 1:
            found = written.take(self.memory.place(allocation, cell))
        else:  # of neighbours the oldest counts
            several = written.take(self._neighbours(allocation, cell, elements))
            found, cell = several.min(axis=0), cell + several.argmin(axis=0)
        if np.count_nonzero(found < 0):
            never = mask.where(found < 0)
            if not never.empty:
                self.observers.uninitialised(allocation, cell, never, line)
                unwritten = self._instead(allocation, never, line)
        if allocation.space == "shared":
            self._check_stale(allocation, cell, found, mask, line)
        return unwritten

    def _instead(self, allocation: Allocation, never: Mask, line: int) -> tuple[Mask, Value] | None:
        value = self.given.instead_of(allocation.name, line, allocation.dtype, self.space)
        return None if value is None else (never, value)

    def _check_stale(
        self, allocation: Allocation, cell: Value, found: np.ndarray, mask: Mask, line: int
    ) -> None:
        assert allocation.ages is not None
        old = (found >= 0) & (found < allocation.ages.newest_of_block)
        if np.count_nonzero(old):
            stale = mask.where(old)
            if not stale.empty:
                self.observers.stale(allocation, cell, stale, line)

    def observe(
        self,
        kind: str,
        view: ArrayView,
        cell: Value,
        mask: Mask,
        line: int,
        elements: int = 1,
        changes: np.ndarray | None = None,
    ) -> Access | None:
        """Report an access to the observers; returns it if it is a copy or any of them listens."""
        allocation = view.allocation
        if allocation.copies is not None and allocation.copies.count:
            self._check_copies(kind, allocation, cell, mask, line, elements)
        if self._access_steps:
            self.steps.spend(self.steps.budget.cost_of_access(self.space.size, np.size(cell)), line)
        self.count += 1
        self.reads += kind != "store"
        hearing = self.observers.accesses[allocation.space]
        if not hearing and kind != "copy":
            return None
        order = (*self.moment, line, self.count)
        access = Access(
            kind, view.name, allocation, cell, mask, line, order, self.interval, elements, changes
        )
        for hear in hearing:
            hear(access)
        return access

    def _check_copies(
        self, kind: str, allocation: Allocation, cell: Value, mask: Mask, line: int, elements: int
    ) -> None:
        """Notice an access to cells into which a copy is on its way."""
        assert allocation.copies is not None
        lines = allocation.copies.lines_at(cell, elements)
        if lines.any():
            bad = mask.where(lines != 0)
            if not bad.empty:
                self.observers.too_early(kind, allocation, cell, bad, line, lines, elements)

    def report_faults(
        self, faults: Sequence[Fault], allocation: Allocation, kind: str, line: int
    ) -> None:
        for fault in faults:
            self.observers.fault(fault, allocation, kind, line)

    def replace(
        self,
        view: ArrayView,
        indices: Sequence[Value],
        step: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
        active: Mask,
        line: int,
    ) -> Value:
        """Replace one element for each active lane by its successor; `step`'s second result."""
        allocation = view.allocation
        cell, mask, faults = self._checker.cells(view, indices, active)
        self.report_faults(faults, allocation, "load", line)
        place = spread(self.memory.place(allocation, cell), self.space.shape)
        inside = allocation.storage.size > 0 and not mask.empty
        old = allocation.storage[place] if inside else np.zeros(place.shape, allocation.dtype)
        after, drawn = step(old)
        if inside:
            self.observe("load", view, cell, mask, line)
            self.write(allocation, cell, mask, after)
            self.observe("store", view, cell, mask, line)
        return drawn

    def atomic(
        self,
        view: ArrayView,
        indices: Sequence[Value],
        update: AtomicUpdate,
        active: Mask,
        line: int,
    ) -> Value:
        """An atomic update: every active lane's takes place, one after the other."""
        allocation = view.allocation
        cell, mask, _ = self._reached(view, indices, active, line, "atomic")
        if mask.empty:
            return poison(allocation.dtype)
        if allocation.written_in is not None:
            unwritten = self._check_written(allocation, cell, mask, line)
            if unwritten is not None:
                self.write(allocation, cell, *unwritten)
        old, changes = self._update(allocation, cell, mask, update, line)
        self.observe("atomic", view, cell, mask, line, changes=changes)
        return old

    def _update(
        self, allocation: Allocation, cell: Value, mask: Mask, update: AtomicUpdate, line: int
    ) -> tuple[Value, np.ndarray | None]:
        """The value that each lane found, and whether each active one changed it."""
        active = mask.full_array
        place = spread(self.memory.place(allocation, cell), self.space.shape)[active]
        operands = [
            spread(as_dtype(operand, allocation.dtype), self.space.shape)[active]
            for operand in update.operands
        ]
        given = replace(update, operands=operands)
        self.observers.updates(allocation, place, given, line)
        if update.one_by_one:
            self.steps.spend(len(place) // 16, line)
        old, changes = update.carry_out(allocation.storage, place, operands)
        self.writes += changes is None or bool(changes.any())
        if allocation.written_in is not None:
            allocation.written_in[place] = self.interval
            if allocation.space == "shared":
                allocation.ages = None
        result = np.full(self.space.shape, poison(allocation.dtype))
        result[active] = old
        return result, changes


def _ages(allocation: Allocation, space: LaneSpace) -> Ages:
    """How old an array's last writes are, as far as it can be said of the array as a whole."""
    written = allocation.written_in
    assert written is not None
    oldest = int(written.min(initial=np.iinfo(np.int32).max))
    if allocation.space != "shared":
        return Ages(oldest >= 0, np.int64(0))
    newest = written.reshape(space.block_count, -1).max(axis=1, initial=NEVER_WRITTEN)
    all_fresh = 0 <= newest.max() <= oldest
    return Ages(bool(all_fresh), newest.reshape(*space.blocks, 1, 1, 1))


def _scatter(storage: np.ndarray, place: Value, value: Value, active: np.ndarray | None) -> None:
    """storage[place] = value for the active lanes."""
    if active is None:
        if np.ndim(place) == 0:
            storage[int(place)] = value if np.ndim(value) == 0 else np.ravel(value)[-1]
        elif np.ndim(value) == 0 or place.shape == value.shape:
            storage[place] = value
        else:
            storage[spread(place, joint_shape(place, value))] = value
        return
    shape = joint_shape(place, value, active)
    chosen = spread(active, shape)
    new = value if np.ndim(value) == 0 else spread(value, shape)[chosen]
    storage[spread(place, shape)[chosen]] = new
