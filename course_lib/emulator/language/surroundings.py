"""The text around a function: the kernel that applies it to elements, and its notebook's names.

The kernel around a ufunc's function has its name and its line, so that findings and counts are
shown in the function's own text.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from course_lib.emulator.errors import KernelRejected
from course_lib.emulator.language.definitions import read_statement
from course_lib.emulator.language.kernel import Kernel, Program, names_with
from course_lib.emulator.language.names import Unusable, frozen
from course_lib.emulator.language.parse import kernel_from, load_program, parse_text
from course_lib.wording.sentences import Line, say

CORE = "applied"  # what the function is called in the kernel's text
Declared = tuple[Sequence[Any], Any]  # types of arguments and of the result, as Numba has them


def device_function(function: object, declared: Declared | None = None) -> Kernel:
    """A plain function as one of the device, with what names outside it stand for now.

    Raises KernelRejected if its text cannot be found.
    """
    signatures = [] if declared is None else [declared]
    kernel = replace(kernel_from(function), is_decorated=True, is_device=True, declared=signatures)
    return frozen(kernel)


def applied(core: Kernel, text: str, names: Mapping[str, Any]) -> Kernel:
    """The kernel in a text that calls `core` by the name CORE; `names` are its constants."""
    kernel = load_program(text, {CORE: core, **names}).kernel("kernel")
    for node in ast.walk(kernel.tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = core.tree.lineno  # type: ignore[attr-defined]
    kernel = replace(kernel, name=core.name, source=core.source, first_line=core.first_line)
    object.__setattr__(kernel, "compiled", {})
    return kernel


# --- The notebook around an answer ----------------------------------------------------------------
# The instructor wrote it, for Python and not for the emulator: it draws pictures and calls things.
# What defines a constant, a function or an import is read; all the rest is passed over. Nothing is
# executed.


MOST_LINES_LEFT_OUT = 100


def names_around(context: str) -> dict[str, Any]:
    """What the names that `context` defines stand for.

    Raises nothing: a text that cannot be read at all defines nothing.
    """
    program = Program(context)
    for statement in statements_around(context):
        try:
            read_statement(statement, program)
        except KernelRejected:
            for name in _names_bound_by(statement):
                reason = say(
                    "{name} comes from the notebook, but a kernel cannot use it.",
                    name=name,
                )
                program.names[name] = Unusable(reason)
    return program.names


def statements_around(context: str) -> Iterator[ast.stmt]:
    """The statements that can be read, an import of several things as several imports."""
    tree = _readable(context)
    ast.increment_lineno(tree, Line.FIRST_AROUND - 1)
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            yield from (_only(ast.Import([alias]), statement) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            module, level = statement.module, statement.level
            for alias in statement.names:
                yield _only(ast.ImportFrom(module, [alias], level), statement)
        else:
            yield statement


def _only(part: ast.stmt, statement: ast.stmt) -> ast.stmt:
    return ast.copy_location(part, statement)


def _readable(context: str) -> ast.Module:
    """The syntax tree, without the lines that are no Python, such as `%matplotlib inline`."""
    lines = ["pass" if line.startswith(("%", "!")) else line for line in context.split("\n")]
    for _ in range(MOST_LINES_LEFT_OUT):
        try:
            return parse_text("\n".join(lines), "<notebook>")
        except KernelRejected as refused:
            line = refused.findings[0].line
            if line is None or not 1 <= line <= len(lines) or not lines[line - 1]:
                break
            lines[line - 1] = ""
    return ast.Module([], [])


def _names_bound_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top level would give a meaning."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.split(".")[0] for alias in statement.names)
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    else:
        yield from names_with(ast.walk(statement))
