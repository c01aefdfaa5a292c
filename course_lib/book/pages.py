"""Turns each notebook into the page of a book: what only a running notebook needs is left out.

A page keeps the lesson's cells and their stored outputs, so pictures, figures to play with and
quick checks are alive in it. An answer's cell becomes a live one, and a prediction a card with its
reveal, which is computed when the book is made. What goes: the setup cell, and the launch badge,
for the book's own launch button does its work (and the badge would be fetched from elsewhere).
"""

from __future__ import annotations

import ast
import re
from typing import Any

from course_lib.book.live import alive
from course_lib.building.notebook import Cell, Notebook, source, tags
from course_lib.building.predictions import QUESTION, prediction_placed
from course_lib.building.tasks import PICTURE
from course_lib.questions import find
from course_lib.questions.kinds import Question
from course_lib.questions.prediction_card import html_of

_BADGE = re.compile(r"\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)\n*")
NO_INPUT = "remove-input"  # of myst-nb: a cell's output alone
NOTEBOOK_ONLY = "notebook-only"  # a cell about the notebook itself, such as its keys
OF_A_SESSION = ("course_lib.yours_or_ours", "figures.my_ladder")
_SUMMARY, _BACKTICKS = re.compile(r"<summary>.*?</summary>"), re.compile(r"`([^`]+)`")
_COLAB_LINK = re.compile(r" \(\[Colab\]\([^)\s]*\)\)")


def page(notebook: Notebook) -> Notebook:
    """The notebook of a lesson or an exercise as a page; the notebook itself stays as it is."""
    cells = [_cell(cell) for cell in alive(notebook["cells"]) if not _is_for_notebooks(cell)]
    return {**notebook, "cells": cells}


def _is_for_notebooks(cell: Cell) -> bool:
    """The setup, what else a session needs, and a question that its card repeats."""
    if {"setup", NOTEBOOK_ONLY, QUESTION} & set(tags(cell)):
        return True
    return cell["cell_type"] == "code" and _needs_a_session(source(cell))


def _needs_a_session(text: str) -> bool:
    """Does code do nothing but what concerns a running notebook alone?

    That is to import, to take over what the student has written, and to draw their ladder.
    """
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return False
    return bool(statements) and all(map(_is_of_a_session, statements))


def _is_of_a_session(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in OF_A_SESSION


def _cell(cell: Cell) -> Cell:
    if name := prediction_placed(cell):
        return _card(cell, find(name))
    if cell["cell_type"] == "code":
        return _with_words(_picture_alone(cell))
    text = _COLAB_LINK.sub("", source(cell))
    if "launch" in tags(cell):
        text = _BADGE.sub("", text)
    return {**cell, "source": _SUMMARY.sub(_with_code, text)}


def _with_code(summary: re.Match[str]) -> str:
    """The head of a fold, in which Markdown's backticks mean nothing."""
    return _BACKTICKS.sub(r"<code>\1</code>", summary[0])


def _card(cell: Cell, question: Question) -> Cell:
    """A prediction as a card that needs no kernel, in place of the call that takes a guess."""
    shown = {"text/html": html_of(question), "text/plain": question.asks}
    output = {"output_type": "display_data", "data": shown, "metadata": {}}
    hidden = {"metadata": {**cell["metadata"], "tags": [*tags(cell), NO_INPUT]}}
    return {**cell, **hidden, "outputs": [output]}


def _picture_alone(cell: Cell) -> Cell:
    """The picture of what a task wants, without the call that drew it."""
    if PICTURE not in tags(cell):
        return cell
    return {**cell, "metadata": {**cell["metadata"], "tags": [*tags(cell), NO_INPUT]}}


def _with_words(cell: Cell) -> Cell:
    """A code cell whose pictures carry their words where the book's builder looks for them."""
    words = [each["metadata"]["image/png"]["alt"] for each in cell["outputs"] if _has_words(each)]
    if not words:
        return cell
    image = {"mystnb": {"image": {"alt": " ".join(words)}}}
    return {**cell, "metadata": {**cell["metadata"], **image}}


def _has_words(output: dict[str, Any]) -> bool:
    return "alt" in output.get("metadata", {}).get("image/png", {})
