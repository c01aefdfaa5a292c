"""Fixes what the names outside a function stand for, where Numba compiles it: at its signature.

`@cuda.jit("void(float64[:])")` compiles the function there and then. Whatever becomes of a global
name afterwards, the function keeps the value that it had.
"""

from __future__ import annotations

import ast
import contextlib
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy as np

from course_lib.emulator.errors import KernelRejected
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import OwnModule, Unusable
from course_lib.sentences import say


class _Names(ChainMap[str, Any]):
    """Names with fixed values, and the others as they are; `missing` had no value at the time."""

    missing: Mapping[str, Unusable] = MappingProxyType({})

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)  # a name that nothing defines is just not defined
        return self.missing.get(name, value)


def frozen(kernel: Kernel, known: dict[Kernel, Kernel] | None = None) -> Kernel:
    """The function with the values that names outside it have now, and so all that it calls.

    Args:
        kernel: the function.
        known: functions that are fixed already, or are about to be.
    """
    known = {} if known is None else known
    values: dict[str, Any] = {}
    names = _Names(values, kernel.namespace)  # type: ignore[arg-type]
    fixed = known[kernel] = replace(kernel, namespace=names)
    used = dict.fromkeys(_names_in(kernel))
    for name in used:
        with contextlib.suppress(KeyError):
            values[name] = _value_now(name, kernel, known)
    if kernel.name in used and isinstance(values.get(kernel.name, fixed), Kernel):
        values[kernel.name] = fixed  # it calls itself
    names.missing = {name: _too_late(name, kernel) for name in used.keys() - values.keys()}
    return fixed


def _names_in(kernel: Kernel) -> Iterator[str]:
    """The names that the function, its decorators and its signatures take from outside."""
    inside = {each.arg for each in ast.walk(kernel.tree) if isinstance(each, ast.arg)}
    trees = [kernel.tree, *([kernel.jit_call] if kernel.jit_call else [])]
    found = [each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Name)]
    inside |= {each.id for each in found if not isinstance(each.ctx, ast.Load)}
    yield from (each.id for each in found if each.id not in inside)


def _value_now(name: str, kernel: Kernel, known: dict[Kernel, Kernel]) -> Any:
    """What a name stands for.

    Raises:
        KeyError: if it stands for nothing.
    """
    try:
        value = kernel.namespace[name]
    except KernelRejected as refused:
        return Unusable(refused.findings[0].message, refused.findings[0].code)
    if isinstance(value, OwnModule):
        used = {node.attr for node in ast.walk(kernel.tree) if _is_of(node, name)}
        return OwnModule(
            value.name,
            {attr: _fixed(value.names[attr], known) for attr in used if attr in value.names},
        )
    return _fixed(value, known)


def _too_late(name: str, kernel: Kernel) -> Unusable:
    reason = say(
        "{name} has no value yet where {kernel} is declared, and its signature has Numba compile "
        "it there.",
        name=name,
        kernel=kernel.name,
    )
    return Unusable(reason, "compile-error", "Define it above, or leave the signature out.")


def _is_of(node: ast.AST, module: str) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == module


def _fixed(value: Any, known: dict[Kernel, Kernel]) -> Any:
    if isinstance(value, Kernel):
        return known[value] if value in known else frozen(value, known)
    return value.copy() if isinstance(value, np.ndarray) else value
