"""Answers what a page asks its worker: JSON in, JSON out, and nothing is ever raised."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.student import progress
from course_lib.tab.checks import Tell, around, check, show_answer
from course_lib.tab.fields import Fields, Refused, text
from course_lib.verdicts import page
from course_lib.verdicts.verdict import PAGE, verdict_of
from course_lib.wording.errors import PlainError


def answer(asked: str, tell: Callable[[str], object] = lambda early: None) -> str:
    """The answer to a request.

    Args:
        asked: JSON, an object whose "do" says what is wanted: one of `ANSWERED_BY`.
        tell: is told, as JSON, what of the answer is known early; see `check`.

    Returns:
        JSON, an object: "ok" is true and the rest is the answer, or it is false and "said" holds
        one sentence.
    """
    try:
        return json.dumps({"ok": True, **_answered(asked, lambda early: tell(json.dumps(early)))})
    except (Refused, PlainError) as refused:
        said = str(refused)
    except Exception as error:  # a fault of the course's own must not end the worker
        said = (
            f"The course itself failed here ({type(error).__name__}: {error}); this is not your "
            "mistake."
        )
    return json.dumps({"ok": False, "said": said})


def warm_up() -> None:
    """Judge a right answer: what is made at first use is there before the first verdict."""
    task = next(iter(TASKS.values()))
    report = examine_source(task.id, task.answer, context=around(task).context)
    page.html_of(verdict_of(report, task, None, PAGE))


def _answered(asked: str, tell: Tell) -> dict[str, Any]:
    try:
        fields = json.loads(asked)
    except (TypeError, ValueError, RecursionError):
        fields = None
    wanted = fields.get("do") if isinstance(fields, dict) else None
    if not isinstance(wanted, str) or wanted not in ANSWERED_BY:
        raise Refused(f"A request says what to do: one of {', '.join(ANSWERED_BY)}.")
    return ANSWERED_BY[wanted](fields, tell)


def _show_answer(fields: Fields, tell: Tell) -> dict[str, Any]:
    return show_answer(fields)


def _restore(fields: Fields, tell: Tell) -> dict[str, Any]:
    try:
        said = progress.restore(text(fields, "file"))
    except ValueError as damaged:
        raise Refused(str(damaged)) from None
    return {"said": said, "progress": progress.exported()}


def _figure(fields: Fields, tell: Tell) -> dict[str, Any]:
    from course_lib.tab.checks import figure  # late: the first verdict does not wait for it

    return figure(fields)


def _play(fields: Fields, tell: Tell) -> dict[str, Any]:
    from course_lib.tab.play import answer_play  # late, too

    return answer_play(fields)


ANSWERED_BY: Mapping[str, Callable[[Fields, Tell], dict[str, Any]]] = {
    "check": check,
    "answer": _show_answer,
    "figure": _figure,
    "restore": _restore,
    "play": _play,
}
