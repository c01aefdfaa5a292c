"""What stands in for the device, its context, and compiled kernels where there is no GPU.

What is the same on every GPU is told. Whatever differs from one to another is refused: programs
would compute with it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

from course_lib.wording.errors import LaunchRefused, NoGpuHere

OF_EVERY_GPU = {
    "WARP_SIZE": 32,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 * 1024,
}


class AbsentGpu:
    """What `cuda.get_current_device()` gives: the emulator, in the place of GPU 0."""

    id = 0
    name = b"emulator"

    def __getattr__(self, name: str) -> Any:
        if name in OF_EVERY_GPU:
            return OF_EVERY_GPU[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoGpuHere(f"The {name} of a device")

    def reset(self) -> None:
        """There is nothing to free."""

    def max_cooperative_grid_blocks(self, threads: int, shared_bytes: int) -> int:
        """How many blocks are there at the same time differs from GPU to GPU."""
        raise NoGpuHere("max_cooperative_grid_blocks()")

    def __repr__(self) -> str:
        return "<no GPU: kernels run on the emulator>"


class Gpus:
    """The list of GPUs: none, or the one whose place the emulator takes."""

    def __init__(self, *lst: AbsentGpu) -> None:
        self.lst = lst
        self.current = lst[0] if lst else None

    def __len__(self) -> int:
        return len(self.lst)

    def __iter__(self) -> Iterator[AbsentGpu]:
        return iter(self.lst)

    def __getitem__(self, index: int) -> AbsentGpu:
        if not self.lst:
            raise IndexError(f"there is no GPU {index}: here kernels run on the emulator")
        return self.lst[index]

    def __repr__(self) -> str:
        if self.lst:
            return f"<one GPU: {self.current!r}>"
        return "<no GPUs: kernels run on the emulator>"


class AbsentContext:
    """What `cuda.current_context()` gives."""

    device = AbsentGpu()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoGpuHere(f"The {name} of a context")

    def synchronize(self) -> None:
        """Nothing is ever outstanding."""

    def reset(self) -> None:
        """There is nothing to free."""

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """As on a GPU: frees memory only after the block."""
        yield

    def __enter__(self) -> AbsentContext:
        return self

    def __exit__(self, *raised: object) -> None:
        pass


def select_device(device_id: int) -> AbsentGpu:
    """GPU 0, whose place the emulator takes.

    Raises:
        NoGpuHere: for another one.
    """
    if device_id != 0:
        raise NoGpuHere(f"cuda.select_device({device_id})")
    return AbsentGpu()


# --- `kernel.overloads`: what a kernel was compiled for, where nothing is compiled ----------------
# A program asks there how large a grid may be whose blocks all wait for each other.


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
        note_types(kernel, tuple(_type_of(kernel, argument) for argument in args), gpu)


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
