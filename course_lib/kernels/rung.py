"""What every rung says of itself: its kernel, its tile, its launch, and what it can't multiply."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from course_lib import runtime
from course_lib.errors import PlainError
from course_lib.kernels import large_shared

MOST_BLOCKS_IN_Y = 65_535  # CUDA's limit for gridDim.y


class InputsRefused(PlainError):
    """A rung can't multiply these matrices; the message says why, and the mend."""


@dataclass(frozen=True)
class RungKernel:
    """One rung of the ladder as code: C = A @ B for row-major matrices.

    Attributes:
        name: the rung's name; a second way of writing it adds a word: "naive_while".
        kernel: called with (A, B, C); A is M x K, B is K x N.
        tile: rows and columns of C that a block computes, and the steps of K that it takes at once.
        block: threads per block, x first.
        min_cc: the oldest compute capability that has the instructions.
        dtype: of the elements of A and B; C is float32 always.
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
    room: bool = False
    multiples: Mapping[str, int] = field(default_factory=dict)
    dynamic_shared: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "multiples", MappingProxyType(dict(self.multiples)))

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
        for name, array in (("A", A), ("B", B), ("C", C)):
            wanted = "float32" if name == "C" else self.dtype
            if len(array.shape) != 2:
                self._refuse(f"{name} has {len(array.shape)} axes, and a matrix has two")
            if str(array.dtype) != wanted:
                self._refuse(f"{name} is {array.dtype}: convert it, {name}.astype({wanted!r})")
            if not _is_row_major(array):
                self._refuse(f"{name} is not contiguous: copy it, np.ascontiguousarray({name})")
            if 0 in array.shape:
                self._refuse(f"{name} is empty, of shape {tuple(array.shape)}")
        (M, K), (rows, N) = A.shape, B.shape
        if rows != K or tuple(C.shape) != (M, N):
            shapes = f"{tuple(A.shape)}, {tuple(B.shape)} and {tuple(C.shape)}"
            self._refuse(f"the shapes {shapes} are not (M, K), (K, N) and (M, N)")
        self._check_sizes({"M": M, "N": N, "K": K})

    def launch(self, A: Any, B: Any, C: Any, stream: Any = 0) -> None:
        """Compute C = A @ B.

        Raises:
            InputsRefused: if this rung can't.
        """
        self.check_inputs(A, B, C)
        grid, block = self.grid_and_block(C.shape[0], C.shape[1], A.shape[1])
        kernel = self.kernel
        if runtime.is_emulated(kernel):
            more = {"max_dynamic_shared": self.dynamic_shared} if self.dynamic_shared else {}
            kernel = runtime.emulate(kernel, **more)
        elif self.dynamic_shared:
            large_shared.allow(kernel, (A, B, C), self.dynamic_shared)
        if self.dynamic_shared or stream:
            kernel[grid, block, stream, self.dynamic_shared](A, B, C)
        else:
            kernel[grid, block](A, B, C)

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        where = {"M": "A's rows", "N": "B's columns", "K": "A's columns and B's rows"}
        for name, multiple in self.multiples.items():
            size = sizes[name]
            if size % multiple:
                up = -(-size // multiple) * multiple
                self._refuse(
                    f"{name} = {size} is no multiple of {multiple}: "
                    f"pad {where[name]} with zeros to {up}"
                )
        for name, least in zip("MN", self.tile if self.room else (), strict=False):
            if sizes[name] < least:
                self._refuse(
                    f"{name} = {sizes[name]} is less than a tile's {least}: "
                    f"pad {where[name]} with zeros to {least}"
                )
        if sizes["M"] > MOST_BLOCKS_IN_Y * self.tile[0]:
            self._refuse(f"M = {sizes['M']} needs more than {MOST_BLOCKS_IN_Y:,} blocks in y")

    def _refuse(self, why: str) -> None:
        raise InputsRefused(f"{self.name} can't multiply these: {why}.")


def _is_row_major(array: Any) -> bool:
    """Whether an array of NumPy, Numba or CuPy lies row after row without gaps."""
    flags = getattr(array, "flags", None)
    if flags is not None:
        return bool(flags["C_CONTIGUOUS"] if hasattr(flags, "__getitem__") else flags.c_contiguous)
    return bool(getattr(array, "is_c_contiguous", lambda: True)())
