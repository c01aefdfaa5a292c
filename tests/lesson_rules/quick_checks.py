"""Tell whether a lesson asks its questions: enough, its own, in cells that give nothing away."""

import re
from collections.abc import Iterator

from course_lib.building.notebook import Cell, Notebook, code_cells, source, tagged, tags
from course_lib.building.placed import prediction_placed
from course_lib.curriculum import Lesson
from course_lib.questions import predictions, quick_checks

QUIZ = "quiz"
FEWEST = 4

_ASK = re.compile(r'course_lib\.quiz\.ask\("([a-z0-9-]+)"\)')


def asked_in(cell: Cell) -> list[str]:
    """The ids of the quick checks that a cell asks."""
    return _ASK.findall(source(cell)) if cell["cell_type"] == "code" else []


def quiz_rules(notebook: Notebook, lesson: Lesson) -> Iterator[str]:
    """Complaints about a lesson's quick checks and predictions."""
    asked: list[str] = []
    for cell in tagged(notebook, QUIZ):
        calls = [_ASK.fullmatch(line) for line in source(cell).splitlines()]
        asked += [call[1] for call in calls if call]
        if not all(calls):
            yield f'cell {cell["id"]}: nothing but lines as course_lib.quiz.ask("NN-name"), please'
    for cell in code_cells(notebook):
        if _ASK.search(source(cell)) and QUIZ not in tags(cell):
            yield f"cell {cell['id']}: asks a quick check, and is not tagged `{QUIZ}`"
    questions, to_predict = quick_checks(lesson.number), predictions(lesson.number)
    for name in sorted(set(asked)):
        if name in to_predict:
            yield f"{name!r} is a prediction: place it by `# PREDICT {name}`"
        elif name not in questions:
            yield f"lesson {lesson.number} has no question {name!r} in course_lib/questions"
        if asked.count(name) > 1:
            yield f"{name!r} is asked {asked.count(name)} times"
    for name in questions:
        if name not in asked:
            yield f"{name!r} is written, and no cell asks it"
    placed = [each for cell in notebook["cells"] if (each := prediction_placed(cell))]
    for name in to_predict:
        if name not in placed:
            yield f"{name!r} is written, and no `# PREDICT {name}` places it"
    for cell in code_cells(notebook):
        if "course_lib.predict(" in source(cell) and prediction_placed(cell) is None:
            yield f"cell {cell['id']}: a prediction has a cell of its own: `# PREDICT NN-name`"
    if len(asked) + len(placed) < FEWEST:
        yield f"{len(asked) + len(placed)} quick checks and predictions; {FEWEST} are wanted"
