"""The notebooks of a course of one's own: without what it leaves out, and whole all the same.

A section goes when all that it has the student write is left out, wherever in a cell its heading
stands. Where a section also has tasks that stay, its text says which is left out. Links to
notebooks that are not there become text, and the generated cells are made anew. What stays and
needs a task that goes is given the course's own answer to it, and the line that it needs besides.
"""

from __future__ import annotations

import ast
import itertools
import re
import symtable
from collections.abc import Callable, Iterator, Sequence

from course_lib.building.generated import with_generated_cells, without_dead_links
from course_lib.building.notebook import (
    BuildError,
    Cell,
    Notebook,
    canonical,
    code,
    exercise_id,
    markdown,
    new,
    read,
    source,
    tags,
)
from course_lib.building.placed import MADE, task_of
from course_lib.building.project import Project
from course_lib.curriculum import TASKS, Lesson

Section = list[Cell]
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
        if outs and head != "## ":  # an exercise is more than its one cell
            raise BuildError(
                f"no heading says where {outs[0]} begins and where it ends; give each exercise a "
                f"heading, `{head}: …`"
            )
        for cell in section:
            name = name_of(cell)
            kept.append(_says_so(name) if name in outs else cell)
            gone += [cell] if name in outs else []
    return _with_ours([_ours_alone(cell, left_out) for cell in _rejoined(kept)], gone, left_out)


def _says_so(task: str) -> Cell:
    """What stands in a task's place where the text around it stays."""
    said = f"*This course leaves out the task `{task}`. Cells below that need its answer use ours.*"
    return markdown(said, id=f"left-out-{task}")


def _ours_alone(cell: Cell, left_out: Sequence[str]) -> Cell:
    """A cell that takes the student's answer to a task, if there is one, and else ours."""

    def ours(found: re.Match[str]) -> str:
        return f'yours_or_ours("{found[1]}")' if found[1] in left_out else found[0]

    return {**cell, "source": _YOURS.sub(ours, source(cell))}


def _sections(cells: Sequence[Cell], head: str) -> Iterator[Section]:
    """The cells, cut where a heading begins; what stands above the first is a section, too.

    A cell in whose midst one begins is cut there; its pieces have the cell's id.
    """
    section: Section = []
    for cell in cells:
        is_text = cell["cell_type"] == "markdown"
        for piece in re.split(rf"(?m)\n+^(?={head})", source(cell)) if is_text else [source(cell)]:
            if is_text and piece.startswith(head):
                yield section
                section = []
            section.append({**cell, "source": piece})
    yield section


def _rejoined(cells: Sequence[Cell]) -> list[Cell]:
    """The cells, with those pieces of one cell that all stay in one cell again."""
    return [
        {**pieces[0], "source": "\n\n".join(map(source, pieces))}
        for _, group in itertools.groupby(cells, lambda cell: cell["id"] or id(cell))
        for pieces in [list(group)]
    ]


def _with_ours(kept: Sequence[Cell], gone: Sequence[Cell], left_out: Sequence[str]) -> list[Cell]:
    """The cells that stay, with ours wherever they use the answer to a task that goes, and with
    the line that gives anything else that they use.

    Raises:
        BuildError: if it takes more than a line.
    """
    lost = {name for cell in gone for name in _defined(cell)}
    made: list[Cell] = []
    for cell in kept:
        lost -= _defined(cell)
        for name in sorted(lost & _used(cell)):
            line = _line_that_gives(name, gone)
            if name in TASKS:
                line = f'{name} = course_lib.yours_or_ours("{name}")'
            given = _ours_alone(code(line, id=f"ours-{name}"), left_out)
            if not line or lost & _used(given):
                raise BuildError(
                    f"a part that stays uses `{name}`, which belongs to a part that would be left "
                    f"out with {', '.join(left_out)}; keep that part, or leave out the part that "
                    "uses it as well"
                )
            made.append(given)
            lost.remove(name)
        made.append(cell)
    return made


def _line_that_gives(name: str, gone: Sequence[Cell]) -> str:
    """The one assignment to a name; "" where there are several, or it is given otherwise."""
    lines = [
        ast.get_source_segment(source(cell), statement) or ""
        for cell in gone
        if name in _defined(cell)
        for statement in ast.parse(source(cell)).body
        if name in _stored(statement)
    ]
    return lines[0] if len(lines) == 1 and lines[0].startswith(f"{name} = ") else ""


def _stored(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def _defined(cell: Cell) -> set[str]:
    """The names that a cell leaves behind for those below it."""
    outermost = [symbol for scope in _scopes(cell)[:1] for symbol in scope.get_symbols()]
    return {
        symbol.get_name() for symbol in outermost if symbol.is_assigned() or symbol.is_imported()
    }


def _used(cell: Cell) -> set[str]:
    """The names that a cell takes from those above it, or from itself; no function's own."""
    outermost, inner = _scopes(cell)[:1], _scopes(cell)[1:]
    found = [symbol for scope in outermost for symbol in scope.get_symbols()]
    found += [symbol for scope in inner for symbol in scope.get_symbols() if symbol.is_global()]
    return {symbol.get_name() for symbol in found if symbol.is_referenced()}


def _scopes(cell: Cell) -> list[symtable.SymbolTable]:
    """The scopes in a cell of code that a lesson's author wrote, the outermost first."""
    if cell["cell_type"] != "code" or MADE & set(tags(cell)):
        return []
    try:
        scopes = [symtable.symtable(source(cell), "cell", "exec")]
    except SyntaxError:  # a magic; nothing that could be followed
        return []
    for scope in scopes:  # which grows as it goes
        scopes += scope.get_children()
    return scopes
