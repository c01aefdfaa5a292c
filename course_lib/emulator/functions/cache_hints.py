"""Loads and stores of one element with a hint to the caches: `cuda.ldcg(a, i)`, `cuda.stcs(…)`.

A hint changes where the bytes are kept, never their values. They are counted like `a[i]`.
"""

from __future__ import annotations

import ast
from typing import Any

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    supported,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import Value
from course_lib.emulator.state.memory import ArrayView
from course_lib.sentences import say

LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")


def _array(arguments: Arguments) -> T.ArrayType:
    array, index = arguments[0].type, arguments[1].type
    need(isinstance(array, T.ArrayType), say("needs an array, not {array}", array=array))
    assert isinstance(array, T.ArrayType)
    axes = index.items if isinstance(index, T.TupleType) else (index,)
    need(all(map(T.is_integer, axes)), "the index must be an integer, or a tuple of integers")
    need(len(axes) == array.ndim, say("needs {axes} indices", axes=array.ndim))
    number = isinstance(array.dtype, T.Type) and (
        T.is_integer(array.dtype) or T.is_float(array.dtype)
    )
    need(number, say("takes elements that are integers or floats, not {it}", it=array.dtype))
    return array


def _load_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 2, "takes an array and an index")
    return Typed(_array(arguments).dtype)


def _store_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(len(arguments) == 3, "takes an array, an index and a value")
    array, value = _array(arguments), arguments[2].type
    need(T.is_scalar(value) and not T.is_complex(value), say("stores numbers, not {it}", it=value))
    supported(array.writable, "changes no constant array here", "Pass the array to the kernel.")
    return Typed(T.Static(None))


def _global(view: ArrayView, node: ast.Call) -> None:
    if view.allocation.space != "global":
        message = say("{name} reaches global memory only.", name=ast.unparse(node.func))
        raise rejection("unsupported", message, node, "Index this array in the ordinary way.")


def _indices(index: Any) -> tuple[Value, ...]:
    return index if isinstance(index, tuple) else (index,)


def _load(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
    _global(values[0], node)
    return machine.load(values[0], _indices(values[1]))


def _store(machine: Runner, node: ast.Call, values: list[Any]) -> None:
    _global(values[0], node)
    machine.store(values[0], _indices(values[1]), values[2])


for _name in LOADS:
    INTRINSICS[f"numba.cuda.{_name}"] = Intrinsic(_load_typing, _load)
for _name in STORES:
    INTRINSICS[f"numba.cuda.{_name}"] = Intrinsic(_store_typing, _store)
