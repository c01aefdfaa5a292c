"""Show a prediction as a card of a book's page: a guess first, and the reveal only then.

The card needs no kernel. Where scripts do not run, the reveal stands behind a fold.
"""

from __future__ import annotations

import base64
import re

from course_lib.questions.card import READING, answers_of, encoded, inline
from course_lib.questions.kinds import Choose, Number, Question
from course_lib.questions.reveals import answered, compared_choice, revealed
from course_lib.web import escape, fragment, read_beside

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_STRESSED = re.compile(r"\*(.+?)\*")


def html_of(question: Question) -> str:
    """The whole card of a prediction, in one piece."""
    css = read_beside("course_lib.questions", "card.css").replace(".ml-quiz", ".ml-prediction")
    css += read_beside("course_lib.questions", "prediction.css")
    names = ("prediction.js", READING)
    script = "".join(read_beside("course_lib.questions", name) for name in names)
    return fragment("prediction", css, _body(question), script, _data(question))


def _data(question: Question) -> dict[str, str]:
    if isinstance(question, Number):
        sheet = {
            "rows": question.rows(),
            "otherwise": question.otherwise(),
            "value": float(question.value()),
        }
        return {"kind": "number", "unit": question.unit, "sheet": encoded(sheet)}
    assert isinstance(question, Choose)
    rows = [
        (letter, right, f"{compared_choice(question, letter)} {why}".strip())
        for letter, right, why in question.rows()
    ]
    return {"kind": "choice", "unit": "", "sheet": encoded({"rows": rows})}


def _body(question: Question) -> str:
    entry = answers_of(question, "Your guess")
    return (
        f'<p class="ml-title">Predict <span class="ml-muted">{escape(question.id)}</span></p>\n'
        f"<fieldset>\n<legend>{_rich(question.asks)}</legend>\n{entry}</fieldset>\n"
        '<p class="act"></p>\n'
        '<div class="verdict" role="status" aria-live="polite"></div>\n'
        '<details class="fold"><summary>Your guess first; then open this</summary>\n'
        f"<p>{_rich(answered(question))}</p>\n"
        f'<div class="told"><p>{_rich(revealed(question))}</p>'
        f"{_listing(question)}{_picture(question)}</div></details>"
    )


def _listing(question: Question) -> str:
    code = question.revealed_code.strip()
    return f'<pre class="code" tabindex="0">{escape(code)}</pre>' if code else ""


def _picture(question: Question) -> str:
    if question.figure is None:
        return ""
    picture = question.figure()
    data = base64.b64encode(picture.png()).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" alt="{escape(picture.alt)}">'


def _rich(text: str) -> str:
    """A sentence as HTML: code, and what is bold or stressed outside it."""
    parts = re.split(r"(<code>.*?</code>)", inline(text))
    for place in range(0, len(parts), 2):
        parts[place] = _STRESSED.sub(
            r"<em>\1</em>", _BOLD.sub(r"<strong>\1</strong>", parts[place])
        )
    return "".join(parts)
