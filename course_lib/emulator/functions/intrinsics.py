"""The functions that a kernel may call: their types, and what they do on lanes.

Each entry gives the typing rule (argument types to result type, as Numba has it) and the action
(a method of the machine's that receives the call and its evaluated arguments).
"""

from __future__ import annotations

import ast
import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.emulator.budget import MAX_LEAVES
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import Reference
from course_lib.emulator.state.lanes import WARP_SIZE, Value
from course_lib.sentences import say

if TYPE_CHECKING:
    from course_lib.emulator.machine.machine import Machine


@dataclass(frozen=True)
class Typed:
    """A type, and the value if it is a literal that Numba treats as a constant.

    Of a whole number `members` is the enumeration that it is a member of, if it is one.
    """

    type: T.Type
    literal: int | tuple[Any, ...] | None = None
    members: enum.EnumMeta | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Typed):
            return False
        known = (self.literal, self.members) == (other.literal, other.members)
        return known and T.same(self.type, other.type)

    def __hash__(self) -> int:
        return hash((self.type, self.literal))


Arguments = Sequence[Typed]
Keywords = Mapping[str, Typed]


@dataclass(frozen=True)
class Intrinsic:
    """A function of the kernel language.

    Attributes:
        typing: from the types of the arguments to that of the result; raises TypingError.
        run: what it does; called with the machine, the call and the evaluated arguments.
    """

    typing: Callable[[Arguments, Keywords], Typed]
    run: Callable[[Machine, ast.Call, list[Any]], Any]


@dataclass(frozen=True)
class Barrier(Intrinsic):
    """A function in which the threads of a block wait for each other.

    Attributes:
        arrive: what a thread does before it waits, with the evaluated arguments. Behind the barrier
            `run` is given what that returned, as the only argument.
    """

    arrive: Callable[[Machine, ast.Call, list[Any]], Any]


@dataclass(frozen=True)
class Cast:
    """A conversion such as `np.float32(x)`."""

    dtype: np.dtype


@dataclass(frozen=True)
class Attribute:
    """A special register such as `cuda.threadIdx.x`."""

    type: T.Type
    read: Callable[[Machine], Value]


INTRINSICS: dict[str, Intrinsic] = {}
ATTRIBUTES: dict[str, Attribute] = {}


def need(condition: bool, message: str, hint: str = "") -> None:
    """Refuse a call, unless `condition` holds.

    Raises:
        TypingError: with the message, and with a hint where there is one for this call alone.
    """
    if not condition:
        raise T.TypingError(message, hint)


def supported(condition: bool, message: str, hint: str) -> None:
    """Refuse a call that Numba compiles, unless `condition` holds.

    Raises:
        NotEmulated: with the message, and with what to write instead.
    """
    if not condition:
        raise T.NotEmulated(message, hint)


def scalars(
    arguments: Arguments, low: int, high: int | None = None, complex_too: bool = False
) -> list[np.dtype]:
    """The types of the arguments, which must be numbers, `low` to `high` of them.

    Few functions take complex numbers as well.

    Raises:
        TypingError: if they are not.
    """
    high = low if high is None else high
    count = str(low) if low == high else f"{low} to {high}"
    need(
        low <= len(arguments) <= high,
        say("takes {count} argument(s), not {given}", count=count, given=len(arguments)),
    )
    for argument in arguments:
        real = complex_too or not T.is_complex(argument.type)
        fits = T.is_scalar(argument.type) and real
        need(fits, say("needs numbers, not {type}", type=argument.type))
    return [argument.type for argument in arguments]  # type: ignore[misc]


# -- special registers --------------------------------------------------------------------------

_AXES = {"x": 2, "y": 1, "z": 0}


def _register(path: str, read: Callable[[Machine], Value]) -> None:
    ATTRIBUTES[f"numba.cuda.{path}"] = Attribute(T.INT32, read)


def _register_axis(name: str, axis: int) -> None:
    _register(f"threadIdx.{name}", lambda machine: machine.space.thread_index[axis])
    _register(f"blockIdx.{name}", lambda machine: machine.space.block_index[axis])
    _register(f"blockDim.{name}", lambda machine: np.int32(machine.space.threads[axis]))
    _register(f"gridDim.{name}", lambda machine: np.int32(machine.space.grid[axis]))


for _name, _axis in _AXES.items():
    _register_axis(_name, _axis)


def _lane(machine: Machine) -> Value:
    return (machine.space.thread_in_block % WARP_SIZE).astype(np.int32)


_register("laneid", _lane)
_register("warpsize", lambda machine: np.int32(WARP_SIZE))


def _grid_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1, "takes the number of dimensions, 1, 2 or 3")
    dimensions = arguments[0].literal
    need(dimensions in (1, 2, 3), "the number of dimensions must be the constant 1, 2 or 3")
    if dimensions == 1:
        return Typed(T.INT64)
    return Typed(T.TupleType((T.INT64,) * int(dimensions)))  # type: ignore[arg-type]


def _per_axis(
    one: Callable[[Machine, int], Value],
) -> Callable[[Machine, ast.Call, list[Any]], Any]:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Any:
        axes = [one(machine, axis) for axis in (2, 1, 0)[: int(values[0])]]
        return axes[0] if len(axes) == 1 else tuple(axes)

    return run


def _grid_axis(machine: Machine, axis: int) -> Value:
    space = machine.space
    block = space.block_index[axis].astype(np.int64)
    return block * np.int64(space.threads[axis]) + space.thread_index[axis]


def _gridsize_axis(machine: Machine, axis: int) -> Value:
    return np.int64(machine.space.grid[axis] * machine.space.threads[axis])


INTRINSICS["numba.cuda.grid"] = Intrinsic(_grid_typing, _per_axis(_grid_axis))
INTRINSICS["numba.cuda.gridsize"] = Intrinsic(_grid_typing, _per_axis(_gridsize_axis))


# -- arrays in shared and local memory ----------------------------------------------------------


def _array_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    shape = arguments[0] if arguments else keywords.get("shape")
    dtype = arguments[1] if len(arguments) > 1 else keywords.get("dtype")
    need(shape is not None and dtype is not None, "needs a shape and a dtype")
    need(len(arguments) <= 3, "takes a shape, a dtype and an alignment")
    need(set(keywords) <= {"shape", "dtype", "alignment"}, "takes shape, dtype and alignment")
    _check_alignment(arguments[2] if len(arguments) > 2 else keywords.get("alignment"))
    assert shape is not None and dtype is not None
    if shape.literal is None:
        raise T.LiteralNeeded(
            "the shape must be a constant when the kernel is compiled (a number, or the name of a "
            "constant; neither an argument nor an expression)"
        )
    kind = T.ArrayType(static_dtype(dtype.type), _axes(shape.literal))
    return Typed(kind, shape.literal)


def _check_alignment(alignment: Typed | None) -> None:
    """Refuse an alignment that Numba refuses."""
    if alignment is None or alignment.type == T.Static(None):
        return
    size = alignment.literal
    need(isinstance(size, int), "the alignment must be a constant integer")
    assert isinstance(size, int)
    power_of_two = size > 0 and size & (size - 1) == 0
    need(power_of_two and size % 8 == 0, "the alignment must be 8, 16, 32 or another power of two")


def _axes(shape: object) -> int:
    sizes = shape if isinstance(shape, tuple) else (shape,)
    need(all(type(size) is int for size in sizes), "the shape must be made of whole numbers")
    supported(
        min(sizes, default=0) >= 0, "makes no array of negative size here", "Which size is meant?"
    )
    return len(sizes)


def static_dtype(kind: T.Type) -> np.dtype:
    """The dtype that an argument names: float32, np.float32, "float32" or A.dtype.

    Raises:
        TypingError: if it names none.
    """
    value = kind.value if isinstance(kind, T.Static) else None
    if isinstance(value, Reference) and value.dtype is not None:
        return value.dtype
    if isinstance(value, np.dtype):
        known = T.is_number_type(value) or T.is_record_type(value)
        need(known, say("{kind} is no type of numbers", kind=value))
        return value
    if isinstance(value, str) and value in T.DTYPES:
        return T.DTYPES[value]
    raise T.TypingError(say("{kind} is no dtype; write float32 or np.float32", kind=kind))


def _make_array(space: str) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        typed = _array_typing(arguments, keywords)
        sizes = typed.literal if isinstance(typed.literal, tuple) else (typed.literal,)
        need(space == "shared" or 0 not in sizes, "an array has at least one element")
        return typed

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Any:
        return machine.make_array(space, node)

    return Intrinsic(typing, run)


INTRINSICS["numba.cuda.shared.array"] = _make_array("shared")
INTRINSICS["numba.cuda.local.array"] = _make_array("local")


# -- barriers -----------------------------------------------------------------------------------


def _nothing(low: int, high: int) -> Callable[[Arguments, Keywords], Typed]:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        scalars(arguments, low, high)
        return Typed(T.Static(None))

    return typing


def _syncwarp(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    machine.syncwarp(node)


def _ignore(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    """A fence orders what one thread does, and that is in order here; time does not pass.

    Nor does a barrier do more than make threads wait.
    """


INTRINSICS["numba.cuda.syncthreads"] = Barrier(_nothing(0, 0), _ignore, _ignore)
INTRINSICS["numba.cuda.syncwarp"] = Intrinsic(_nothing(0, 1), _syncwarp)
for _fence in ("threadfence", "threadfence_block", "threadfence_system"):
    INTRINSICS[f"numba.cuda.{_fence}"] = Intrinsic(_nothing(0, 0), _ignore)
INTRINSICS["numba.cuda.nanosleep"] = Intrinsic(_nothing(1, 1), _ignore)


# -- range, casts and simple builtins -----------------------------------------------------------


def _range_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 1, 3)
    if all(kind == T.INT32 for kind in kinds):
        return Typed(T.RangeType(T.INT32))
    unsigned = all(T.is_integer(kind) and kind.kind == "u" for kind in kinds)
    return Typed(T.RangeType(T.UINT64 if unsigned else T.INT64))


def _range(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value, Value]:
    dtype = machine.typing.types[node].dtype  # type: ignore[union-attr]
    whole = [machine.convert(value, dtype) for value in values]
    if len(whole) == 1:
        return dtype.type(0), whole[0], dtype.type(1)
    return (*whole, dtype.type(1)) if len(whole) == 2 else tuple(whole)


INTRINSICS["builtins.range"] = Intrinsic(_range_typing, _range)


def _cast_builtin(choose: Callable[[np.dtype], np.dtype], complex_too: bool = False) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        spread = bool(arguments) and isinstance(arguments[0].type, T.TupleType | T.Static)
        supported(not spread, "takes a number here", "Write the comparison that is meant.")
        return Typed(choose(scalars(arguments, 1, complex_too=complex_too)[0]))

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        result: Value = machine.convert(values[0], machine.typing.types[node])
        return result

    return Intrinsic(typing, run)


INTRINSICS["builtins.int"] = _cast_builtin(lambda kind: kind if T.is_integer(kind) else T.INT64)


def _float_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    if arguments and isinstance(arguments[0].type, T.Static):
        need(_float_of(arguments[0].type.value) is not None, "this is no number")
        return Typed(T.FLOAT64)
    kind = scalars(arguments, 1)[0]
    need(kind != T.BOOL, "takes no bool")
    return Typed(kind if T.is_float(kind) else T.FLOAT64)


def _float_of(text: object) -> np.float64 | None:
    """The number that a text such as "inf" stands for, or None."""
    try:
        return np.float64(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _float(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    number = _float_of(values[0])
    result: Value = machine.convert(
        values[0] if number is None else number, machine.typing.types[node]
    )
    return result


INTRINSICS["builtins.float"] = Intrinsic(_float_typing, _float)
INTRINSICS["builtins.bool"] = _cast_builtin(lambda kind: T.BOOL, complex_too=True)


def _len_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1, "takes one argument")
    kind = arguments[0].type
    if isinstance(kind, T.TupleType):
        return Typed(T.INT64, len(kind.items))
    if isinstance(kind, T.Static) and isinstance(kind.value, str):
        raise T.NotEmulated("takes no texts here", "Keep the length in a constant.")
    has_axes = isinstance(kind, T.FlatType) or (isinstance(kind, T.ArrayType) and kind.ndim > 0)
    need(has_axes, say("{kind} has no length", kind=kind))
    return Typed(T.INT64)


def _len(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    value = values[0]
    return np.int64(len(value)) if isinstance(value, tuple) else value.shape[0]


INTRINSICS["builtins.len"] = Intrinsic(_len_typing, _len)


def _print_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not keywords, "takes no keyword arguments")
    for argument in arguments:
        spread = isinstance(argument.type, T.TupleType)
        supported(not spread, "prints numbers and texts here", "Print the items one by one.")
        static = isinstance(argument.type, T.Static) and isinstance(argument.type.value, str)
        known = static or (T.is_scalar(argument.type) and not T.is_complex(argument.type))
        need(known, say("cannot print {type}", type=argument.type))
    return Typed(T.Static(None))


INTRINSICS["builtins.print"] = Intrinsic(
    _print_typing, lambda machine, node, values: machine.print(node, values)
)


def _tuple_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) < 2, "takes one tuple")
    if not arguments:
        return Typed(T.TupleType(()), ())
    need(isinstance(arguments[0].type, T.TupleType), "makes a tuple of a tuple only")
    return arguments[0]


INTRINSICS["builtins.tuple"] = Intrinsic(
    _tuple_typing, lambda machine, node, values: values[0] if values else ()
)


# -- arithmetic functions -----------------------------------------------------------------------


def elementwise(
    function: Callable[..., Any],
    result: Callable[[list[np.dtype]], np.dtype],
    operands: Callable[[list[np.dtype]], np.dtype] | None = None,
    low: int = 1,
    high: int | None = None,
    flops: int = 0,
    chooses: bool = False,
    complex_too: bool = False,
) -> Intrinsic:
    """A function of numbers: operands are converted to one type, then NumPy computes.

    `chooses`: the result is one of them, so that each may be a limit for the others.
    """

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        return Typed(result(scalars(arguments, low, high, complex_too)))

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        kinds = [value.dtype for value in values]
        common = (operands or result)(kinds)
        machine.count_flops(node, common, flops)
        if chooses:
            nodes = list(node.args)
            if len(nodes) < len(values):  # the items of a tuple
                nodes = getattr(nodes[0], "elts", nodes * len(values))
            for argument, value in zip(nodes[1:], values[1:], strict=True):
                machine.meet_limit("choice", argument, values[0], value)
        computed = function(*(machine.convert(value, common) for value in values))
        given: Value = machine.convert(computed, machine.typing.types[node])
        return given

    return Intrinsic(typing, run)


def _unified(kinds: list[np.dtype]) -> np.dtype:
    result: T.Type = kinds[0]
    for kind in kinds[1:]:
        result = T.unify(result, kind)
    return result  # type: ignore[return-value]


def _math(kinds: list[np.dtype]) -> np.dtype:
    result: T.Type = T.math_type(kinds[0])
    for kind in kinds[1:]:
        result = T.unify(result, T.math_type(kind))
    return result  # type: ignore[return-value]


def _fold(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def folded(*values: Any) -> Any:
        result = values[0]
        for value in values[1:]:
            result = function(result, value)
        return result

    return folded


def _vectorised(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of math that NumPy lacks, applied lane by lane."""

    def each(value: float) -> float:
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(each, otypes=[np.float64])


def _of_abs(kinds: list[np.dtype]) -> np.dtype:
    return np.dtype(np.int8) if kinds[0] == T.BOOL else kinds[0]


INTRINSICS["builtins.abs"] = elementwise(
    np.abs, lambda kinds: T.part_type(_of_abs(kinds)), _of_abs, complex_too=True
)


# min and max of Numba compare with `<` and `>`; a NaN is then passed over as NumPy's fmin does.
def _extreme(function: Callable[[Any, Any], Any]) -> Intrinsic:
    """`min` and `max`: of several numbers, or of the items of a tuple."""
    of_numbers = elementwise(_fold(function), _unified, low=1, high=MAX_LEAVES, chooses=True)

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        kind = arguments[0].type if arguments else None
        if len(arguments) > 1 or kind is None:
            return of_numbers.typing(arguments, keywords)
        if isinstance(kind, T.ArrayType):
            raise T.NotEmulated("takes no whole array here", "A loop compares element by element.")
        need(isinstance(kind, T.TupleType) and bool(kind.items), "takes two numbers, or a tuple")
        assert isinstance(kind, T.TupleType)
        return of_numbers.typing([Typed(item) for item in kind.items], keywords)

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        items = values[0] if len(values) == 1 else values
        result: Value = of_numbers.run(machine, node, list(items))
        return result

    return Intrinsic(typing, run)


INTRINSICS["builtins.min"] = _extreme(np.fmin)
INTRINSICS["builtins.max"] = _extreme(np.fmax)


def _pow_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    base, exponent = scalars(arguments, 2, complex_too=True)
    return Typed(T.power_type(base, exponent, isinstance(arguments[1].literal, int)))


def _pow(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    dtype = machine.typing.types[node]
    assert isinstance(dtype, np.dtype)
    machine.count_flops(node, dtype, 1)
    return integer_power(machine.convert(values[0], dtype), machine.convert(values[1], dtype))


def integer_power(base: Value, exponent: Value) -> Value:
    """Powers; a negative exponent of an integer gives the real power, cut off.

    Numba multiplies where a complex number is squared, and so do we.
    """
    if base.dtype.kind == "c":
        return np.where(exponent == 2, base * base, np.power(base, exponent))[()]
    if base.dtype.kind in "iu" and np.any(np.less(exponent, 0)):
        real = np.power(np.asarray(base, np.float64), exponent)
        return np.trunc(real).astype(base.dtype)
    return np.power(base, exponent)


def _fused_multiply_add(a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once: float64 holds the product of two float32 exactly."""
    if a.dtype == T.FLOAT32:
        wide = a.astype(T.FLOAT64) * b.astype(T.FLOAT64) + c.astype(T.FLOAT64)
        return wide.astype(T.FLOAT32)
    return a * b + c


def _selected(kinds: list[np.dtype]) -> np.dtype:
    need(
        kinds[1] == kinds[2],
        say(
            "chooses between numbers of one type, not {first} and {second}",
            first=kinds[1],
            second=kinds[2],
        ),
    )
    return kinds[1]


INTRINSICS["builtins.pow"] = Intrinsic(_pow_typing, _pow)
INTRINSICS["numba.cuda.fma"] = elementwise(_fused_multiply_add, _unified, low=3, flops=2)
INTRINSICS["numba.cuda.selp"] = elementwise(
    lambda p, a, b: np.where(p != 0, a, b), _selected, low=3
)

_MATH_ONE: dict[str, Callable[[Any], Any]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "fabs": np.fabs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "radians": np.radians,
    "degrees": np.degrees,
    "erf": _vectorised(math.erf),
    "erfc": _vectorised(math.erfc),
    "gamma": _vectorised(math.gamma),
    "lgamma": _vectorised(math.lgamma),
}
_NO_FLOP = {"fabs", "floor", "ceil", "trunc"}
for _name, _function in _MATH_ONE.items():
    INTRINSICS[f"math.{_name}"] = elementwise(_function, _math, flops=0 if _name in _NO_FLOP else 1)


def _remainder(number: Value, divisor: Value) -> Value:
    """What IEEE 754 calls the remainder: from the nearest multiple of `divisor`, or an even one."""
    size = np.abs(divisor)
    rest = np.fmod(np.abs(number), size + size)
    beyond = rest > size - rest  # more than half of it, without a sum that may overflow
    once = np.where(beyond, rest - size, rest)
    twice = np.where(beyond & (once >= size - once), once - size, once)
    return twice * np.copysign(number.dtype.type(1), number)


_MATH_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "pow": np.power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "remainder": _remainder,
}
for _name, _of_two in _MATH_TWO.items():
    INTRINSICS[f"math.{_name}"] = elementwise(_of_two, _math, low=2, flops=1)
for _name, _function in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
    INTRINSICS[f"math.{_name}"] = elementwise(_function, lambda kinds: T.BOOL, _math)


def _pair_typing(second: np.dtype | None) -> Callable[[Arguments, Keywords], Typed]:
    """The type of a function of one number that returns two; the second of type `second`."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        kind = T.math_type(scalars(arguments, 1)[0])
        return Typed(T.TupleType((kind, second or kind)))

    return typing


def _pair(function: Callable[[Any], tuple[Any, Any]]) -> Callable[..., tuple[Value, Value]]:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
        kinds = machine.typing.types[node]
        assert isinstance(kinds, T.TupleType)
        first, second = function(machine.convert(values[0], kinds.items[0]))
        return machine.convert(first, kinds.items[0]), machine.convert(second, kinds.items[1])

    return run


INTRINSICS["math.frexp"] = Intrinsic(_pair_typing(T.INT32), _pair(np.frexp))
INTRINSICS["math.modf"] = Intrinsic(_pair_typing(None), _pair(np.modf))


def _ldexp_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    number, exponent = scalars(arguments, 2)
    supported(T.is_integer(exponent), "needs an integer exponent", "int(…) cuts off.")
    return Typed(T.math_type(number))


def _ldexp(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    result: Value = np.ldexp(machine.convert(values[0], machine.typing.types[node]), values[1])
    return result


INTRINSICS["math.ldexp"] = Intrinsic(_ldexp_typing, _ldexp)


def _round_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 1, 2)
    whole = len(kinds) == 2 and T.is_integer(kinds[0])
    supported(not whole, "rounds only floats to a number of digits", "Divide and multiply by //.")
    need(len(kinds) == 1 or T.is_integer(kinds[1]), "the number of digits must be an integer")
    return Typed(T.INT64 if len(kinds) == 1 else kinds[0])


def _round(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    kind = machine.typing.types[node]
    if len(values) == 1:
        result: Value = machine.convert(np.round(values[0], 0), kind)
        return result
    result = machine.convert(round_to_digits(values[0], values[1]), kind)
    return result


def round_to_digits(number: Value, digits: Value) -> Value:
    """`round(number, digits)` as Numba compiles it: scaled in float64, rounded, scaled back.

    It rounds to an int64 on the way, so that numbers beyond 2**63 end there, as on a GPU.
    """
    wide, places = np.asarray(number, T.FLOAT64), np.asarray(digits, T.FLOAT64)
    # Beyond 22 digits the power is taken in two parts, each of them finite.
    second = np.where(places > 22, 1e22, 1.0)
    first = 10.0 ** np.where(places > 22, places - 22, np.abs(places))
    up = places >= 0
    scaled = np.where(up, wide * first * second, wide / first)
    whole = _nearest_int64(scaled).astype(T.FLOAT64)
    half = np.abs(scaled - whole) == 0.5
    even = 2.0 * _nearest_int64(scaled / 2.0).astype(T.FLOAT64)
    whole = np.where(half, even, whole)
    rounded = np.where(up, whole / second / first, whole * first)
    untouched = ~np.isfinite(wide) | (up & np.isinf(scaled))
    return np.where(untouched, wide, rounded)[()]


def _nearest_int64(number: np.ndarray) -> np.ndarray:
    """The nearest integer, the even one of two; what int64 cannot hold becomes its limit."""
    nearest = np.rint(number)
    limits = np.iinfo(np.int64)
    inside = np.abs(nearest) < 2.0**63
    beyond = np.where(nearest > 0, limits.max, limits.min)
    return np.where(inside, np.where(inside, nearest, 0).astype(np.int64), beyond)


INTRINSICS["builtins.round"] = Intrinsic(_round_typing, _round)


def _divmod_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    left, right = scalars(arguments, 2)
    return Typed(T.TupleType((T.arithmetic_type(left, right),) * 2))


def _divmod(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
    common = T.arithmetic_type(values[0].dtype, values[1].dtype)
    left, right = (machine.convert(value, common) for value in values)
    return left // right, left % right


INTRINSICS["builtins.divmod"] = Intrinsic(_divmod_typing, _divmod)


# -- atomics ------------------------------------------------------------------------------------


def _atomic_typing(name: str, operands: int) -> Callable[[Arguments, Keywords], Typed]:
    allowed = _ATOMIC_TYPES.get(name, _WHOLE)

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(
            len(arguments) == 2 + operands,
            say("takes an array, an index and {operands} value(s)", operands=operands),
        )
        array, index = arguments[0].type, arguments[1].type
        need(isinstance(array, T.ArrayType), say("needs an array, not {array}", array=array))
        assert isinstance(array, T.ArrayType)
        mend = "Pass the array to the kernel, as an argument."
        supported(array.writable, "changes no constant array here", mend)
        single = isinstance(index, T.TupleType) and array.ndim == 1
        need(not single, "the index of an array with one axis is a number, and no tuple")
        axes = index.items if isinstance(index, T.TupleType) else (index,)
        whole = all(T.is_scalar(axis) and not T.is_complex(axis) for axis in axes)
        need(whole, "the index must be a number")
        need(len(axes) == array.ndim, say("needs {axes} indices", axes=array.ndim))
        need(
            array.dtype in allowed, say("there is none for elements of {dtype}", dtype=array.dtype)
        )
        for value in arguments[2:]:
            real = T.is_scalar(value.type) and not T.is_complex(value.type)
            need(real, say("needs a number, not {type}", type=value.type))
        return Typed(array.dtype)

    return typing


def _atomic(
    combine: Callable[[Any, Any], Any], operands: int = 1
) -> Callable[[Machine, ast.Call, list[Any]], Value]:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        given = values[2 : 2 + operands]
        unlike_numpy = combine in _LEAVES_OUT_NAN and np.any(np.isnan(given[0]))
        chosen = _LEAVES_OUT_NAN[combine] if unlike_numpy else combine
        return machine.atomic(node, values[0], values[1], given, chosen)

    return run


# Numba stores what is greater (or less) than the old value, and a NaN is neither; one that is
# there already stays. NumPy's functions, which are faster, differ where the new value is a NaN.
_LEAVES_OUT_NAN: dict[Callable[[Any, Any], Any], Callable[[Any, Any], Any]] = {
    np.maximum: lambda old, value: value if value > old else old,
    np.minimum: lambda old, value: value if value < old else old,
}


def _swap_if_equal(old: Any, values: Any) -> Any:
    expected, new = values
    return new if old == expected else old


def _increase_or_wrap(old: Any, limit: Any) -> Any:
    return type(old)(0) if old >= limit else old + type(old)(1)


def _decrease_or_wrap(old: Any, limit: Any) -> Any:
    return limit if old == 0 or old > limit else old - type(old)(1)


_WHOLE = (T.INT32, T.INT64, T.UINT32, T.UINT64)
_ATOMIC_TYPES = dict.fromkeys(
    "add sub max min nanmax nanmin".split(), (*_WHOLE, T.FLOAT32, T.FLOAT64)
) | dict.fromkeys(("inc", "dec"), (T.UINT32, T.UINT64))
_ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "max": np.maximum,
    "min": np.minimum,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, value: value,
    "inc": _increase_or_wrap,
    "dec": _decrease_or_wrap,
}
for _name, _combine in _ATOMICS.items():
    INTRINSICS[f"numba.cuda.atomic.{_name}"] = Intrinsic(
        _atomic_typing(_name, 1), _atomic(_combine)
    )


def _compare_and_swap_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    """`compare_and_swap(array, old, new)` is `cas` of element 0, for arrays with one axis."""
    need(len(arguments) == 3, "takes an array, an old value and a new one")
    index = Typed(T.INT64, 0)
    typed = _atomic_typing("cas", 2)([arguments[0], index, *arguments[1:]], keywords)
    need(typed.type in (T.INT32, T.INT64, T.UINT32, T.UINT64), "changes integers only")
    return typed


def _compare_and_swap(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    return machine.atomic(node, values[0], np.int64(0), values[1:], _swap_if_equal)


INTRINSICS["numba.cuda.atomic.compare_and_swap"] = Intrinsic(
    _compare_and_swap_typing, _compare_and_swap
)
INTRINSICS["numba.cuda.atomic.cas"] = Intrinsic(
    _atomic_typing("cas", 2), _atomic(_swap_if_equal, 2)
)
