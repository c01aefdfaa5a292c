"""What all tile languages compute alike: operators, matrix products (`mma`, `tl.dot`), reductions.

A language's own module checks the arguments (`triton_language.dot`, `cutile.mma`); here is the
result.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.language.operators import BINARY, COMPARE
from course_lib.emulator.plain import values as plain_values
from course_lib.tiles.memory import TileMemory
from course_lib.tiles.reading import TileProgram
from course_lib.tiles.values import (
    BOOL,
    DTYPES,
    FLOAT32,
    DType,
    TileValue,
    joint_unknown,
    made,
    plain,
    promoted,
)
from course_lib.wording.sentences import say

MOST_ELEMENTS = 1 << 20  # of a tile: TRITON_MAX_TENSOR_NUMEL


@dataclass
class TileArithmetic:
    """One program of a launch, as far as it computes.

    Attributes:
        program: the kernel, and what its names stand for.
        language: of the kernel.
        languages: the functions of each language: name, then what carries it out.
        memory: the launch's arrays.
        place: the program's number along each axis.
        grid: how many programs there are.
        number: the program's number among all.
        node: what is being carried out.
    """

    program: TileProgram
    language: str
    languages: Mapping[str, Any]
    memory: TileMemory
    place: tuple[int, int, int]
    grid: tuple[int, int, int]
    number: int
    node: ast.AST = field(init=False, default_factory=ast.Pass)

    @property
    def line(self) -> int:
        return int(getattr(self.node, "lineno", 0))

    def refuse(self, message: str, code: str = "compile-error", hint: str = "") -> KernelRejected:
        """An error at the place that is being carried out."""
        return rejection(code, message, self.node, hint)

    def unknown_part(self, node: ast.AST) -> KernelRejected:
        """The refusal of a form that the machine does not have."""
        kind = type(node).__name__
        return rejection(
            "unsupported", say("The tile machine does not support {kind} here.", kind=kind), node
        )

    def whole(self, value: Any, what: str) -> int:
        """A whole number, which may be known when the kernel runs only.

        Raises:
            KernelRejected: if it is none.
        """
        if isinstance(value, TileValue) and value.data.size == 1 and value.dtype.kind == "int":
            return int(value.data)
        if isinstance(value, int):
            return int(value)
        raise self.refuse(say("{what} takes whole numbers.", what=what))

    def shape(self, value: Any, what: str) -> tuple[int, ...]:
        """The shape of a tile: constants, each a power of two.

        Raises:
            KernelRejected: if it is none.
        """
        sizes = value if isinstance(value, tuple) else (value,)
        for size in sizes:
            if not isinstance(size, int):
                message = say(
                    "The shape in {what} has to be known when the kernel is compiled.", what=what
                )
                raise self.refuse(message, hint="Which parameter should be a constant?")
            if size < 1 or size & (size - 1):
                message = say("A tile's sides must be powers of two, and {size} is not.", size=size)
                raise self.refuse(
                    message, hint="Which larger tile would do, with part of it past the edge?"
                )
        self.check_size(sizes)
        return sizes

    def check_size(self, shape: Sequence[int]) -> None:
        """Refuse a tile of more elements than Triton allows; a larger one is a slip, or malice."""
        if math.prod(shape) > MOST_ELEMENTS:
            message = say("A tile has at most {most} elements.", most=f"{MOST_ELEMENTS:,}")
            raise self.refuse(message, hint="How many programs could share the work?")

    def arithmetic(self, op: ast.operator, left: Any, right: Any) -> Any:
        """`left + right` and the like, element by element; shapes are broadcast."""
        special = self.languages[self.language].combined(self, op, left, right)
        if special is not None:
            return special
        if not isinstance(left, TileValue) and not isinstance(right, TileValue):
            return plain_values.binary(op, left, right)
        if type(op) not in BINARY:
            raise self.unknown_part(op)
        kind, compute = promoted(left, right), BINARY[type(op)].compute
        if isinstance(op, ast.Div) and kind.kind != "float":
            kind = FLOAT32
        one, other = (self._operand(operand, kind) for operand in (left, right))
        self.check_shapes(left, right)
        with np.errstate(all="ignore"):
            result = compute(one, other)
        if kind.kind == "float":
            self.memory.counts.flops += int(np.size(result))
        return made(result, kind, left, right)

    def comparison(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        """`left < right` and the like."""
        if not isinstance(left, TileValue) and not isinstance(right, TileValue):
            return plain_values.compare(op, left, right)
        if type(op) not in COMPARE:
            raise self.unknown_part(op)
        compute = COMPARE[type(op)]
        kind = promoted(left, right)
        self.check_shapes(left, right)
        return made(
            compute(self._operand(left, kind), self._operand(right, kind)), BOOL, left, right
        )

    def elementwise(self, compute: Callable[..., Any], *values: Any) -> Any:
        """A function of each element; of plain numbers, a plain number."""
        if not any(isinstance(value, TileValue) for value in values):
            with np.errstate(all="ignore"):
                return compute(*values).item()
        kind = promoted(*values)
        kind = kind if kind.kind == "float" else FLOAT32
        self.check_shapes(*values)
        with np.errstate(all="ignore"):
            result = compute(*(self._operand(value, kind) for value in values))
        self.memory.counts.flops += int(np.size(result))
        return made(result, kind, *values)

    def product(self, left: Any, right: Any, total: Any, kind: DType) -> TileValue:
        """`left @ right + total` in `kind`; products of float16 and bfloat16 are exact there."""
        self.check_size((*left.shape[:-1], right.shape[-1]))
        sides = [value.data.astype(np.float32 if kind.bits < 64 else np.float64)
                 if kind.kind == "float" else value.data.astype(kind.storage)
                 for value in (left, right)]  # fmt: skip
        with np.errstate(all="ignore"):
            result = sides[0] @ sides[1]
            result = result if total is None else result + total.data
        self.memory.counts.flops += 2 * result.size * left.shape[-1]
        unknown = None
        for value, axis in ((left, -1), (right, -2)):
            if value.unknown is not None:
                mask = np.broadcast_to(value.unknown.mask.any(axis, keepdims=True), result.shape)
                unknown = unknown or replace(value.unknown, mask=mask)
        found = made(result, kind, *([] if total is None else [total]))
        return found if found.unknown or unknown is None else TileValue(found.data, kind, unknown)

    def reduction(self, tile: Any, axis: Any, keep: bool, compute: Callable[..., Any]) -> TileValue:
        """A sum, a largest element and the like along one axis or all of them."""
        if not isinstance(tile, TileValue):
            raise self.refuse(say("This takes a tile."))
        for one in axis if isinstance(axis, tuple) else (axis,):
            if one is not None and not -tile.data.ndim <= one < tile.data.ndim:
                message = say("The tile has no axis {axis}: it is {shape}.", axis=one,
                              shape=" x ".join(map(str, tile.shape)))  # fmt: skip
                raise self.refuse(message)
        with np.errstate(all="ignore"):
            result = np.asarray(compute(tile.data, axis=axis, keepdims=keep))
        if tile.dtype.kind == "float":
            self.memory.counts.flops += tile.data.size - result.size
        found = made(result, tile.dtype)
        if tile.unknown is None:
            return found
        mask = np.asarray(tile.unknown.mask.any(axis=axis, keepdims=keep))
        return TileValue(found.data, found.dtype,
                    replace(tile.unknown, mask=mask))  # fmt: skip

    def chosen(self, condition: Any, one: Any, other: Any) -> Any:
        """Element by element one of two; what is not chosen need not have a value."""
        kind = promoted(one, other) if _any_tile(one, other) else _kind_of(one, other)
        self.check_shapes(condition, one, other)
        result = np.where(plain(condition), plain(one), plain(other))
        unknown = joint_unknown(result.shape, condition)
        for value, taken in ((one, plain(condition)), (other, np.logical_not(plain(condition)))):
            if isinstance(value, TileValue) and value.unknown is not None:
                mask = np.broadcast_to(value.unknown.mask & taken, result.shape)
                if mask.any():
                    unknown = unknown or replace(value.unknown, mask=mask)
        return TileValue(kind.holding(result), kind, unknown)

    def check_shapes(self, *values: Any) -> None:
        """Refuse tiles that cannot be broadcast."""
        shapes = [value.shape for value in values if isinstance(value, TileValue)]
        try:
            joint = np.broadcast_shapes(*shapes)
        except ValueError:
            named = say(" and ").join(" x ".join(map(str, shape)) or "1" for shape in shapes)
            message = say("Tiles of {shapes} do not fit together.", shapes=named)
            raise self.refuse(message, hint="Along which axis do their lengths differ?") from None
        self.check_size(joint)

    def _operand(self, value: Any, kind: DType) -> Any:
        if isinstance(value, TileValue):
            return value.data.astype(kind.storage)
        if not isinstance(value, int | float):
            raise self.refuse(say("Arithmetic takes tiles and numbers."))
        return np.asarray(value).astype(kind.storage)


def _any_tile(*values: Any) -> bool:
    return any(isinstance(value, TileValue) for value in values)


def _kind_of(*values: Any) -> DType:
    return FLOAT32 if any(isinstance(value, float) for value in values) else DTYPES["int32"]
