"""`@vectorize` with target="cuda" where there is no GPU.

As in Numba, each signature makes a kernel, in which thread i applies the function to element i.
Types are chosen as Numba's CUDA ufuncs choose them, which is less freely than NumPy's do: arrays
must have just the types of a signature.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from course_lib.emulator import (
    CORE,
    KernelRejected,
    applied,
    device_function,
    result_type,
)
from course_lib.host.device_array import EmulatedDeviceArray, on_host, undefined
from course_lib.wording.errors import ArgumentsRefused, LaunchRefused

THREADS = 256  # in a block; on a GPU the driver chooses, and any choice gives the same result
Types = tuple[np.dtype, ...]
Launch = Callable[..., None]  # launch(kernel, grid, block, stream, shared_bytes, args, outputs)

ELEMENTWISE = """
from numba import cuda

@cuda.jit
def kernel({parameters}, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = {core}({elements})
"""


class Version:
    """A function with one signature: the kernel that applies it.

    Args:
        function: the function.
        text: the kernel's text.
        declared: the types of arguments and result, as Numba has them.
    """

    outputs: Types = ()  # of a generalised ufunc

    def __init__(self, function: Any, text: str, declared: tuple[Sequence[Any], Any]) -> None:
        self.name = function.__name__
        self.text = text
        self.declared = declared
        # Numba compiles it now, with what global names stand for now.
        self._core = self._refusal = None
        try:
            self._core = device_function(function, declared)
        except KernelRejected as refused:
            self._refusal = LaunchRefused(self.name, refused.findings)

    @cached_property
    def kernel(self) -> Any:
        """The kernel.

        Raises:
            LaunchRefused: if the function's text cannot be found.
        """
        if self._refusal is not None:
            raise self._refusal
        assert self._core is not None
        return applied(self._core, self.text, {})

    @cached_property
    def result(self) -> np.dtype:
        """The type of what the function returns: as it is declared, or else as it comes out.

        Raises:
            LaunchRefused: if that does not compile.
        """
        arguments, result = self.declared
        if result is not None:
            return dtype_of(result)
        try:
            return result_type(self.kernel, [dtype_of(argument) for argument in arguments])
        except KernelRejected as refused:
            raise LaunchRefused(self.name, refused.findings) from None


def dtype_of(numba_type: Any) -> np.dtype:
    """The NumPy type of a number of Numba's."""
    try:
        return np.dtype(str(numba_type))
    except TypeError:
        raise ArgumentsRefused(
            f"The emulator knows no ufuncs of {numba_type}: only those of numbers."
        ) from None


def run(
    launch: Launch,
    version: Version,
    count: int,
    arrays: Sequence[np.ndarray],
    stream: Any,
    outputs: Sequence[str],
) -> None:
    """Launch a thread for each of `count` elements."""
    if count:
        on_device = tuple(map(EmulatedDeviceArray, arrays))
        launch(version.kernel, -(-count // THREADS), THREADS, stream, 0, on_device, outputs)


class Builder:
    """What `numba.vectorize` makes for a target: it is told the signatures, and builds."""

    def __init__(self, launch: Launch, function: Any, cache: bool, options: Any) -> None:
        self.launch = launch
        self.function = function
        self.versions: dict[Types, Version] = {}
        if cache:
            raise ArgumentsRefused('With target="cuda" nothing is cached: leave out cache=True.')
        for option in set(options or ()) - {"nopython"}:
            raise ArgumentsRefused(f'With target="cuda" there is no option {option}.')

    def normalized(self, signature: Any) -> tuple[tuple[Any, ...], Any]:
        """The types of arguments and result in a signature."""
        # Each of Numba's two CUDA parts brings its own types, and its own reader of signatures.
        readers = map(sys.modules.get, ("numba.cuda.core.sigutils", "numba.core.sigutils"))
        reader: Any = next(
            reader for reader in readers if reader and reader.is_signature(signature)
        )
        arguments, result = reader.normalize_signature(signature)
        return tuple(arguments), result

    def disable_compile(self) -> None:
        """There are no other versions than those that were asked for, anyway."""


class VectorizeBuilder(Builder):
    """Builds a ufunc; the arguments are those that `numba.vectorize` gives."""

    def __init__(
        self,
        launch: Launch,
        func: Any,
        identity: Any = None,
        cache: bool = False,
        targetoptions: Any = None,
    ) -> None:
        super().__init__(launch, func, cache, targetoptions)

    def add(self, sig: Any) -> None:
        """Another signature."""
        arguments, result = self.normalized(sig)
        names = [f"a{i}" for i in range(len(arguments))]
        elements = ", ".join(f"{name}[i]" for name in names)
        text = ELEMENTWISE.format(parameters=", ".join(names), core=CORE, elements=elements)
        self.versions[tuple(map(dtype_of, arguments))] = Version(
            self.function, text, (arguments, result)
        )

    def build_ufunc(self) -> EmulatedUfunc:
        """The ufunc."""
        return EmulatedUfunc(self.function.__name__, self.versions, self.launch)


class EmulatedUfunc:
    """A function that is applied to each element of arrays, each by a thread of the emulator."""

    def __init__(self, name: str, versions: Mapping[Types, Version], launch: Launch) -> None:
        self.__name__ = name
        self._versions = versions
        self._launch = launch

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__} on the emulator>"

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0, **unknown: Any) -> Any:
        """The function of each element; on the device, if an argument or `out` is there.

        Raises:
            ArgumentsRefused: for types that no signature has, and shapes that do not fit.
        """
        if unknown:
            warnings.warn(f"unrecognized keywords: {', '.join(unknown)}", stacklevel=2)
        types = self._types(args)
        version = self._versions[types]
        arrays = [_as_array(argument, kind) for argument, kind in zip(args, types, strict=True)]
        shape = self._shape(arrays)
        flat = [np.broadcast_to(array, shape).reshape(-1) for array in arrays]
        result = undefined(shape, version.result)
        if out is not None and (out.shape, out.dtype) != (shape, result.dtype):
            raise ArgumentsRefused(
                f"{self.__name__} gives {result.dtype} in the shape {shape}; `out` is {out.dtype} "
                f"in the shape {out.shape}."
            )
        run(self._launch, version, result.size, [*flat, result.reshape(-1)], stream, ["out"])
        if out is not None:
            np.copyto(on_host(out), result)
            return out
        return EmulatedDeviceArray(result) if any_on_device(args) else result

    def _shape(self, arrays: Sequence[np.ndarray]) -> tuple[int, ...]:
        try:
            return np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError:
            shapes = " and ".join(str(array.shape) for array in arrays)
            raise ArgumentsRefused(
                f"{self.__name__} cannot bring the shapes {shapes} to a common one."
            ) from None

    def _types(self, args: Sequence[Any]) -> Types:
        """The signature for these arguments: arrays have its types, scalars are converted."""
        given = [on_host(argument).dtype for argument in args]
        of_arrays = [
            None if _is_scalar(argument) else kind
            for argument, kind in zip(args, given, strict=True)
        ]
        for wanted in (given, of_arrays):
            matching = [
                types
                for types in self._versions
                if len(types) == len(args)
                and all(
                    one is None or one == other for one, other in zip(wanted, types, strict=True)
                )
            ]
            if len(matching) == 1:
                return matching[0]
            if matching:
                raise ArgumentsRefused(
                    f"Several signatures of {self.__name__} take these scalars. A NumPy type, such "
                    "as np.float32(…), says which is meant."
                )
        known = " or ".join(f"({', '.join(map(str, types))})" for types in self._versions)
        raise ArgumentsRefused(
            f"{self.__name__} takes {known or 'nothing: it has no signature'}, but it is given "
            f'({", ".join(map(str, given))}). With target="cuda" Numba converts scalars but no '
            "arrays: array.astype(…) does."
        )

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """All elements combined by a function of two, in the order in which Numba does it.

        As in Numba, an array on the device is overwritten.

        Raises:
            ArgumentsRefused: for an empty array, one of several axes, a function not of two values.
        """
        if any(len(types) != 2 for types in self._versions):
            raise ArgumentsRefused(f"{self.__name__}.reduce needs a function of two values.")
        on_device = isinstance(arg, EmulatedDeviceArray)
        values = arg.buffer if on_device else np.array(arg)
        if values.ndim != 1 or not values.size:
            raise ArgumentsRefused(
                f"{self.__name__}.reduce takes an array with one axis that is not empty."
            )
        return self._reduced(EmulatedDeviceArray(values), stream).buffer[0]

    def _reduced(self, values: EmulatedDeviceArray, stream: Any) -> EmulatedDeviceArray:
        """The first half with the second; an odd element comes last."""
        count = len(values)
        if count == 1:
            return values
        if count % 2:
            most, last = values[: count - 1], values[count - 1 :]
            total = self._reduced(most, stream)
            self(total, last, out=total, stream=stream)
            return total
        left, right = values[: count // 2], values[count // 2 :]
        self(left, right, out=left, stream=stream)
        return self._reduced(left, stream)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, int | float | complex | np.number)


def _as_array(value: Any, kind: np.dtype) -> np.ndarray:
    return np.array([value], kind) if _is_scalar(value) else on_host(value)


def any_on_device(values: Sequence[Any]) -> bool:
    return any(isinstance(value, EmulatedDeviceArray) for value in values)
