"""What every rung says of itself: its kernel, its tile, its launch, and what it can't multiply."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib.host import runtime
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.kernels import large_shared
from course_lib.wording.errors import PlainError
from course_lib.wording.findings import Finding, by_importance

MOST_BLOCKS_IN_Y = 65_535  # CUDA's limit for gridDim.y
WIDE = 16  # bytes: where rungs with `multiples` load, an address must be a multiple of it


class InputsRefused(PlainError):
    """A rung can't multiply these matrices; the message says why, and the mend."""


@dataclass(frozen=True, eq=False)  # a rung is itself alone, and so a key
class RungKernel:
    """One rung of the ladder as code: C = A @ B for row-major matrices.

    Attributes:
        name: the rung's name; a second way of writing it adds a word: "naive_while".
        kernel: called with (A, B, C); A is M x K, B is K x N.
        tile: rows and columns of C that a block computes, and the steps of K that it takes at once.
        block: threads per block, x first.
        min_cc: the oldest compute capability that has the instructions.
        dtype: of the elements of A and B.
        result: of the elements of C: float32, or uint16 for the bits of bfloat16.
        room: whether C must have room for a whole tile, because tiles slide back at its edges.
        multiples: of what N and K must be multiples, {"K": 4}: a row is loaded 16 bytes at a time.
        dynamic_shared: bytes of shared memory that the launch must ask for.
    """

    name: str
    kernel: Any
    tile: tuple[int, int, int]
    block: tuple[int, ...]
    min_cc: tuple[int, int] = (5, 0)
    dtype: str = "float32"
    result: str = "float32"
    room: bool = False
    multiples: Mapping[str, int] = field(default_factory=dict)
    dynamic_shared: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "multiples", MappingProxyType(dict(self.multiples)))

    @property
    def signature(self) -> str:
        """The types of the kernel's parameters, as Numba writes them."""
        matrices = (f"{dtype}[:, ::1]" for dtype in (self.dtype, self.dtype, self.result))
        return f"void({', '.join(matrices)})"

    @property
    def source(self) -> str:
        """The text of the file that holds the kernel."""
        return inspect.getsource(inspect.getmodule(self.kernel.py_func))  # type: ignore[arg-type]

    def grid_and_block(self, M: int, N: int, K: int) -> tuple[tuple[int, int], tuple[int, ...]]:
        """The launch for an M x N result: blocks along x cover columns, along y rows."""
        rows, columns, _ = self.tile
        return (-(-N // columns), -(-M // rows)), self.block

    def check_inputs(self, A: Any, B: Any, C: Any) -> None:
        """Look at the matrices before a kernel sees them.

        Raises:
            InputsRefused: with one sentence that says what is wrong, and the mend.
        """
        for name, array in (("A", A), ("B", B)):
            if fault := self._fault(name, array, self.dtype):
                self._refuse(": ".join(fault))
        (M, K), (rows, N) = A.shape, B.shape
        fresh = f"make a new result, C = np.empty(({M}, {N}), np.{self.result})"
        if fault := self._fault("C", C, self.result):
            self._refuse(f"{fault[0]}: {fresh}")  # a converted copy would take the result away
        if rows != K or tuple(C.shape) != (M, N):
            shapes = f"{tuple(A.shape)}, {tuple(B.shape)} and {tuple(C.shape)}"
            mend = f": {fresh}" if rows == K else ""
            self._refuse(f"the shapes {shapes} are not (M, K), (K, N) and (M, N){mend}")
        self._check_sizes({"M": M, "N": N, "K": K})
        self._check_grid(M, N, K)

    def launch(self, A: Any, B: Any, C: Any, stream: Any = 0) -> None:
        """Compute C = A @ B.

        Raises:
            InputsRefused: if this rung can't.
            PlainError: if the emulator found errors, so that C is not to be trusted.
        """
        self.check_inputs(A, B, C)
        if runtime.is_emulated(self.kernel):
            self._raise_errors(self.emulate(A, B, C).findings)
        else:
            self._launch_on_gpu(A, B, C, stream)

    def emulate(self, A: Any, B: Any, C: Any) -> Any:
        """Compute C = A @ B on the emulator, whatever the machine; returns the Profile.

        Raises:
            LaunchRefused: if the emulator won't run the kernel.
        """
        grid, block = self.grid_and_block(C.shape[0], C.shape[1], A.shape[1])
        # A launch beyond 48 KB of shared memory needs a permission, here as on a GPU.
        more = {"max_dynamic_shared": self.dynamic_shared} if self.dynamic_shared else {}
        emulated = runtime.emulate(self.kernel, steps=runtime.PATIENT_STEPS, **more)
        arguments = self._emulated_arguments(A, B, C)
        return emulated[grid, block, 0, self.dynamic_shared](*arguments)

    def _emulated_arguments(self, A: Any, B: Any, C: Any) -> tuple[Any, ...]:
        return A, B, C

    def _launch_on_gpu(self, A: Any, B: Any, C: Any, stream: Any) -> None:
        kernel = self.kernel
        grid, block = self.grid_and_block(C.shape[0], C.shape[1], A.shape[1])
        if self.dynamic_shared:
            large_shared.allow(kernel, (A, B, C), self.dynamic_shared)
        if self.dynamic_shared or stream:
            kernel[grid, block, stream, self.dynamic_shared](A, B, C)
        else:
            kernel[grid, block](A, B, C)

    def _fault(self, name: str, array: Any, wanted: str) -> tuple[str, str] | None:
        """What makes this array unfit for the kernel, and the mend."""
        if not (hasattr(array, "shape") and hasattr(array, "dtype")):
            what = f"{name} is no array, but of type {type(array).__name__}"
            return what, _converted(name, f"np.array({name}, {wanted!r})", wanted)
        on_gpu = hasattr(array, "copy_to_host")  # Numba's arrays there have no astype, no copy
        here = f"{name}.copy_to_host()" if on_gpu else name
        if len(array.shape) != 2:
            what = f"{name} has shape {tuple(array.shape)}, and a matrix has two axes"
            return what, f"{name}.reshape(rows, columns) gives it two"
        if str(array.dtype) != wanted:
            mend = _converted(here, f"{here}.astype({wanted!r})", wanted)
            return f"{name} is {array.dtype}", mend
        if not _is_row_major(array):
            return f"{name} is not contiguous", f"copy it, np.ascontiguousarray({here})"
        if 0 in array.shape:
            what = f"{name} is empty, of shape {tuple(array.shape)}"
            return what, "leave the launch out, for the product is empty or all zeros"
        if self.multiples and _address(array) % WIDE:
            copy = f"cuda.to_device({here})" if on_gpu else f"{name}.copy()"
            what = f"{name} does not begin at a multiple of {WIDE} bytes, as wide loads need"
            return what, f"copy it, {copy}"
        return None

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Name all sizes that don't fit at once: C grows with A and B."""
        where = {"M": "A's rows", "N": "B's columns", "K": "A's columns and B's rows"}
        least = dict(zip("MN", self.tile if self.room else (), strict=False))
        padded, faults = dict(sizes), []
        for name, size in sizes.items():
            multiple, tile = self.multiples.get(name, 1), least.get(name, 1)
            padded[name] = -(-max(size, tile) // multiple) * multiple
            reasons = [f"no multiple of {multiple}"] * (size % multiple != 0)
            reasons += [f"less than a tile's {tile}"] * (size < tile)
            if reasons:
                pad = f"pad {where[name]} with zeros to {padded[name]}"
                faults.append(f"{name} = {size} is {' and '.join(reasons)}: {pad}")
        M, N = sizes["M"], sizes["N"]
        if (padded["M"], padded["N"]) != (M, N):
            fresh = f"C = np.empty(({padded['M']}, {padded['N']}), np.{self.result})"
            faults.append(f"C grows with them: {fresh}, and the product is C[:{M}, :{N}]")
        if faults:
            self._refuse("; ".join(faults))

    def _check_grid(self, M: int, N: int, K: int) -> None:
        blocks = self.grid_and_block(M, N, K)[0][1]
        if blocks <= MOST_BLOCKS_IN_Y:
            return
        # A rung may run along the rows in x: whatever makes y smaller is at fault.
        rows_in_y = self.grid_and_block(1, N, K)[0][1] < blocks
        name, size, tile = ("M", M, self.tile[0]) if rows_in_y else ("N", N, self.tile[1])
        parts = "A's rows" if rows_in_y else "B's columns"
        self._refuse(
            f"{name} = {size} needs {blocks:,} blocks along y, of {MOST_BLOCKS_IN_Y:,} at most: "
            f"launch it for parts of {parts}, each of {MOST_BLOCKS_IN_Y * tile} at most"
        )

    def _raise_errors(self, findings: Iterable[Finding]) -> None:
        errors = [finding for finding in by_importance(findings) if finding.severity == "error"]
        if errors:
            more = f" Errors in all: {len(errors)}; see course_lib.last_profile().findings."
            reason = f"{errors[0]} {errors[0].hint}".rstrip()
            raise PlainError(
                f"{self.name} ran, but don't trust C: {reason}{more if errors[1:] else ''}"
            )

    def _refuse(self, why: str) -> None:
        raise InputsRefused(f"{self.name} can't multiply these: {why}.")


def _converted(values: str, otherwise: str, wanted: str) -> str:
    """How to convert: uint16 stands for the bits of bfloat16, which astype would not give."""
    if wanted == "uint16":
        return f"convert it to bfloat16 bits, course_lib.kernels.accuracy.bits_of_bf16({values})"
    return f"convert it, {otherwise}"


def _address(array: Any) -> int:
    """Where an array begins in memory; 0 where nobody says.

    A NumPy array is copied to the GPU, and on the emulator an array that owns its memory begins
    at a round address. So what counts of one is how far into its owner's memory it begins.
    """
    if isinstance(array, EmulatedDeviceArray):
        array = array.buffer
    if isinstance(array, np.ndarray):
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return array.ctypes.data - owner.ctypes.data
    interface = getattr(array, "__cuda_array_interface__", None)
    return int(interface["data"][0] or 0) if interface else 0


def _is_row_major(array: Any) -> bool:
    """Whether an array of NumPy, Numba or CuPy lies row after row without gaps."""
    flags = getattr(array, "flags", None)
    if flags is not None:
        return bool(flags["C_CONTIGUOUS"] if hasattr(flags, "__getitem__") else flags.c_contiguous)
    return bool(getattr(array, "is_c_contiguous", lambda: True)())
