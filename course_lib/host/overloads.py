"""What a kernel was compiled for, where nothing is compiled: `kernel.overloads` as Numba has it.

A program asks there how large a grid may be whose blocks all wait for each other.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

from course_lib.host.absent_gpu import AbsentGpu
from course_lib.wording.errors import LaunchRefused, NoGpuHere

Gpu = Callable[[], AbsentGpu]
_NOTED, _NUMBAS = "_course_overloads", "overloads"


class EmulatedOverload:
    """A kernel for arguments of these types.

    Attributes:
        argument_types: Numba's.
    """

    def __init__(
        self, kernel: Any, argument_types: tuple[Any, ...], gpu: Gpu, compiled: Any = None
    ) -> None:
        self.argument_types = argument_types
        self._kernel, self._gpu = kernel, gpu
        self._compiled = compiled  # by Numba, on a GPU that is here

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """So many blocks are on the GPU at the same time, whatever registers the kernel takes.

        Raises:
            NoGpuHere: where no GPU is pretended.
            LaunchRefused: if it is no kernel for arguments of these types.
        """
        from course_lib.emulator import KernelRejected, shared_bytes_of

        try:
            shared = shared_bytes_of(self._kernel, self.argument_types)
        except KernelRejected as rejected:
            raise LaunchRefused(self._kernel.py_func.__name__, rejected.findings) from None
        threads = math.prod(blockdim) if isinstance(blockdim, tuple) else blockdim
        return self._gpu().max_cooperative_grid_blocks(threads, shared + dynsmemsize)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._compiled is None:
            raise NoGpuHere(f"kernel.overloads[…].{name}")
        return getattr(self._compiled, name)


def overloads_of(kernel: Any, gpu: Gpu) -> dict[tuple[Any, ...], EmulatedOverload]:
    """Those of a kernel, which a program may change."""
    if _NOTED not in vars(kernel):
        vars(kernel)[_NOTED] = {
            types: EmulatedOverload(kernel, types, gpu, compiled)
            for types, compiled in vars(kernel).get(_NUMBAS, {}).items()
        }
    noted: dict[tuple[Any, ...], EmulatedOverload] = vars(kernel)[_NOTED]
    return noted


def note_types(kernel: Any, argument_types: tuple[Any, ...], gpu: Gpu) -> EmulatedOverload:
    """The kernel's overload for these types, which is there from now on."""
    return overloads_of(kernel, gpu).setdefault(
        argument_types, EmulatedOverload(kernel, argument_types, gpu)
    )


def note_launch(kernel: Any, args: tuple[Any, ...], gpu: Gpu) -> None:
    """The kernel's overload for these arguments; none where they have no types."""
    with contextlib.suppress(Exception):  # the launch says what is wrong with them
        note_types(kernel, tuple(_type_of(kernel, each) for each in args), gpu)


def _type_of(kernel: Any, value: Any) -> Any:
    import numba

    value = getattr(value, "value", value)  # of cuda.In, cuda.Out, cuda.InOut
    type_of = getattr(kernel, "typeof_pyval", numba.typeof)
    return type_of(getattr(value, "buffer", value))


def overloads(gpu: Gpu) -> property:
    """`kernel.overloads`, before what Numba keeps in the kernel itself, which is left alone."""

    def keep(kernel: Any, own: Any) -> None:
        vars(kernel)[_NUMBAS] = own

    return property(lambda kernel: overloads_of(kernel, gpu), keep)
