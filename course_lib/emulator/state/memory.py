"""The memories of the machine: global, shared and local arrays, with bounds and poison.

An `Allocation` is a flat piece of storage; an `ArrayView` is an array laid over it. Shared
memory exists once for every block, local memory once for every lane, both poisoned until written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from course_lib.emulator.state.lanes import LaneSpace, Mask, Value, spread
from course_lib.wording.words import element

NEVER_WRITTEN = -1
GLOBAL_ALIGNMENT = 256
GLOBAL_BASE = 1 << 32
POISON_INTEGER = 0x5A
# The offset of an array that begins where its allocation begins; "is" spares adding zero.
START = np.int64(0)


def poison(dtype: np.dtype) -> np.generic:
    """What stands in memory that nobody has written: NaN (twice if complex), or an odd integer."""
    if dtype.kind == "f":
        result: np.generic = dtype.type(np.nan)
        return result
    if dtype.kind == "c":
        result = dtype.type(complex(np.nan, np.nan))
        return result
    result = dtype.type(POISON_INTEGER if dtype.kind in "iu" else True)
    return result


def _poisoned(size: int, dtype: np.dtype) -> np.ndarray:
    """Storage that nobody has written; in records, field by field."""
    if not dtype.names:
        return np.full(size, poison(dtype), dtype)
    storage = np.zeros(size, dtype)
    for name in dtype.names:
        storage[name] = _poisoned(1, dtype[name].base)[0]
    return storage


@dataclass(frozen=True)
class Ages:
    """When the cells of an array were last written: whether all in the latest interval (shared
    memory) or at all (elsewhere), and of a shared array each block's latest interval.
    """

    all_fresh: bool
    newest_of_block: Value


@dataclass(frozen=True, eq=False)
class CopyStories:
    """For each lane, flat, what is known of the copy into a cell of its own."""

    starters: np.ndarray  # which lane has started it; -1 if there is none
    is_open: np.ndarray  # its group has not been closed
    was_missed: np.ndarray  # a wait came while its group had not been closed
    lets_go: np.ndarray  # how many of the newest groups the last wait since did not wait for
    idle_at: np.ndarray  # the line of that wait, if it waited for nothing and left this copy


class CopiesUnderWay(Protocol):
    """What an allocation knows of asynchronous copies into it; see async_copies.py."""

    count: int

    def lines_at(self, cell: Value, elements: int) -> Value: ...
    def stories_at(self, cell: Value, elements: int) -> CopyStories: ...


@dataclass(eq=False)
class Allocation:
    """One piece of storage."""

    name: str  # the array's name in the kernel
    space: str  # "global", "shared" or "local"
    shape: tuple[int, ...]  # the shape it was made with; names its cells
    dtype: np.dtype  # the type of one element
    # the elements, flat; for shared memory block after block, for local memory cell after cell,
    # each with one element per lane
    storage: np.ndarray
    address: int  # virtual address of its first byte (per block or lane for shared and local)
    line: int | None = None  # where the kernel makes it, if it does
    # for each element of storage the interval (number of barriers passed) in which it was last
    # written, or NEVER_WRITTEN; None for arrays that came in with their contents
    written_in: np.ndarray | None = None
    writable: bool = True  # False for arrays that the kernel must not change
    alignment: int = 256  # the number of bytes of which `address` is promised to be a multiple
    # which cells of a shared array asynchronous copies are on their way to, if any
    copies: CopiesUnderWay | None = None
    # what `written_in` says as a whole, if it has not changed since that was worked out
    ages: Ages | None = None
    # bytes from one cell to the next; more than an element has, in a field of records
    spacing: int = 0
    # of a field the allocation of the records, and the field's name as it is written
    within: tuple[Allocation, str] | None = None
    # the allocations of the fields, by name, as far as they were made; see indices.py
    fields: dict[str, Allocation] = field(default_factory=dict)
    # of local memory, whether it lies lane after lane, and not cell after cell
    by_lane: bool = False
    # of a tensor map, the array that it describes, and the size of its boxes
    described: tuple[ArrayView, tuple[int, ...]] | None = None

    def __post_init__(self) -> None:
        self.spacing = self.spacing or self.dtype.itemsize

    @property
    def root(self) -> Allocation:
        """The allocation that this one is a field of, at any depth; itself if it is none."""
        return self if self.within is None else self.within[0].root

    @property
    def cells(self) -> int:
        """Elements of one copy of the array."""
        return int(math.prod(self.shape))

    def element_name(self, cell: int) -> str:
        """The element as a student would write it: sA[3, 4]."""
        if self.within is not None:
            return self._name_in_record(cell)
        if not self.shape and cell == 0:
            return f"{self.name}[()]"
        if not self.shape or not 0 <= cell < self.cells:
            return f"{self.name}[{cell}]"
        return element(self.name, map(int, np.unravel_index(cell, self.shape)))

    def _name_in_record(self, cell: int) -> str:
        assert self.within is not None
        whole, name = self.within
        record, byte = divmod(cell * self.spacing, whole.spacing)
        place = whole.element_name(record) + name
        kind = whole.dtype[name[1:]] if whole.dtype.names else self.dtype
        if not kind.shape:
            return place
        return element(place, map(int, np.unravel_index(byte // self.dtype.itemsize, kind.shape)))


@dataclass(frozen=True, eq=False)
class ArrayView:
    """An array laid over an allocation, under the name that the kernel has for it.

    Element (i, j) lies at offset + i·strides[0] + j·strides[1] + …

    `strides` and `offset` count elements. `shape` and `offset` may differ between lanes. Where
    lanes asked for a part that does not exist, `inside` has the others: only those access it.
    """

    name: str
    allocation: Allocation
    shape: tuple[Value, ...]
    strides: tuple[int, ...]
    offset: Value = field(default_factory=lambda: START)
    inside: Mask | None = None

    def lanes(self, active: Mask) -> Mask:
        """Those of the active lanes for which there is such an array."""
        return active if self.inside is None else active.where(self.inside.full_array)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The shape as plain numbers; () where it differs between lanes."""
        if any(length.ndim for length in self.shape):
            return ()
        return tuple(int(length) for length in self.shape)

    @property
    def transposed(self) -> ArrayView:
        """The view with its axes reversed."""
        return replace(self, shape=self.shape[::-1], strides=self.strides[::-1])

    @property
    def flattened(self) -> ArrayView:
        """The same elements under one index, if they lie one after the other."""
        apart = max(self.allocation.dtype.itemsize // self.allocation.spacing, 1)
        return replace(self, shape=(self.size,), strides=(apart,))

    @property
    def size(self) -> Value:
        """How many elements there are."""
        size: Value = np.int64(1)
        for length in self.shape:
            size = size * length
        return size


@dataclass(eq=False, slots=True)
class Access:
    """One executed memory operation of all active lanes; the observers read these."""

    kind: str  # "load", "store", "atomic", or "copy": the store of an asynchronous copy
    array: str  # the kernel's name for the array
    allocation: Allocation  # where
    cell: Value  # element of the allocation for each lane (int64, broadcastable over the lanes)
    mask: Mask  # the lanes that took part
    line: int  # source line
    # where it stands in the program's order: lines of the calls and loops around it, each loop's
    # turn, its own line. Unlike a count, it is the same for every schedule
    order: tuple[int, ...]
    interval: int  # barriers passed so far
    # how many neighbouring elements each lane accesses at once; `cell` is the first
    elements: int = 1
    # of an atomic operation, for each active lane whether it changed the cell; None if all did
    changes: np.ndarray | None = None
    # of an asynchronous copy that has landed: where the wait stands in which it did, as `order`
    landed: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """Bytes per lane."""
        return self.elements * self.allocation.dtype.itemsize

    @property
    def first_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each active lane the first cell that it touches, and the lane's number."""
        space = self.mask.space
        cells = spread(self.cell, space.shape).reshape(-1)
        if self.mask.array is None:
            return cells, space.lane_number.reshape(-1)
        lanes = np.flatnonzero(self.mask.full_array)
        return cells[lanes], lanes

    @property
    def touched(self) -> tuple[np.ndarray, np.ndarray]:
        """All cells that active lanes touch, each with the number of its lane."""
        return self.each_cell(*self.first_cells)

    def each_cell(self, cells: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All cells that are touched, given the first of some lanes, with the lane's `who`."""
        if self.elements == 1:
            return cells, who
        every = (cells[:, None] + np.arange(self.elements)).reshape(-1)
        return every, np.repeat(who, self.elements)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a row-major array."""
    strides = [1]
    for length in reversed(shape[1:]):
        strides.insert(0, strides[0] * int(length))
    return tuple(strides[: len(shape)])


@dataclass(frozen=True)
class MadeArray:
    """An array that the kernel makes itself."""

    call: object  # which makes it
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    line: int
    alignment: int  # in bytes, at least that of an element


class Memory:
    """All allocations that the blocks of one space can see.

    `notes_writes`: is it kept when a cell was written, to tell who reads it before?
    """

    def __init__(self, space: LaneSpace, notes_writes: bool = True) -> None:
        self.space = space
        self.notes_writes = notes_writes
        self.shared: dict[object, ArrayView] = {}
        self.local: dict[object, ArrayView] = {}
        self.shared_bytes = 0
        self.bytes = 0
        self._ballots: dict[tuple[object, int], tuple[np.ndarray, np.ndarray]] = {}
        self._starts: dict[int, np.ndarray] = {}
        self.seen: dict[object, ArrayView] = {}  # as elements of other types; see hopper.py
        self._dynamic: dict[np.dtype, ArrayView] = {}
        self._dynamic_bytes: np.ndarray | None = None

    def make_shared(self, made: MadeArray) -> ArrayView:
        """The shared array that a call makes, one copy for each block."""
        if made.call not in self.shared:
            start = -(-self.shared_bytes // made.alignment) * made.alignment
            self.shared_bytes = start + math.prod(made.shape) * made.dtype.itemsize
            self.shared[made.call] = self._make("shared", made, self.space.block_count, start)
        return self.shared[made.call]

    def dynamic_shared(self, made: MadeArray, size: int) -> ArrayView:
        """A dynamic shared array of `size` bytes; all of one launch lie over the same bytes."""
        if made.call not in self.shared:
            if made.dtype not in self._dynamic:
                self._dynamic[made.dtype] = self._make_dynamic(made, size)
            view = self.shared[made.call] = self._dynamic[made.dtype]
            view.allocation.alignment = max(view.allocation.alignment, made.alignment)
        return self.shared[made.call]

    def _make_dynamic(self, made: MadeArray, size: int) -> ArrayView:
        padded, itemsize = -(-size // 16) * 16, made.dtype.itemsize
        if self._dynamic_bytes is None:
            self._dynamic_bytes = np.full(self.space.block_count * padded, 0xFF, np.uint8)
        made = replace(made, shape=(padded // itemsize,))
        view = self._make("shared", made, self.space.block_count, 0)
        view.allocation.storage = self._dynamic_bytes.view(made.dtype)
        return replace(view, shape=(np.int64(size // itemsize),))

    def is_dynamic(self, allocation: Allocation) -> bool:
        """Whether it lies in dynamic shared memory."""
        storage = allocation.storage
        return self._dynamic_bytes is not None and storage.base is self._dynamic_bytes

    def make_local(self, made: MadeArray) -> ArrayView:
        """The local array that a call makes, one copy for each lane."""
        if made.call not in self.local:
            self.local[made.call] = self._make("local", made, self.space.size, 0)
        return self.local[made.call]

    def _make(self, space: str, made: MadeArray, copies: int, address: int) -> ArrayView:
        size, dtype = copies * math.prod(made.shape), made.dtype
        self.bytes += size * (dtype.itemsize + 4) * (2 if dtype.names else 1)
        allocation = Allocation(
            made.name,
            space,
            made.shape,
            dtype,
            storage=_poisoned(size, dtype),
            address=address,
            line=made.line,
            written_in=np.full(size, NEVER_WRITTEN, np.int32) if self.notes_writes else None,
            alignment=made.alignment,
            by_lane=space == "local" and dtype.names is not None,
        )
        lengths = tuple(np.int64(length) for length in made.shape)
        return ArrayView(made.name, allocation, lengths, contiguous_strides(made.shape))

    def ballot(self, key: object, interval: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the lanes of all warps leave their votes before they pass a voting barrier."""
        if (key, interval) not in self._ballots:
            # Whoever arrives here has passed all earlier barriers, so older votes were read.
            self._ballots = {k: v for k, v in self._ballots.items() if k[1] >= interval - 1}
            empty = np.zeros((2, *self.space.shape), bool)
            self._ballots[key, interval] = (empty[0], empty[1])
        return self._ballots[key, interval]

    def place(self, allocation: Allocation, cell: Value) -> Value:
        """Where in `storage` each lane's cell lies."""
        if allocation.space == "shared":
            if self.space.block_count == 1:
                return cell
            return cell + self.block_starts(allocation.cells)
        if allocation.by_lane:
            return cell + self.space.lane_number * np.int64(allocation.cells)
        if allocation.space == "local":
            result: Value = cell * np.int64(self.space.size) + self.space.lane_number
            return result
        return cell

    def block_starts(self, cells: int) -> np.ndarray:
        """Where each block's copy of a shared array of so many cells begins."""
        if cells not in self._starts:
            self._starts[cells] = self.space.block_here * np.int64(cells)
        return self._starts[cells]


class GlobalMemory:
    """The arrays passed to a kernel, each at a virtual address aligned to 256 bytes.

    Views of one array share an allocation, so that A and A.T are the same memory. An array that
    does not lie in one contiguous piece is copied in, and back when the launch is over.
    """

    def __init__(self) -> None:
        self._next_address = GLOBAL_BASE
        self._allocations: dict[tuple[int, np.dtype], Allocation] = {}
        self._copies: list[tuple[np.ndarray, np.ndarray]] = []
        self._records: list[tuple[np.void, np.ndarray]] = []
        self._fetched: list[tuple[np.ndarray, Callable[[np.ndarray], None]]] = []
        self.arguments: dict[str, Allocation] = {}

    def view(self, name: str, array: np.ndarray, uninitialised: bool) -> ArrayView:
        """The kernel's view of `array`."""
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        flat = _flat_storage(root, array.dtype)
        itemsize = array.dtype.itemsize
        start = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        regular = start % itemsize == 0 and all(step % itemsize == 0 for step in array.strides)
        if flat is None or not regular:
            root = np.ascontiguousarray(array).copy()
            self._copies.append((array, root))
            return self._over(name, root, root, root.reshape(-1), 0, uninitialised)
        return self._over(name, array, root, flat, start // itemsize, uninitialised)

    def _over(
        self,
        name: str,
        array: np.ndarray,
        root: np.ndarray,
        flat: np.ndarray,
        offset: int,
        uninitialised: bool,
    ) -> ArrayView:
        key = (id(root), array.dtype)
        if key not in self._allocations:
            whole = array.size == root.size and array.flags.c_contiguous
            written = np.full(flat.size, NEVER_WRITTEN, np.int32) if uninitialised else None
            self._allocations[key] = Allocation(
                name=name,
                space="global",
                shape=array.shape if whole else root.shape,
                dtype=array.dtype,
                storage=flat,
                address=self._next_address,
                written_in=written,
                writable=array.flags.writeable,
            )
            size = -(-max(flat.nbytes, 1) // GLOBAL_ALIGNMENT) * GLOBAL_ALIGNMENT
            self._next_address += size
        allocation = self.arguments[name] = self._allocations[key]
        strides = tuple(step // array.dtype.itemsize for step in array.strides)
        lengths = tuple(np.int64(length) for length in array.shape)
        first = np.int64(offset) if offset else START
        return ArrayView(name, allocation, lengths, strides, first)

    def record(self, name: str, value: np.void) -> ArrayView:
        """The kernel's view of a record that was passed by itself: an array without axes."""
        array = np.array(value)
        self._records.append((value, array))
        return self.view(name, array, False)

    def captured(
        self, name: str, array: np.ndarray, give_back: Callable[[np.ndarray], None]
    ) -> ArrayView:
        """The kernel's view of an array that it finds outside; given back when the launch ends."""
        while name in self.arguments:
            name += "'"
        self._fetched.append((array, give_back))
        return self.view(name, array, False)

    def copy_back(self) -> None:
        """Write what the kernel changed into the arrays, and records, that had to be copied in."""
        for record, changed in self._records:
            for field_name in changed.dtype.names or ():
                record[field_name] = changed[field_name]
        for original, copy in self._copies:
            if original.flags.writeable:
                original[...] = copy
        for array, give_back in self._fetched:
            give_back(array)


def _flat_storage(root: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """The memory of `root` as one flat array of `dtype`, without copying; None if it is not."""
    if not (root.flags.c_contiguous or root.flags.f_contiguous):
        return None
    flat = root.ravel(order="K")
    if root.size and not np.shares_memory(flat, root):
        return None
    return flat.view(dtype) if flat.nbytes % dtype.itemsize == 0 else None
