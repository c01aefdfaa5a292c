"""Values that a run is given in place of its own: handed on, put in, or rounded another way."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from course_lib.emulator.language.names import DeviceArray
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.lanes import LaneSpace, Value, spread
from course_lib.emulator.state.memory import Access, ArrayView, Memory

# --- Values handed on through shared memory, kept in one launch and given in another --------------
# A launch that is given what was read there with other inputs shows what its shared memory is good
# for: as far as the result is made of what threads hand on, it follows those other inputs.


Place = tuple[int, int]  # which blocks of the launch, and a line of the kernel
NOBODY = -1  # or several threads


class HandedValues(Observer):
    """Notes who writes a cell of shared memory, and keeps what is read; see `loaded`.

    `given` is of another launch, in the order in which each line read it: what a thread reads here
    instead, where another thread has written the cell.
    """

    spaces: ClassVar = ("shared",)

    def __init__(self, given: Mapping[Place, list[Value]] | None = None) -> None:
        self.kept: dict[Place, list[Value]] = defaultdict(list)
        self._given: dict[Place, Iterator[Value]] = {
            place: iter(values) for place, values in (given or {}).items()
        }
        self._spaces = 0

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        self._spaces += 1
        self._memory, self._space = memory, space
        self._writers: dict[int, np.ndarray] = {}

    def access(self, access: Access) -> None:
        """Take note of who has written cells."""
        if access.kind == "load":
            return
        lanes = np.flatnonzero(access.mask.full_array)
        place = self._memory.place(access.allocation, access.cell)
        first = spread(place, self._space.shape).reshape(-1)[lanes]
        cells, who = access.each_cell(first, lanes)
        storage = access.allocation.storage
        writers = self._writers.setdefault(id(storage), np.full(storage.size, NOBODY))
        writers[cells] = who if access.kind == "store" else NOBODY

    def loaded(self, storage: np.ndarray, place: Value, value: Value, line: int) -> Value:
        """The values that lanes get which read `value` there."""
        key = (self._spaces, line)
        self.kept[key].append(value)
        given = next(self._given.get(key, iter(())), None)
        writers = self._writers.get(id(storage))
        if given is None or writers is None or np.shape(given) != np.shape(value):
            return value
        return np.where(writers[place] != self._space.lane_number, given, value)


# --- Values for cells that nobody wrote, to try out whether they matter ---------------------------


# A line of the kernel, and the name of the array or variable that it reads.
Cell = tuple[int | None, str]


@dataclass(frozen=True)
class Instead:
    """Which unwritten values are replaced, and by what: 0, 1, a "high" or "low" number, or "left".

    What another kernel has "left" is a small number, another one for each lane: of many, some lie
    in any range that a test may ask for.

    `ones` are replaced as well, by 1: one value that spoils a result must not hide another, nor
    must a factor of 0.
    """

    places: frozenset[Cell]
    kind: str
    ones: frozenset[Cell] = frozenset()

    def value(self, name: str, line: int, dtype: np.dtype, space: LaneSpace) -> Value | None:
        """What stands for the unwritten values of `name` in this line; None for what always does"""
        if (line, name) in self.ones:
            result: Value = dtype.type(1)
            return result
        if (line, name) not in self.places:
            return None
        if self.kind in ("0", "1"):
            result = dtype.type(int(self.kind))
            return result
        if self.kind == "left":
            return _left_there(dtype, line, space)
        if dtype.kind == "b":
            result = dtype.type(self.kind == "high")
            return result
        limits = np.finfo(dtype) if dtype.kind in "fc" else np.iinfo(dtype)
        extreme = limits.max if self.kind == "high" else limits.min
        result = dtype.type(extreme / 4 if dtype.kind in "fc" else extreme // 2)
        return result


def _left_there(dtype: np.dtype, line: int, space: LaneSpace) -> np.ndarray:
    numbers = np.random.default_rng(line).integers(-128, 128, space.shape)
    if dtype.kind in "fc":
        return (numbers / 64).astype(dtype)
    return numbers > 0 if dtype.kind == "b" else numbers.astype(dtype)


# --- Products rounded up or down by chance, as a GPU may ------------------------------------------
# Numba lets the compiler fuse a product with a sum that it is a part of: `x * x - y` becomes one
# instruction that rounds once. Which products are fused is up to the compiler, across statements
# too. The exact product lies between two float32 numbers next to each other; where the result of a
# kernel is the same whichever of them is taken, by each lane anew, it does not depend on that
# choice.


# The bits of a float64 that a float32 lacks. Where they are cut off, a number is rounded towards
# zero; where so much is added before that one of them is carried, away from it.
LACKING = np.int64((1 << 29) - 1)
KEPT = ~LACKING
DRAWN = 1 << 16


class EitherRounding:
    """Takes one of the two float32 numbers around an exact product, lane by lane."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng((seed, 32))
        self._added = rng.integers(0, 2, DRAWN) * LACKING
        self._used = 0

    def __call__(self, compute: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
        """The product, or power, of float32 numbers that `compute` works out."""
        exact = np.asarray(compute(left.astype(np.float64), right))
        bits = self._draw(exact.size).reshape(exact.shape) + exact.view(np.int64)
        bits &= KEPT
        result: Value = bits.view(np.float64).astype(np.float32)
        return result if result.ndim else result[()]

    def _draw(self, count: int) -> np.ndarray:
        if count > DRAWN:
            return np.resize(self._added, count)
        self._used = 0 if self._used + count > DRAWN else self._used
        self._used += count
        return self._added[self._used - count : self._used]


# --- All that a launch is given -------------------------------------------------------------------


@dataclass
class GivenToLaunch:
    """What all machines of one launch have in common."""

    arguments: Sequence[Any]  # for each parameter a NumPy scalar, an ArrayView or a tuple
    # the devices' arrays that the kernel finds outside
    captured: Mapping[DeviceArray, ArrayView] = field(default_factory=dict)
    dynamic_shared_bytes: int = 0  # of a block
    cluster: int = 1  # so many neighbouring blocks, along x, make up one
    instead: Instead | None = None  # of values that nobody wrote, in a launch that tries that out
    handed: HandedValues | None = None
    products: EitherRounding | None = None

    def instead_of(self, name: str, line: int, dtype: np.dtype, space: LaneSpace) -> Value | None:
        """What stands for the unwritten values of `name` in this line; None for what always does"""
        return self.instead.value(name, line, dtype, space) if self.instead else None
