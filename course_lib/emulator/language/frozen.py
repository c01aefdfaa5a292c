"""Fixes what the names outside a function stand for, where Numba compiles it: at its signature.

`@cuda.jit("void(float64[:])")` compiles the function there and then. Whatever becomes of a global
name afterwards, the function keeps the value that it had.
"""

from __future__ import annotations

import ast
import builtins
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from course_lib.emulator.errors import KernelRejected
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import OwnModule, Unusable
from course_lib.sentences import say


def frozen(kernel: Kernel, known: dict[Kernel, Kernel] | None = None) -> Kernel:
    """The function with the values that names outside it have now, and so all that it calls.

    Args:
        kernel: the function.
        known: functions that are fixed already, or are about to be.
    """
    known = {} if known is None else known
    values: dict[str, Any] = {}
    names: Any = ChainMap(values, kernel.namespace)  # type: ignore[arg-type]
    fixed = known[kernel] = replace(kernel, namespace=names)
    for name in dict.fromkeys(_names_in(kernel)):
        if name in kernel.namespace or not hasattr(builtins, name):
            values[name] = _value_now(name, kernel, known)
    if isinstance(values.get(kernel.name), Kernel | Unusable):  # it calls itself
        values[kernel.name] = fixed
    return fixed


def _names_in(kernel: Kernel) -> Iterator[str]:
    """The names that the function, its decorators and its signatures take from outside."""
    inside = {each.arg for each in ast.walk(kernel.tree) if isinstance(each, ast.arg)}
    trees = [kernel.tree, *([kernel.jit_call] if kernel.jit_call else [])]
    found = [each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Name)]
    inside |= {each.id for each in found if not isinstance(each.ctx, ast.Load)}
    yield from (each.id for each in found if each.id not in inside)


def _value_now(name: str, kernel: Kernel, known: dict[Kernel, Kernel]) -> Any:
    try:
        value = kernel.namespace[name]
    except KernelRejected as refused:
        return Unusable(refused.findings[0].message, refused.findings[0].code)
    except KeyError:
        reason = say(
            "{name} has no value yet where {kernel} is declared, and its signature has Numba "
            "compile it there.",
            name=name,
            kernel=kernel.name,
        )
        return Unusable(reason, "compile-error", "Define it above, or leave the signature out.")
    if isinstance(value, OwnModule):
        used = {node.attr for node in ast.walk(kernel.tree) if _is_of(node, name)}
        return OwnModule(
            value.name,
            {attr: _fixed(value.names[attr], known) for attr in used if attr in value.names},
        )
    return _fixed(value, known)


def _is_of(node: ast.AST, module: str) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == module


def _fixed(value: Any, known: dict[Kernel, Kernel]) -> Any:
    if isinstance(value, Kernel):
        return known[value] if value in known else frozen(value, known)
    return value.copy() if isinstance(value, np.ndarray) else value
