"""Quick checks and predictions in a notebook: asked, and judged in any front end.

`ask("05-two-barriers")` shows a quick check as a card that judges by itself; `answer(...)` does the
same in words, where no card can be shown. `predict(...)` takes a guess before a run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from textwrap import fill

from course_lib.questions import UnknownQuestion, find
from course_lib.questions.card import expected, html_of, text_of
from course_lib.questions.judging import CannotRead, judge
from course_lib.questions.kinds import Question
from course_lib.questions.reveals import told

WRONG_TRIES_BEFORE_HINT = 2
_WIDTH = 88

_wrong_tries: Counter[str] = Counter()  # of this session, by question


@dataclass(frozen=True)
class Card:
    """A question, ready to be shown."""

    question: Question

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": html_of(self.question), "text/plain": text_of(self.question)}

    def __repr__(self) -> str:
        return text_of(self.question)


def ask(name: str) -> None:
    """Show the quick check with this id, such as "05-two-barriers"."""
    from IPython.display import display

    try:
        card = Card(find(name))
    except UnknownQuestion as unknown:
        print(unknown)
        return
    display(card)


def answer(name: str, given: object) -> None:
    """Print whether an answer is right, and why.

    Args:
        name: the id of the quick check.
        given: a letter, the number of a line, a number, or words, as the question asks.
    """
    try:
        question = find(name)
        verdict = judge(question, given)
    except (UnknownQuestion, CannotRead) as complaint:
        print(fill(str(complaint), _WIDTH))
        return
    print(fill(f"{'Right.' if verdict.right else 'Not yet.'} {verdict.why}", _WIDTH))
    if verdict.right:
        return
    _wrong_tries[question.id] += 1
    if question.hint and _wrong_tries[question.id] >= WRONG_TRIES_BEFORE_HINT:
        print(fill(f"Hint: {question.hint}", _WIDTH))


# --- Predictions: a guess before a run, which reveals the result ----------------------------------
# `predict("00-same-line", ...)` asks for the guess; with a guess in place of the dots it says how
# far off that is, and why things are as they are. The question itself stands above, in the lesson.


@dataclass(frozen=True)
class Reveal:
    """Paragraphs, and perhaps a listing below them: Markdown in a notebook, plain in a terminal."""

    paragraphs: tuple[str, ...]
    listing: str = ""

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        fenced = (f"```python\n{self.listing.strip()}\n```",) if self.listing else ()
        return {"text/markdown": "\n\n".join(self.paragraphs + fenced), "text/plain": repr(self)}

    def __repr__(self) -> str:
        filled = [fill(paragraph, _WIDTH) for paragraph in self.paragraphs]
        return "\n\n".join([*filled, self.listing.strip()]).strip()


def predict(name: str, guess: object = ...) -> None:
    """Ask for a guess, or judge one and reveal what the run gives; a wrong guess never raises.

    Args:
        name: the id of the prediction, such as "00-same-line".
        guess: a number or the letter of a choice, as the question asks; `...` is no guess yet.
    """
    from IPython.display import display

    try:
        question = find(name)
        if not question.is_prediction:
            raise UnknownQuestion(f"{name!r} is a quick check: course_lib.quiz.ask({name!r})")
        if guess is ...:
            wanted = expected(question)
            said = f"Your guess first: replace the dots with {wanted}, and run this cell again."
            print(fill(said, _WIDTH))
            return
        paragraphs = told(question, guess)
    except (UnknownQuestion, CannotRead) as complaint:
        print(fill(str(complaint), _WIDTH))
        return
    display(Reveal(paragraphs, question.revealed_code))
    if question.figure is not None:
        display(question.figure())
