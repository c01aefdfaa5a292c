"""The functions of an answer, their scopes, and what a call hands to their parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

from course_lib.emulator.errors import rejection
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.plain.values import is_plain
from course_lib.sentences import say
from course_lib.words import plural

_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the answer: its tree, and where the names outside of it are looked up."""

    name: str
    tree: ast.FunctionDef | ast.Lambda
    names: Mapping[str, Any]  # of the module
    outer: Scope | None = None  # of the function around it
    defaults: tuple[Any, ...] = ()

    @property
    def parameters(self) -> list[str]:
        arguments = self.tree.args
        return [each.arg for each in (*arguments.posonlyargs, *arguments.args)]

    @property
    def body(self) -> list[ast.stmt]:
        if isinstance(self.tree, ast.Lambda):
            return [ast.copy_location(ast.Return(self.tree.body), self.tree)]
        return self.tree.body


@dataclass(eq=False)
class Scope:
    """The variables of one call, or of one comprehension."""

    names: Mapping[str, Any]
    own: frozenset[str]  # every name that is set somewhere in here is of here, as in Python
    outer: Scope | None = None
    variables: dict[str, Any] = field(default_factory=dict)


def function_of(kernel: Kernel) -> Function:
    """The function behind a syntax tree; its defaults are worked out where they are constants."""
    check_signature(kernel.tree, kernel.is_decorated)
    defaults = []
    for each in kernel.tree.args.defaults:
        if not isinstance(each, ast.Constant) or not is_plain(each.value):
            raise rejection("unsupported", "Only a literal can be a default value here.", each)
        defaults.append(each.value)
    return Function(kernel.name, kernel.tree, kernel.namespace, None, tuple(defaults))


def check_signature(tree: ast.FunctionDef | ast.Lambda, may_be_decorated: bool = False) -> None:
    """Refuse parameters and decorators that are not followed.

    Raises:
        KernelRejected: with what is not known.
    """
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise rejection("unsupported", "Only plain parameters are known here.", tree)
    if getattr(tree, "decorator_list", ()) and not may_be_decorated:
        raise rejection("unsupported", "Decorators are not known here.", tree)


def bind(
    function: Function, arguments: list[Any], by_name: dict[str, Any], node: ast.AST
) -> dict[str, Any]:
    """The parameters with their values."""
    names = function.parameters
    bound = dict(zip(names, arguments, strict=False))
    for name, value in by_name.items():
        if name in bound or name not in names:
            stopped(
                node,
                say("{function} cannot take {name}= here.", function=function.name, name=name),
            )
        bound[name] = value
    optional = names[len(names) - len(function.defaults) :]
    for name, value in zip(optional, function.defaults, strict=True):
        bound.setdefault(name, value)
    if len(arguments) > len(names) or len(bound) < len(names):
        given = len(arguments) + len(by_name)
        stopped(
            node,
            say(
                "{function} has the parameters ({names}), and is called with {given} {noun}.",
                function=function.name,
                names=", ".join(names),
                given=given,
                noun=plural("argument", given),
            ),
        )
    return bound


@lru_cache(maxsize=16)
def names_set_in(tree: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Every name that a function sets: its own variables, wherever in it they are set."""
    arguments = tree.args
    names = {each.arg for each in (*arguments.posonlyargs, *arguments.args)}
    waiting: list[ast.AST] = list(tree.body) if isinstance(tree, ast.FunctionDef) else [tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return frozenset(names)


def stopped(node: ast.AST, message: str, hint: str = "", code: str = "wrong-formula") -> NoReturn:
    """A mistake at which Python itself would stop."""
    raise rejection(code, message, node, hint)


def not_known(what: str, node: ast.AST, hint: str = "") -> NoReturn:
    """Something of Python's that is not followed."""
    message = say("{what} is not known in a plain function.", what=what)
    raise rejection("unsupported", message, node, hint)
