"""The types a kernel computes with, and how Numba combines them.

Scalar types are NumPy dtypes. Arrays, tuples and compile-time things (modules, functions,
strings) have small classes of their own. The rules below were read off Numba's compiler
(0.61 to 0.68): every integer expression is at least 64 bits wide, `float32 op float32` stays
float32, `float32 op int32` becomes float64, and a literal int is int64.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.wording.sentences import say

BOOL = np.dtype(np.bool_)
INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
UINT16 = np.dtype(np.uint16)
UINT32 = np.dtype(np.uint32)
UINT64 = np.dtype(np.uint64)
FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
COMPLEX64 = np.dtype(np.complex64)
COMPLEX128 = np.dtype(np.complex128)

_NAMES = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool_ intp uintp "
    "complex64 complex128"
).split()

# Names of scalar types as students spell them: np.float32, numba.float32, types.float32, ...
DTYPES: dict[str, np.dtype] = {name: np.dtype(getattr(np, name)) for name in _NAMES}
DTYPES |= {"boolean": BOOL, "bool": BOOL, "double": FLOAT64, "single": FLOAT32, "half": FLOAT16}


@dataclass(frozen=True)
class ArrayType:
    """An array with `ndim` axes of `dtype` elements.

    `layout` is "C" (row after row, without gaps), "F" (column after column) or "A" (anything).
    """

    dtype: np.dtype
    ndim: int
    writable: bool = True
    layout: str = "C"

    def __str__(self) -> str:
        return f"array({self.dtype}, {self.ndim}d)"

    def takes(self, given: ArrayType) -> bool:
        """Whether a parameter that is declared as this takes such an array."""
        same = (given.dtype, given.ndim) == (self.dtype, self.ndim)
        return same and self.layout in ("A", given.layout)

    @property
    def transposed(self) -> ArrayType:
        """The type of A.T."""
        layout = self.layout if self.ndim == 1 else {"C": "F", "F": "C", "A": "A"}[self.layout]
        return replace(self, layout=layout)

    def indexed(self, axes: Sequence[str]) -> ArrayType:
        """The type of a part; `axes` says for each index whether it is an "index" or a "slice"."""
        outer = list(axes)
        if self.layout == "F":
            outer = outer[::-1] if len(outer) == self.ndim else ["slice", "slice"]
        kept = self.layout != "A" and "slice" not in outer[:-1]
        ndim = self.ndim - list(axes).count("index")
        return replace(self, ndim=ndim, layout=self.layout if kept else "A")


@dataclass(frozen=True)
class FlatType:
    """What `A.flat` is: the elements of an array, row after row, under one index."""

    array: ArrayType

    def __str__(self) -> str:
        return f"{self.array}.flat"


@dataclass(frozen=True)
class TupleType:
    """A tuple; every item has its own type, and of a named tuple its name.

    `leaves` counts what is in it, at any depth.
    """

    items: tuple[Type, ...]
    fields: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TupleType) or len(self.items) != len(other.items):
            return False
        return self.fields == other.fields and all(map(same, self.items, other.items))

    def __hash__(self) -> int:
        return hash(self.items)

    @property
    def is_uniform(self) -> bool:
        """Whether all items are of one type, so that Numba can loop over them."""
        return all(same(self.items[0], item) for item in self.items[1:])

    @property
    def leaves(self) -> int:
        return sum(max(1, i.leaves) if isinstance(i, TupleType) else 1 for i in self.items)

    def __str__(self) -> str:
        return f"({', '.join(str(item) for item in self.items)})"


@dataclass(frozen=True)
class VectorType:
    """CUDA's float4 and its like: one to four numbers of one type, called x, y, z and w."""

    dtype: np.dtype
    size: int

    @property
    def fields(self) -> str:
        """The names of the numbers, a letter each."""
        return "xyzw"[: self.size]

    def __str__(self) -> str:
        return f"{self.dtype}x{self.size}"


@dataclass(frozen=True)
class RecordType:
    """One record, a reference into an array; `dtype` has its fields."""

    dtype: np.dtype

    def __str__(self) -> str:
        return f"record({', '.join(self.dtype.names or ())})"


@dataclass(frozen=True)
class RangeType:
    """What `range(...)` returns; `dtype` is the type of the loop variable."""

    dtype: np.dtype

    def __str__(self) -> str:
        return f"range of {self.dtype}"


@dataclass(frozen=True)
class ZipType:
    """What `zip(...)` and `enumerate(...)` return: the items of several things, side by side."""

    parts: tuple[Type, ...]

    def __str__(self) -> str:
        return f"zip of {', '.join(map(str, self.parts))}"


@dataclass(frozen=True)
class EnumType:
    """A member of an enumeration; on the machine, its place among all members.

    Members that are whole numbers are int64 in a kernel, and only as arguments of a launch this.
    """

    members: enum.EnumMeta

    @property
    def is_whole(self) -> bool:
        """Whether its members are whole numbers."""
        return issubclass(self.members, int)

    def __str__(self) -> str:
        return f"member of {self.members.__name__}"


@dataclass(frozen=True)
class Static:
    """Something known when the kernel is compiled: a module, a function, a string, None."""

    value: object

    def __str__(self) -> str:
        return "None" if self.value is None else str(self.value)


@dataclass(frozen=True)
class Mixed:
    """Two types without a common one: of a variable that paths leave so, if nobody reads it."""

    left: Type
    right: Type

    def __str__(self) -> str:
        return f"{self.left} or {self.right}"


NOTHING = Static(None)  # what a function without a result returns

Type = (
    Mixed
    | np.dtype
    | ArrayType
    | FlatType
    | TupleType
    | VectorType
    | RecordType
    | RangeType
    | ZipType
    | EnumType
    | Static
)


class TypingError(Exception):
    """Numba would find no type for this.

    `said` is why, a sentence without its beginning and its end; `hint` is for this refusal alone.
    """

    def __init__(self, said: str, hint: str = "") -> None:
        super().__init__(said)
        self.said, self.hint = said, hint


class NotEmulated(TypingError):
    """Numba finds a type for this, and the emulator does not; `hint` says what to write instead."""


class LiteralNeeded(TypingError):
    """This must be a literal, or an argument that is a literal wherever the function is called."""


def is_scalar(kind: Type) -> bool:
    """Whether `kind` is a number or a boolean."""
    return isinstance(kind, np.dtype)


def is_integer(kind: Type) -> bool:
    """Whether `kind` is an integer type (a boolean is none)."""
    return isinstance(kind, np.dtype) and kind.kind in "iu"


def is_float(kind: Type) -> bool:
    """Whether `kind` is a floating-point type."""
    return isinstance(kind, np.dtype) and kind.kind == "f"


def is_complex(kind: Type) -> bool:
    """Whether `kind` is a complex type, a pair of floats."""
    return isinstance(kind, np.dtype) and kind.kind == "c"


def part_type(kind: np.dtype) -> np.dtype:
    """The type of `z.real`, of `z.imag` and of `abs(z)`: a complex number's floats, else `kind`."""
    if not is_complex(kind):
        return kind
    return FLOAT32 if kind == COMPLEX64 else FLOAT64


def same(left: Type, right: Type) -> bool:
    """Whether two types are one. NumPy takes whatever has a `dtype` to be equal to it."""
    return type(left) is type(right) and left == right


def unify(left: Type, right: Type) -> Type:
    """The one type of a variable that is `left` on one path and `right` on another.

    Raises TypingError if there is none, as for an array and a number.
    """
    if same(left, right):
        return left
    if isinstance(left, np.dtype) and isinstance(right, np.dtype):
        # NumPy's promotion of arrays agrees with Numba's unification: int32 and uint32 give int64,
        # int64 and uint64 give float64, float32 and int16 float32, float32 and int32 float64.
        return np.promote_types(left, right)
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        if len(left.items) == len(right.items):
            pairs = zip(left.items, right.items, strict=True)
            return TupleType(tuple(unify(one, other) for one, other in pairs))
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        if (left.dtype, left.ndim) == (right.dtype, right.ndim):
            layout = left.layout if left.layout == right.layout else "A"
            return ArrayType(left.dtype, left.ndim, left.writable and right.writable, layout)
    raise TypingError(say("cannot unify {left} and {right}", left=left, right=right))


def math_type(operand: np.dtype) -> np.dtype:
    """The type of `math.sqrt(x)` and its like: float32 stays, everything else is float64."""
    return operand if operand in (FLOAT16, FLOAT32) else FLOAT64


def place_of_member(member: enum.Enum) -> np.int64:
    """What stands for a member of an enumeration on the machine."""
    return np.int64(list(type(member)).index(member))


def type_of_scalar(value: object) -> np.dtype | None:
    """The type that Numba gives to a Python or NumPy number; None if it is no number.

    A Python int is int64 (uint64 if only that holds it), a Python float float64, and a Python
    complex number complex128.
    """
    if isinstance(value, np.generic):
        return value.dtype if is_number_type(value.dtype) else None
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return INT64
        return UINT64 if 0 <= value < 2**64 else None
    if isinstance(value, complex):
        return COMPLEX128
    return FLOAT64 if isinstance(value, float) else None


def is_record_type(dtype: np.dtype) -> bool:
    """Whether a dtype has fields, all of them numbers or records, or several of those."""
    bases = [dtype[name].base for name in dtype.names or ()]
    return bool(bases) and all(
        is_record_type(base) if base.names else is_number_type(base) and base.isnative
        for base in bases
    )


def type_of_array(array: np.ndarray) -> ArrayType | None:
    """The type of an array from outside the kernel; None if kernels have no such elements."""
    known = is_number_type(array.dtype) and array.dtype.isnative
    if not (known or is_record_type(array.dtype)):
        return None
    flags = array.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return ArrayType(array.dtype, array.ndim, flags.writeable, layout)


def element_type(array: ArrayType) -> np.dtype | RecordType:
    """The type of an array's elements."""
    return RecordType(array.dtype) if array.dtype.names else array.dtype


def field_names(owner: RecordType | ArrayType) -> tuple[str, ...]:
    """What can be asked of records, and of the numbers of a complex array, by name."""
    return ("real", "imag") if is_complex(owner.dtype) else owner.dtype.names or ()


def field_type(owner: RecordType | ArrayType, name: str) -> Type:
    """The type of a field: of an array of records, an array over the same bytes."""
    kind = owner.dtype[name] if owner.dtype.names else part_type(owner.dtype)
    axes = owner.ndim if isinstance(owner, ArrayType) else 0
    if axes or kind.shape:
        writable = owner.writable if isinstance(owner, ArrayType) else True
        return ArrayType(kind.base, axes + len(kind.shape), writable, "A" if axes else "C")
    return RecordType(kind) if kind.names else kind


def is_number_type(dtype: np.dtype) -> bool:
    """Whether kernels compute with numbers of this type: all but long doubles and other bytes."""
    return dtype.kind in "biufc" and dtype.itemsize <= (16 if dtype.kind == "c" else 8)
