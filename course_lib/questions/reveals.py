"""Say what a guess is told: how far off it was, the reason for its slip, and what the run gives."""

from __future__ import annotations

import math
import re

from course_lib.questions.judging import judge, read
from course_lib.questions.kinds import EQUAL, Choose, Number, Question, shown

FACTOR = 2  # from here on, how far off a guess is says more as a factor than as a difference
_NAMED = re.compile(r"\{(\w+)\}")


def told(question: Question, guess: object) -> tuple[str, str]:
    """Two paragraphs for a guess: how far off it is and why, then the reveal.

    Raises:
        CannotRead: if it is no answer to this kind of question.
    """
    said, verdict = read(question, guess), judge(question, guess)
    if isinstance(said, float):
        compared = _numbers(question, said, verdict.right)
    else:
        compared = compared_choice(question, said)
    return f"{compared} {verdict.why}".strip(), revealed(question)


def compared_choice(question: Question, letter: str) -> str:
    """What somebody is told first who chose this letter."""
    right, words = _right_choice(question)
    if letter == right:
        return f"You said {letter}, which is right."
    return f"You said {letter}; it is {right}: {words}"


def revealed(question: Question) -> str:
    """What is said after any guess, with its numbers.

    Raises:
        KeyError: if it names what `facts` does not compute.
    """
    facts = {"answer": answer_of(question), **question.facts()}
    return _NAMED.sub(lambda found: _in_words(facts[found[1]]), question.reveal)


def answered(question: Question) -> str:
    """The right answer as a sentence, for somebody who has told no guess."""
    if isinstance(question, Choose):
        return "It is {}: {}".format(*_right_choice(question))
    return f"It is {answer_of(question)}."


def answer_of(question: Question) -> str:
    """The right answer as a sentence has it: a number, or the words of the right choice."""
    if isinstance(question, Number):
        return shown(question.value())
    return _right_choice(question)[1].rstrip(".")


def right_guess(question: Question) -> str:
    """The right answer as somebody types it into `predict`."""
    if isinstance(question, Number):
        return repr(float(question.value()))
    return f'"{_right_choice(question)[0]}"'


def _right_choice(question: Question) -> tuple[str, str]:
    """The letter of the right choice and its words, as a sentence ends."""
    if not isinstance(question, Choose):
        raise TypeError(f"{question.id}: a prediction asks for a number or a choice")
    letter, choice = next(lettered for lettered in question.lettered().items() if lettered[1].right)
    return letter, choice.words.rstrip(".") + "."


def _numbers(question: Question, guess: float, right: bool) -> str:
    assert isinstance(question, Number)
    value = float(question.value())
    if right and math.isclose(guess, value, rel_tol=EQUAL):
        return f"You said {shown(guess)}, and {shown(value)} it is."
    if right:
        return f"You said {shown(guess)}, which is close: it is {shown(value)}."
    counted = value.is_integer() and guess.is_integer()
    # An index has no unit, and twice an index means nothing.
    off = _off(guess, value, counted) if question.unit else ""
    return f"You said {shown(guess)}; it is {shown(value)}{off}."


def _off(guess: float, value: float, counted: bool) -> str:
    if min(guess, value) > 0:
        if value >= FACTOR * guess:
            return f", {_times(value / guess)} times as {'many' if counted else 'much'}"
        if guess >= FACTOR * value:
            return f", so your guess was too high by a factor of {_times(guess / value)}"
    less = "fewer" if counted else "less"
    return f", {shown(abs(value - guess))} {'more' if value > guess else less}"


def _times(factor: float) -> str:
    if math.isclose(factor, round(factor), rel_tol=EQUAL):
        return f"{factor:,.0f}"
    return f"about {factor:,.0f}" if factor >= 10 else f"about {factor:.2g}"


def _in_words(fact: object) -> str:
    return fact if isinstance(fact, str) else shown(fact)  # type: ignore[arg-type]
