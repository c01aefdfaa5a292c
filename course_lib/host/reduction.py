"""`cuda.reduce` where there is no GPU: the same sums in the same order, run by the emulator.

A float sum depends on its order, and a function that is not associative on more than that; so
elements are combined as Numba's own reduction does: by up to 64 blocks of 128 threads, what is
left by one block of its own, and the blocks' results by a last block.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from course_lib.emulator import CORE, KernelRejected, applied, device_function
from course_lib.host.device_array import EmulatedDeviceArray, on_host, undefined
from course_lib.wording.errors import ArgumentsRefused, LaunchRefused

THREADS = 128
MOST_BLOCKS = 64

FULL_BLOCKS = f"""
from numba import cuda

@cuda.jit
def kernel(values, partials, init, with_init):
    partial = cuda.shared.array((4, 33), KIND)
    thread = cuda.threadIdx.x
    warp = thread // 32
    lane = thread % 32
    step = cuda.gridsize(1)
    own = values[cuda.grid(1)]
    for i in range(cuda.grid(1) + step, values.size, step):
        own = {CORE}(own, values[i])
    partial[warp, lane] = own
    cuda.syncwarp()
    width = 16
    while width:
        if lane < width:
            partial[warp, lane] = {CORE}(partial[warp, lane], partial[warp, lane + width])
        cuda.syncwarp()
        width //= 2
    cuda.syncthreads()
    if thread < 2:
        partial[thread, 0] = {CORE}(partial[thread, 0], partial[thread + 2, 0])
    cuda.syncthreads()
    if thread == 0:
        partials[cuda.blockIdx.x] = {CORE}(partial[0, 0], partial[1, 0])
        if with_init and cuda.blockIdx.x == 0:
            partials[0] = {CORE}(partials[0], init)
"""
LAST_BLOCK = f"""
from numba import cuda

@cuda.jit
def kernel(values, partials, init, with_init):
    partial = cuda.shared.array((4, 33), KIND)
    thread = cuda.threadIdx.x
    warp = thread // 32
    lane = thread % 32
    partial[warp, lane] = values[thread]
    cuda.syncthreads()
    if (warp + 1) * 32 < values.size:
        width = 16
        while width:
            if lane < width:
                partial[warp, lane] = {CORE}(partial[warp, lane], partial[warp, lane + width])
            cuda.syncwarp()
            width //= 2
    elif lane == 0:
        for i in range(1, values.size - warp * 32):
            partial[warp, 0] = {CORE}(partial[warp, 0], partial[warp, i])
    cuda.syncthreads()
    if thread == 0:
        result = partial[0, 0]
        for i in range(1, (cuda.blockDim.x + 31) // 32):
            result = {CORE}(result, partial[i, 0])
        partials[0] = result
        if with_init:
            partials[0] = {CORE}(partials[0], init)
"""


class EmulatedReduce:
    """What `cuda.reduce(function)` makes: call it with an array."""

    def __init__(self, launch: Callable[..., None], functor: Any) -> None:
        if not isinstance(getattr(functor, "py_func", functor), FunctionType):
            raise ArgumentsRefused(
                "cuda.reduce takes a function of two values that is written in Python, such as "
                "lambda a, b: a + b."
            )
        self._launch = launch
        self._functor = getattr(functor, "py_func", functor)
        self._kernels: dict[np.dtype, tuple[Any, Any]] = {}

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """All elements of an array combined, and `init` with them.

        Args:
            arr: an array with one axis, on the host or on the device.
            size: how many of its elements count; all, if it is None.
            res: an array on the device whose first element becomes the result. Then nothing is
                returned.
            init: combined with the others. It is 0 by default, and spoils a product.
            stream: the stream of the launches.

        Raises:
            ArgumentsRefused: for an array of several axes.
            LaunchRefused: if the function cannot run.
        """
        values = on_host(arr)
        if values.ndim != 1:
            raise ArgumentsRefused("cuda.reduce takes an array with one axis.")
        values = values[:size]
        first = values.dtype.type(init)
        if not values.size:
            return first
        result = self._reduced(values, first, stream)
        if res is None:
            return result
        res[:1].copy_to_device(np.array([result], values.dtype))
        return None

    def _reduced(self, values: np.ndarray, init: Any, stream: Any) -> Any:
        in_blocks = values.size // THREADS * THREADS
        blocks = min(in_blocks // THREADS, MOST_BLOCKS)
        left = values.size - in_blocks
        partials = undefined(blocks + bool(left), values.dtype)
        full, last = self._of_type(values.dtype)

        def launch(kernel: Any, grid: int, block: int, *arguments: Any) -> None:
            self._launch(kernel, grid, block, stream, 0, arguments)

        into = EmulatedDeviceArray
        if blocks:
            part, to = into(values[:in_blocks]), into(partials[:blocks])
            launch(full, blocks, THREADS, part, to, init, True)
        if left:
            part, to = into(values[in_blocks:]), into(partials[blocks:])
            launch(last, 1, left, part, to, init, not blocks)
        if partials.size > 1:
            launch(last, 1, partials.size, into(partials), into(partials), init, False)
        return partials[0]

    def _of_type(self, kind: np.dtype) -> tuple[Any, Any]:
        """The kernels for whole blocks and for the last block."""
        if kind not in self._kernels:
            try:
                core = device_function(self._functor)
            except KernelRejected as refused:
                raise LaunchRefused(self._functor.__name__, refused.findings) from None
            texts = (FULL_BLOCKS, LAST_BLOCK)
            full, last = (applied(core, text, {"KIND": kind}) for text in texts)
            self._kernels[kind] = full, last
        return self._kernels[kind]
