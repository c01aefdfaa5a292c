"""What the names of a program stand for: to its host part, and to a kernel that reads them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator import Kernel
from course_lib.emulator.language.names import DeviceArray, Reference, Unusable, plain_function
from course_lib.emulator.plain.functions import Function, Scope
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.wording.sentences import Line, Sentence, say


class NotRun(Exception):
    """A statement that is not run here.

    Attributes:
        said: why, as a sentence behind a colon.
        is_inside: it is about a statement inside, so that this one has begun.
    """

    def __init__(self, said: str, is_inside: bool = False) -> None:
        super().__init__(said)
        self.said, self.is_inside = said, is_inside


@dataclass(frozen=True)
class LeftOut:
    """A statement that was not run.

    Attributes:
        first, last: its lines.
        reason: why, as a sentence behind a colon.
        has_begun: whether a part of it was run.
    """

    first: int
    last: int
    reason: Sentence | str
    has_begun: bool = False

    @property
    def said(self) -> Sentence:
        """A sentence on it."""
        how_far = " to the end" if self.has_begun else ""
        if self.first == self.last:
            return say(
                "{line} was not run{how_far}: {why}",
                line=Line(self.first),
                how_far=how_far,
                why=self.reason,
            )
        return say(
            "lines {first} to {last} were not run{how_far}: {why}",
            first=self.first,
            last=self.last,
            how_far=how_far,
            why=self.reason,
        )


@dataclass(frozen=True)
class Missing:
    """What a name stands for whose value comes from a line that was not run.

    Attributes:
        line: that line's number.
        module: the module that it would be, or come from; or "".
    """

    line: int
    module: str = ""

    def needed_as(self, name: str) -> NotRun:
        """Why what needs it is not run."""
        return NotRun(say("it needs {name} of {line}.", name=name, line=Line(self.line)))


_STANDS_FOR_ITSELF = (int, float, str, tuple, np.generic, np.ndarray, np.dtype, type(None))


class KernelNames(MutableMapping[str, Any]):
    """The names of a scope and of those around it, as a kernel finds them at its launch."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def __getitem__(self, name: str) -> Any:
        if name not in iter(self):
            raise KeyError(name)
        return _to_kernel(name, self.raw(name))

    def raw(self, name: str) -> Any:
        """What the name stands for to the host part; None if it stands for nothing."""
        for scope in self._scopes():
            if name in scope.variables:
                return scope.variables[name]
        return self.scope.names.get(name)

    def _scopes(self) -> Iterator[Scope]:
        scope: Scope | None = self.scope
        while scope is not None:
            yield scope
            scope = scope.outer

    def __setitem__(self, name: str, value: Any) -> None:
        self.scope.variables[name] = value

    def __delitem__(self, name: str) -> None:
        del self.scope.variables[name]

    def __iter__(self) -> Iterator[str]:
        own = (name for scope in self._scopes() for name in scope.variables)
        return iter(dict.fromkeys([*own, *self.scope.names]))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _to_kernel(name: str, value: Any) -> Any:
    if isinstance(value, (Kernel, Reference, Unusable, *_STANDS_FOR_ITSELF)):
        return value
    if isinstance(value, EmulatedDeviceArray):
        return DeviceArray(value)
    if isinstance(value, Function):
        return plain_function(name, is_overloaded=False)
    if isinstance(value, Missing):
        reason: Sentence = say(
            "{name} gets its value in {line}, which was not run.", name=name, line=Line(value.line)
        )
        return Unusable(reason)
    hint = "Use a tuple, or pass in a NumPy array."
    what = say("{name} is not something that a kernel can read.", name=name)
    return Unusable(what, "compile-error", hint)


def stored_in(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names that a statement gives a value to, and whether it is the value itself that changes.

    That is so where an element is set, and may be so where something is added.
    """
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, False
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                yield name, True
                waiting.append(value)
                continue
            case ast.Subscript(ctx=ast.Store()):
                root: ast.AST = node
                while isinstance(root, (ast.Subscript, ast.Attribute)):
                    root = root.value
                if isinstance(root, ast.Name):
                    yield root.id, True
            case ast.alias(name=name, asname=asname):
                yield asname or name.split(".")[0], False
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, False
                continue
            case ast.ClassDef(name=name):
                yield name, False
                continue
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                continue  # their names are their own
        waiting += ast.iter_child_nodes(node)


def may_write(kernel: ast.AST, name: str) -> bool:
    """May a kernel change the array that this parameter stands for?"""
    for node in ast.walk(kernel):
        match node:
            case ast.Subscript(value=owner, ctx=ast.Store()):
                while isinstance(owner, ast.Subscript):
                    owner = owner.value
                if not isinstance(owner, ast.Name) or owner.id == name:
                    return True
            case ast.Call(args=arguments):
                if any(
                    isinstance(argument, ast.Name) and argument.id == name for argument in arguments
                ):
                    return True
            case ast.Assign(value=ast.Name(id=other)) if other == name:
                return True
    return False


def leaves(statement: ast.stmt) -> bool:
    """Would it, if it ran, perhaps leave the loop or the function around it?"""
    waiting: list[tuple[ast.AST, bool]] = [(statement, False)]
    while waiting:
        node, in_loop = waiting.pop()
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, ast.Break | ast.Continue) and not in_loop:
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            inner = in_loop or isinstance(node, ast.For | ast.While)
            waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    return False
