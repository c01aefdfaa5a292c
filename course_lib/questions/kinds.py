"""Say what a quick check or a prediction is: four kinds of question, as data, with their reasons.

A prediction is a question with a `reveal`. Numbers are never written down here or in the lessons'
modules: a function computes them from the emulator or a formula when somebody asks, so an answer
cannot drift away from the course.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

# What an answer is compared with: (match, right?, reason). The match is a choice's letter, a
# line's number, a list of spellings, or the two ends of a range of numbers.
Row = tuple[Any, bool, str]

EQUAL = 1e-9  # relative: numbers that are meant to be equal
ROUNDED = 0.01  # how far off a wrong number with a fraction may be written


class Drawn(Protocol):
    """A picture with the words that say the same, such as those of course_lib.figures."""

    @property
    def alt(self) -> str: ...

    def png(self) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all kinds share.

    Attributes:
        id: "NN-slug", NN being the lesson's number.
        asks: the question, one paragraph; `backticks` mark code.
        code: a listing shown below it, or nothing.
        hint: shown after the second wrong try; names the way, not the answer.
        reveal: makes the question a prediction, and is said after any guess. It writes no number
            down: `{answer}` stands for the right number, and other names stand for `facts`.
        revealed_code: a listing shown below the reveal, never before it.
        facts: computes the numbers (or words) that the reveal names.
        spoilers: what nothing before a prediction may show: words, or patterns of regular
            expressions; both whatever the case.
        figure: draws the picture that belongs to the reveal, only once it is due.
    """

    id: str
    asks: str
    code: str = ""
    hint: str = ""
    reveal: str = ""
    revealed_code: str = ""
    facts: Callable[[], Mapping[str, object]] = dict
    spoilers: tuple[str | re.Pattern[str], ...] = ()
    figure: Callable[[], Drawn] | None = None

    @property
    def is_prediction(self) -> bool:
        return bool(self.reveal)

    def rows(self) -> list[Row]:
        """Every answer that has a reason of its own; the first match counts."""
        raise NotImplementedError

    def otherwise(self) -> str:
        """What any other answer is told; only kinds with free answers need it."""
        return ""


@dataclass(frozen=True)
class Choice:
    """One of the answers to choose from, and why it is right or wrong."""

    words: str
    why: str
    right: bool = False


@dataclass(frozen=True, kw_only=True)
class Choose(Question):
    """One of several sentences is right; they are lettered a, b, c in their order."""

    choices: tuple[Choice, ...]

    def lettered(self) -> dict[str, Choice]:
        return {chr(ord("a") + place): choice for place, choice in enumerate(self.choices)}

    def rows(self) -> list[Row]:
        return [(letter, choice.right, choice.why) for letter, choice in self.lettered().items()]


@dataclass(frozen=True)
class Trap:
    """A wrong number that people do arrive at, and what it really stands for."""

    value: Callable[[], float]
    why: str


@dataclass(frozen=True, kw_only=True)
class Number(Question):
    """A number to predict.

    Attributes:
        value: computes the right number.
        unit: what is counted, shown behind the input; nothing for an index.
        why: the reason for the right number; `{answer}` in it stands for the number. A prediction
            needs none, for its reveal says it.
        within: how far off, relatively, still counts as right.
        slips: wrong numbers with a reason of their own.
        other: what any other number is told: how to compute it; a prediction may do without.
    """

    value: Callable[[], float]
    unit: str
    why: str = ""
    other: str = ""
    within: float = EQUAL
    slips: tuple[Trap, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", cache(self.value))  # a launch, most often

    def rows(self) -> list[Row]:
        value = self.value()
        right = (_around(value, self.within), True, self.why.replace("{answer}", shown(value)))
        return [right, *(_row_of_slip(trap) for trap in self.slips)]

    def otherwise(self) -> str:
        return self.other


@dataclass(frozen=True)
class Misread:
    """Wrong words that people do write, and why they are wrong."""

    spellings: tuple[str, ...]
    why: str


@dataclass(frozen=True, kw_only=True)
class FillIn(Question):
    """A word or a piece of code to write; capitals and spaces don't matter."""

    accepts: tuple[str, ...]
    why: str
    other: str
    misread: tuple[Misread, ...] = ()

    def rows(self) -> list[Row]:
        right: Row = (_plain_all(self.accepts), True, self.why)
        return [
            right,
            *((_plain_all(misread.spellings), False, misread.why) for misread in self.misread),
        ]

    def otherwise(self) -> str:
        return self.other


@dataclass(frozen=True)
class Suspect:
    """A line that looks guilty and is not; named by a part of it that no other line has."""

    part: str
    why: str


@dataclass(frozen=True, kw_only=True)
class WhichLine(Question):
    """One line of `code` is wrong.

    Attributes:
        line: a part of that line that no other line has.
        why: the reason.
        innocent: what any other line is told.
        suspects: lines that look guilty, each with a reason of its own.
        proof: runs the listing and gives the line that the emulator's report names.
    """

    line: str
    why: str
    innocent: str
    proof: Callable[[], int]
    suspects: tuple[Suspect, ...] = ()

    def lines(self) -> dict[str, str]:
        """The lines that can be chosen, by their number."""
        numbered = enumerate(self.code.splitlines(), 1)
        return {str(number): text for number, text in numbered if text.strip()}

    def number_of(self, part: str) -> str:
        """The number of the one line that holds this part."""
        found = [number for number, text in self.lines().items() if part in text]
        if len(found) != 1:
            raise ValueError(f"{self.id}: {part!r} stands in {len(found)} lines instead of one.")
        return found[0]

    def rows(self) -> list[Row]:
        special = {self.number_of(suspect.part): suspect.why for suspect in self.suspects}
        right = self.number_of(self.line)
        rows: list[Row] = [(right, True, self.why)]
        for number in self.lines():
            if number != right:
                rows.append((number, False, special.get(number, self.innocent)))
        return rows


def shown(value: float) -> str:
    """A number as a sentence has it: 131,072 or 0.25."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}"


def tells_times(value: float) -> re.Pattern[str]:
    """A spoiler that finds a measured factor, however it is rounded: "4.2 times", "4.18 times"."""
    rounded = dict.fromkeys((f"{value:.1f}", f"{value:.2f}", shown(value)))
    return re.compile(rf"\b({'|'.join(map(re.escape, rounded))}) times")


def plain(words: str) -> str:
    """Words without what does not matter: capitals, spaces, quotes, a full stop at the end."""
    kept = [
        character
        for character in words.casefold()
        if not character.isspace() and character not in "`'\"“”"
    ]
    return "".join(kept).rstrip(".;")


def _row_of_slip(slip: Trap) -> Row:
    value = float(slip.value())
    return (_around(value, EQUAL if value.is_integer() else ROUNDED), False, slip.why)


def _plain_all(spellings: tuple[str, ...]) -> list[str]:
    return [plain(spelling) for spelling in spellings]


def _around(value: float, within: float) -> list[float]:
    margin = abs(value) * within
    return [float(value) - margin, float(value) + margin]
