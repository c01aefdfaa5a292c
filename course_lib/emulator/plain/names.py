"""What a name or an attribute in a plain function stands for."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from course_lib.emulator.errors import rejection
from course_lib.emulator.language.constants import ConstantList, constant_of_reference
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import FORBIDDEN_BUILTINS, Reference, Unusable
from course_lib.emulator.language.near_names import did_you_mean
from course_lib.emulator.plain.functions import Scope, function_of, not_known, stopped
from course_lib.emulator.plain.known_functions import FROM_ITEMS, FUNCTIONS
from course_lib.emulator.plain.values import ITEMS_PER_STEP, Record, is_plain
from course_lib.sentences import say


def look_up(name: str, node: ast.AST, scope: Scope, spend: Callable[[int, ast.AST], None]) -> Any:
    """A variable of this scope or of those around it, a name of the module, or Python's."""
    here: Scope | None = scope
    while here is not None:
        if name in here.variables:
            return here.variables[name]
        if name in here.own:
            stopped(
                node,
                say("{name} is read here before it is set.", name=name),
                code="uninitialised-read",
            )
        here = here.outer
    if name in scope.names:
        value = scope.names[name]
        if isinstance(value, tuple):
            spend(len(value) // ITEMS_PER_STEP, node)
        return _of_module(name, value, node)
    return _of_python(name, node, scope)


def _of_module(name: str, value: Any, node: ast.AST) -> Any:
    if isinstance(value, Kernel):
        return function_of(value)
    if isinstance(value, Unusable):
        code = "not-allowed" if value.code == "not-allowed" else "unsupported"
        raise rejection(code, say("This cannot be used here: {reason}", reason=value.reason), node)
    if isinstance(value, Reference) or is_plain(value):
        return value
    what = f"a {type(value).__name__}"
    if isinstance(value, (list, ConstantList)):
        what = "a list outside of the function, where a tuple would do"
    raise rejection(
        "unsupported",
        say("{name} cannot be used here: it is {what}.", name=name, what=what),
        node,
    )


def _of_python(name: str, node: ast.AST, scope: Scope) -> Any:
    path = f"builtins.{name}"
    if path in FUNCTIONS or path in FROM_ITEMS:
        return Reference(path)
    if name in FORBIDDEN_BUILTINS or name.startswith("__"):
        raise rejection("not-allowed", say("An answer may not use {name}.", name=name), node)
    if hasattr(builtins, name):
        not_known(name, node)
    known = [*scope.variables, *(each for each in scope.names if not each.startswith("_"))]
    hint = did_you_mean(name, known, alike=0.6) or "Is it mistyped, or is an import missing?"
    stopped(node, say("Nothing is called {name} here.", name=name), hint, code="uninitialised-read")


def attribute(owner: Any, name: str, node: ast.Attribute) -> Any:
    """`owner.name`: a field of a record, or a name of a module."""
    if name.startswith("_"):
        raise rejection("not-allowed", say("An answer may not look at {name}.", name=name), node)
    if isinstance(owner, Record):
        if name in owner.values:
            return owner.values[name]
        fields = say("It has {fields}.", fields=", ".join(owner.values))
        hint = did_you_mean(name, owner.values, alike=0.5) or fields
        stopped(node, say("{owner} has no attribute {name}.", owner=owner.name, name=name), hint)
    if isinstance(owner, Reference):
        reference = owner.attribute(name)
        constant = constant_of_reference(reference)
        return reference if constant is None else constant
    raise rejection("unsupported", say("The attribute {name} is not known here.", name=name), node)
