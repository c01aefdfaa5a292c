"""`cuda.atomic`: what each function does to a cell, and to cells of which types."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Atomic,
    Keywords,
    Typed,
    need,
    supported,
)
from course_lib.emulator.machine.events import AtomicUpdate
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView
from course_lib.wording.sentences import say


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
        supported(array.writable, "cannot change a constant array here", mend)
        axes = index.items if isinstance(index, T.TupleType) else (index,)
        needs_none = isinstance(index, T.TupleType) and array.ndim == 1
        need(
            not needs_none,
            "needs a number as the index of an array with one axis, not a tuple",
            "Leave out the brackets." if len(axes) == 1 else "",
        )
        whole = all(T.is_scalar(axis) and not T.is_complex(axis) for axis in axes)
        need(whole, "needs a number as its index")
        need(
            len(axes) == array.ndim,
            say("needs {axes} indices", axes=array.ndim),
            "Write them as a tuple, in brackets, with one index for each axis.",
        )
        none = say("does not exist for elements of {dtype}", dtype=array.dtype)
        listed = ", ".join(map(str, allowed))
        need(
            array.dtype in allowed,
            none,
            say("There is one for elements of {listed}.", listed=listed),
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
        return _update(machine, node, values[0], values[1], given, chosen)

    return run


def _update(
    machine: Machine,
    node: ast.Call,
    view: ArrayView,
    index: Value | tuple[Any, ...],
    operands: list[Value],
    combine: Callable[[Any, Any], Any],
) -> Value:
    """Update one element for each active lane; the values that they found."""
    # An index that is no integer is cut off to one, unlike in a subscript.
    indices = [
        part if part.dtype.kind in "iu" else part.astype(np.int64)
        for part in (index if isinstance(index, tuple) else (index,))
    ]
    alone = isinstance(machine.statement, ast.Expr) and machine.statement.value is node
    update = AtomicUpdate(operands, combine, returns_old=not alone)
    return machine.unit.atomic(view, indices, update, machine.active, machine.line)


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
    INTRINSICS[f"numba.cuda.atomic.{_name}"] = Atomic(_atomic_typing(_name, 1), _atomic(_combine))


def _compare_and_swap_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    """`compare_and_swap(array, old, new)` is `cas` of element 0, for arrays with one axis."""
    need(len(arguments) == 3, "takes an array, an old value and a new one")
    index = Typed(T.INT64, 0)
    typed = _atomic_typing("cas", 2)([arguments[0], index, *arguments[1:]], keywords)
    need(typed.type in _WHOLE, "changes only integers")
    return typed


def _compare_and_swap(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
    return _update(machine, node, values[0], np.int64(0), values[1:], _swap_if_equal)


INTRINSICS["numba.cuda.atomic.compare_and_swap"] = Atomic(
    _compare_and_swap_typing, _compare_and_swap
)
INTRINSICS["numba.cuda.atomic.cas"] = Atomic(_atomic_typing("cas", 2), _atomic(_swap_if_equal, 2))
