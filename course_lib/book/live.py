"""Makes an answer's cell and its check one live cell on the page of a book.

What stands here is the given code, which anybody can read; course_lib/tab/assets/live.js puts the
editor in its place. The check's cell goes, for the live cell has a button for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_lib.building import tasks
from course_lib.building.notebook import Cell, markdown, source, tags
from course_lib.curriculum import EXERCISES, TASKS, Exercise
from course_lib.web import escape

EXERCISE, CHECKED = "exercise", {tasks.CHECK, "check"}
_MARKER = re.compile(r"# (?:TASK|EXERCISE) ([A-Za-z_]\w*)\n")
_HOLDER = """\
<div class="ml ml-live" data-id="{id}" data-lesson="{lesson}" data-title="{title}">
<div class="given">

```python
{given}
```

</div>
</div>"""


def alive(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a page, with live ones where a student answers."""
    made = []
    for cell in cells:
        answered = _answered(cell)
        if answered is not None:
            made.append(markdown(holder(answered, source(cell)), id=cell["id"]))
        elif not CHECKED & set(tags(cell)):
            made.append(cell)
    return made


def _answered(cell: Cell) -> Exercise | None:
    """The task or exercise that a cell is the answer to, by its first line."""
    found = _MARKER.match(source(cell)) if cell["cell_type"] == "code" else None
    if found is None or not {EXERCISE, tasks.ANSWER} & set(tags(cell)):
        return None
    return {**TASKS, **EXERCISES}[found[1]]


def holder(exercise: Exercise, text: str) -> str:
    """The place of a live cell, in Markdown, with the given code to read.

    A task's first line, which names it for a notebook, is left out. An exercise keeps it: whoever
    hands the answer in as a notebook needs it there.
    """
    given = text if exercise.id in EXERCISES else _MARKER.sub("", text)
    return _HOLDER.format(
        id=exercise.id,
        lesson=exercise.lesson,
        title=escape(exercise.title),
        given=given.strip("\n"),
    )
