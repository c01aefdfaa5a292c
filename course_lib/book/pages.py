"""Turns each notebook into the page of a book: what only a running notebook needs is left out.

A page keeps the lesson's cells and their stored outputs, so pictures, figures to play with and
quick checks are alive in it. The call that takes a guess becomes a fold with the reveal, which is
computed when the book is made. What goes: the setup cell, and the launch badge, for the book's own
launch button does its work (and the badge would be fetched from elsewhere).
"""

from __future__ import annotations

import base64
import re
from html import escape
from typing import Any

from course_lib.building.notebook import Cell, Notebook, markdown, source, tags
from course_lib.building.predictions import prediction_placed
from course_lib.questions import find
from course_lib.questions.kinds import Question
from course_lib.questions.reveals import answered, revealed

_BADGE = re.compile(r"\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)\n*")
_NO_ADDRESS = re.compile(r"\*This copy of the course has no address yet[^\n]*\n*")
_FOLD = "<details>\n<summary>Your guess first; then open this</summary>\n\n{}\n\n</details>"
_COLAB_LINK = re.compile(r" \(\[Colab\]\([^)\s]*\)\)")


def page(notebook: Notebook) -> Notebook:
    """The notebook of a lesson or an exercise as a page; the notebook itself stays as it is."""
    cells = [_cell(cell) for cell in notebook["cells"] if not _is_setup(cell)]
    return {**notebook, "cells": cells}


def _is_setup(cell: Cell) -> bool:
    return "setup" in tags(cell)


def _cell(cell: Cell) -> Cell:
    if name := prediction_placed(cell):
        return markdown(folded(find(name)), *tags(cell), id=cell["id"])
    if cell["cell_type"] == "code":
        return _with_words(cell)
    text = _COLAB_LINK.sub("", source(cell))
    if "launch" in tags(cell):
        text = _NO_ADDRESS.sub("", _BADGE.sub("", text))
    return {**cell, "source": text}


def folded(question: Question) -> str:
    """What a prediction reveals, behind a fold, with its picture if it has one."""
    parts = [answered(question), revealed(question)]
    if question.figure is not None:
        picture = question.figure()
        data = base64.b64encode(picture.png()).decode("ascii")
        alt = escape(picture.alt)
        parts.append(f'<img src="data:image/png;base64,{data}" alt="{alt}">')
    return _FOLD.format("\n\n".join(parts))


def _with_words(cell: Cell) -> Cell:
    """A code cell whose pictures carry their words where the book's builder looks for them."""
    words = [each["metadata"]["image/png"]["alt"] for each in cell["outputs"] if _has_words(each)]
    if not words:
        return cell
    image = {"mystnb": {"image": {"alt": " ".join(words)}}}
    return {**cell, "metadata": {**cell["metadata"], **image}}


def _has_words(output: dict[str, Any]) -> bool:
    return "alt" in output.get("metadata", {}).get("image/png", {})
