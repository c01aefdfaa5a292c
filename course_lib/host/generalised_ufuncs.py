"""`@guvectorize` with target="cuda" where there is no GPU: a thread for each part of the arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.emulator import CORE
from course_lib.host.device_array import EmulatedDeviceArray, on_host, undefined
from course_lib.host.ufuncs import (
    THREADS,
    Builder,
    Launch,
    Types,
    Version,
    any_on_device,
    dtype_of,
    run,
)
from course_lib.wording.errors import ArgumentsRefused

PART_BY_PART = """
from numba import cuda

@cuda.jit
def kernel({parameters}):
    i = cuda.grid(1)
    if i < {last}.shape[0]:
        {core}({elements})
"""


class GUVectorizeBuilder(Builder):
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
        given = [on_host(argument) for argument in args[:many]]
        outs = list(args[many:]) or [out] * results
        types = self._types([array.dtype for array in given])
        self._must_not_convert(args, types)
        version = self._versions[types]
        around, lengths = self._shapes([array.shape for array in given])
        count = int(np.prod(around))
        inputs = [
            _repeated(array.astype(kind, copy=False), len(axes), count)
            for array, kind, axes in zip(given, types, self.inputs, strict=True)
        ]
        shapes = [(*around, *(lengths[name] for name in axes)) for axes in self.outputs]
        made = list(map(self._room, outs, shapes, version.outputs))
        parts = [array.reshape((count, *array.shape[len(around) :])) for array in made]
        fresh = [
            f"a{many + number}"
            for number, to in enumerate(outs)
            if not isinstance(to, EmulatedDeviceArray)
        ]
        run(self._launch, version, count, [*inputs, *parts], stream, fresh)
        stays = any_on_device([*args, *outs])
        handed = [
            self._handed_back(part.reshape(array.shape), to, stays)
            for part, array, to in zip(parts, made, outs, strict=True)
        ]
        return handed[0] if results == 1 else tuple(handed)

    def _must_not_convert(self, args: Sequence[Any], types: Types) -> None:
        for argument, kind in zip(args, types, strict=False):
            if isinstance(argument, EmulatedDeviceArray) and argument.dtype != kind:
                raise ArgumentsRefused(
                    f"{self.__name__} is given an array on the device of another type than its "
                    "signature has, and no such array is converted."
                )

    def _room(self, out: Any, shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
        """Where a result is made: in an array on the device that is given, or in a fresh one."""
        if out is not None and out.shape != shape:
            raise ArgumentsRefused(
                f"{self.__name__} gives the shape {shape}; `out` has {out.shape}."
            )
        if isinstance(out, EmulatedDeviceArray):
            return out.buffer
        room: np.ndarray = undefined(shape, kind)
        return room

    def _handed_back(self, made: np.ndarray, out: Any, stays: bool) -> Any:
        if out is None:
            return EmulatedDeviceArray(made) if stays else made
        np.copyto(on_host(out), made)
        return out

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


def _repeated(array: np.ndarray, axes: int, count: int) -> np.ndarray:
    """An array as `count` parts of so many axes; a single part is repeated."""
    part = array.shape[array.ndim - axes :]
    return np.broadcast_to(array.reshape((-1, *part)), (count, *part))
