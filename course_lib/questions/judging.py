"""Judge an answer to a quick check; card.js does the same in the browser, from the same rows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from course_lib.questions.kinds import Choose, FillIn, Number, Question, WhichLine, plain

# 1,024 and 1 024 and 1_024 are one number; so are 0.25 and 0,25, and 1/12 is one, too.
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class CannotRead(ValueError):
    """An answer that is none; the message says what would be one."""


@dataclass(frozen=True)
class GuessVerdict:
    right: bool
    why: str


def judge(question: Question, given: object) -> GuessVerdict:
    """Whether an answer is right, and the reason for it.

    Raises:
        CannotRead: if it is no answer to this kind of question.
    """
    answer = read(question, given)
    for match, right, why in question.rows():
        if _fits(answer, match):
            return GuessVerdict(right, why)
    return GuessVerdict(False, question.otherwise())


def number_from(text: str, unit: str = "") -> float | None:
    """The number that somebody wrote, the unit behind it or not; None if it is no number."""
    words = text.strip().casefold()
    words = words.removesuffix(unit.casefold()).strip() if unit else words
    top, slash, bottom = words.partition("/")
    above, below = _decimal(top), _decimal(bottom) if slash else 1.0
    if above is None or not below:
        return None
    number = above / below
    return number if math.isfinite(number) else None


def _decimal(text: str) -> float | None:
    text = re.sub(r"[\s_'’\u2009\u202f]", "", text)
    text = text.replace(",", "" if _GROUPED.fullmatch(text) else ".")
    return float(text) if _DECIMAL.fullmatch(text) else None


def read(question: Question, given: object) -> str | float:
    """What somebody answered: a float for a number, else a letter, a line's number or plain words.

    Raises:
        CannotRead: if it is no answer to this kind of question.
    """
    if given is ...:
        raise CannotRead("Put your answer in place of the three dots.")
    text = str(given).strip()
    if isinstance(question, Choose):
        if not isinstance(given, str):
            raise CannotRead('Write the letter of your choice in quotes, for example "a".')
        letter = text.casefold().strip("().\"' ")
        return _one_of(letter, list(question.lettered()), "choice", given)
    if isinstance(question, WhichLine):
        line = text.casefold().removeprefix("line").strip()
        return _one_of(line, list(question.lines()), "line", given)
    if isinstance(question, Number):
        number = None if isinstance(given, bool) else number_from(text, question.unit)
        if number is None:
            raise CannotRead(
                f"{text!r} is not a number that I can read. Write it like 8, 0.25, 1/12 or 1e9, "
                f"{'without a unit' if not question.unit else f'in {question.unit}'}."
            )
        return number
    if isinstance(question, FillIn) and not plain(text):
        raise CannotRead("Write a word or a piece of code, in quotation marks.")
    return plain(text)


def _one_of(found: str, known: list[str], what: str, given: object) -> str:
    if found in known:
        return found
    shown = f"{known[0]} to {known[-1]}" if len(known) > 6 else ", ".join(known)
    blank = " (blank lines are not counted as answers)" if what == "line" else ""
    raise CannotRead(f"There is no {what} {str(given)!r} here. There are: {shown}{blank}.")


def _fits(answer: str | float, match: Any) -> bool:
    if isinstance(answer, float):
        low, high = match
        return bool(low <= answer <= high)
    return answer in match if isinstance(match, list) else answer == match
