"""A second witness of races: which threads of Numba's simulator really touch one number.

It knows nothing of the emulator. Every element that a thread reads or writes in an array is noted
with the barriers that the thread has passed; atomic functions are left out.
"""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel as simulator
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

Accesses = defaultdict[tuple[int, Any], dict[Any, bool]]


def addresses(array: np.ndarray, index: Any) -> list[int]:
    """Where the numbers lie that an index picks."""
    places = np.zeros(array.shape, np.int64) + array.__array_interface__["data"][0]
    for axis, stride in enumerate(array.strides):
        shape = [-1 if each == axis else 1 for each in range(array.ndim)]
        places += (np.arange(array.shape[axis]) * stride).reshape(shape)
    if isinstance(index, str):
        return [int(each) + array.dtype.fields[index][1] for each in np.ravel(places)]
    return list(map(int, np.ravel(places[index])))


@contextmanager
def watching() -> Iterator[Callable[[], bool]]:
    """While this holds, accesses are noted; the function that it gives says whether two threads
    touched one number, one of them to write, with no barrier between."""
    seen: Accesses = defaultdict(dict)
    read, write = FakeCUDAArray.__getitem__, FakeCUDAArray.__setitem__
    wait = simulator.BlockThread.syncthreads

    def note(array: Any, index: Any, writes: bool) -> None:
        thread: Any = threading.current_thread()
        caller = sys._getframe(3).f_code.co_filename
        if isinstance(thread, simulator.BlockThread) and not caller.endswith("kernelapi.py"):
            who = (tuple(thread.blockIdx), tuple(thread.threadIdx), getattr(thread, "passed", 0))
            for place in addresses(array._ary, index):
                seen[place][who] = seen[place].get(who, False) or writes

    def reading(array: Any, index: Any) -> Any:
        found = read(array, index)
        if not isinstance(found, FakeCUDAArray):
            note(array, index, False)
        return found

    def writing(array: Any, index: Any, value: Any) -> Any:
        note(array, index, True)
        return write(array, index, value)

    def waiting(thread: Any) -> None:
        wait(thread)
        thread.passed = getattr(thread, "passed", 0) + 1

    FakeCUDAArray.__getitem__, FakeCUDAArray.__setitem__ = reading, writing
    simulator.BlockThread.syncthreads = waiting
    try:
        yield lambda: any(map(meet, seen.values()))
    finally:
        FakeCUDAArray.__getitem__, FakeCUDAArray.__setitem__ = read, write
        simulator.BlockThread.syncthreads = wait


def meet(touched: dict[Any, bool]) -> bool:
    """Whether a write of one thread meets an access of another, unordered by a barrier."""
    writers = [who for who, writes in touched.items() if writes]
    return any(
        one[:2] != other[:2] and (one[0] != other[0] or one[2] == other[2])
        for one in writers
        for other in touched
    )
