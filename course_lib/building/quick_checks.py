"""Tell whether a lesson has its quick checks: enough, its own, in cells that give nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from course_lib.building.notebook import Notebook, code_cells, source, tagged, tags
from course_lib.curriculum import Lesson
from course_lib.questions import of_lesson

QUIZ = "quiz"
FEWEST = 4

_ASK = re.compile(r'course_lib\.quiz\.ask\("([a-z0-9-]+)"\)')


def quiz_rules(notebook: Notebook, lesson: Lesson) -> Iterator[str]:
    """Complaints about a lesson's quick checks."""
    asked: list[str] = []
    for cell in tagged(notebook, QUIZ):
        calls = [_ASK.fullmatch(line) for line in source(cell).splitlines()]
        asked += [call[1] for call in calls if call]
        if not all(calls):
            yield f'cell {cell["id"]}: nothing but lines as course_lib.quiz.ask("NN-name"), please'
    for cell in code_cells(notebook):
        if _ASK.search(source(cell)) and QUIZ not in tags(cell):
            yield f"cell {cell['id']}: asks a quick check, and is not tagged `{QUIZ}`"
    questions = of_lesson(lesson.number)
    for name in sorted(set(asked)):
        if name not in questions:
            yield f"lesson {lesson.number} has no question {name!r} in course_lib/questions"
        if asked.count(name) > 1:
            yield f"{name!r} is asked {asked.count(name)} times"
    for name in questions:
        if name not in asked:
            yield f"{name!r} is written, and no cell asks it"
    if len(asked) < FEWEST:
        yield f"{len(asked)} quick checks; at least {FEWEST} are wanted"
