"""`@vectorize` and `@guvectorize` with target="cuda" where there is no GPU.

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

from course_lib.device_array import EmulatedDeviceArray, undefined
from course_lib.emulator import (
    CORE,
    KernelRejected,
    applied,
    device_function,
    result_type,
)
from course_lib.errors import ArgumentsRefused, LaunchRefused

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
PART_BY_PART = """
from numba import cuda

@cuda.jit
def kernel({parameters}):
    i = cuda.grid(1)
    if i < {last}.shape[0]:
        {core}({elements})
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
            return result_type(self.kernel, [dtype_of(each) for each in arguments])
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


class _Builder:
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
        reader: Any = next(each for each in readers if each and each.is_signature(signature))
        arguments, result = reader.normalize_signature(signature)
        return tuple(arguments), result

    def disable_compile(self) -> None:
        """There are no other versions than those that were asked for, anyway."""


class VectorizeBuilder(_Builder):
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
        arrays = [_as_array(each, kind) for each, kind in zip(args, types, strict=True)]
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
            np.copyto(out.buffer if isinstance(out, EmulatedDeviceArray) else out, result)
            return out
        return EmulatedDeviceArray(result) if _any_on_device(args) else result

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
        given = [np.asarray(each).dtype if _is_scalar(each) else _dtype(each) for each in args]
        of_arrays = [None if _is_scalar(each) else _dtype(each) for each in args]
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


class GUVectorizeBuilder(_Builder):
    """Builds a generalised ufunc; the arguments are those that `numba.guvectorize` gives."""

    def __init__(
        self,
        launch: Launch,
        func: Any,
        sig: str,
        identity: Any = None,
        cache: bool = False,
        targetoptions: Any = None,
        writable_args: Any = (),
    ) -> None:
        from numba.np.ufunc.sigparse import parse_signature

        super().__init__(launch, func, cache, targetoptions)
        if writable_args:
            raise ArgumentsRefused('With target="cuda" no input can be written.')
        self.inputs, self.outputs = parse_signature(sig)

    def add(self, sig: Any) -> None:
        """Another signature."""
        kinds, result = self.normalized(sig)
        if str(result) not in ("None", "none", "void"):
            raise ArgumentsRefused(
                f"{self.function.__name__} returns nothing: its last arguments are for results."
            )
        axes = [*self.inputs, *self.outputs]
        if len(kinds) != len(axes):
            raise ArgumentsRefused(
                f"{self.function.__name__} has {len(axes)} arguments in its layout, and "
                f"{len(kinds)} types."
            )
        names = [f"a{i}" for i in range(len(kinds))]
        parts = [
            _part(name, len(of_one), kind)
            for name, of_one, kind in zip(names, axes, kinds, strict=True)
        ]
        text = PART_BY_PART.format(
            parameters=", ".join(names), last=names[-1], core=CORE, elements=", ".join(parts)
        )
        dtypes = tuple(dtype_of(getattr(kind, "dtype", kind)) for kind in kinds)
        version = Version(self.function, text, (kinds, None))
        self.versions[dtypes[: len(self.inputs)]] = version
        version.outputs = dtypes[len(self.inputs) :]

    def build_ufunc(self) -> EmulatedGUFunc:
        """The generalised ufunc."""
        layout = (self.inputs, self.outputs)
        return EmulatedGUFunc(self.function.__name__, layout, self.versions, self.launch)


def _part(name: str, axes: int, kind: Any) -> str:
    """What of an array the function is given: a number, or an array even of a single number."""
    ndim = getattr(kind, "ndim", 0)
    if ndim == axes:
        return f"{name}[{', '.join(['i', *[':'] * axes])}]"
    if (ndim, axes) == (1, 0):
        return f"{name}[i : i + 1]"
    raise ArgumentsRefused(f"{kind} does not have the {axes} axes that the layout gives it.")


class EmulatedGUFunc:
    """A function that is applied to parts of arrays, to each by a thread of the emulator."""

    def __init__(
        self, name: str, layout: Any, versions: Mapping[Types, Version], launch: Launch
    ) -> None:
        self.__name__ = name
        self.inputs, self.outputs = layout
        self._versions = versions
        self._launch = launch
        self.max_blocksize = THREADS  # which programs for GPUs set

    def __repr__(self) -> str:
        return f"<generalised ufunc {self.__name__} on the emulator>"

    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any:
        """The function of each part; on the device, if an argument or `out` is there.

        Raises:
            ArgumentsRefused: for types that no signature has, and shapes that do not fit.
        """
        many, results = len(self.inputs), len(self.outputs)
        if len(args) not in ((many,) if out is not None else (many, many + results)):
            raise ArgumentsRefused(
                f"{self.__name__} takes {many} arguments, or {many + results} with those for "
                f"results, not {len(args)}."
            )
        given = [_buffer(each) for each in args[:many]]
        outs = list(args[many:]) or [out] * results
        types = self._types([each.dtype for each in given])
        if any(
            each.dtype != kind and isinstance(arg, EmulatedDeviceArray)
            for each, kind, arg in zip(given, types, args, strict=False)
        ):
            raise ArgumentsRefused(
                f"{self.__name__} is given an array on the device of another type than its "
                "signature has, and no such array is converted."
            )
        version = self._versions[types]
        around, lengths = self._shapes([each.shape for each in given])
        count = int(np.prod(around))
        flat = [
            np.broadcast_to(
                each.astype(kind, copy=False).reshape((-1, *_inner(each, axes))),
                (count, *_inner(each, axes)),
            )
            for each, kind, axes in zip(given, types, self.inputs, strict=True)
        ]
        made, fresh = [], []
        for place, (axes, kind, to) in enumerate(
            zip(self.outputs, version.outputs, outs, strict=True), start=many
        ):
            shape = (*around, *(lengths[name] for name in axes))
            if to is not None and to.shape != shape:
                raise ArgumentsRefused(
                    f"{self.__name__} gives the shape {shape}; `out` has {to.shape}."
                )
            on_device = isinstance(to, EmulatedDeviceArray)
            made.append(to.buffer if on_device else undefined(shape, kind))
            fresh += [] if on_device else [f"a{place}"]
        parts = [each.reshape((count, *each.shape[len(around) :])) for each in made]
        run(self._launch, version, count, [*flat, *parts], stream, fresh)
        stays = _any_on_device([*args, *outs])
        handed = [self._handed_back(*each, stays) for each in zip(made, outs, strict=True)]
        return handed[0] if results == 1 else tuple(handed)

    def _handed_back(self, made: np.ndarray, out: Any, stays: bool) -> Any:
        if isinstance(out, EmulatedDeviceArray):
            return out
        if out is not None:
            np.copyto(out, made)
            return out
        return EmulatedDeviceArray(made) if stays else made

    def _types(self, given: Sequence[np.dtype]) -> Types:
        """The signature with just these types, or else the first that Numba finds to fit.

        Numba asks whether the signature's types can be cast to the given ones, and then casts the
        other way: float64 becomes float32, and never the reverse.
        """
        exact = tuple(given)
        if exact in self._versions:
            return exact
        for types in self._versions:
            if all(np.can_cast(wanted, had) for wanted, had in zip(types, given, strict=True)):
                return types
        known = " or ".join(f"({', '.join(map(str, types))})" for types in self._versions)
        raise ArgumentsRefused(
            f"{self.__name__} takes {known or 'nothing: it has no signature'}, but it is given "
            f"({', '.join(map(str, given))}): array.astype(…) converts."
        )

    def _shapes(self, shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], dict[str, int]]:
        """The axes that are looped over, and the length of each axis that has a name."""
        lengths: dict[str, int] = {}
        around = []
        for place, (shape, axes) in enumerate(zip(shapes, self.inputs, strict=True), start=1):
            if len(shape) < len(axes):
                raise ArgumentsRefused(
                    f"Argument {place} of {self.__name__} needs {len(axes)} axes or more, and has "
                    f"{len(shape)}."
                )
            cut = len(shape) - len(axes)
            around.append(shape[:cut])
            for name, length in zip(axes, shape[cut:], strict=True):
                if lengths.setdefault(name, length) != length:
                    raise ArgumentsRefused(
                        f"The length {name} of {self.__name__} is {lengths[name]} in one argument "
                        f"and {length} in argument {place}."
                    )
        most = max(around, key=lambda shape: int(np.prod(shape)))
        for place, shape in enumerate(around, start=1):
            if shape not in (most, (), (1,)):
                raise ArgumentsRefused(
                    f"Argument {place} of {self.__name__} has the outer shape {shape}, another "
                    f'{most}: with target="cuda" Numba repeats only a single part.'
                )
        if not np.prod(most):
            raise ArgumentsRefused(f"{self.__name__} is given an empty array, which Numba refuses.")
        return most, lengths


def _inner(array: np.ndarray, axes: Sequence[str]) -> tuple[int, ...]:
    """The lengths of the last axes, those that have names."""
    return array.shape[array.ndim - len(axes) :]


def _is_scalar(value: Any) -> bool:
    return isinstance(value, int | float | complex | np.number)


def _dtype(value: Any) -> np.dtype:
    return value.dtype if isinstance(value, EmulatedDeviceArray) else np.asarray(value).dtype


def _buffer(value: Any) -> np.ndarray:
    return value.buffer if isinstance(value, EmulatedDeviceArray) else np.asarray(value)


def _as_array(value: Any, kind: np.dtype) -> np.ndarray:
    return np.array([value], kind) if _is_scalar(value) else _buffer(value)


def _any_on_device(values: Sequence[Any]) -> bool:
    return any(isinstance(each, EmulatedDeviceArray) for each in values)
