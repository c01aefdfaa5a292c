"""Evaluates the constants beside a kernel: arithmetic on literals, under bounds, nothing else."""

import ast
import cmath
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.budget import MAX_INTEGER_BITS, MAX_TUPLE_ITEMS
from course_lib.emulator.language.names import Reference
from course_lib.emulator.language.operators import BINARY, COMPARE, UNARY
from course_lib.wording.sentences import say

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.bool": bool,
    "builtins.complex": complex,
    "builtins.abs": abs,
    "builtins.min": min,
    "builtins.max": max,
    "builtins.round": lambda number: round(number),
    "builtins.len": len,
    "builtins.tuple": tuple,
    "numpy.sqrt": np.sqrt,
}
_MATH_NAMES = (
    "sqrt exp log log2 log10 floor ceil sin cos tan pow fabs trunc gcd isqrt hypot degrees radians"
).split()
_FUNCTIONS |= {f"math.{name}": getattr(math, name) for name in _MATH_NAMES}
_VALUES: dict[str, Any] = {
    "cmath.infj": cmath.infj,
    "cmath.nanj": cmath.nanj,
    "math.pi": math.pi,
    "math.e": math.e,
    "math.inf": math.inf,
    "math.nan": math.nan,
    "math.tau": math.tau,
    "numpy.pi": np.pi,
    "numpy.e": np.e,
    "numpy.inf": np.inf,
    "numpy.nan": np.nan,
    "numba.cuda.warpsize": 32,
}
_VALUES |= {f"cmath.{name}": getattr(math, name) for name in ("pi", "e", "inf", "nan", "tau")}


class ConstantList(tuple[Any, ...]):
    """A list of constants; to a kernel it is a tuple, to a plain function it is none."""


class NotConstant(Exception):
    """The expression is no constant that the emulator works out; `said` says why."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


def constant_of_reference(reference: Reference) -> Any:
    """The value behind a name such as `math.pi`, or None."""
    return _VALUES.get(reference.path)


def evaluate_constant(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of a constant expression: literals, arithmetic, tuples, scalar calls.

    Nothing of it is executed by Python: the tree is walked, and numbers are bounded. Raises
    NotConstant for anything else, or a number beyond the bounds.
    """
    return _bounded(_evaluate(node, names))


def _evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return _literal(value)
        case ast.Name(id=name):
            if name in names:
                return names[name]
            return Reference(f"builtins.{name}")
        case ast.Attribute(value=owner, attr=attribute):
            base = _evaluate(owner, names)
            if isinstance(base, Reference):
                reference = base.attribute(attribute)
                value = constant_of_reference(reference)
                return reference if value is None else value
            if isinstance(base, ProductFunctions) and attribute in base.functions:
                return base.functions[attribute]
            raise NotConstant(say("the attribute .{name} is not supported here", name=attribute))
        case ast.Tuple(elts=items) | ast.List(elts=items) if len(items) <= MAX_TUPLE_ITEMS:
            values = tuple(evaluate_constant(item, names) for item in items)
            if any(isinstance(value, tuple) for value in values):
                raise NotConstant("a tuple of tuples is not supported in a constant")
            return ConstantList(values) if isinstance(node, ast.List) else values
        case ast.UnaryOp(op=op, operand=operand):
            return _apply(UNARY[type(op)], _number(evaluate_constant(operand, names)))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, evaluate_constant(left, names), evaluate_constant(right, names))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARE:
            values = evaluate_constant(left, names), evaluate_constant(right, names)
            return _apply(COMPARE[type(op)], *map(_number, values))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = body if _number(evaluate_constant(test, names)) else orelse
            return evaluate_constant(chosen, names)
        case ast.Subscript(value=owner, slice=index):
            items, place = evaluate_constant(owner, names), evaluate_constant(index, names)
            if isinstance(items, tuple) and isinstance(place, int):
                return _apply(operator.getitem, items, place)
            raise NotConstant("only a tuple can be indexed here")
        case ast.Call(func=function, args=arguments, keywords=keywords):
            called = evaluate_constant(function, names)
            if isinstance(called, Reference) and called.path == "numpy.array":
                return _array(arguments, keywords, names)
            if isinstance(called, Reference) and called.path == "numpy.dtype":
                return _dtype(arguments, keywords, names)
            if not keywords:
                return _call(called, arguments, names)
    raise NotConstant(say("{kind} is not supported in a constant", kind=type(node).__name__))


def _literal(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, str)) or value is None:
        return value
    raise NotConstant(say("a {type} cannot be a constant in a kernel", type=type(value).__name__))


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, tuple) or isinstance(right, tuple):
        return _joined(op, left, right)
    left, right = _number(left), _number(right)
    if type(op) not in BINARY:
        raise NotConstant("this operator is not supported in a constant")
    integers = isinstance(left, int) and isinstance(right, int)
    if isinstance(op, ast.LShift) and integers and right > MAX_INTEGER_BITS:
        raise NotConstant("the number is too large")
    if isinstance(op, ast.Pow) and integers:
        if right > 0 and left.bit_length() * right > MAX_INTEGER_BITS:
            raise NotConstant("the number is too large")
    return _apply(BINARY[type(op)], left, right)


def _joined(op: ast.operator, left: Any, right: Any) -> tuple[Any, ...]:
    """`(8,) * 2` and `(4, 4) + (8,)`: tuples out of tuples, as long as they stay short."""
    match op, left, right:
        case (ast.Mult(), tuple(), int(times)) | (ast.Mult(), int(times), tuple()):
            items = left if isinstance(left, tuple) else right
            length = len(items) * max(0, times)
        case ast.Add(), tuple(), tuple():
            length = len(left) + len(right)
        case _:
            raise NotConstant("this operator is not supported for a tuple")
    if length > MAX_TUPLE_ITEMS:
        raise NotConstant("the tuple is too long")
    result: tuple[Any, ...] = _apply(BINARY[type(op)], left, right)
    kind = ConstantList if ConstantList in (type(left), type(right)) else tuple
    return kind(result)


def _call(function: Any, arguments: list[ast.expr], names: Mapping[str, Any]) -> Any:
    values = [evaluate_constant(argument, names) for argument in arguments]
    if isinstance(function, Reference):
        if function.dtype is not None and len(values) == 1:
            return _apply(function.dtype.type, _number(values[0]))
        if function.path.endswith(".from_dtype") and isinstance(values[0], np.dtype):
            return values[0]
        if function.path in _PRODUCTS:
            return _apply(_PRODUCTS[function.path], *map(_number, values))
        if function.path in _FUNCTIONS:
            return _apply(_FUNCTIONS[function.path], *values)
    raise NotConstant("only casts and functions of math are supported in a constant")


@dataclass(frozen=True)
class ProductFunctions:
    """What `warpgroup_product` and `attention_products` give, by name. No kernel takes it."""

    functions: Mapping[str, Reference]


def _warpgroup_product(columns: Any, turned: Any = False, panels: Any = 1) -> ProductFunctions:
    """See course_lib/intrinsics/wgmma.py."""
    if not isinstance(columns, int) or columns % 8 or not 0 < columns <= 256:
        raise NotConstant("warpgroup_product takes a multiple of 8 up to 256")
    name = f"{columns}{'_turned' if turned else ''}_{panels}"
    parts = {"start": f"start_product_{name}", "wait": f"wait_for_product_{name}"}
    return _product_functions(parts)


def _attention_products(head: Any, keys: Any) -> ProductFunctions:
    """See course_lib/intrinsics/wgmma_attention.py."""
    whole = isinstance(head, int) and isinstance(keys, int)
    if not whole or head % 64 or keys % 16 or not 0 < min(head, keys) <= max(head, keys) <= 256:
        raise NotConstant("attention_products takes multiples of 64 and of 16 up to 256")
    parts = ("v_word", "start_scores", "start_output", "wait_scores", "wait_output")
    words = dict.fromkeys(("q_word", "k_word"), "wgmma_a")
    return _product_functions(words | {part: f"{part}_{head}_{keys}" for part in parts})


def _product_functions(names: Mapping[str, str]) -> ProductFunctions:
    return ProductFunctions(
        {part: Reference(f"course_lib.intrinsics.{name}") for part, name in names.items()}
    )


_PRODUCTS: dict[str, Callable[..., ProductFunctions]] = {
    "course_lib.intrinsics.warpgroup_product": _warpgroup_product,
    "course_lib.intrinsics.attention_products": _attention_products,
}


def _dtype(
    arguments: list[ast.expr], keywords: list[ast.keyword], names: Mapping[str, Any]
) -> np.dtype:
    """`np.dtype([("x", np.float32), ("v", np.int32, (3,))], align=True)`, or of one type."""
    by_name = {keyword.arg: evaluate_constant(keyword.value, names) for keyword in keywords}
    align = by_name.pop("align", False)
    if by_name or len(arguments) != 1:
        raise NotConstant("np.dtype takes a list of fields, and align=True")
    fields = arguments[0]
    if not isinstance(fields, ast.List):
        return _known_dtype(fields, names)
    made = [_field(element, names) for element in fields.elts[: MAX_TUPLE_ITEMS + 1]]
    if sum(numbers for _, numbers in made) > MAX_TUPLE_ITEMS:
        raise NotConstant("the records are too large")
    result: np.dtype = _apply(np.dtype, [argument for argument, _ in made], bool(align))
    return result


def _field(node: ast.expr, names: Mapping[str, Any]) -> tuple[tuple[Any, ...], int]:
    """A field as NumPy takes it, and how many numbers it holds."""
    parts = node.elts if isinstance(node, ast.Tuple) else []
    if len(parts) not in (2, 3):
        raise NotConstant("a field is a name, a type and perhaps a shape")
    name, kind = evaluate_constant(parts[0], names), _known_dtype(parts[1], names)
    shape = evaluate_constant(parts[2], names) if len(parts) == 3 else ()
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if not isinstance(name, str) or not all(isinstance(s, int) and s > 0 for s in sizes):
        raise NotConstant("a field has a text as its name, and a shape of whole numbers")
    several = max(1, len(kind.names or ())) * math.prod(min(s, MAX_TUPLE_ITEMS) for s in sizes)
    return (name, kind, sizes) if sizes else (name, kind), several


def _known_dtype(node: ast.expr, names: Mapping[str, Any]) -> np.dtype:
    """The dtype that np.float32, "f4" or the name of another dtype stands for."""
    value = evaluate_constant(node, names)
    if isinstance(value, Reference) and value.dtype is not None:
        return value.dtype
    if isinstance(value, str) and "," not in value and len(value) <= 10:
        value = _apply(np.dtype, value)
    if isinstance(value, np.dtype):
        return value
    raise NotConstant("only a dtype such as np.float32 is supported here")


def _array(
    arguments: list[ast.expr], keywords: list[ast.keyword], names: Mapping[str, Any]
) -> np.ndarray:
    """`np.array([1, 2, 4], dtype=np.int32)`: numbers side by side, or rows of them."""
    by_name = {keyword.arg: keyword.value for keyword in keywords}
    kind = arguments[1] if len(arguments) == 2 else by_name.pop("dtype", None)
    if by_name or not 1 <= len(arguments) <= 2:
        raise NotConstant("np.array takes numbers and a dtype here")
    rows = _rows(arguments[0], names)
    reference = None if kind is None else _evaluate(kind, names)
    dtype = getattr(reference, "dtype", None)
    if kind is not None and dtype is None:
        raise NotConstant("only a dtype such as np.float32 is supported here")
    made = _apply(np.array, rows, dtype)
    if made.dtype.kind not in "biufc":
        raise NotConstant("an array of numbers is needed here")
    result: np.ndarray = made
    return result


def _rows(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """A list of numbers, or of equally long lists of them."""
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) <= MAX_TUPLE_ITEMS:
        rows = [_rows(element, names) for element in node.elts]
        if sum(np.size(row) for row in rows) <= MAX_TUPLE_ITEMS:
            return rows
        raise NotConstant("the array is too large")
    value = evaluate_constant(node, names)
    return list(map(_number, value)) if isinstance(value, tuple) else _number(value)


def _number(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return value
    raise NotConstant(say("a number is needed here, not {type}", type=type(value).__name__))


def _apply(function: Callable[..., Any], *values: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*values)
    except (ArithmeticError, ValueError, TypeError, LookupError) as error:
        raise NotConstant(str(error) or type(error).__name__) from None


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise NotConstant("the number is too large")
    return value
