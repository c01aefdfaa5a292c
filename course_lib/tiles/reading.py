"""Read a tile kernel's text: functions, imported names and constants. Nothing of it runs."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from course_lib.emulator.errors import rejection
from course_lib.wording.sentences import say

MODULES = {"cuda.tile": "cutile", "triton.language": "triton", "triton": "triton host"}
MARKS = {"kernel": "kernel", "function": "function", "jit": "kernel"}  # of decorators


@dataclass(frozen=True)
class TileFunction:
    """A function of tile code.

    Attributes:
        name: of the function.
        tree: its definition.
        is_kernel: whether it can be launched.
    """

    name: str
    tree: ast.FunctionDef
    is_kernel: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        given = self.tree.args
        return tuple(each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))


@dataclass(frozen=True)
class TileProgram:
    """A text with tile kernels.

    Attributes:
        source: the text.
        functions: by name.
        modules: what the text calls each tile language: {"ct": "cutile"}.
        imported: names from one: {"Constant": ("cutile", "Constant")}.
        constants: numbers, texts and tuples of them that stand at the top.
    """

    source: str
    functions: Mapping[str, TileFunction]
    modules: Mapping[str, str]
    imported: Mapping[str, tuple[str, str]]
    constants: Mapping[str, Any]

    @property
    def language(self) -> str:
        """The one language that the text is written in: "cutile" or "triton"."""
        named = {*self.modules.values(), *(module for module, _ in self.imported.values())}
        return "cutile" if "cutile" in named else "triton"


def read(text: str) -> TileProgram:
    """Read a text.

    Raises:
        KernelRejected: if it is no Python, or has no tile language.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as wrong:
        message = say("This is no Python: {reason}.", reason=wrong.msg)
        raise rejection("compile-error", message, wrong.lineno) from None
    modules: dict[str, str] = {}
    imported: dict[str, tuple[str, str]] = {}
    functions: dict[str, TileFunction] = {}
    constants: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            _import(statement, modules, imported)
        elif isinstance(statement, ast.FunctionDef) and (mark := _mark(statement)):
            functions[statement.name] = TileFunction(statement.name, statement, mark == "kernel")
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            _constant(statement, constants)
    if not modules and not imported:
        message = say("Neither cuda.tile nor triton.language is imported here.")
        raise rejection("unsupported", message, None)
    return TileProgram(text, functions, modules, imported, constants)


def text_of(function: Any) -> str:
    """The text of the module or notebook cell that a kernel object was made in.

    Raises:
        KernelRejected: if its text is not at hand.
    """
    wrapped = (getattr(function, name, None) for name in ("_pyfunc", "fn", "py_func"))
    inner = next((found for found in wrapped if found), function)
    if not isinstance(inner, FunctionType):
        message = say("This is no kernel of cuTile or Triton, but of type {kind}.",
                      kind=type(function).__name__)  # fmt: skip
        raise rejection("unsupported", message, None)
    module = inspect.getmodule(inner)
    try:
        if module is not None and module.__name__ != "__main__":
            return inspect.getsource(module)
        return textwrap.dedent(inspect.getsource(inner))
    except (OSError, TypeError):
        message = say("The text of {name} is not at hand.", name=inner.__name__)
        raise rejection("unsupported", message, None) from None


def _import(
    statement: ast.Import | ast.ImportFrom,
    modules: dict[str, str],
    imported: dict[str, tuple[str, str]],
) -> None:
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            name = alias.asname or alias.name
            if alias.name in MODULES:
                modules[name] = MODULES[alias.name]
        elif f"{statement.module}.{alias.name}" in MODULES:
            modules[alias.asname or alias.name] = MODULES[f"{statement.module}.{alias.name}"]
        elif statement.module in MODULES:
            language = MODULES[statement.module]
            imported[alias.asname or alias.name] = language, alias.name


def _mark(function: ast.FunctionDef) -> str:
    """Whether a decorator makes it tile code, and of which sort."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in MARKS:
            return MARKS[name]
    return ""


def _constant(statement: ast.Assign | ast.AnnAssign, constants: dict[str, Any]) -> None:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    value = statement.value
    if isinstance(value, ast.Call) and value.args:  # BLOCK = tl.constexpr(64)
        value = value.args[0]
    try:
        found = ast.literal_eval(value)  # type: ignore[arg-type]
    except ValueError:
        return
    constants |= {each.id: found for each in targets if isinstance(each, ast.Name)}
