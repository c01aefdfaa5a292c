"""What a cell's text says to Python, once what is meant for Jupyter is taken away.

The text is parsed and never executed. What Jupyter does to a cell before Python sees it (magics,
prompts, a common indent) is undone line by line, so that line numbers stay those of the cell.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from course_lib.emulator.budget import MAX_SOURCE_CHARACTERS
from course_lib.emulator.language.bindings import ANY, Binding
from course_lib.grading.answers.statements import Statement, statements_of

# Cell magics whose cell Python runs; below any other one, a cell is text.
# `%%timeit` runs it too, but in a function of its own, where nothing stays.
_RUNS = re.compile(r"(?:time|capture|prun|python3?|debug|script python3?)(?!\w)")
MAX_STATEMENTS = 1_000  # in one cell, not counting those in functions
_MAGIC = re.compile(r"[ \t]*(?:[%!?].*|[\w.%]+\?{1,2}[ \t]*)")
_BINDS = re.compile(r"[ \t]*%(?:run|store|macro|cython|autoreload)\b")  # whatever name
_GIVEN = re.compile(r"([ \t]*[\w, \t]+=[ \t]*)(?=[%!][\w!(])")  # files = !ls
_TIMED = re.compile(r"([ \t]*)%time(?:it)?[ \t]+(?=[^ \t-])")


@dataclass(frozen=True)
class CellCode:
    """A cell as Python.

    Attributes:
        text: with what is no Python made a comment.
        statements: what it says; empty if it is not valid.
        error: why it is not valid, in a few words with the line, or None.
        is_too_long: it is not valid because no more than this is read.
        was_run: Python would have run it, below its cell magic.
        repairs: what was made a comment, one sentence each.
        commands: what commands to Jupyter bind, such as `%run other.py`.
    """

    text: str
    statements: tuple[Statement, ...] = ()
    error: str | None = None
    is_too_long: bool = False
    was_run: bool = True
    repairs: tuple[str, ...] = ()
    commands: tuple[Binding, ...] = ()


def read_code(text: str) -> CellCode:
    """What a cell's text says to Python; never raises."""
    code = _read(text)
    if code.is_too_long:
        return code
    if code.error is None:
        return _unpacked_cell_magic(code)
    plain, was_run, changed = _without_jupyter(text)
    if plain == text:
        return code
    lines = text.split("\n")
    commands = tuple(
        Binding(ANY, number, f"by `{lines[number - 1].split()[0]}`")
        for number in changed
        if _BINDS.match(lines[number - 1])
    )
    repairs: tuple[str, ...] = ()
    if changed:
        repairs = (f"Commands to Jupyter were passed over ({listed_lines(changed)}).",)
    return replace(_read(plain), was_run=was_run, repairs=repairs, commands=commands)


def _read(text: str) -> CellCode:
    if len(text) > MAX_SOURCE_CHARACTERS:
        return _too_long(text, f"{MAX_SOURCE_CHARACTERS:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if len(tree.body) > MAX_STATEMENTS:
            return _too_long(text, f"{MAX_STATEMENTS:,} statements")
        return CellCode(text, tuple(statements_of(tree)))
    except SyntaxError as error:
        return CellCode(text, error=f"line {error.lineno}: {error.msg}")
    except (ValueError, MemoryError, RecursionError):
        return CellCode(text, error="it is nested too deeply")


def _too_long(text: str, most: str) -> CellCode:
    return CellCode(text, error=f"it has more than {most}", is_too_long=True)


# --- what Jupyter takes away ------------------------------------------------------------------


def _without_jupyter(text: str) -> tuple[str, bool, list[int]]:
    """The cell as Python, whether it is run, and the lines that were changed."""
    lines = _without_prompts(text.split("\n"))
    lines = _without_indent(lines)
    was_run, first, changed = True, True, []
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if first and stripped.startswith("%%"):
            was_run = bool(_RUNS.match(stripped[2:].strip())) or stripped == "%%"
        first = first and (not stripped or stripped.startswith(("%%", "#")))
        timed = _TIMED.match(line)
        given = _GIVEN.match(line)
        if timed and not stripped.startswith("%%"):
            lines[number - 1] = timed[1] + line[timed.end() :]
        elif given:  # IPython puts a call there, too
            lines[number - 1] = f"{given[1]}get_ipython()  # {line[given.end() :]}"
        elif _MAGIC.fullmatch(line):
            lines[number - 1] = "# " + line
        else:
            continue
        changed.append(number)
    return "\n".join(lines), was_run, changed


def listed_lines(numbers: Sequence[int]) -> str:
    """ "line 3", or "lines 3, 4 and 9", or the first few of many."""
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if len(numbers) > 6:
        return f"lines {', '.join(map(str, numbers[:5]))} and {len(numbers) - 5} more"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _without_prompts(lines: list[str]) -> list[str]:
    first = next((line for line in lines if line.strip()), "")
    if not first.startswith(">>>"):
        return lines
    return [re.sub(r"^(?:>>>|\.\.\.) ?", "", line) for line in lines]


def _without_indent(lines: list[str]) -> list[str]:
    """Without the first line's indent on all lines, as IPython does it."""
    first = next((line for line in lines if line.strip() and line.strip()[0] not in "#%!"), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return lines
    return [line.removeprefix(indent) for line in lines]


def _unpacked_cell_magic(code: CellCode) -> CellCode:
    """A script exported by Jupyter holds a cell with a cell magic as one long string."""
    if "run_cell_magic" not in code.text or len(code.statements) != 1:
        return code
    match ast.parse(code.text).body:
        case [ast.Expr(ast.Call(ast.Attribute(attr="run_cell_magic"), [name, _, body]))]:
            if isinstance(name, ast.Constant) and isinstance(body, ast.Constant):
                if isinstance(body.value, str):
                    was_run = bool(_RUNS.match(str(name.value)))
                    return replace(_read(body.value), was_run=was_run)
    return code
