"""Reads the hints of an exercise from the instructor's notebook, where they stand in folds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_lib.building.exercises import exercise_id
from course_lib.building.notebook import BuildError, read, source
from course_lib.web import escape

_FOLD = re.compile(r"<details>\s*<summary>(Hint[^<]*)</summary>(.*?)</details>", re.DOTALL)
_MARKS = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<!\*)\*([^*\s][^*]*)\*(?!\*)"), r"<em>\1</em>"),
)


@dataclass(frozen=True)
class Hint:
    """One fold: its title, and its text; of Markdown they use code, bold and italics."""

    title: str
    text: str

    def title_as_html(self) -> str:
        """The title between tags."""
        return _inline(self.title)

    def as_html(self) -> str:
        """The text as paragraphs."""
        return "".join(f"<p>{_inline(each)}</p>" for each in self.text.split("\n\n"))


@cache
def read_hints(folder: Path) -> dict[str, tuple[Hint, ...]]:
    """The hints of every exercise in a folder of notebooks: those that follow its answer cell."""
    found: dict[str, tuple[Hint, ...]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        try:
            cells = read(path)["cells"]
        except (BuildError, OSError):
            continue  # its exercises have no hints; that costs nobody a point
        current = None
        for cell in cells:
            current = exercise_id(cell) or current
            if current and cell["cell_type"] == "markdown":
                hints = (Hint(*map(str.strip, each)) for each in _FOLD.findall(source(cell)))
                found[current] = (*found.get(current, ()), *hints)
    return found


def _inline(paragraph: str) -> str:
    text = escape(" ".join(paragraph.split()))
    for mark, html in _MARKS:
        text = mark.sub(html, text)
    return text
