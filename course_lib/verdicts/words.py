"""A verdict as text, for a terminal and for whoever shows no HTML."""

from __future__ import annotations

import textwrap

from course_lib.diagnosis.report import WIDTH
from course_lib.verdicts.facts import Verdict


def text_of(verdict: Verdict) -> str:
    """The report, and below it what passing means, par, where to go on, or an offer of help."""
    parts = [*verdict.stands_in, str(verdict.report)]
    if verdict.report.passed:
        meaning = verdict.task.meaning if verdict.task else ""
        parts += [*_wrapped(meaning.replace("**", "")), *_wrapped(verdict.par)]
        if verdict.onwards:
            parts += _wrapped(f"Next: {verdict.onwards[0]}")
    parts += _wrapped(verdict.offer)
    return "\n".join(parts)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH)
