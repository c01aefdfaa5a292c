"""Functions that are defined inside a kernel: which variables around them they mean."""

from __future__ import annotations

import ast
from collections import ChainMap, Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from course_lib.emulator.errors import rejection
from course_lib.emulator.inference.typer import assigned_names
from course_lib.emulator.inference.typings import Closure
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.kernel import Kernel
from course_lib.sentences import say


def own_names(kernel: Kernel) -> frozenset[str]:
    """The names that a function gives values to, itself."""
    return assigned_names(kernel) | frozenset(kernel.parameters)


def free_names(kernel: Kernel) -> frozenset[str]:
    """The names that a function takes from around it."""
    read = {
        node.id
        for statement in kernel.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return frozenset(read) - own_names(kernel)


def belongs_around(name: str, kernel: Kernel, callers: Sequence[Kernel]) -> bool:
    """Whether a name is a variable of a function within which this one is written."""
    around = (each for each in callers if each is not kernel and _encloses(each, kernel))
    return any(name in own_names(each) for each in around)


def check_names_are_meant(kernel: Kernel, callers: Sequence[Kernel], node: ast.AST) -> None:
    """Refuse a call from where a name that the function takes from around it is another thing.

    A function sees the variables around its definition; here they are looked for among those of
    the functions that are being called.

    Raises:
        KernelRejected: with `unsupported`.
    """
    around = [place for place, each in enumerate(callers) if _encloses(each, kernel)]
    if not around:
        return
    wanted = free_names(kernel)
    for each in callers[around[-1] + 1 :]:
        for name in sorted(wanted & own_names(each)):
            message = say(
                "{kernel} is called where {name} is a variable of {other}, and means another one.",
                kernel=kernel.name,
                name=name,
                other=each.name,
            )
            hint = say("Give {name} another name in one of the two functions.", name=name)
            raise rejection("unsupported", message, node, hint)


def only_values(kernel: Kernel) -> dict[str, ast.expr]:
    """What the variables are set to that are set once, on every path, and are no parameters."""
    stores = Counter(
        node.id
        for node in ast.walk(kernel.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return {
        name: value
        for statement in kernel.body
        if isinstance(statement, ast.Assign)
        for name, value in _set_by(statement)
        if stores[name] == 1 and name not in kernel.parameters
    }


def _set_by(statement: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    match statement.targets:
        case [ast.Name(id=name)]:
            yield name, statement.value


def with_constants(closure: Closure, around: Kernel) -> Closure:
    """A function that is handed on to another one: as in Numba, it takes constants with it."""
    known: dict[str, Any] = {}
    values = only_values(around)
    for name in free_names(closure.kernel) & own_names(around):
        value = values.get(name)
        try:
            constant = None if value is None else evaluate_constant(value, {})
        except NotConstant:
            continue
        if isinstance(constant, int | float):
            known[name] = constant
    if not known:
        return closure
    names: Any = ChainMap(known, closure.kernel.namespace)  # type: ignore[arg-type]
    return Closure(replace(closure.kernel, namespace=names))


def _encloses(outer: Kernel, inner: Kernel) -> bool:
    return outer.tree is not inner.tree and any(node is inner.tree for node in ast.walk(outer.tree))
