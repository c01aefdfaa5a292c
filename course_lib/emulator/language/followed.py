"""Follows how a function comes to its name, with nothing run: cuda.jit(f), make(16), f.py_func.

What a factory does is read, statement by statement, with the arguments of the call as its
constants; so a tile's size may be an argument. What cannot be followed is None, never a guess.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.names import Reference
from course_lib.emulator.language.parse import Kernel, Program, is_switched_on, read_statement

COMPILERS = {"numba.cuda.jit": False, "numba.jit": True, "numba.njit": True}  # for the processor?


def function_behind(value: ast.expr, program: Program) -> Kernel | None:
    """The function that an expression at the top level stands for, as far as it can be followed."""
    match value:
        case ast.Name(id=name):
            found = program.names.get(name)
            return found if isinstance(found, Kernel) else None
        case ast.Attribute(value=owner, attr="py_func"):
            found = function_behind(owner, program)
            if found is None or not found.is_decorated:
                return None
            return replace(found, is_decorated=False, is_device=False, is_for_cpu=False)
        case ast.Call(func=called, args=arguments, keywords=options):
            path = _path(called.func if isinstance(called, ast.Call) else called, program.names)
            if path in COMPILERS:
                return _compiled(value, path, program)
            maker = function_behind(called, program)
            return _made_by(maker, arguments, options, program) if maker else None
    return None


def _path(node: ast.expr, names: Mapping[str, Any]) -> str | None:
    try:
        value = evaluate_constant(node, names)
    except NotConstant:
        return None
    return value.path if isinstance(value, Reference) else None


def _compiled(call: ast.Call, path: str, program: Program) -> Kernel | None:
    """`cuda.jit(f)`, `cuda.jit(f, fastmath=True)` or `cuda.jit(fastmath=True)(f)`."""
    if len(call.args) != 1:
        return None
    function = function_behind(call.args[0], program)
    if function is None or function.is_decorated:
        return None
    calls = [call, call.func] if isinstance(call.func, ast.Call) else [call]
    device = any(is_switched_on("device", each) for each in calls if isinstance(each, ast.Call))
    return replace(function, is_decorated=True, is_device=device, is_for_cpu=COMPILERS[path])


def _made_by(
    maker: Kernel, arguments: list[ast.expr], options: list[ast.keyword], program: Program
) -> Kernel | None:
    """What a plain function returns that defines another one."""
    definition = maker.tree
    if not isinstance(definition, ast.FunctionDef) or definition.decorator_list:
        return None
    if program.calls_left[0] <= 0:
        return None
    program.calls_left[0] -= 1
    given = _arguments(maker, definition, arguments, options, program)
    if given is None:
        return None
    names: Any = ChainMap(given, maker.namespace)  # type: ignore[arg-type]
    inner = Program(program.source, names=names, calls_left=program.calls_left)
    for statement in _straight(definition.body, inner):
        match statement:
            case ast.Return(value=ast.expr() as value):
                return function_behind(value, inner)
            case ast.FunctionDef() | ast.Assign() | ast.AnnAssign() | ast.Pass():
                read_statement(statement, inner)
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                read_statement(statement, inner)
            case _:
                return None
    return None


def _arguments(
    maker: Kernel,
    definition: ast.FunctionDef,
    arguments: list[ast.expr],
    options: list[ast.keyword],
    program: Program,
) -> dict[str, Any] | None:
    """The parameters of a call with their values; None if one is no constant, or is missing."""
    names = maker.parameters
    defaults = definition.args.defaults
    texts: dict[str, tuple[ast.expr, Mapping[str, Any]]] = {
        name: (value, maker.namespace)
        for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True)
    }
    if len(arguments) > len(names) or not {each.arg for each in options} <= set(names):
        return None
    texts |= {n: (value, program.names) for n, value in zip(names, arguments, strict=False)}
    texts |= {each.arg: (each.value, program.names) for each in options if each.arg}
    if texts.keys() != set(names):
        return None
    try:
        return {name: evaluate_constant(*text) for name, text in texts.items()}
    except NotConstant:
        return None


def _straight(body: list[ast.stmt], program: Program) -> Iterator[ast.stmt]:
    """The statements that run, where every test is a constant; a test that is none comes as it is.

    A test is looked at when its turn comes: what stands above it has been read by then.
    """
    for statement in body:
        branch = branch_of(statement, program.names)
        if branch is None:
            yield statement
        else:
            yield from _straight(branch, program)


def branch_of(statement: ast.stmt, names: Mapping[str, Any]) -> list[ast.stmt] | None:
    """What runs of an `if` with a constant test, or of a `try` in which nothing fails."""
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            try:
                return body if evaluate_constant(test, names) else orelse
            except NotConstant:
                return None
        case ast.Try(body=body, orelse=orelse, finalbody=final):
            return [*body, *orelse, *final]
    return None
