"""Triton's functions (`triton.language`): pointers and masks, `tl.load`, `tl.store`, `tl.dot`.

`dot` checks types and shapes here; `arithmetic.py` computes the product. What the languages share
is in `elementwise.py`.

Triton's reference, `triton.language`: without `other` a masked-off element has no value; integers
are divided as C divides them; `dot` of float16 adds in float32.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.tiles.elementwise import SHARED, astype, dtype_given, elementwise, permute
from course_lib.tiles.machine import TileMachine
from course_lib.tiles.memory import ArrayArgument
from course_lib.tiles.values import (
    DTYPES,
    FLOAT32,
    INT32,
    INT64,
    Array,
    DType,
    TileValue,
    Unknown,
    joint_unknown,
    made,
    promoted,
)
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

TITLE = "Triton"
JOINS_TILES = True  # `and`, `or` and `not` of tiles are those of each element
CONSTEXPR = "constexpr"
_MUST_BE = 16  # the shortest side of a product


@dataclass(frozen=True)
class Pointers:
    """Addresses in an array: how many elements each lies behind its begin."""

    array: ArrayArgument
    cells: TileValue

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cells.shape

    @property
    def dtype(self) -> DType:
        return self.array.dtype


def argument(machine: TileMachine, array: ArrayArgument) -> Pointers:
    """What the kernel gets for an array of the launch: the address of its first element."""
    return Pointers(array, TileValue(np.zeros((), np.int64), INT64))


def program_id(machine: TileMachine, axis: int) -> int:
    return machine.place[axis]


def num_programs(machine: TileMachine, axis: int) -> int:
    return machine.grid[axis]


def arange(machine: TileMachine, start: Any, end: Any) -> TileValue:
    first, last = machine.whole(start, "arange"), machine.whole(end, "arange")
    machine.shape(last - first, "arange")
    return made(np.arange(first, last), INT32)


def load(
    machine: TileMachine, pointer: Any, mask: Any = None, other: Any = None, **options: Any
) -> TileValue:
    array, cells, asked = _asked(machine, pointer, mask)
    inside = (cells >= 0) & (cells < array.data.size)
    _tell(machine, array, cells, asked & ~inside, "read")
    wanted = asked & inside
    held = np.array(np.broadcast_to(_data(0 if other is None else other), wanted.shape))
    held = held.astype(array.dtype.storage)
    held[wanted] = machine.memory.load(array, cells[wanted], machine.number, machine.line)
    unknown = joint_unknown(wanted.shape, *(tile for tile in (mask, other) if _is_tile(tile)))
    lacking = ~wanted if other is None else asked & ~inside
    if lacking.any():
        unknown = Unknown(lacking, array.name, machine.line)
    return TileValue(held, array.dtype, unknown)


def store(machine: TileMachine, pointer: Any, value: Any, mask: Any = None, **options: Any) -> None:
    array, cells, asked = _asked(machine, pointer, mask, value)
    inside = (cells >= 0) & (cells < array.data.size)
    _tell(machine, array, cells, asked & ~inside, "write")
    wanted = asked & inside
    tile = value if isinstance(value, TileValue) else made(value, array.dtype)
    values = tile.like(lambda data: np.broadcast_to(data, wanted.shape)[wanted])
    machine.memory.store(array, cells[wanted], values, machine.number, machine.line)


def atomic_add(
    machine: TileMachine, pointer: Any, val: Any, mask: Any = None, **options: Any
) -> None:
    array, cells, asked = _asked(machine, pointer, mask, val)
    inside = (cells >= 0) & (cells < array.data.size)
    _tell(machine, array, cells, asked & ~inside, "write")
    wanted = asked & inside
    values = np.broadcast_to(_data(val), wanted.shape)[wanted]
    machine.memory.add(array, cells[wanted], np.asarray(values), machine.number)


PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")  # tl.dot's, as of Triton 3.9


def dot(
    machine: TileMachine,
    input: Any,
    other: Any,
    acc: Any = None,
    *,
    input_precision: Any = None,
    allow_tf32: Any = None,
    out_dtype: Any = FLOAT32,
    **options: Any,
) -> TileValue:
    if not (_is_tile(input) and _is_tile(other) and input.data.ndim == other.data.ndim == 2):
        raise machine.refuse(say("dot takes two tiles of two axes."))
    if input.shape[1] != other.shape[0]:
        message = say("Tiles of {one} and {two} cannot be multiplied.", one=_text(input.shape),
                      two=_text(other.shape))  # fmt: skip
        raise machine.refuse(message, hint="Which axis of each tile belongs to k?")
    if input.dtype != other.dtype:
        message = say("dot takes two tiles of one type, not {one} and {two}.",
                      one=input.dtype.name, two=other.dtype.name)  # fmt: skip
        raise machine.refuse(message)
    if min(*input.shape, *other.shape) < _MUST_BE:
        raise machine.refuse(
            say("Every side of a product has at least {least} elements.", least=_MUST_BE)
        )
    precision = input_precision or ("ieee" if allow_tf32 is False else "tf32")
    if precision not in PRECISIONS:
        *known, last = PRECISIONS
        message = say("input_precision is {known} or {last}, not {given}.",
                      known=", ".join(known), last=last, given=repr(precision))  # fmt: skip
        raise machine.refuse(message)
    if input.dtype == FLOAT32 and precision == "tf32":
        machine.memory.note(_rounded(machine))
    kind = acc.dtype if _is_tile(acc) else dtype_given(machine, out_dtype)
    return machine.product(input, other, acc, kind)


def _rounded(machine: TileMachine) -> Finding:
    """What Triton does with float32 unless it is told otherwise."""
    message = say(
        "This product of float32 tiles rounds its factors to TF32, which keeps 10 of "
        "the 23 bits of a fraction. That is about 3 decimal digits. The tile machine "
        "does not round the factors."
    )
    hint = "Which input_precision keeps all bits, and which one is faster on tensor cores?"
    return finding("rounded-inputs", message, machine.line, hint)


def to(machine: TileMachine, x: Any, dtype: Any, **options: Any) -> TileValue:
    return astype(machine, x, getattr(dtype, "dtype", dtype))


def static_range(machine: TileMachine, *ends: Any, **options: Any) -> range:
    return range(*(machine.whole(end, "range") for end in ends))


def same(machine: TileMachine, x: Any, *facts: Any) -> Any:
    """What a hint for the compiler leaves as it is."""
    return x


def subscripted(machine: TileMachine, owner: Any, parts: Sequence[ast.expr]) -> Any:
    if not isinstance(owner, Pointers):
        return None
    index = tuple(machine._axis(part) for part in parts)
    return Pointers(owner.array, owner.cells.like(lambda data: data[index]))


def combined(machine: TileMachine, op: ast.operator, left: Any, right: Any) -> Any:
    """What Triton does otherwise: addresses move by elements, and integers are divided as in C."""
    if isinstance(left, Pointers) or isinstance(right, Pointers):
        return _moved(machine, op, left, right)
    tiles = [value for value in (left, right) if isinstance(value, TileValue)]
    if isinstance(op, ast.FloorDiv) and tiles and promoted(left, right).kind == "float":
        raise machine.refuse(say("// divides whole numbers, but one of these is a fraction."))
    if isinstance(op, ast.FloorDiv | ast.Mod) and tiles and promoted(left, right).kind == "int":
        kind = promoted(left, right)
        one, two = (np.asarray(_data(value), np.int64) for value in (left, right))
        machine.check_shapes(left, right)
        if (two == 0).any():
            raise machine.refuse(say("An integer is divided by zero here."))
        quotient = np.sign(one) * np.sign(two) * (np.abs(one) // np.abs(two))
        return made(
            quotient if isinstance(op, ast.FloorDiv) else one - quotient * two, kind, left, right
        )
    return None


def _moved(machine: TileMachine, op: ast.operator, left: Any, right: Any) -> Pointers:
    base, by = (left, right) if isinstance(left, Pointers) else (right, left)
    is_sum = isinstance(op, ast.Add) or (isinstance(op, ast.Sub) and base is left)
    if isinstance(by, Pointers) or not is_sum:
        raise machine.refuse(say("You can add a number to an address, and nothing else."))
    if isinstance(by, float) or (_is_tile(by) and by.dtype.kind == "float"):
        raise machine.refuse(say("Only whole numbers can be added to an address."))
    machine.check_shapes(base.cells, by)
    step = np.asarray(_data(by), np.int64)
    moved = base.cells.data + step if isinstance(op, ast.Add) else base.cells.data - step
    return Pointers(base.array, made(moved, INT64, base.cells, by))


def _asked(
    machine: TileMachine, pointer: Any, mask: Any, value: Any = None
) -> tuple[ArrayArgument, Array, Array]:
    """The array, the places in it, and which of them are wanted."""
    if not isinstance(pointer, Pointers):
        raise machine.refuse(say("This takes addresses: an array argument plus offsets."))
    if pointer.cells.data.ndim == 0 and _is_tile(mask) and mask.data.ndim:
        message = say(
            "This is a single address, but the mask is a tile. The offsets have not been added."
        )
        raise machine.refuse(message, hint="What has to be added to the array's name?")
    tiles = [tile for tile in (pointer.cells, mask, value) if _is_tile(tile)]
    machine.check_shapes(*tiles)
    shape = np.broadcast_shapes(*(tile.shape for tile in tiles))
    if _is_tile(value) and shape != pointer.cells.shape:
        message = say("{count} values cannot be stored at {places} addresses.",
                      count=int(np.prod(shape)), places=pointer.cells.data.size)  # fmt: skip
        raise machine.refuse(message)
    asked = np.broadcast_to(True if mask is None else _data(mask), shape)
    return pointer.array, np.broadcast_to(pointer.cells.data, shape), np.array(asked, bool)


def _tell(
    machine: TileMachine, array: ArrayArgument, cells: Array, wrong: Array, kind: str
) -> None:
    if wrong.any():
        first = int(cells[np.unravel_index(int(np.argmax(wrong)), wrong.shape)])
        where = say("element {number} of {size}", number=first, size=array.data.size)
        machine.memory.outside(array, kind, where, machine.number, machine.line)


def _data(value: Any) -> Any:
    return value.data if isinstance(value, TileValue) else value


def _is_tile(value: Any) -> bool:
    return isinstance(value, TileValue)


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


NAMES: Mapping[str, Any] = {"constexpr": CONSTEXPR}
METHODS: Mapping[str, str] = {
    "to": "to", "reshape": "reshape", "trans": "trans", "permute": "permute",
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **SHARED,
    "program_id": program_id, "num_programs": num_programs, "arange": arange, "load": load,
    "store": store, "dot": dot, "to": to, "cast": to, "trans": permute,
    "static_range": static_range, "range": static_range, "atomic_add": atomic_add,
    "multiple_of": same, "max_contiguous": same,
    "sigmoid": elementwise(lambda x: 1 / (1 + np.exp(-x))),
}  # fmt: skip
assert FLOAT32 is DTYPES["float32"]
