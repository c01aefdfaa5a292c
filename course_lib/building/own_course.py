"""The notebooks of a course of one's own: without what it leaves out, and whole all the same.

A section goes when all that it has the student write is left out, links to notebooks that are not
there become text, and the generated cells are made anew. What stays and needs a task that goes is
given the course's own answer to it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from course_lib.building.exercises import exercise_id
from course_lib.building.generated import with_generated_cells, without_dead_links
from course_lib.building.notebook import (
    BuildError,
    Cell,
    Notebook,
    canonical,
    code,
    new,
    read,
    source,
    tags,
)
from course_lib.building.project import Project
from course_lib.building.tasks import ANSWER, TAGS, task_of
from course_lib.curriculum import TASKS, Lesson

Section = list[Cell]
_MADE_ANEW = set(TAGS) - {ANSWER}
_YOURS = re.compile(r'yours_or_ours\("(\w+)", \1\)')


def notebook_of(project: Project, lesson: Lesson, folder: str) -> Notebook:
    """The notebook of a lesson as this course has it.

    Args:
        project: the checkout, with the lessons, exercises and tasks that are chosen.
        lesson: one of its lessons.
        folder: "notebooks" or "exercises".

    Raises:
        BuildError: if a notebook cannot be read, or what stays needs what is left out.
    """
    path = project.root / folder / f"{lesson.stem}.ipynb"
    stored = read(path)
    if not project.is_own:
        return stored
    try:
        cells = _chosen(stored["cells"], project, lesson, folder)
        linked = [without_dead_links(cell, project, folder) for cell in cells]
        made = with_generated_cells(linked, project, lesson, folder)
    except BuildError as problem:
        raise BuildError(f"{folder}/{path.name}: {problem}") from None
    return canonical({**new(made), "metadata": stored["metadata"]})


def _chosen(cells: Sequence[Cell], project: Project, lesson: Lesson, folder: str) -> list[Cell]:
    """The cells that stay."""
    if folder == "exercises":
        return _without(cells, "## Exercise", exercise_id, lambda name: name in lesson.exercises)
    tasks = project.tasks
    if tasks is None:
        return list(cells)
    return _without(cells, "## ", _task_name, lambda name: name in tasks)


def _task_name(cell: Cell) -> str | None:
    task = task_of(cell)
    return task.id if task else None


def _without(
    cells: Sequence[Cell],
    head: str,
    name_of: Callable[[Cell], str | None],
    stays: Callable[[str], bool],
) -> list[Cell]:
    """The cells without the sections, and the cells, that ask for what is left out.

    Args:
        cells: of a notebook.
        head: how the heading of a section begins.
        name_of: the exercise or task that a cell asks for.
        stays: whether it is one of the course.
    """
    kept: list[Cell] = []
    gone: list[Cell] = []
    left_out: list[str] = []
    for section in _sections(cells, head):
        names = [name for cell in section if (name := name_of(cell))]
        outs = [name for name in names if not stays(name)]
        left_out += outs
        if outs and len(outs) == len(names):
            gone += section
            continue
        for cell in section:
            (gone if name_of(cell) in outs else kept).append(cell)
        if outs and head != "## ":  # an exercise is more than its one cell
            raise BuildError(
                f"nothing says where {outs[0]} begins and where it ends; give each exercise a "
                f"heading, `{head}: …`"
            )
    return _with_ours([_ours_alone(cell, left_out) for cell in kept], gone, left_out)


def _ours_alone(cell: Cell, left_out: Sequence[str]) -> Cell:
    """A cell that takes the student's answer to a task, if there is one, and else ours."""

    def ours(found: re.Match[str]) -> str:
        return f'yours_or_ours("{found[1]}")' if found[1] in left_out else found[0]

    return {**cell, "source": _YOURS.sub(ours, source(cell))}


def _sections(cells: Sequence[Cell], head: str) -> Iterator[Section]:
    """The cells, cut where a heading begins; what stands above the first is a section, too."""
    section: Section = []
    for cell in cells:
        if cell["cell_type"] == "markdown" and source(cell).startswith(head):
            yield section
            section = []
        section.append(cell)
    yield section


def _with_ours(kept: Sequence[Cell], gone: Sequence[Cell], left_out: Sequence[str]) -> list[Cell]:
    """The cells that stay, with ours wherever they use the answer to a task that goes.

    Raises:
        BuildError: if a cell uses anything else that only a cell that goes has defined.
    """
    lost = {name for cell in gone for name in _names(cell, ast.Store)}
    made: list[Cell] = []
    for cell in kept:
        lost -= _names(cell, ast.Store)
        for name in sorted(lost & _names(cell, ast.Load)):
            if name not in TASKS:
                raise BuildError(
                    f"what stays uses `{name}`, which stands where {', '.join(left_out)} would be "
                    "left out; keep it, or leave out what uses it, too"
                )
            made.append(code(f'{name} = course_lib.yours_or_ours("{name}")', id=f"ours-{name}"))
            lost.remove(name)
        made.append(cell)
    return made


def _names(cell: Cell, context: type[ast.expr_context]) -> set[str]:
    """The names that a cell of code defines, or uses."""
    if cell["cell_type"] != "code" or _MADE_ANEW & set(tags(cell)):
        return set()
    try:
        nodes = list(ast.walk(ast.parse(source(cell))))
    except SyntaxError:  # a magic; nothing that could be followed
        return set()
    found = {
        each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, context)
    }
    if context is ast.Store:
        found |= {each.name for each in nodes if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    return found
