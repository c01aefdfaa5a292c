"""What every HTML output of the course shares: colours, escaping, and the way it starts.

Owns: what the pages of verdicts, questions, grading and figures share.
May import: nothing of the course.
Start with: this file.

It wraps HTML, CSS and JavaScript into one output that runs wherever a notebook is shown. Front ends
differ in how they run a script of an output: a page runs it where it stands, JupyterLab puts a copy
in its place, VS Code appends the copy elsewhere. So a script never asks where it stands; it looks
for outputs of its kind that nobody has started yet. Two copies of an output on one page then both
live, and nothing is left in the page's global names.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

_KIND = re.compile(r"[a-z][a-z-]*")


def escape(words: str) -> str:
    """Words as they may stand between tags, and in an attribute within double quotes."""
    return html.escape(words, quote=True)


def json_for_html(data: Any) -> str:
    """JSON that no browser can take for the end of a script or the start of a tag."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def read_beside(package: str, name: str) -> str:
    """The text of a CSS or JavaScript file that lies in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def still(kind: str, css: str, body: str) -> str:
    """One output without a script: a card with the course's theme. See `fragment`."""
    return _card(kind, css, body)


def fragment(
    kind: str,
    css: str,
    body: str,
    script: str,
    data: Mapping[str, Any] | Sequence[Any] = (),
) -> str:
    """One output: a card with the course's theme, its body, its data and its script.

    Args:
        kind: which script belongs to this output, such as "figure". The card gets the classes
            `ml` (every output of the course) and `ml-KIND`.
        css: rules beside those of theme.css; let each selector begin with `.ml-KIND`.
        body: HTML in which every word from outside went through `escape`. It is what a reader
            without JavaScript sees.
        script: JavaScript that holds `function start(card, data) { … }`, called once for each card.
        data: handed to `start`; anything that JSON can hold.
    """
    return _card(
        kind,
        css,
        f"{body}\n"
        f'<script type="application/json" class="ml-data">{json_for_html(data)}</script>\n'
        f"<script>{running(kind, script)}</script>",
    )


def running(kind: str, script: str) -> str:
    """What a script of this kind is in a page: always the same text, whatever the data."""
    _must_not_end(kind, "script", script)
    starter = read_beside("course_lib.web", "start.js").replace("KIND", kind)
    return f'(function () {{\n"use strict";\n{script}\n{starter}}})();'


def _card(kind: str, css: str, inside: str) -> str:
    if not _KIND.fullmatch(kind):
        raise ValueError(f"A kind is a word in lower case, not {kind!r}.")
    _must_not_end(kind, "style", css)
    return (
        f'<div class="ml ml-{kind} tex2jax_ignore mathjax_ignore">'
        f"<style>{read_beside('course_lib.web', 'theme.css')}{css}</style>\n"
        f"{inside}\n"
        "</div>"
    )


def _must_not_end(kind: str, tag: str, text: str) -> None:
    if f"</{tag}" in text.lower():
        raise ValueError(f"The {tag} of {kind!r} would end too early: it holds '</{tag}'.")
