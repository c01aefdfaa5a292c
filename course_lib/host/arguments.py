"""Bring the arguments of a launch to where the emulator can use them, and results back.

The emulator works on NumPy arrays. A launch may be given arrays of the emulated device, of a
real GPU (Numba's, CuPy's, PyTorch's), or wrapped in cuda.In/Out/InOut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.host import successor
from course_lib.host.device_array import EmulatedDeviceArray, SharedInterface, must_be_contiguous


class HostArguments:
    """A launch's arguments as NumPy arrays and scalars.

    Attributes:
        values: what the emulator gets, in order. One array on a device given twice stays one. Numba
            copies each NumPy array to the GPU by itself: given twice it is two there, and what the
            later one holds stays in the end.
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        self._fetched: dict[int, np.ndarray] = {}
        self._on_host: list[np.ndarray] = []
        self._returns: list[Callable[[], object]] = []
        self.values = [self._to_host(argument) for argument in arguments]

    def write_back(self) -> None:
        """Copy what a kernel may have changed back to the GPU that it came from."""
        for give_back in self._returns:
            give_back()

    def _to_host(self, argument: Any) -> Any:
        if isinstance(argument, EmulatedDeviceArray):
            return argument.buffer
        interface = getattr(argument, "__cuda_array_interface__", None)
        if isinstance(interface, SharedInterface):
            return interface.array.buffer
        if isinstance(argument, np.ndarray):
            must_be_contiguous(argument)
            return self._with_own_memory(argument)
        if _is_hint(argument):
            value = self._to_host(argument.value)
            return value.copy() if type(argument).__name__ == "In" else value
        if isinstance(argument, tuple):
            items = [self._to_host(item) for item in argument]
            named = hasattr(argument, "_fields")
            return type(argument)(*items) if named else tuple(items)
        if hasattr(argument, "copy_to_host"):
            return self._fetch(argument, argument.copy_to_host, argument.copy_to_device)
        if hasattr(argument, "__cuda_array_interface__"):
            return self._fetch_foreign(argument)
        return argument

    def _with_own_memory(self, array: np.ndarray) -> np.ndarray:
        if any(np.may_share_memory(argument, array) for argument in self._on_host):
            copied = array.copy(order="K")
            self._returns.append(lambda: np.copyto(array, copied))
            return copied
        self._on_host.append(array)
        return array

    def _fetch(
        self, argument: Any, get: Callable[[], np.ndarray], put: Callable[[np.ndarray], object]
    ) -> np.ndarray:
        if id(argument) not in self._fetched:
            array = self._fetched[id(argument)] = get()
            self._returns.append(lambda: put(array))
        return self._fetched[id(argument)]

    def _fetch_foreign(self, argument: Any) -> np.ndarray:
        """An array of CuPy, PyTorch or another library that shares GPU memory."""
        if hasattr(argument, "get") and hasattr(argument, "set"):
            return self._fetch(argument, argument.get, argument.set)
        from numba import cuda

        view = cuda.as_cuda_array(argument)
        return self._fetch(argument, view.copy_to_host, view.copy_to_device)


def _is_hint(argument: Any) -> bool:
    """Is it cuda.In(...), cuda.Out(...) or cuda.InOut(...)?"""
    kind = type(argument)
    homes = ("numba.cuda", successor.PARTS)
    return kind.__name__ in ("In", "Out", "InOut") and kind.__module__.startswith(homes)
