"""Bring the arguments of a launch to where the emulator can use them, and results back.

The emulator works on NumPy arrays. A launch may be given arrays of the emulated device, of a
real GPU (Numba's, CuPy's, PyTorch's), or wrapped in cuda.In/Out/InOut.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.device_array import EmulatedDeviceArray, must_be_contiguous
from course_lib.findings import Finding, finding
from course_lib.sentences import say

# How Numba converts a number for a parameter that is declared with one of these types.
_HANDED_OVER: dict[str, Callable[[Any], Any]] = {
    **{f"{kind}{bits}": getattr(ctypes, f"c_{kind}{bits}")
       for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}  # fmt: skip


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
        if isinstance(argument, np.ndarray):
            must_be_contiguous(argument)
            return self._with_own_memory(argument)
        if _is_hint(argument):
            value = self._to_host(argument.value)
            return value.copy() if type(argument).__name__ == "In" else value
        if hasattr(argument, "copy_to_host"):
            return self._fetch(argument, argument.copy_to_host, argument.copy_to_device)
        if hasattr(argument, "__cuda_array_interface__"):
            return self._fetch_foreign(argument)
        return argument

    def _with_own_memory(self, array: np.ndarray) -> np.ndarray:
        if any(np.may_share_memory(each, array) for each in self._on_host):
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
    return kind.__name__ in ("In", "Out", "InOut") and kind.__module__.startswith("numba.cuda")


def fit_to_signature(values: list[Any], signatures: Sequence[Sequence[Any]]) -> list[Any]:
    """The arguments as a declared signature takes them: scalars become the declared type.

    Raises:
        Mismatch: if there are signatures and the arguments fit none of them.
    """
    if not signatures:
        return values
    refusals = []
    for signature in signatures:
        try:
            return _fit(values, signature)
        except Mismatch as refusal:
            refusals.append(refusal)
    # Of several signatures Numba finds none and refuses; with a single one it never looks.
    code = refusals[0].code if len(signatures) == 1 else "invalid-launch"
    raise Mismatch(refusals[0].why, refusals[0].hint, code)


class Mismatch(Exception):
    """The arguments don't fit the declared signature."""

    def __init__(self, why: str, hint: str = "", code: str = "invalid-launch") -> None:
        self.why, self.hint, self.code = why, hint, code
        self.finding: Finding = finding(code, why, hint=hint, severity="error")
        super().__init__(why)


_CONVERT_ARRAY = (
    "On a GPU it would read wrong numbers. Convert the array with .astype(...), "
    "or leave the signature out of @cuda.jit."
)


def _fit(values: list[Any], signature: Sequence[Any]) -> list[Any]:
    """The arguments in the declared types.

    Raises:
        Mismatch: if that cannot be.
    """
    if len(values) != len(signature):
        counts = say(
            "The signature has {declared} arguments, the launch {given}.",
            declared=len(signature),
            given=len(values),
        )
        raise Mismatch(counts, "Compare the two, from left to right.")
    fitted = []
    for position, (value, declared) in enumerate(zip(values, signature, strict=True), start=1):
        what = say(
            "Argument {position} is declared as {declared}, but it is",
            position=position,
            declared=declared,
        )
        if isinstance(value, np.ndarray) and value.ndim:
            if not _array_fits(value, declared):
                found = say(
                    "{what} {dtype}, {axes}-D.", what=what, dtype=value.dtype, axes=value.ndim
                )
                raise Mismatch(found, _CONVERT_ARRAY, "unsupported")
            fitted.append(value)
            continue
        try:
            fitted.append(_as_declared(value, declared))
        except (TypeError, ValueError):
            hint = say("{declared}(…) converts a number before the launch.", declared=declared)
            found = say(
                "{what} {value}, a {type}.",
                what=what,
                value=repr(value),
                type=type(value).__name__,
            )
            raise Mismatch(found, hint) from None
    return fitted


def _array_fits(array: np.ndarray, declared: Any) -> bool:
    if getattr(declared, "ndim", None) != array.ndim:
        return False
    if str(declared.dtype) != str(array.dtype):
        return False
    contiguous = {"C": array.flags.c_contiguous, "F": array.flags.f_contiguous}
    return bool(contiguous.get(declared.layout, True))


def _as_declared(value: Any, declared: Any) -> Any:
    """A scalar in its declared type, as Numba's launch makes it; anything else as it is.

    Numba hands numbers over by way of ctypes: an integer wraps around, a float is no integer.

    Raises:
        TypeError: for a number that Numba does not convert.
    """
    name = "bool" if str(declared) in ("boolean", "bool") else str(declared)
    if name in ("bool", "float16"):
        return np.dtype(name).type(value)
    if name not in _HANDED_OVER:
        return value
    try:
        return np.dtype(name).type(_HANDED_OVER[name](value).value)
    except OverflowError:  # an integer beyond all floats
        raise TypeError from None
