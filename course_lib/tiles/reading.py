"""Read a tile kernel's text: functions, imported names and constants. Nothing of it runs."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

from course_lib.emulator.errors import rejection
from course_lib.emulator.language.surroundings import statements_around
from course_lib.tiles.stand_ins import KeptKernel, StandInName
from course_lib.wording.sentences import say

# What a module belongs to, by its name.
MODULES = {
    "cuda.tile": "cutile", "triton.language": "triton", "triton": "triton",
    "course_lib.tiles.ct": "cutile", "course_lib.tiles.tl": "triton",
    "course_lib.tiles.triton": "triton",
}  # fmt: skip
NUMBERS = {"math": "math", "numpy": "numpy"}  # modules with numbers and types, and no functions
IS_KERNEL = {"kernel": True, "function": False, "jit": True}  # by decorator


@dataclass(frozen=True)
class TileFunction:
    """A function of tile code.

    Attributes:
        tree: its definition.
        language: "cutile" or "triton", as its decorator says.
        is_kernel: whether it can be launched.
    """

    tree: ast.FunctionDef
    language: str
    is_kernel: bool

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def parameters(self) -> tuple[str, ...]:
        given = self.tree.args
        return tuple(
            parameter.arg for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs)
        )


@dataclass(frozen=True)
class TileProgram:
    """Tile kernels, and what their names stand for.

    Attributes:
        functions: by name.
        modules: what the tile languages are called: {"ct": "cutile"}.
        imported: names from one: {"Constant": ("cutile", "Constant")}.
        constants: numbers, texts and tuples of them.
        numbers: what the modules are called that have numbers: {"np": "numpy"}.
    """

    functions: dict[str, TileFunction] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)

    def add(self, tree: ast.FunctionDef) -> None:
        """Take in a function, if a decorator makes it tile code; a helper in cuTile needs none."""
        if not tree.decorator_list:
            self.functions[tree.name] = TileFunction(tree, "cutile", is_kernel=False)
        for decorator in tree.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            language, name = "", ""
            if isinstance(called, ast.Attribute):
                language, name = self.modules.get(ast.unparse(called.value), ""), called.attr
            elif isinstance(called, ast.Name):
                language, name = self.imported.get(called.id, ("", ""))
            if language and name in IS_KERNEL:
                self.functions[tree.name] = TileFunction(tree, language, IS_KERNEL[name])


def read_text(text: str, around: str = "") -> TileProgram:
    """Read a text: what stands at its top, and what the text `around` it defines, as a notebook's.

    Raises:
        KernelRejected: if it is no Python, or has no tile language.
    """
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError):
        raise rejection("compile-error", say("This is nested too deeply."), None) from None
    except SyntaxError as wrong:
        message = say("This is not valid Python: {reason}.", reason=wrong.msg)
        raise rejection("compile-error", message, wrong.lineno) from None
    program = TileProgram()
    for statement in (*statements_around(around), *tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            _import(statement, program)
        elif isinstance(statement, ast.FunctionDef):
            program.add(statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            _constant(statement, program.constants)
    if not program.modules and not program.imported:
        message = say("Neither cuda.tile nor triton.language is imported here.")
        raise rejection("unsupported", message, None)
    return program


def read_kernel(kernel: Any) -> tuple[TileProgram, str]:
    """Read a kernel object, with what its names stand for where it was made; and its name.

    Raises:
        KernelRejected: if it is none, or its text is not at hand.
    """
    function = function_behind(kernel)
    if function is None:
        kind = type(kernel).__name__
        message = say("This is not a kernel of cuTile or Triton. It is of type {kind}.", kind=kind)
        raise rejection("unsupported", message, None)
    program = TileProgram()
    tree = _take_in(function, program)
    made_by = _decorator_of(kernel)
    if made_by:  # perhaps by a name that is gone, or out of sight
        program.functions[tree.name] = TileFunction(tree, *made_by)
    return program, function.__name__


def _decorator_of(kernel: Any) -> tuple[str, bool] | None:
    """The language of an object that a decorator made, and whether it can be launched."""
    if isinstance(kernel, KeptKernel):
        package, name = kernel.made_by
        return MODULES[package], IS_KERNEL.get(name, True)
    home = "" if isinstance(kernel, FunctionType) else type(kernel).__module__
    found = (language for module, language in MODULES.items() if home.startswith(module))
    return next(((language, True) for language in found), None)


def function_behind(value: Any) -> FunctionType | None:
    """The Python function that a kernel object of either language was made from; or it itself."""
    wrapped = (getattr(value, name, None) for name in ("_pyfunc", "fn"))
    found = next((function for function in wrapped if function), value)
    return found if isinstance(found, FunctionType) else None


def _take_in(function: FunctionType, program: TileProgram) -> ast.FunctionDef:
    """Add a function, and then whatever its names stand for; its definition."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        message = say("The source text of {name} cannot be found.", name=function.__name__)
        raise rejection("unsupported", message, None) from None
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    ast.increment_lineno(tree, first - 1)
    around: dict[str, Any] = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    helpers = []
    for name in sorted(names & around.keys()):
        value = around[name]
        if type(value).__name__ == "constexpr":  # Triton's constants wrap their number
            value = value.value
        if isinstance(value, ModuleType) and value.__name__ in MODULES:
            program.modules[name] = MODULES[value.__name__]
        elif isinstance(value, ModuleType) and value.__name__ in NUMBERS:
            program.numbers[name] = value.__name__
        elif (found := _place_in_language(value)) is not None:
            program.imported[name] = found
        elif isinstance(value, int | float | str | tuple):
            program.constants[name] = value
        elif (helper := function_behind(value)) is not None and helper is not function:
            helpers.append(helper)
    program.add(tree)
    for helper in helpers:
        if helper.__name__ not in program.functions:
            _take_in(helper, program)
    return tree


def _place_in_language(value: Any) -> tuple[str, str] | None:
    """The language and the name of a function, a type or a mark that was imported by itself."""
    if isinstance(value, StandInName):
        return MODULES[value._package], value._path
    for module, language in MODULES.items():
        for name, there in vars(sys.modules.get(module, object)).items():
            if there is value and not isinstance(value, int | float | str):
                return language, name
    return None


def _import(statement: ast.Import | ast.ImportFrom, program: TileProgram) -> None:
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            if alias.name in MODULES:
                program.modules[alias.asname or alias.name] = MODULES[alias.name]
            elif alias.name in NUMBERS:
                program.numbers[alias.asname or alias.name] = alias.name
        elif f"{statement.module}.{alias.name}" in MODULES:
            language = MODULES[f"{statement.module}.{alias.name}"]
            program.modules[alias.asname or alias.name] = language
        elif statement.module in MODULES:
            found = MODULES[statement.module], alias.name
            program.imported[alias.asname or alias.name] = found


def _constant(statement: ast.Assign | ast.AnnAssign, constants: dict[str, Any]) -> None:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    value = statement.value
    if isinstance(value, ast.Call) and value.args:  # BLOCK = tl.constexpr(64)
        value = value.args[0]
    try:
        found = ast.literal_eval(value)  # type: ignore[arg-type]
    except ValueError:
        return
    constants |= {target.id: found for target in targets if isinstance(target, ast.Name)}
