"""What the host does for a kernel with TMA and clusters: describe arrays, and ask for clusters.

CUDA C++ has `cuTensorMapEncodeTiled` for the first and launch attributes for the second, and for
launches that overlap. Numba has names for none of them; cuda.bindings and cuda.core, which
numba-cuda brings along, have the driver's own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.kernels import large_shared

# The driver's names for what arrays of these types hold; uint16 are the bits of bfloat16.
_HOLDS = {"uint16": "BFLOAT16", "float16": "FLOAT16", "float32": "FLOAT32"}


def tensor_map(array: Any, box: Sequence[int]) -> Any:
    """Describe an array on the GPU to TMA: 128 bytes there, as an array of 16 uint64.

    `array` is C-contiguous with 1 to 5 axes, of uint16 (bfloat16's bits), float16 or float32; it
    begins at a multiple of 16 bytes, and so does each of its rows. `box` has as many axes, in the
    same order: (64, 64) are 64 rows of 64 elements. It may be larger than the array. In shared
    memory it lies with the 128-byte swizzle, so its innermost axis has 128 bytes at most.

    A map holds an address and no data: it serves every launch on the same memory.

    Raises:
        RuntimeError: if the driver refuses the array or the box.
    """
    address = int(array.__cuda_array_interface__["data"][0])
    return _tensor_map(address, str(array.dtype), tuple(array.shape), tuple(box))


@lru_cache(maxsize=256)
def _tensor_map(address: int, dtype: str, shape: tuple[int, ...], box: tuple[int, ...]) -> Any:
    from cuda.bindings import driver
    from numba import cuda

    kind = np.dtype(dtype)
    strides = [kind.itemsize * int(np.prod(shape[axis:])) for axis in range(1, len(shape))]
    # How much L2 fetches at a time. Where rows begin within a line of 128 bytes, an H200 multiplies
    # faster if it is not more than that line.
    promotion = "L2_128B" if any(stride % 128 for stride in strides) else "L2_256B"
    error, made = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_HOLDS[dtype]}"),
        len(shape),
        address,
        # The driver counts axes from the innermost; its stride is the element itself.
        [driver.cuuint64_t(size) for size in reversed(shape)],
        [driver.cuuint64_t(stride) for stride in reversed(strides)],
        [driver.cuuint32_t(size) for size in reversed(box)],
        [driver.cuuint32_t(1)] * len(shape),
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        getattr(driver.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{promotion}"),
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,  # zeros
    )
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"No tensor map for {dtype}{list(shape)} and a box {box}: {error.name}.")
    return cuda.to_device(np.array([int(word) for word in made.opaque], np.uint64))


_compiled: dict[tuple[Any, int], Any] = {}  # what has been prepared, by kernel and GPU


def prepare(kernel: Any, arguments: tuple[Any, ...], shared_bytes: int, cluster: int = 1) -> Any:
    """Let every launch of a kernel have so much shared memory, and run in clusters of blocks.

    `cluster` counts the blocks of one, which are neighbours along x; the grid must be a multiple of
    it. Returns the kernel compiled for these arguments; the second time only that.

    Raises:
        RuntimeError: if the driver refuses.
    """
    from numba import cuda

    key = kernel, int(cuda.get_current_device().id)
    if key in _compiled:
        return _compiled[key]
    large_shared.allow(kernel, arguments, shared_bytes)
    if cluster > 1:
        for axis, size in (("WIDTH", cluster), ("HEIGHT", 1), ("DEPTH", 1)):
            name = f"REQUIRED_CLUSTER_{axis}"
            error = large_shared.set_attribute(kernel, arguments, name, size)
            if error:
                raise RuntimeError(f"No clusters of {cluster} blocks here: {error}.")
    _compiled[key] = kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))
    return _compiled[key]


class ReadyLaunch:
    """A launch that is called again and again: its arguments lie packed as the driver takes them.

    Numba looks at every argument at every launch, which takes the host longer than many a product
    takes the GPU. Here that is done once, and a call hands the driver one pointer. Nothing keeps
    the arrays but those that are given as `arguments` and belong to nobody else.

    Args:
        kernel: of `@cuda.jit`; compiled and prepared here.
        shape: its grid, x and y, and the threads of a block.
        arguments: arrays on the GPU and NumPy's scalars.
        stream: of Numba, or the driver's handle.
        shared_bytes, cluster: as for `prepare`.
        overlap: its blocks may come while the launch before is not over yet. So it has to call
            `grid_dependency_sync` before it touches what other launches use
            (`course_lib.intrinsics.launches`).

    Raises:
        RuntimeError: if the driver refuses so much shared memory, clusters, or a launch.
    """

    def __init__(
        self,
        kernel: Any,
        shape: tuple[tuple[int, int], int],
        arguments: tuple[Any, ...],
        stream: Any = 0,
        shared_bytes: int = 0,
        cluster: int = 1,
        overlap: bool = True,
    ) -> None:
        from cuda.bindings import driver

        compiled = prepare(kernel, arguments, shared_bytes, cluster)
        plain: list[Any] = []
        for kind, value in zip(compiled.argument_types, arguments, strict=True):
            compiled._prepare_args(kind, value, stream, [], plain)
        # Numba's own arguments are integers of a pointer's size, and ctypes for all others.
        self._values = [
            ctypes.c_int64(value) if isinstance(value, int) else value for value in plain
        ]
        addresses = [ctypes.addressof(value) for value in self._values]
        self._pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        self._first = ctypes.addressof(self._pointers)
        self._owned = [value for value in arguments if not isinstance(value, Described)]
        self._function = driver.CUfunction(int(compiled._codelibrary.get_cufunc().kernel.handle))
        self._config = _config(*shape, shared_bytes, handle_of(stream), overlap)
        self._start, self._success = driver.cuLaunchKernelEx, driver.CUresult.CUDA_SUCCESS
        self._without_context = driver.CUresult.CUDA_ERROR_INVALID_CONTEXT

    def __call__(self) -> None:
        (error,) = self._start(self._config, self._function, self._first, 0)
        if error == self._without_context:  # a thread's first call
            current_gpu()
            (error,) = self._start(self._config, self._function, self._first, 0)
        if error != self._success:
            raise RuntimeError(f"The driver refuses the launch: {error.name}.")


def _config(
    grid: tuple[int, int], threads: int, shared_bytes: int, stream: int, overlap: bool
) -> Any:
    """A launch's shape and stream as the driver takes them."""
    from cuda.bindings import driver

    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = *grid, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.sharedMemBytes, config.hStream = shared_bytes, driver.CUstream(stream)
    if overlap:
        kind = "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"
        attribute = driver.CUlaunchAttribute()
        attribute.id = getattr(driver.CUlaunchAttributeID, kind)
        attribute.value.programmaticStreamSerializationAllowed = 1
        config.attrs, config.numAttrs = [attribute], 1
    return config


@dataclass(frozen=True, slots=True)
class Described:
    """An array on the GPU by what a launch needs of it: it is hashable, and keeps nothing alive.

    Attributes:
        address, shape: as in the array; UVA gives each GPU addresses of its own.
        typestr: its type as `__cuda_array_interface__` has it: "<u2".
        strides: in bytes; None if it is C-contiguous.
    """

    address: int
    typestr: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.typestr)

    def reshape(self, *shape: int) -> Described:
        """The same memory with other axes; of a C-contiguous array."""
        return replace(self, shape=shape)

    def is_c_contiguous(self) -> bool:  # a method, as Numba's arrays have it
        return self.strides is None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        data = self.address, False
        kept = {"typestr": self.typestr, "shape": self.shape, "strides": self.strides}
        return {"data": data, "version": 3, **kept}


def described(array: Any) -> Described | None:
    """An array of Numba, CuPy or PyTorch on the GPU; None for what is none."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return None
    data, kind, shape = interface["data"], interface["typestr"], interface["shape"]
    return Described(data[0], kind, shape, interface.get("strides"))


def handle_of(stream: Any) -> int:
    """The driver's handle of a stream of Numba; 0 is the default stream."""
    return int(getattr(stream, "handle", stream))


def current_gpu() -> int:
    """The number of the GPU whose context is current, or becomes it here."""
    from cuda.bindings import driver
    from numba import cuda

    error, gpu = driver.cuCtxGetDevice()  # Numba's own way takes four microseconds
    if error != driver.CUresult.CUDA_SUCCESS:
        return int(cuda.current_context().device.id)
    return int(gpu)


def multiprocessors() -> int:
    """How many SMs the GPU has: so many blocks stay, where each takes an SM for itself."""
    from numba import cuda

    return int(cuda.get_current_device().MULTIPROCESSOR_COUNT)
