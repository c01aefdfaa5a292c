"""Tells when an answer's cell was run again and did not define it: what is at hand is older."""

from __future__ import annotations

import ast
import re

from course_lib import front_end
from course_lib.emulator import KernelRejected, load_program
from course_lib.emulator.errors import rejection
from course_lib.findings import Finding
from course_lib.sentences import say
from course_lib.verdicts.typed import read_function


def failed_since(name: str, answer: object) -> list[Finding]:
    """What is wrong with the last text of an answer's cell, if it did not come to be the answer.

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
    said = say("The cell stopped with an error before it had defined {name}.", name=name)
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
