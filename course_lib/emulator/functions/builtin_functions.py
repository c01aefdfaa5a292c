"""Python's own functions in a kernel: `range`, `zip`, `len`, casts, `min`, `print`, `unroll`."""

import ast
from collections.abc import Callable, Collection
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from course_lib.emulator.budget import MAX_LEAVES
from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.math_functions import elementwise, unified
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    function,
    need,
    scalars,
    supported,
)
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.operators import arithmetic_type
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.machine.statements import ItemsInTurn, items_of
from course_lib.emulator.state.lanes import Value, spread
from course_lib.wording.sentences import Capital, say


def item_type(kind: T.Type) -> T.Type:
    """The type of the items that a loop takes out of a value.

    Raises TypingError if no loop goes over it.
    """
    if isinstance(kind, T.RangeType):
        return kind.dtype
    if isinstance(kind, T.ZipType):
        return T.TupleType(tuple(map(item_type, kind.parts)))
    if isinstance(kind, T.TupleType) and kind.items:
        several = not kind.is_uniform or bool(kind.fields)
        need(
            not several,
            say("cannot loop over {type}: its items have several types", type=kind),
        )
        return kind.items[0]
    if isinstance(kind, T.ArrayType) and kind.ndim:
        return kind.indexed(["index"]) if kind.ndim > 1 else T.element_type(kind)
    if isinstance(kind, T.FlatType):
        return T.element_type(kind.array)
    if isinstance(kind, T.Static) and isinstance(kind.value, str):
        raise T.NotEmulated("does not take text here", "A tuple of numbers can stand for it.")
    raise T.TypingError(say("cannot loop over {type}", type=kind))


def _zip_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not keywords, "takes no keyword arguments here")
    kinds = tuple(argument.type for argument in arguments)
    for kind in kinds:
        item_type(kind)
    return Typed(T.ZipType(kinds))


@function("builtins.zip", typing=_zip_typing)
def _zip(machine: Machine, node: ast.Call, values: list[Any]) -> ItemsInTurn:
    parts = [
        items_of(machine, machine.typing.types[argument], value)
        for argument, value in zip(node.args, values, strict=True)
    ]
    return _together(parts)


def _together(parts: list[ItemsInTurn]) -> ItemsInTurn:
    count: Value = np.int64(0)
    ends = [turn.count for turn in parts if turn.count is not None]
    for number, end in enumerate(ends):
        count = np.minimum(count, end) if number else end
    return ItemsInTurn(
        count, lambda machine, place: tuple(part.item(machine, place) for part in parts)
    )


def _enumerate_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not keywords, "takes no keyword arguments here")
    need(1 <= len(arguments) <= 2, "takes the items to count, and the number to start at")
    item_type(arguments[0].type)
    begins = arguments[1].type if len(arguments) > 1 else T.INT64
    need(T.is_integer(begins), "needs a whole number to start counting at")
    return Typed(T.ZipType((T.RangeType(T.INT64), arguments[0].type)))


@function("builtins.enumerate", typing=_enumerate_typing)
def _enumerate(machine: Machine, node: ast.Call, values: list[Any]) -> ItemsInTurn:
    first = machine.convert(values[1], T.INT64) if len(values) > 1 else np.int64(0)
    counter = ItemsInTurn(None, lambda _, place: first + np.int64(place))
    return _together([counter, items_of(machine, machine.typing.types[node.args[0]], values[0])])


# --- `unroll(n)`: a `range(n)` with stricter rules ------------------------------------------------
# `@unrolled` writes such a loop out before Numba compiles the kernel. What it refuses is refused
# here, and so is a loop over `unroll` without it.


UNROLL = "course_lib.intrinsics.unroll"
MOST = 256


def check_unrolled(kernel: Kernel, node: ast.For, own_names: Collection[str]) -> None:
    """Refuse a loop over `unroll` that `@unrolled` cannot write out, with `compile-error`.

    `own_names` are those that are variables of the kernel.
    """
    assert isinstance(node.iter, ast.Call)
    if not kernel.is_unrolled:
        _refuse(node, "unroll works under @unrolled, which stands between @cuda.jit and def")
    if not _is_constant(node.iter, own_names):
        _refuse(node, "unroll needs a number, or the name of a constant outside the kernel")
    if not isinstance(node.target, ast.Name) or node.orelse:
        _refuse(node, "a loop over unroll has one variable and no else")
    name = node.target.id
    for inner in (part for statement in node.body for part in ast.walk(statement)):
        if isinstance(inner, ast.Break | ast.Continue | ast.Return):
            _refuse(inner, "a loop over unroll can't be left early, so use range instead")
        if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store):
            _refuse(
                inner, say("{name} counts a loop over unroll, so it can't be changed", name=name)
            )


def _is_constant(call: ast.Call, own_names: Collection[str]) -> bool:
    (count,) = call.args
    return isinstance(count, ast.Constant) or (
        isinstance(count, ast.Name) and count.id not in own_names
    )


def _refuse(node: ast.AST, why: str) -> NoReturn:
    raise rejection("compile-error", say("{why}.", why=Capital(why)), node)


def _unroll_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1 and not keywords, "takes one number")
    count = arguments[0].literal
    need(
        isinstance(count, int) and 0 < count <= MOST,
        say("needs a constant from 1 to {most}", most=MOST),
    )
    return Typed(T.TupleType((T.INT64,) * int(count)))  # type: ignore[arg-type]


@function(UNROLL, typing=_unroll_typing)
def _unroll(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[np.int64, ...]:
    """The loop's numbers, as a tuple: a loop over a tuple counts no branches, as there are none."""
    return tuple(np.int64(i) for i in range(int(values[0])))


# --- Ranges, casts, lengths, prints, extremes, rounding -------------------------------------------


def _range_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 1, 3)
    if all(kind == T.INT32 for kind in kinds):
        return Typed(T.RangeType(T.INT32))
    unsigned = all(T.is_integer(kind) and kind.kind == "u" for kind in kinds)
    return Typed(T.RangeType(T.UINT64 if unsigned else T.INT64))


@function("builtins.range", typing=_range_typing)
def _range(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value, Value]:
    dtype = machine.typing.types[node].dtype  # type: ignore[union-attr]
    whole = [machine.convert(value, dtype) for value in values]
    if len(whole) == 1:
        return dtype.type(0), whole[0], dtype.type(1)
    return (*whole, dtype.type(1)) if len(whole) == 2 else tuple(whole)


def _cast_builtin(choose: Callable[[np.dtype], np.dtype], complex_too: bool = False) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        spread = bool(arguments) and isinstance(arguments[0].type, T.TupleType | T.Static)
        supported(not spread, "takes a number here", "Write the comparison that is meant.")
        return Typed(choose(scalars(arguments, 1, complex_too=complex_too)[0]))

    return Intrinsic(typing, lambda machine, node, values: machine.as_typed(node, values[0]))


INTRINSICS["builtins.int"] = _cast_builtin(lambda kind: kind if T.is_integer(kind) else T.INT64)
INTRINSICS["builtins.bool"] = _cast_builtin(lambda kind: T.BOOL, complex_too=True)


def _float_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    if arguments and isinstance(arguments[0].type, T.Static):
        need(_float_of(arguments[0].type.value) is not None, "needs a text that is a number")
        return Typed(T.FLOAT64)
    kind = scalars(arguments, 1)[0]
    need(kind != T.BOOL, "does not take a bool")
    return Typed(kind if T.is_float(kind) else T.FLOAT64)


def _float_of(text: object) -> np.float64 | None:
    """The number that a text such as "inf" means, or None."""
    try:
        return np.float64(text) if isinstance(text, str) else None
    except ValueError:
        return None


@function("builtins.float", typing=_float_typing)
def _float(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    number = _float_of(values[0])
    return machine.as_typed(node, values[0] if number is None else number)


def _len_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 1, "takes one argument")
    kind = arguments[0].type
    if isinstance(kind, T.TupleType):
        return Typed(T.INT64, len(kind.items))
    if isinstance(kind, T.Static) and isinstance(kind.value, str):
        raise T.NotEmulated("does not take text here", "Keep the length in a constant.")
    has_axes = isinstance(kind, T.FlatType) or (isinstance(kind, T.ArrayType) and kind.ndim > 0)
    need(has_axes, say("needs something with a length, not {kind}", kind=kind))
    return Typed(T.INT64)


@function("builtins.len", typing=_len_typing)
def _len(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    value = values[0]
    return np.int64(len(value)) if isinstance(value, tuple) else value.shape[0]


def _print_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(not keywords, "takes no keyword arguments")
    for argument in arguments:
        spread = isinstance(argument.type, T.TupleType)
        supported(not spread, "prints numbers and texts here", "Print the items one by one.")
        static = isinstance(argument.type, T.Static) and isinstance(argument.type.value, str)
        known = static or (T.is_scalar(argument.type) and not T.is_complex(argument.type))
        need(known, say("cannot print {type}", type=argument.type))
    return Typed(T.NOTHING)


@function("builtins.print", typing=_print_typing)
def _print(machine: Machine, node: ast.Call, values: list[Any]) -> None:
    """A line for every active lane, up to the budget."""
    most = machine.budget.printed_lines
    if not most:
        return
    lanes = np.flatnonzero(machine.active.full_array)
    machine.steps.spend(len(lanes[:most]), node.lineno)
    kinds = [machine.typing.types[argument] for argument in node.args]
    columns = [
        [str(kind.value)] * machine.space.size
        if isinstance(kind, T.Static)
        else spread(value, machine.space.shape).reshape(-1)
        for kind, value in zip(kinds, values, strict=True)
    ]
    lines = [" ".join(str(column[lane]) for column in columns) for lane in lanes[:most]]
    machine.observers.printed(lines, max(len(lanes) - most, 0))


def _tuple_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) < 2, "takes one tuple")
    if not arguments:
        return Typed(T.TupleType(()), ())
    need(isinstance(arguments[0].type, T.TupleType), "can make a tuple only from a tuple")
    return arguments[0]


INTRINSICS["builtins.tuple"] = Intrinsic(
    _tuple_typing, lambda machine, node, values: values[0] if values else ()
)


def _of_abs(kinds: list[np.dtype]) -> np.dtype:
    return np.dtype(np.int8) if kinds[0] == T.BOOL else kinds[0]


INTRINSICS["builtins.abs"] = elementwise(
    np.abs, lambda kinds: T.part_type(_of_abs(kinds)), _of_abs, complex_too=True
)


# min and max of Numba compare with `<` and `>`; a NaN is then passed over as NumPy's fmin does.
def _extreme(of_two: Callable[[Any, Any], Any]) -> Intrinsic:
    """`min` and `max`: of several numbers, or of the items of a tuple."""
    of_numbers = elementwise(
        lambda *values: reduce(of_two, values), unified, low=1, high=MAX_LEAVES, chooses=True
    )

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        kind = arguments[0].type if arguments else None
        if len(arguments) > 1 or kind is None:
            return of_numbers.typing(arguments, keywords)
        if isinstance(kind, T.ArrayType):
            raise T.NotEmulated(
                "does not take a whole array here",
                "Compare the elements one after another in a loop.",
            )
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


def _round_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = scalars(arguments, 1, 2)
    whole = len(kinds) == 2 and T.is_integer(kinds[0])
    supported(not whole, "rounds only floats to a number of digits", "Divide and multiply by //.")
    need(len(kinds) == 1 or T.is_integer(kinds[1]), "needs an integer as the number of digits")
    return Typed(T.INT64 if len(kinds) == 1 else kinds[0])


@function("builtins.round", typing=_round_typing)
def _round(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    rounded = np.round(values[0], 0) if len(values) == 1 else round_to_digits(*values)
    return machine.as_typed(node, rounded)


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


def _divmod_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    left, right = scalars(arguments, 2)
    return Typed(T.TupleType((arithmetic_type(left, right),) * 2))


@function("builtins.divmod", typing=_divmod_typing)
def _divmod(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, Value]:
    common = arithmetic_type(values[0].dtype, values[1].dtype)
    left, right = (machine.convert(value, common) for value in values)
    return left // right, left % right
