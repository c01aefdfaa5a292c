"""Judge a guess that a student makes before a run, and reveal what comes out only then.

`predict("00-same-line", ...)` asks for the guess; with a guess in place of the dots it says how far
off that is, and why things are as they are. The question itself stands above, in the lesson.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

from course_lib.questions import UnknownQuestion, find
from course_lib.questions.card import expected
from course_lib.questions.judging import CannotRead
from course_lib.questions.reveals import told

_WIDTH = 88


@dataclass(frozen=True)
class Reveal:
    """Paragraphs that a notebook shows as Markdown, and a terminal as they are."""

    paragraphs: tuple[str, ...]

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/markdown": "\n\n".join(self.paragraphs), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "\n\n".join(fill(each, _WIDTH) for each in self.paragraphs)


def predict(name: str, guess: object = ...) -> None:
    """Ask for a guess, or judge one and reveal what the run gives; never raises for a guess.

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
            said = f"Your guess first: write {expected(question)}, and run this cell again."
            print(fill(said, _WIDTH))
            return
        paragraphs = told(question, guess)
    except (UnknownQuestion, CannotRead) as complaint:
        print(fill(str(complaint), _WIDTH))
        return
    display(Reveal(paragraphs))
    if question.figure is not None:
        display(question.figure())
