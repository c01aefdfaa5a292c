"""What stands in for a GPU's memory, streams and events where there is no GPU.

Nothing here is asynchronous and nothing is copied anywhere far: a "device" array is a NumPy
array that its owner promises to reach only the way a GPU's memory can be reached. So code that
forgets `copy_to_host()` fails here as it would on a GPU.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from course_lib.wording.errors import EmulatedTimingRefused, NotContiguous


class SharedInterface(dict[str, Any]):
    """What `__cuda_array_interface__` tells other libraries of an array, and the array itself.

    Its address is one of the host's memory; so only the array is used here, never the address.
    """

    def __init__(self, array: EmulatedDeviceArray) -> None:
        told = array.buffer.__array_interface__
        super().__init__({name: told[name] for name in ("shape", "typestr", "data", "strides")})
        self["version"] = 3
        self.array = array


class EmulatedDeviceArray:
    """An array "on the device": a kernel may use it, NumPy gets at it by copying.

    Attributes:
        buffer: the NumPy array behind it, for the emulator.
    """

    def __init__(self, buffer: np.ndarray) -> None:
        self.buffer = buffer

    shape = property(lambda self: self.buffer.shape)
    dtype = property(lambda self: self.buffer.dtype)
    ndim = property(lambda self: self.buffer.ndim)
    size = property(lambda self: self.buffer.size)
    strides = property(lambda self: self.buffer.strides)
    nbytes = property(lambda self: self.buffer.nbytes)
    alloc_size = property(lambda self: self.buffer.nbytes)
    flags = property(lambda self: self.buffer.flags)
    T = property(lambda self: EmulatedDeviceArray(self.buffer.T))
    stream = 0
    __cuda_array_interface__ = property(SharedInterface)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: object = 0) -> np.ndarray:
        """A copy for the host, in `ary` if one is given."""
        if ary is None:
            return self.buffer.copy(order="K")
        self._must_match(ary)
        np.copyto(ary, self.buffer)
        return ary

    def copy_to_device(self, ary: object, stream: object = 0) -> None:
        """Overwrite this array with a host array or another device array."""
        source = on_host(ary)
        self._must_match(source)
        np.copyto(self.buffer, source)

    def _must_match(self, other: np.ndarray) -> None:
        if other.dtype != self.dtype:
            raise TypeError(f"the arrays differ in type: {other.dtype} here, {self.dtype} there")
        if other.shape != self.shape:
            raise ValueError(f"the arrays differ in shape: {other.shape} here, {self.shape} there")

    def is_c_contiguous(self) -> bool:
        """Does row follow row without a gap?"""
        return bool(self.buffer.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Does column follow column without a gap?"""
        return bool(self.buffer.flags.f_contiguous)

    def reshape(self, *shape: Any, order: Any = "C") -> EmulatedDeviceArray:
        """The same memory under another shape."""
        return self._without_copy(self.buffer.reshape(*shape, order=order))

    def ravel(self, order: Any = "C") -> EmulatedDeviceArray:
        """The same memory as one line."""
        return self._without_copy(self.buffer.ravel(order))

    def _without_copy(self, view: np.ndarray) -> EmulatedDeviceArray:
        if view.size and not np.may_share_memory(view, self.buffer):
            raise NotImplementedError("this array has gaps: copy it to the host to reshape it")
        return EmulatedDeviceArray(view)

    def squeeze(self, axis: Any = None, stream: object = 0) -> EmulatedDeviceArray:
        """The same memory without axes of length 1."""
        return EmulatedDeviceArray(self.buffer.squeeze(axis))

    def split(self, section: int, stream: object = 0) -> Iterator[EmulatedDeviceArray]:
        """Pieces of `section` elements of an array with one axis; the last one may be shorter."""
        for start in range(0, self.size, section):
            yield self[start : start + section]

    def transpose(self, axes: Any = None) -> EmulatedDeviceArray:
        """The same memory with its axes exchanged."""
        return EmulatedDeviceArray(self.buffer.transpose(axes))

    def view(self, dtype: Any) -> EmulatedDeviceArray:
        """The same bytes read as another type."""
        return EmulatedDeviceArray(self.buffer.view(dtype))

    def __getitem__(self, index: Any) -> Any:
        part = self.buffer[index]
        return EmulatedDeviceArray(part) if isinstance(part, np.ndarray) else part

    def getitem(self, item: Any, stream: object = 0) -> Any:
        """`array[item]`."""
        return self[item]

    def setitem(self, key: Any, value: Any, stream: object = 0) -> None:
        """`array[key] = value`."""
        self[key] = value

    def bind(self, stream: object = 0) -> EmulatedDeviceArray:
        """The same array: all streams are one here."""
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        self.buffer[index] = value.buffer if isinstance(value, EmulatedDeviceArray) else value

    def __len__(self) -> int:
        return len(self.buffer)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.buffer, dtype=dtype, order="K", copy=True)

    def __repr__(self) -> str:
        return f"<device array on the emulator, shape {self.shape}, {self.dtype}>"


def on_host(value: Any) -> np.ndarray:
    """The elements of an array, wherever it lies, or a number as an array; nothing is copied."""
    return value.buffer if isinstance(value, EmulatedDeviceArray) else np.asarray(value)


def undefined(shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C") -> Any:
    """A NumPy array whose contents mean nothing, and show it: floats are NaN.

    Fresh GPU memory holds whatever was there before. Zeros would hide that.
    """
    array: np.ndarray = np.empty(shape, dtype, order)
    if array.dtype == np.bool_:
        array[...] = True
    else:
        array.reshape(-1, order=order).view(np.uint8)[...] = 0xFF
    if strides is None or tuple(strides) == array.strides:
        return array
    return np.lib.stride_tricks.as_strided(array, strides=strides)


class EmulatedStream:
    """A queue that is always empty: each thing is done when it is asked for."""

    def synchronize(self) -> None:
        """Nothing is ever outstanding."""

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[EmulatedStream]:
        """As on a GPU: waits at the end of the block."""
        yield self

    def add_callback(self, callback: Callable[..., object], arg: object = None) -> None:
        """Calls at once, since everything before it is done."""
        callback(self, 0, arg)

    def async_done(self) -> asyncio.Future[EmulatedStream]:
        """To be awaited: everything before it is done."""
        done = asyncio.get_running_loop().create_future()
        done.set_result(self)
        return done

    def __repr__(self) -> str:
        return "<stream on the emulator>"


class EmulatedEvent:
    """An event that can be recorded and waited for, but knows no time."""

    def record(self, stream: object = 0) -> None:
        """Nothing to note: the emulator keeps no clock."""

    def synchronize(self) -> None:
        """Nothing is ever outstanding."""

    def wait(self, stream: object = 0) -> None:
        """Nothing is ever outstanding."""

    def query(self) -> bool:
        """It has always happened already."""
        return True

    def elapsed_time(self, evtend: object) -> float:
        """Not a number: an emulated time would be mistaken for a GPU's. The first call says so."""
        _say_once(f"{EmulatedTimingRefused('What lies between these events')} The time is nan.")
        return math.nan


@functools.cache
def _say_once(sentence: str) -> None:
    print(sentence)


def must_be_contiguous(array: np.ndarray) -> None:
    """Numba copies an array to the GPU as one piece; it refuses one with gaps.

    Raises:
        NotContiguous: a ValueError, as Numba's.
    """
    if not array.size:
        return
    core = array[tuple(0 if stride == 0 else slice(None) for stride in array.strides)]
    if not (core.flags.c_contiguous or core.flags.f_contiguous):
        raise NotContiguous
