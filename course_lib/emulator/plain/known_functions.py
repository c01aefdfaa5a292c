"""Python's own functions, and those of math, that a plain function may call."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from typing import Any

from course_lib.emulator.plain.values import (
    MAX_ROUNDING,
    Items,
    Number,
    Sequence,
    Stop,
    binary,
    checked,
    collect,
    formatted,
    gather,
    kind_of,
    refuse_strangers,
    truth,
)
from course_lib.sentences import say


def _sum(items: Iterator[Any], start: Any = 0) -> Any:
    total = _number(start)
    for each in items:
        total = checked(total + _number(each))
    return total


def _round(number: Any, digits: Any = None) -> Any:
    _number(number)
    if digits is None:
        return round(number)
    if not isinstance(digits, int) or abs(digits) > MAX_ROUNDING:
        raise Stop(
            "not-allowed",
            say("Rounding is for at most {most} digits.", most=MAX_ROUNDING),
        )
    return round(number, digits)


def _number(value: Any) -> Any:
    if not isinstance(value, Number):
        raise TypeError(f"a number is needed here, not {kind_of(value)}")
    return value


def _on_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(*map(_number, values))


def _cast(kind: type) -> Callable[..., Any]:
    def cast(value: Any) -> Any:
        return kind(value if isinstance(value, str) else _number(value))

    return cast


def _text(value: Any) -> str:
    return formatted(value, "")


def _longest(items: Any) -> int:
    if not isinstance(items, (*Sequence, set)):
        raise TypeError(f"{kind_of(items)} has no length")
    return len(items)


def _range(*bounds: Any) -> range:
    return range(*bounds)


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any) -> Any:
        if len(values) == 1 and not isinstance(values[0], Iterator):
            raise TypeError(f"{kind_of(values[0])} is no sequence")
        for each in values if len(values) > 1 else ():
            refuse_strangers(each)
        return function(*values)

    return extreme


# Functions of values. What stands in FROM_ITEMS is handed iterators in place of sequences.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "builtins.abs": _on_numbers(abs),
    "builtins.bool": lambda value=False: truth(value),
    "builtins.divmod": _on_numbers(divmod),
    "builtins.float": _cast(float),
    "builtins.int": _cast(int),
    "builtins.len": _longest,
    "builtins.pow": lambda left, right: binary(ast.Pow(), _number(left), _number(right)),
    "builtins.print": lambda *values: None,
    "builtins.range": _range,
    "builtins.round": _round,
    "builtins.str": _text,
}
_MATH = (
    "ceil floor trunc sqrt isqrt gcd lcm exp log log2 log10 pow fabs fmod hypot copysign "
    "sin cos tan asin acos atan atan2 sinh cosh tanh degrees radians isfinite isinf isnan"
)
FUNCTIONS |= {f"math.{name}": _on_numbers(getattr(math, name)) for name in _MATH.split()}
# A lesson imports NumPy, so its names are at hand; there, whole numbers come as floats.
FUNCTIONS["numpy.ceil"] = _on_numbers(lambda number: float(math.ceil(number)))
FUNCTIONS["numpy.floor"] = _on_numbers(lambda number: float(math.floor(number)))
FUNCTIONS["numpy.gcd"] = FUNCTIONS["math.gcd"]
FROM_ITEMS: dict[str, Callable[..., Any]] = {
    "builtins.all": lambda items: all(map(truth, items)),
    "builtins.any": lambda items: any(map(truth, items)),
    "builtins.enumerate": lambda items, start=0: Items(enumerate(items, start)),
    "builtins.list": lambda items=(): collect(items),
    "builtins.max": _extreme(max),
    "builtins.min": _extreme(min),
    "builtins.reversed": lambda items: Items(reversed(collect(items))),
    "builtins.set": lambda items=(): gather(iter(items)),
    "builtins.sorted": lambda items: sorted(collect(items)),
    "builtins.sum": _sum,
    "builtins.tuple": lambda items=(): tuple(collect(items)),
    "builtins.zip": lambda *items: Items(zip(*items, strict=False)),
}
