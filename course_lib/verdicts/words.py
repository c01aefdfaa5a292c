"""A verdict as text, for a terminal and for whoever shows no HTML."""

from __future__ import annotations

import textwrap

from course_lib.diagnosis.report import WIDTH
from course_lib.own_ladder import OwnRung
from course_lib.verdicts.verdict import Verdict


def text_of(verdict: Verdict) -> str:
    """The report, and below it what passing means, par, where to go on, or an offer of help."""
    parts = [*verdict.stands_in, str(verdict.report)]
    if verdict.report.passed:
        meaning = verdict.task.meaning if verdict.task else ""
        parts += [*_wrapped(meaning.replace("**", "")), *_wrapped(verdict.par)]
        parts += [*map(_rung, reversed(verdict.rungs))]
        if verdict.onwards:
            parts += _wrapped(f"Next: {verdict.onwards[0]}")
    parts += _wrapped(verdict.offer)
    return "\n".join(parts)


def _rung(step: OwnRung) -> str:
    """A rung of the student's ladder in one line."""
    name, sectors = step.rung, "global_load_sectors"
    yours, ours = (
        f"{each[sectors]:,}" if sectors in each else "not counted"
        for each in (step.yours, step.ours)
    )
    least = f", at least {step.ladder.least_sectors:,}" if step.ladder.least_sectors else ""
    time = f", {step.time}" if step.time else ""
    return f"Rung {name}: {yours} sectors loaded, ours {ours}{least}{time}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH)
