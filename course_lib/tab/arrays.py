"""Makes an array of a line of NumPy, such as "np.arange(64, dtype=np.float32).reshape(8, 8)".

The line is read as a syntax tree and never executed: the forms in `FORMS` and `METHODS` are known,
and arithmetic with numbers; sizes are looked at before anything is made. Whatever else stands
there is refused in a sentence.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course_lib.emulator.language.operators import BINARY
from course_lib.tab.fields import Refused

LONGEST_LINE = 2000  # characters
MOST_ELEMENTS = 1 << 20  # of one array
LARGEST_NUMBER = 1 << 64
LARGEST_POWER = 64
TYPES: Mapping[str, np.dtype] = {
    name: np.dtype(name)
    for name in (
        *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "bool"),
    )
} | {"float": np.dtype("float64"), "int": np.dtype("int64"), "bool_": np.dtype("bool")}
_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
Value = Any  # a number, a tuple of numbers, a type, a generator of random numbers, or an array


def made(line: str, names: Mapping[str, Any] | None = None) -> np.ndarray | np.generic | float:
    """The array, or the number, that a line of NumPy describes.

    Args:
        line: an expression of known forms.
        names: numbers that have a name, such as the constants beside a kernel.

    Raises:
        Refused: with a sentence on what cannot be read.
    """
    if len(line) > LONGEST_LINE:
        raise Refused(f"This line has {len(line):,} characters: too many for an array.")
    try:
        tree = ast.parse(line.strip(), mode="eval")
        with np.errstate(all="ignore"):
            value = _Line(line.strip(), names or {}).value(tree.body)
    except SyntaxError as error:
        raise Refused(f"{line.strip()!r} is no Python expression ({error.msg}).") from None
    except (RecursionError, MemoryError):
        raise Refused("This line is too deeply nested to be read.") from None
    except (TypeError, ValueError, ArithmeticError) as error:  # NumPy's word on the arguments
        raise Refused(f"NumPy makes nothing of {line.strip()!r}: {error}.") from None
    is_known = isinstance(value, (np.ndarray, np.generic, bool, int, float))
    if is_known and np.asarray(value).dtype.kind in "biuf":
        result: np.ndarray | np.generic | float = value
        return result
    raise Refused(f"{line.strip()!r} is neither an array nor a number.")


class _Line:
    """One line while it is read."""

    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self.text, self.names = text, names

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as constant):
                return self._bounded(constant)
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name(id=name) if name in TYPES:
                return TYPES[name]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.value(item) for item in items)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return operator.neg(self._number_or_array(operand))
            case ast.BinOp(left=left, op=sign, right=right) if isinstance(sign, _OPERATIONS):
                return self._arithmetic(left, sign, right)
            case ast.Attribute(attr="T", value=owner) if not _path(node):
                return self._array(owner).T
            case ast.Attribute(attr=name) if _path(node) in (f"np.{name}", f"numpy.{name}"):
                return self._of_numpy(name, node)
            case ast.Call(func=called, args=arguments, keywords=options):
                given = [self.value(argument) for argument in arguments]
                named = {option.arg: self.value(option.value) for option in options if option.arg}
                if len(named) == len(options):
                    return self._called(called, given, named)
        raise self._unknown(node)

    def _of_numpy(self, name: str, node: ast.expr) -> Value:
        if name == "pi":
            return math.pi
        if name in TYPES:
            return TYPES[name]
        raise self._unknown(node)

    def _called(self, called: ast.expr, given: list[Value], named: dict[str, Value]) -> Value:
        path = _path(called).removeprefix("numpy.").removeprefix("np.")
        if path in FORMS and _path(called) != path:
            return FORMS[path](*given, **named)
        if path in TYPES and len(given) == 1 and not named:
            return TYPES[path].type(given[0])
        if isinstance(called, ast.Attribute):
            owner = self.value(called.value)
            if isinstance(owner, np.random.Generator) and called.attr in DRAWN:
                return DRAWN[called.attr](owner, *given, **named)
            if isinstance(owner, np.ndarray) and called.attr in METHODS:
                return METHODS[called.attr](owner, *given, **named)
        raise self._unknown(called)

    def _arithmetic(self, left: ast.expr, sign: ast.operator, right: ast.expr) -> Value:
        first, second = self._number_or_array(left), self._number_or_array(right)
        if isinstance(sign, ast.Pow) and not (
            isinstance(second, (int, float)) and abs(second) <= LARGEST_POWER
        ):
            raise Refused(f"A power above {LARGEST_POWER} is not worked out here.")
        shapes = np.shape(first), np.shape(second)
        check_size(np.broadcast_shapes(*shapes))
        return self._bounded(BINARY[type(sign)](first, second))

    def _bounded(self, value: Value) -> Value:
        if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
            raise Refused(f"{self.text!r} has a number of more than 64 bits.")
        return value

    def _number_or_array(self, node: ast.expr) -> Value:
        value = self.value(node)
        if not isinstance(value, (int, float, np.ndarray, np.generic)):
            raise self._unknown(node)
        return value

    def _array(self, node: ast.expr) -> np.ndarray:
        value = self.value(node)
        if not isinstance(value, np.ndarray):
            raise self._unknown(node)
        return value

    def _unknown(self, node: ast.expr) -> Refused:
        said = ast.unparse(node)
        return Refused(
            f"{said!r} is no known way to make an array. Known are numbers, np.array and "
            f"{', '.join(f'np.{each}' for each in FORMS if each not in _SPELLED_OUT)}, "
            "np.random.default_rng(seed) with "
            f"{', '.join(f'.{each}' for each in DRAWN)}, and behind an array "
            f"{', '.join(f'.{each}' for each in METHODS)}."
        )


def _path(node: ast.expr) -> str:
    """ "np.random.default_rng" of these names with dots; "" of anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            before = _path(owner)
            return f"{before}.{name}" if before.split(".")[0] in ("np", "numpy") else ""
    return ""


# --- what is known ------------------------------------------------------------------------------


def check_size(shape: Any) -> Any:
    """The shape, if an array of it is small enough."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    whole = all(isinstance(size, (int, np.integer)) and size >= 0 for size in sizes)
    if not whole:
        raise Refused(f"A shape is one or more whole numbers, not {shape!r}.")
    if math.prod(map(int, sizes)) > MOST_ELEMENTS:
        raise Refused(
            f"An array of {' × '.join(map(str, sizes))} elements is too large: {MOST_ELEMENTS:,} "
            "is the most."
        )
    return shape


def _numbers(*values: Any) -> None:
    """Refuse arrays where each of them would multiply the size of what is made."""
    for value in values:
        if isinstance(value, tuple):
            _numbers(*value)
        elif np.ndim(value):
            raise Refused("Here stands an array where a number is wanted.")


def _type(dtype: Any) -> Any:
    if isinstance(dtype, str) and dtype in TYPES:
        return TYPES[dtype]
    if dtype is None or isinstance(dtype, np.dtype):
        return dtype
    raise Refused(f"{dtype!r} is no known type of elements, such as np.float32.")


def _zeros(shape: Any, dtype: Any = None) -> np.ndarray:
    return np.zeros(check_size(shape), _type(dtype))


def _ones(shape: Any, dtype: Any = None) -> np.ndarray:
    return np.ones(check_size(shape), _type(dtype))


def _full(shape: Any, fill_value: Any, dtype: Any = None) -> np.ndarray:
    return np.full(check_size(shape), fill_value, _type(dtype))


def _arange(*limits: Any, dtype: Any = None) -> np.ndarray:
    _numbers(*limits)
    of_type: Any = _type(dtype)
    start, stop, step = (0, *limits, 1) if len(limits) == 1 else (*limits, 1)[:3]
    check_size(max(0, math.ceil((stop - start) / step)))
    return np.arange(start, stop, step, dtype=of_type)


def _linspace(start: Any, stop: Any, num: Any = 50, dtype: Any = None) -> np.ndarray:
    _numbers(start, stop)
    return np.linspace(start, stop, check_size(num), dtype=_type(dtype))


def _eye(N: Any, M: Any = None, dtype: Any = float) -> np.ndarray:
    shape = check_size((N, N if M is None else M))
    return np.eye(*shape, dtype=np.dtype("float64") if dtype is float else _type(dtype))


def _array(values: Any, dtype: Any = None) -> np.ndarray:
    _numbers(values)
    return np.array(values, _type(dtype))


def _default_rng(seed: Any = None) -> np.random.Generator:
    if not isinstance(seed, int):
        raise Refused("Random numbers need a seed, such as np.random.default_rng(0).")
    return np.random.default_rng(seed)


def _random(rng: np.random.Generator, size: Any, dtype: Any = None) -> np.ndarray:
    result: np.ndarray = rng.random(check_size(size), dtype=_type(dtype) or np.dtype("float64"))
    return result


def _integers(
    rng: np.random.Generator, low: Any, high: Any = None, size: Any = (), dtype: Any = None
) -> np.ndarray:
    _numbers(low, high)
    return np.asarray(
        rng.integers(low, high, check_size(size), dtype=_type(dtype) or np.dtype("int64"))
    )


def _normal(rng: np.random.Generator, size: Any, dtype: Any = None) -> np.ndarray:
    result: np.ndarray = rng.standard_normal(
        check_size(size), dtype=_type(dtype) or np.dtype("float64")
    )
    return result


def _uniform(rng: np.random.Generator, low: Any, high: Any, size: Any) -> np.ndarray:
    _numbers(low, high)
    return np.asarray(rng.uniform(low, high, check_size(size)))


def _permutation(rng: np.random.Generator, count: Any) -> np.ndarray:
    return rng.permutation(check_size(count))


def _reshape(array: np.ndarray, *shape: Any) -> np.ndarray:
    return array.reshape(shape[0] if len(shape) == 1 else shape)


def _astype(array: np.ndarray, dtype: Any) -> np.ndarray:
    return array.astype(_type(dtype))


FORMS: Mapping[str, Callable[..., Any]] = {
    "zeros": _zeros,
    "ones": _ones,
    "full": _full,
    "arange": _arange,
    "linspace": _linspace,
    "eye": _eye,
    "array": _array,
    "random.default_rng": _default_rng,
}
_SPELLED_OUT = ("array", "random.default_rng")
DRAWN: Mapping[str, Callable[..., np.ndarray]] = {
    "random": _random,
    "integers": _integers,
    "standard_normal": _normal,
    "uniform": _uniform,
    "permutation": _permutation,
}
METHODS: Mapping[str, Callable[..., np.ndarray]] = {
    "reshape": _reshape,
    "astype": _astype,
    "copy": lambda array: array.copy(),
}
