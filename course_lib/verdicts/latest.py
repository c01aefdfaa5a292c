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

    After a syntax error, or an error above its `def`, the name still stands for what was defined
    before. Nothing is said where IPython keeps no cells, or the answer is that of the last one.
    """
    text = _last_cell(name)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return _refusal(text)
    except ValueError:
        return []
    defined = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    held = read_function(answer)
    if not defined or held is None or held.name != name or _same(held.tree, defined[-1]):
        return []
    said = say("The cell stopped with an error before it came to `def {name}`.", name=name)
    hint = "Which line does the error below that cell name?"
    return rejection("missing-answer", said, defined[-1].lineno, hint).findings


def _last_cell(name: str) -> str:
    """The last cell that was run with this answer in it, whether Python could read it or not."""
    shell = front_end.shell()
    cells = shell.user_ns.get("In", []) if shell else []
    begins = re.compile(
        rf"\s*# (?:EXERCISE|TASK) {name}\b|^(?:async )?def {name}\b", re.MULTILINE | re.ASCII
    )
    last = next((n for n in reversed(range(len(cells))) if begins.search(cells[n])), None)
    if last is None:
        return ""
    # IPython drops the empty lines on top, which a front end counts.
    typed = shell.history_manager.input_hist_raw[last]
    return "\n" * (len(typed) - len(typed.lstrip("\n"))) + str(cells[last])


def _refusal(text: str) -> list[Finding]:
    try:
        load_program(text)
    except KernelRejected as refused:
        return refused.findings
    return []  # the emulator's reader takes away what was pasted along


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)
