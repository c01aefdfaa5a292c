"""Find a quick check or a prediction by its id; the questions of a lesson are one module here.

Owns: the questions with their reasons, their judging and their cards.
May import: `curriculum`, `devices`, `emulator`, `figures`, `host`, `measurements`, `roofline`,
`tiles`, `timing`, `web`, `wording`.
Start with: `kinds`, then a lesson's module such as `lesson_02`.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from course_lib.questions.kinds import Question

_MODULE = "lesson_"


class UnknownQuestion(LookupError):
    """No question has this id; the message names near ones."""


def lessons() -> list[str]:
    """The numbers of the lessons that have questions."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [name.removeprefix(_MODULE) for name in names if name.startswith(_MODULE)]


def of_lesson(number: str) -> dict[str, Question]:
    """A lesson's questions by id, in the order of its module; empty if it has none."""
    if number not in lessons():
        return {}
    module = importlib.import_module(f"{__name__}.{_MODULE}{number}")
    return {question.id: question for question in module.QUESTIONS}


def quick_checks(number: str) -> dict[str, Question]:
    """A lesson's questions to check what was understood; see `of_lesson`."""
    return {
        name: question for name, question in of_lesson(number).items() if not question.is_prediction
    }


def predictions(number: str) -> dict[str, Question]:
    """A lesson's questions that are asked before a run; see `of_lesson`."""
    return {
        name: question for name, question in of_lesson(number).items() if question.is_prediction
    }


def find(name: object) -> Question:
    """The question with this id.

    Raises:
        UnknownQuestion: if there is none.
    """
    wanted = str(name).strip().casefold()
    parts = [number for number in lessons() if number[:2] == wanted[:2]]  # of a split lesson, too
    theirs = {name: question for number in parts for name, question in of_lesson(number).items()}
    if wanted in theirs:
        return theirs[wanted]
    every = [question for number in lessons() for question in of_lesson(number)]
    near = difflib.get_close_matches(wanted, every, n=3) or list(theirs)
    asked = f" Did you mean {' or '.join(near)}?" if near else ""
    raise UnknownQuestion(f"There is no question {str(name)!r}.{asked}")
