"""What stands in for the device and its context where there is no GPU.

What is the same on every GPU is told. Whatever differs from one to another is refused: programs
would compute with it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from course_lib.wording.errors import NoGpuHere

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
