"""Sentences that remember what they were made of: a template, and the facts that stand in it.

What is found is a set of facts; words come last, and they depend on who reads them. A sentence is
the text as a student reads it at home, where all inputs are known. `told` gives the text for
somebody else, made anew from the same facts. Nothing in the course reads a sentence back: who
needs a fact takes the fact. This module imports nothing else of the course.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from types import NoneType
from typing import Literal, get_args

# A student at home; a student whose answer was graded on inputs that are nobody's to know; and
# whoever grades, and may know all of them.
Audience = Literal["student", "graded student", "instructor"]

AUDIENCES: tuple[Audience, ...] = get_args(Audience)
_FACT = re.compile(r"\{(\w+)\}")


class Told:
    """A fact that reads differently for different people."""

    def told(self, audience: Audience) -> str:
        """The fact in words."""
        raise NotImplementedError


class Sentence(str, Told):
    """One or more sentences, as a student reads them at home.

    Attributes:
        template: the words, with {names} of facts in them.
        others: those for other readers, where they are others.
        facts: by name, what the words say: text, numbers, sentences, or anything that is `Told`.
    """

    template: str
    others: Mapping[Audience, str]
    facts: Mapping[str, object]

    def __new__(
        cls, template: str, others: Mapping[Audience, str], facts: Mapping[str, object]
    ) -> Sentence:
        self = super().__new__(cls, render(template, facts, "student"))
        self.template, self.others, self.facts = template, others, facts
        return self

    def __getnewargs__(  # type: ignore[override]  # a str has one argument, this one three
        self,
    ) -> tuple[str, Mapping[Audience, str], Mapping[str, object]]:
        return self.template, self.others, self.facts  # to copy or to send it

    def told(self, audience: Audience) -> str:
        """The same for another reader."""
        return render(self.others.get(audience, self.template), self.facts, audience)


def say(template: str, *, graded: str = "", instructor: str = "", **facts: object) -> Sentence:
    """A sentence of these facts: say("{array} ends at {last}.", array="A", last=9).

    Args:
        template: the words; a name in braces stands for the fact of that name.
        graded: the words on a page about inputs that were drawn for grading, where they may say
            less. Of every fact in them, `told` has decided what stands there.
        instructor: the words for whoever grades, where they say more, or say it to nobody.
        facts: text, numbers, other sentences, or anything that is `Told`.

    Raises:
        KeyError: for a name in braces that is no fact.
    """
    others: dict[Audience, str] = {"graded student": graded, "instructor": instructor}
    kept = {name: _kept(fact) for name, fact in facts.items()}
    return Sentence(template, {who: text for who, text in others.items() if text}, kept)


def _kept(fact: object) -> object:
    """A fact as a sentence keeps it: a sentence can be sent, so it holds nobody's objects."""
    if isinstance(fact, (str, Number, tuple, NoneType, Told)):
        return fact
    return str(fact)


def one_after_another(said: Iterable[str]) -> Sentence:
    """Several sentences as one."""
    facts = {f"part_{number}": sentence for number, sentence in enumerate(said)}
    return Sentence(" ".join(f"{{{name}}}" for name in facts), {}, facts)


def with_values(said: str, values: str) -> str:
    """A sentence, and one of numbers that come from the inputs.

    An answer could carry an input out in what it computes, so a student whose answer was graded is
    not told the second one.
    """
    return say("{said} {values}", graded="{said}", said=said, values=values) if values else said


def render(template: str, facts: Mapping[str, object], audience: Audience) -> str:
    """The words for a reader. Text of an answer stands in facts, and is never a template."""
    return _FACT.sub(lambda found: told(facts[found[1]], audience), template)


def told(fact: object, audience: Audience) -> str:
    """A fact, or a sentence, in words for a reader; plain text is the same for everybody."""
    return fact.told(audience) if isinstance(fact, Told) else str(fact)


def whole(said: str, audience: Audience) -> str:
    """A finding's sentence as it stands on a page: with a capital, unless a name begins it."""
    return Capital(said).told(audience)


def in_words(wordings: Sequence[str], facts: Mapping[str, object] | None = None) -> Sentence:
    """A sentence of which the wordings stand for themselves, for whoever shortens or keeps them.

    Args:
        wordings: the text for each of `AUDIENCES`.
        facts: those that it had; they go on being known.
    """
    home, graded, instructor = wordings
    kept = {**(facts or {}), "home": home, "graded": graded, "instructor": instructor}
    return Sentence("{home}", {"graded student": "{graded}", "instructor": "{instructor}"}, kept)


def facts_of(said: object) -> Mapping[str, object]:
    """All facts of a sentence, those of the sentences within it among them; none of plain text."""
    found: dict[str, object] = {}
    for name, fact in getattr(said, "facts", {}).items():
        found |= facts_of(fact.said if isinstance(fact, Capital) else fact)
        found[name] = fact
    return found


@dataclass(frozen=True)
class Capital(Told):
    """A sentence, or its first fact, at the beginning of a line or after a full stop."""

    said: str | Told

    def told(self, audience: Audience) -> str:
        """It with a capital, unless its first word is a name of the answer: `x`, "sA[3]"."""
        text = told(self.said, audience)
        return text if _begins_with_a_name(self.said) else text[:1].upper() + text[1:]


def _begins_with_a_name(said: object) -> bool:
    """Is the first word a fact that is plain text? What the course itself says of it is none."""
    if not isinstance(said, Sentence):
        return False
    first = _FACT.match(said.template)
    fact = said.facts[first[1]] if first else None
    return type(fact) is str or _begins_with_a_name(fact)


@dataclass(frozen=True)
class Index(Told):
    """An index that an answer has used, "index 40".

    Within twice the array and a block, a wrong index is a slip. One beyond may be an input in
    disguise, so a student whose answer was graded is only told that it is far outside.

    Attributes:
        number: the index.
        last: the last one that the array has; None where that is not told.
        name: what it is called.
    """

    number: int
    last: int | None = None
    name: str = "index"

    LARGEST_BLOCK = 1024
    LARGEST = 100_000  # where no end of an axis is told; ours are far shorter

    def told(self, audience: Audience) -> str:
        """ "index 40", or "an index far outside"."""
        most = self.LARGEST if self.last is None else 2 * (self.last + 1) + self.LARGEST_BLOCK
        if audience != "graded student" or abs(self.number) <= most:
            return f"{self.name} {self.number}"
        return f"{'a' if self.name[0] == 'f' else 'an'} {self.name} far outside"


@dataclass(frozen=True)
class Line(Told):
    """A line of an answer, "line 7".

    The notebook around an answer is read as well, and a number that its lines have here tells
    nobody anything.

    Attributes:
        number: the line's.
    """

    number: int

    FIRST_AROUND = 1_000_000  # of the notebook around; no answer has so many lines

    def told(self, audience: Audience) -> str:
        """ "line 7", or "a line outside this answer"."""
        return (
            "a line outside this answer"
            if self.number >= self.FIRST_AROUND
            else f"line {self.number}"
        )
