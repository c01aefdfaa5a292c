"""Tiles as a tile language has them: NumPy arrays with its own types, and where no value is known.

A tile of cuTile or Triton is a value, not memory: what an operation makes is a new tile. Part of it
may have no value that the language promises: what lies past the edge of an array, or was masked
off. Such elements are followed through all operations, as a poisoned value is in the emulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from course_lib.devices.number_formats import bits_of_bf16, from_bf16

Array = np.ndarray[Any, Any]
Kind = Literal["bool", "int", "float"]
_RANK: dict[Kind, int] = {"bool": 0, "int": 1, "float": 2}


@dataclass(frozen=True)
class DType:
    """A type of elements.

    Attributes:
        name: as both languages spell it: "float32".
        kind: what arithmetic it takes part in.
        bits: of an element in memory.
        storage: what NumPy holds it in; bfloat16 lies in float32, and is rounded after each step.
    """

    name: str
    kind: Kind
    bits: int
    storage: str

    @property
    def nbytes(self) -> int:
        return max(1, self.bits // 8)

    def holding(self, data: Any) -> Array:
        """Numbers as this type holds them."""
        stored = np.asarray(data).astype(self.storage)
        return from_bf16(bits_of_bf16(stored)) if self.name == "bfloat16" else stored


_ALL = (
    DType("bool", "bool", 8, "bool"),
    *(
        DType(f"{sign}int{bits}", "int", bits, f"{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    ),
    DType("float16", "float", 16, "float16"),
    DType("bfloat16", "float", 16, "float32"),
    DType("float32", "float", 32, "float32"),
    DType("float64", "float", 64, "float64"),
)
DTYPES: Mapping[str, DType] = {dtype.name: dtype for dtype in _ALL}
INT32, INT64, FLOAT32, BOOL = (DTYPES[name] for name in ("int32", "int64", "float32", "bool"))


def dtype_of(data: Array) -> DType:
    """The type of a NumPy array's elements.

    Raises:
        KeyError: for one that no tile language has.
    """
    return DTYPES[str(data.dtype)]


@dataclass(frozen=True)
class Unknown:
    """Where elements have no value: a mask of the tile's shape, and the load that left them out."""

    mask: Array
    array: str
    line: int


@dataclass(frozen=True)
class TileValue:
    """A tile, or with no axes a number that is known when the kernel runs only."""

    data: Array
    dtype: DType
    unknown: Unknown | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def nbytes(self) -> int:
        return self.data.size * self.dtype.nbytes

    def like(self, change: Callable[[Array], Array]) -> TileValue:
        """The same elements in other places."""
        unknown = self.unknown
        if unknown is not None:
            unknown = Unknown(change(unknown.mask), unknown.array, unknown.line)
        return TileValue(change(self.data), self.dtype, unknown)


Value = TileValue | int | float | bool


def made(data: Any, dtype: DType, *sources: Value) -> TileValue:
    """A tile computed element by element from these."""
    held = dtype.holding(data)
    return TileValue(held, dtype, joint_unknown(held.shape, *sources))


def joint_unknown(shape: tuple[int, ...], *sources: Value) -> Unknown | None:
    """Where any of these has no value, in a tile of this shape."""
    parts = [
        source.unknown for source in sources if isinstance(source, TileValue) and source.unknown
    ]
    if not parts:
        return None
    mask = np.zeros(shape, bool)
    for part in parts:
        mask = mask | np.broadcast_to(part.mask, shape)
    return Unknown(mask, parts[0].array, parts[0].line)


def promoted(*values: Value) -> DType:
    """The type in which these are joined: a plain number takes on a tile's, where it can."""
    tiles = [value.dtype for value in values if isinstance(value, TileValue)]
    kinds: list[Kind] = [
        "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
        for value in values
        if not isinstance(value, TileValue)
    ]
    best = tiles[0]
    for other in tiles[1:]:
        best = _of_two(best, other)
    highest = max(kinds, key=_RANK.__getitem__, default=best.kind)
    if _RANK[highest] > _RANK[best.kind]:
        return FLOAT32 if highest == "float" else INT32
    return best


def _of_two(one: DType, other: DType) -> DType:
    if one.kind != other.kind:
        return max(one, other, key=lambda operand: _RANK[operand.kind])
    if one.bits == other.bits and one.kind == "float" and one.name != other.name:
        return FLOAT32  # float16 and bfloat16
    return one if one.bits >= other.bits else other


def plain(value: Value) -> Any:
    """What NumPy computes with."""
    return value.data if isinstance(value, TileValue) else value
