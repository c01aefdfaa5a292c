"""Reads one file that an instructor wrote, and names it and the key in every complaint."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from course_lib.curriculum import TASKS
from course_lib.grading.errors import CannotGrade
from course_lib.grading.graded import why_not_graded
from course_lib.wording.words import decimal

DIGITS = 4  # behind the point of a number


class TomlFile:
    """A TOML file, and what may stand in it; every mistake is one sentence."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        self.path = path
        if text is not None:  # as it was read before
            self.text = text

    def fail(self, sentence: str) -> CannotGrade:
        """The complaint, for `raise`."""
        return CannotGrade(f"{self.path}: {sentence}")

    @cached_property
    def text(self) -> str:
        """All that stands in the file."""
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise self.fail(f"the file cannot be read ({error.strerror}).") from None
        except UnicodeDecodeError:
            raise self.fail("the file is not UTF-8; save it as UTF-8.") from None

    def table(self) -> dict[str, Any]:
        """The same as a table, with numbers just as they stand there."""
        try:
            return tomllib.loads(self.text, parse_float=Decimal)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, too
            why = " ".join(str(error).split())[:200]
            hint = "write text in quotes and lists in brackets"
            raise self.fail(f"this is not TOML ({why}); {hint}.") from None

    def only_known(
        self, table: Mapping[str, Any], known: Iterable[str], what: str, at: str
    ) -> None:
        """Refuse a key that nothing reads."""
        for name in table:
            if name in set(known):
                continue
            if name in TASKS:
                raise self.fail(f"{name} {why_not_graded(name)}.")
            raise self.fail(f"there is no {what} {name!r}{at}; {meant(name, known)}")

    def words(self, value: object, key: str, most: int) -> str:
        """Text of one line."""
        text = " ".join(value.split()) if isinstance(value, str) else ""
        if not text or len(text) > most:
            raise self.fail(
                f"`{key}` is {short(value)}; write text of 1 to {most} characters in quotes."
            )
        return text

    def number(self, value: object, key: str, most: Decimal | int) -> Decimal:
        """A number from 0 on, just as it stands there."""
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            number = Decimal(value)
            if number.is_finite() and 0 <= number <= most and number == round(number, DIGITS):
                return number
        raise self.fail(
            f"`{key}` is {short(value)}; write a number of 0 to {decimal(Decimal(most))}, "
            f"unquoted, of no more than {DIGITS} decimals."
        )


def meant(name: str, known: Iterable[str]) -> str:
    """The near match, or all there are, as the end of a sentence."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are {', '.join(known)}."


def short(value: object) -> str:
    """A value as a complaint quotes it."""
    try:
        text = repr(value)
        if isinstance(value, Decimal):
            text = str(value if value.is_finite() else float(value))
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 60 else text[:57] + "..."
