"""A kernel as a syntax tree, and a text that defines kernels; lines that know their file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from course_lib.emulator.errors import rejection
from course_lib.wording.sentences import say

MOST_CALLS_FOLLOWED = 100  # of functions that make kernels, in one text


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """A function that runs on the device, as a syntax tree."""

    name: str  # the function's name
    parameters: tuple[str, ...]  # the names of its parameters
    # its definition; line numbers are those of the cell, file or text that holds it
    tree: ast.FunctionDef | ast.Lambda
    source: str  # that cell, file or text, or as much of it as there is
    first_line: int  # the line number of the first line of `source`
    namespace: Mapping[str, Any]  # what the names outside the function stand for
    is_device: bool = False  # whether it is decorated as a device function
    is_decorated: bool = True  # whether it is decorated with cuda.jit at all
    # whether it is compiled with `debug=True`, so that exceptions are reported
    is_debugged: bool = False
    is_fast: bool = False  # whether it is compiled with `fastmath=True`
    is_unrolled: bool = False  # whether its loops over `unroll` are written out, by `@unrolled`
    # whether it is compiled for the processor instead, by numba.jit or numba.njit
    is_for_cpu: bool = False
    is_inlined: bool = False  # whether it is written out where it is called, by `inline=True`
    # `cuda.jit(…)`, where the function was handed to it and not decorated with it
    jit_call: ast.Call | None = None
    # the types of its arguments and of its result, in each signature, as Numba has them; None if
    # decorator and `jit_call` say it
    declared: Sequence[tuple[Sequence[Any], Any]] | None = None
    # where Python has the function from: a file, or what it calls a notebook's cell; "" where it
    # was read from a text
    file: str = ""
    # Not handed on to copies, whose names may stand for something else.
    # its types, for arguments of each kind that it was called with. A decorated function remembers
    # them as Numba remembers what it compiled, with the values that global names had then;
    # elsewhere None
    compiled: dict[tuple[Any, ...], Any] | None = field(default=None, init=False)

    def __repr__(self) -> str:
        # It stands in messages, which have to be the same in every run.
        return f"the function {self.name}"

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the function."""
        if isinstance(self.tree, ast.Lambda):
            return [ast.copy_location(ast.Return(self.tree.body), self.tree)]
        return self.tree.body

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the function; to go through a tree takes long, and many ask for it."""
        return tuple(every_node(self.tree))

    @property
    def is_empty(self) -> bool:
        """Whether it is not written yet; see `says_nothing`."""
        return says_nothing(self.body)

    @property
    def lines(self) -> dict[int, str]:
        """The source, line by line."""
        return dict(enumerate(self.source.splitlines(), self.first_line))


def every_node(tree: ast.AST) -> list[ast.AST]:
    """What `ast.walk` yields, in a third of the time."""
    found = [tree]
    for node in found:
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                found.append(part)
            elif isinstance(part, list):
                found += [item for item in part if isinstance(item, ast.AST)]
    return found


def says_nothing(body: Sequence[ast.stmt]) -> bool:
    """Whether a function's body is that of one still to be written.

    Nothing stands in it but docstrings, `pass`, `...`, a return without a value, and
    `raise NotImplementedError`.
    """
    return all(map(_is_nothing, body))


def _is_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant()) | ast.Return(None | ast.Constant(None)):
            return True
        case ast.Raise(ast.Name("NotImplementedError")):
            return True
        case ast.Raise(ast.Call(ast.Name("NotImplementedError"))):
            return True
    return False


def names_with(nodes: Iterable[ast.AST], context: type[ast.expr_context] = ast.Store) -> list[str]:
    """The names that some nodes give values to, or take with `ast.Load`, as often as they do."""
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)]


@dataclass
class Program:
    """A text with one or more kernels, read but not executed."""

    source: str  # the text
    # module-level numbers and tuples, by name
    constants: dict[str, Any] = field(default_factory=dict)
    # every function defined in the text, by name; the last definition counts
    functions: dict[str, Kernel] = field(default_factory=dict)
    # all of these and the imports, and what `surroundings` adds
    names: dict[str, Any] = field(default_factory=dict)
    # how many calls of functions that make functions are still followed
    calls_left: list[int] = field(default_factory=lambda: [MOST_CALLS_FOLLOWED])

    def kernel(self, name: str) -> Kernel:
        """The function called `name`.

        Raises KernelRejected with `missing-answer` if there is none.
        """
        if name in self.functions:
            return self.functions[name]
        others = ", ".join(sorted(self.functions)) or "none"
        message = "There is no function called {name} (functions here: {others})."
        hint = say(
            "Define it with `def {name}(…):`. If it is a kernel, write `@cuda.jit` in the "
            "line above.",
            name=name,
        )
        raise rejection("missing-answer", message, None, hint, name=name, others=others)


# --- Line numbers that know their file: a kernel may call functions of several --------------------


class LineOfFile(int):
    """A line's number; `file` is what Python calls its file.

    It differs from the same number of another file, and is equal to one that knows no file.
    """

    file: str

    def __new__(cls, number: int, file: str) -> LineOfFile:
        line = super().__new__(cls, number)
        line.file = file
        return line

    def __eq__(self, other: object) -> bool:
        return int(self) == other and self.file == getattr(other, "file", self.file)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __reduce__(self) -> tuple[type[LineOfFile], tuple[int, str]]:
        return LineOfFile, (int(self), self.file)


def note_file(tree: ast.AST, file: str) -> None:
    """Let all nodes of a function know where they stand."""
    lines: dict[int, LineOfFile] = {}
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            number = int(node.lineno)
            node.lineno = lines.setdefault(number, LineOfFile(number, file))


def holds(node: ast.AST, line: int | None) -> bool:
    """Whether a node begins at a line or above it, and ends there or below, in the same file."""
    first: int = getattr(node, "lineno", 0)
    last = getattr(node, "end_lineno", None) or first
    file = getattr(line, "file", None)
    is_there = file is None or getattr(first, "file", file) == file
    return is_there and line is not None and first <= line <= last
