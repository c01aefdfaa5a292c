"""The text of an answer: its functions, how much of it was typed, and whether its cell failed."""

from __future__ import annotations

import ast
import difflib
import linecache
import os
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.emulator import Kernel, KernelRejected, kernel_from, load_program
from course_lib.emulator.errors import rejection
from course_lib.emulator.language.parse import plain_from
from course_lib.student import front_end
from course_lib.tiles.reading import function_behind
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import say

OURS = "<the course's answer to "  # how the name of its source begins


@dataclass(frozen=True)
class FunctionListing:
    """The text of one function of an answer, line by line.

    Attributes:
        name: the function's.
        lines: from its decorator to its end.
        first: the number of the first of them, as findings count lines.
    """

    name: str
    lines: tuple[str, ...]
    first: int

    def has(self, number: int) -> bool:
        return self.first <= number < self.first + len(self.lines)


@dataclass(frozen=True)
class TypedCode:
    """What an answer has beyond the code that was given.

    Attributes:
        lines: that do something; those of the given code that were changed count as well.
        barriers: calls of `cuda.syncthreads` in them, each counted once, also in a loop.
    """

    lines: int = 0
    barriers: int = 0


NOTHING_TYPED = TypedCode()


def listings(answer: object) -> list[FunctionListing]:
    """The functions of an answer, the one that was asked for first; none where no text is found."""
    try:
        kernel = _read(answer)
        return [_listing(function) for function in (kernel, *_called(kernel))]
    except (KernelRejected, RecursionError):
        return []


def is_ours(answer: object) -> bool:
    """Is this an answer of the course's own, as it stands in for a student's?"""
    return _filename(answer).startswith(OURS)


def cell_of(answer: object) -> str:
    """The whole cell or text that defines an answer; of a file, the function alone.

    Of constants, a line for each.
    """
    if isinstance(answer, dict):
        return "\n".join(f"{name} = {value!r}" for name, value in answer.items())
    filename = _filename(answer)
    held = linecache.cache.get(filename)
    if held and len(held) == 4 and not os.path.exists(filename):  # a cell, and no file
        return "".join(held[2])
    found = listings(answer)
    return "\n".join(found[0].lines) if found else ""


def typed_of(given: str, answer: str) -> TypedCode:
    """What an answer has beyond the given code.

    Comments, docstrings and the function's own head do not count.
    """
    before, after = list(_lines_of_code(given)), list(_lines_of_code(answer))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    lines = sum(
        last - first for kind, _, _, first, last in matcher.get_opcodes() if kind != "equal"
    )
    return TypedCode(lines, max(0, _barriers_in(answer) - _barriers_in(given)))


def _filename(answer: object) -> str:
    """Where a function was defined; "" if it is none."""
    function = getattr(answer, "py_func", function_behind(answer) or answer)
    code = getattr(function, "__code__", None)
    return str(getattr(code, "co_filename", ""))


def read_function(answer: object) -> Kernel | None:
    """The syntax tree of an answer; None where no text is found, or it is no function.

    Whatever an object does when it is looked at: whoever judges it says so.
    """
    try:
        return _read(answer)
    except Exception:
        return None


def _read(answer: object) -> Kernel:
    if hasattr(answer, "py_func") or isinstance(answer, Kernel):
        return kernel_from(answer)
    return plain_from(function_behind(answer) or answer)


def _called(kernel: Kernel) -> Iterator[Kernel]:
    """The functions that a function calls, and those that they call."""
    waiting, seen = [kernel], {kernel.tree}
    while waiting:
        function = waiting.pop()
        for node in ast.walk(function.tree):
            called = function.namespace.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(called, Kernel) and called.tree not in seen:
                seen.add(called.tree)
                waiting.append(called)
                yield called


def _listing(kernel: Kernel) -> FunctionListing:
    """Its function alone, where the source is a whole text with more in it."""
    tree, before = kernel.tree, kernel.first_line
    first = min(node.lineno for node in (tree, *getattr(tree, "decorator_list", ())))
    # Python's own count of lines knows no other ends than these.
    last = tree.end_lineno or first
    lines = kernel.source.rstrip().split("\n")[first - before : last + 1 - before]
    return FunctionListing(kernel.name, tuple(lines), first)


def _lines_of_code(text: str) -> Iterator[str]:
    """The lines that do something, as they are indented."""
    text = textwrap.dedent(text)
    passed_over = set(_heads_and_docstrings(text))
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.strip()
        if code and not code.startswith("#") and number not in passed_over:
            yield line.rstrip()


def _barriers_in(text: str) -> int:
    called = (node.func for node in _nodes_of(text) if isinstance(node, ast.Call))
    return sum(isinstance(node, ast.Attribute) and node.attr == "syncthreads" for node in called)


def _heads_and_docstrings(text: str) -> Iterator[int]:
    for node in _nodes_of(text):
        if not isinstance(node, ast.FunctionDef):
            continue
        first = node.body[0]
        begins = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield from range(begins, max(first.lineno, node.lineno + 1))
        if ast.get_docstring(node) is not None:
            yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def _nodes_of(text: str) -> Iterator[ast.AST]:
    """All nodes of a text; none of one that is no Python."""
    try:
        yield from ast.walk(ast.parse(textwrap.dedent(text)))
    except SyntaxError:
        return


# --- A cell that was run again and failed: the answer at hand is older than its text --------------


def failed_since(name: str, answer: object) -> list[Finding]:
    """What is wrong with the last text of an answer's cell, if that text did not become the answer.

    After a syntax error, an error above its `def`, or a `def` of another name, the name still
    stands for what was defined before. Nothing is said where IPython keeps no cells, or the answer
    is that of the last one.
    """
    number, text = _last_cell(name)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return _refusal(text)
    except ValueError:
        return []
    held = read_function(answer)
    if not text or not (isinstance(answer, dict) or (held and held.name == name)):
        return []
    names = {"*", *(answer if isinstance(answer, dict) else [name])}
    binding = [statement for statement in tree.body if names & _bound_by(statement)]
    if not binding:  # constants may be typed into the check itself
        said = say("The cell of {name}, as it ran last, does not define {name}.", name=name)
        return [] if held is None else rejection("missing-answer", said, None, "").findings
    last = binding[-1]
    stopped = front_end.stopped_at(number)
    before = stopped is not None and stopped <= (last.end_lineno or 0) - _empty_on_top(text)
    other = held and isinstance(last, ast.FunctionDef) and not _same(held.tree, last)
    if not before and not other:
        return []
    said = say("The cell stopped with an error before it defined {name}.", name=name)
    hint = "Which line does the error below that cell name?"
    return rejection("missing-answer", said, last.lineno, hint).findings


def _last_cell(name: str) -> tuple[int, str]:
    """The last cell that was run with this answer in it, whether Python could read it or not."""
    shell = front_end.shell()
    cells = shell.user_ns.get("In", []) if shell else []
    typed = shell.history_manager.input_hist_raw if cells else []
    begins = re.compile(
        rf"\s*# (?:EXERCISE|TASK) {name}\b|^(?:async )?def {name}\b", re.MULTILINE | re.ASCII
    )
    last = next(
        (n for n in reversed(range(min(map(len, (cells, typed))))) if begins.search(typed[n])), None
    )
    if last is None:
        return 0, ""
    # IPython drops the empty lines on top, which a front end counts, and runs %%time as a call.
    timed = re.sub(r"(\A\s*)%%.*", r"\1", typed[last])
    text = timed if timed != typed[last] else cells[last]
    return last, "\n" * (_empty_on_top(typed[last]) - _empty_on_top(text)) + str(text)


def _empty_on_top(text: str) -> int:
    return len(text) - len(text.lstrip("\n"))


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement of a cell defines, however deep inside it."""
    return {
        next(filter(None, (getattr(node, key, "") for key in ("asname", "name", "id"))))
        for node in ast.walk(statement)
        if isinstance(node, (ast.alias, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }


def _refusal(text: str) -> list[Finding]:
    try:
        load_program(text)
    except KernelRejected as refused:
        return refused.findings
    return []  # the emulator's reader takes away what was pasted along


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)
