"""Show a quick check: as a card of HTML that needs no kernel, and as text for everyone else.

The answers and their reasons travel with the card, so that it works in a book; they are encoded,
so that nobody reads them by accident.

A notebook that was not run yet shows its stored cards without their style and script, since
JupyterLab does not trust them. So every answer has a line of its own in plain HTML, too.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from course_lib.questions.kinds import Choose, FillIn, Number, Question, WhichLine
from course_lib.web import escape, fragment, read_beside

READING = "reading.js"  # how scripts read an answer and say a reason
_CODE = re.compile(r"`([^`]+)`")
_UNBREAKABLE = "\N{NO-BREAK SPACE}"
_RADIO = '<input type="radio" name="answer" value="{}">'


def html_of(question: Question) -> str:
    """The whole card, in one piece."""
    css = read_beside("course_lib.questions", "card.css")
    script = "".join(read_beside("course_lib.questions", name) for name in ("card.js", READING))
    return fragment("quiz", css, _body(question), script, data_of(question))


def text_of(question: Question) -> str:
    """The question as a terminal shows it, and how to answer there."""
    parts = [f"Quick check {question.id}", question.asks]
    if isinstance(question, WhichLine):
        parts.append("\n".join(f"{number:>4}  {text}" for number, text in _listing(question)))
    elif question.code:
        parts.append("\n".join(f"    {line}" for line in question.code.strip("\n").splitlines()))
    if isinstance(question, Choose):
        letters = question.lettered().items()
        parts.append("\n".join(f"  {letter}) {choice.words}" for letter, choice in letters))
    parts.append(f"To answer: {call_for(question)}  # replace the dots with {expected(question)}")
    return "\n\n".join(parts)


def call_for(question: Question) -> str:
    """The call that answers a question in any front end."""
    return f'course_lib.quiz.answer("{question.id}", ...)'


def encoded(sheet: Mapping[str, Any]) -> str:
    """Answers and reasons, not to be read at a glance."""
    return base64.b64encode(json.dumps(sheet, ensure_ascii=False).encode()).decode("ascii")


def _sheet(question: Question) -> dict[str, Any]:
    return {
        "rows": question.rows(),
        "otherwise": question.otherwise(),
        "hint": question.hint,
    }


def data_of(question: Question) -> dict[str, str]:
    """What the script of a card is given."""
    kind = {Choose: "choice", WhichLine: "line", Number: "number", FillIn: "words"}[type(question)]
    unit = question.unit if isinstance(question, Number) else ""
    return {"kind": kind, "unit": unit, "sheet": encoded(_sheet(question))}


def _body(question: Question) -> str:
    # JupyterLab takes arrow keys and Enter for its own unless told to leave them to the card.
    return (
        '<div class="ask" data-lm-suppress-shortcuts="true">\n'
        f'<p class="ml-title">Quick check <span class="ml-muted">{escape(question.id)}</span></p>\n'
        f"<fieldset>\n<legend>{inline(question.asks)}</legend>\n{answers_of(question)}</fieldset>\n"
        '<p class="act"></p>\n'
        '<div class="verdict" role="status" aria-live="polite"></div>\n'
        '<p class="ml-muted fallback">No button? Run this cell. If there still is none, write '
        f"<code>{escape(call_for(question))}</code> and replace the dots with "
        f"{expected(question)}.</p>\n"
        "</div>"
    )


def answers_of(question: Question, label: str = "Your answer") -> str:
    """Where somebody answers: the choices, the lines or an entry, with the listing above them."""
    if isinstance(question, WhichLine):
        return f'<div class="lines">{"".join(_line(*line) for line in _listing(question))}</div>\n'
    code = question.code.strip("\n")
    shown = f'<pre class="code" tabindex="0">{escape(code)}</pre>\n' if code else ""
    if isinstance(question, Choose):
        for letter, choice in question.lettered().items():
            words = f"<span>{letter}) {inline(choice.words)}</span>"
            shown += f"<div><label>{_RADIO.format(letter)} {words}</label></div>\n"
        return shown
    unit = question.unit if isinstance(question, Number) else ""
    beside = f" <span>{escape(unit)}</span>" if unit else ""
    size = 12 if isinstance(question, Number) else 28
    entry = f'<input type="text" size="{size}" autocomplete="off" spellcheck="false">'
    return f"{shown}<div><label>{label}: {entry}{beside}</label></div>\n"


def _listing(question: WhichLine) -> list[tuple[str, str]]:
    """Every line with its number; blank lines have none, since nobody can choose them."""
    numbered = enumerate(question.code.splitlines(), 1)
    return [(str(number) if text.strip() else "", text) for number, text in numbered]


def _line(number: str, text: str) -> str:
    if not number:
        return '<div class="blank"></div>\n'
    indent = len(text) - len(text.lstrip())
    source = _UNBREAKABLE * indent + escape(text.lstrip())
    label = f'<span class="number">{number}</span> <code class="source">{source}</code>'
    return f"<div><label>{_RADIO.format(number)} {label}</label></div>\n"


def expected(question: Question) -> str:
    """What stands in place of the dots in a call that answers a question."""
    if isinstance(question, Choose):
        return 'a letter, such as "a"'
    if isinstance(question, WhichLine):
        return "the number of a line"
    if isinstance(question, Number):
        unit = f" ({question.unit})" if question.unit else ""
        return f"your number{unit}"
    return "your words, in quotation marks"


def inline(text: str) -> str:
    """A sentence as HTML, with its `backticked` parts as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))
