"""Python files that Jupyter, VS Code or Colab exported from a notebook, as cells again."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from course_lib.emulator.budget import MAX_SOURCE_CHARACTERS
from course_lib.grading.records import CellKind, TextCell

# `# %%`, `# %% [markdown]` (VS Code, Jupytext), `# In[3]:` (Jupyter).
_BOUNDARY = re.compile(
    r"^#[ \t]*(?:%%(?P<rest>.*)|In[ \t]*\[[ \d*]*\]:?[ \t]*)$", re.MULTILINE | re.IGNORECASE
)
_LOOKS_LIKE_PYTHON = re.compile(
    r"^[ \t]*(?:def[ \t]+\w+[ \t]*\(|import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b|@cuda\b"
    r"|#+[ \t]*EXERCISE\b)",
    re.MULTILINE | re.IGNORECASE,
)


def cells(text: str) -> Iterator[TextCell] | None:
    """The cells of a Python file, or None if it does not look like Python."""
    if not _LOOKS_LIKE_PYTHON.search(text):
        return None
    return _between_boundaries(text) if _BOUNDARY.search(text) else _between_strings(text)


def _between_boundaries(text: str) -> Iterator[TextCell]:
    number, begin, kind = 1, 0, _CODE
    for boundary in _BOUNDARY.finditer(text):
        if text[begin : boundary.start()].strip():
            yield TextCell(kind, text[begin : boundary.start()].strip("\n"), number)
            number += 1
        begin, kind = boundary.end(), _kind(boundary["rest"] or "")
    if text[begin:].strip():
        yield TextCell(kind, text[begin:].strip("\n"), number)


def _between_strings(text: str) -> Iterator[TextCell]:
    """Colab writes no boundaries, but each cell of text as a string that stands for itself.

    Empty lines above each cell keep the line numbers of the file.
    """
    number, line, lines = 1, 1, text.split("\n")
    for string, words in _strings(text):
        code = lines[line - 1 : string.lineno - 1]
        if any(map(str.strip, code)):
            yield TextCell(_CODE, "\n" * (line - 1) + "\n".join(code).rstrip(), number)
            number += 1
        yield TextCell("markdown", words, number)
        number, line = number + 1, (string.end_lineno or string.lineno) + 1
    if any(map(str.strip, lines[line - 1 :])):
        yield TextCell(_CODE, "\n" * (line - 1) + "\n".join(lines[line - 1 :]), number)


def _strings(text: str) -> Iterator[tuple[ast.Expr, str]]:
    """The strings at the top level that take whole lines, each as a statement and as its text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the student's code
            body = ast.parse(text).body if len(text) <= MAX_SOURCE_CHARACTERS else []
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for each in body:
        match each:
            case ast.Expr(ast.Constant(str(words))) if each.lineno != each.end_lineno:
                yield each, words


_CODE: CellKind = "code"


def _kind(rest: str) -> CellKind:
    rest = rest.lower()
    if "[markdown]" in rest or "[md]" in rest:
        return "markdown"
    return "raw" if "[raw]" in rest else "code"
