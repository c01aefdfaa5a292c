"""The texts that no author writes: headings with badges, the setup cell, and the links onwards.

Each comes from the curriculum and the project's address, so it cannot disagree with them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from course_lib.building.notebook import BuildError, Cell, code, markdown, source, tags
from course_lib.building.placed import tasks_of, with_placed
from course_lib.building.project import Project
from course_lib.curriculum import EXERCISES, Lesson, Task
from course_lib.wording.words import plural

BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
README_BEGIN, README_END = "<!-- BEGIN LESSONS -->", "<!-- END LESSONS -->"
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?!https?:)([^)\s]+\.ipynb)\)")
_COLAB_LINK = re.compile(r" \(\[Colab\]\(https://colab\.research\.google\.com/[^)\s]*\)\)")

# A traceback shows the failed line with its comment. The blank line is the formatter's.
_SETUP = """\
# Each time you open the notebook, run this cell first (Shift+Enter), then the cells below.
import course_lib  # {missing}

course_lib.start({lesson})"""
# Beside a notebook of a checkout lies a course_lib.py that finds the library; on Colab there is
# nothing beside it. `!pip` is the kernel's own there, and says by itself what has failed.
_FETCH = """\
if "google.colab" in str(get_ipython()):  # elsewhere: `python3 course.py lab` in the whole course
    !pip install --quiet --no-deps {archive}
"""
_NOT_FOUND = "not found? Get the whole course, and run `python3 course.py lab` in its folder"
_NUMBERS = (
    "No One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen"
).split()


def setup_cell(project: Project, number: str = "") -> Cell:
    """The first code cell: two lines, or four where it also fetches the course for Colab.

    Args:
        project: the checkout.
        number: of the lesson that begins; none in an exercise or a solution.
    """
    lesson = f'"{number}"' if number else ""
    text = _SETUP.format(lesson=lesson, missing=_missing(project))
    if project.has_address:
        text = _FETCH.format(archive=project.archive) + text
    # What start() prints depends on the machine.
    return code(text, "nbval-ignore-output", "setup", id="setup")


def _missing(project: Project) -> str:
    """What to do where the library is not found: for Colab, what GitHub says 404 of."""
    if not project.has_address:
        return _NOT_FOUND
    return f"404? {project.ref} of {project.repository} is not pushed, or not public"


def badge(project: Project, path: str) -> str:
    """The launch badge of a notebook, as markdown."""
    return f"[![Open in Colab]({BADGE})]({project.colab(path)})"


def launch_cell(project: Project, lesson: Lesson, folder: str, placed: Sequence[Task] = ()) -> Cell:
    """The first cell: title, badge where there is an address, and what this notebook is for.

    Args:
        project: the checkout.
        lesson: whose notebook it is.
        folder: "notebooks", "exercises" or "solutions".
        placed: the tasks in a lesson. Where there are any, the student finds out the rest.
    """
    headings = {"notebooks": "", "exercises": "Exercise ", "solutions": "Solution "}
    parts = [f"# {headings[folder]}{lesson.number} · {lesson.title}"]
    if project.has_address:
        parts.append(badge(project, f"{folder}/{lesson.stem}.ipynb"))
    if folder != "notebooks":
        parts += _task(project, lesson, folder)
    else:
        parts += [opening(lesson, placed)] if placed else _purpose(project, lesson)
    return markdown("\n\n".join(parts), "launch", id="launch")


def opening(lesson: Lesson, placed: Sequence[Task]) -> str:
    """The one line that a lesson opens with whose student types, or mends what is whole."""
    many = _NUMBERS[len(placed)] if len(placed) < len(_NUMBERS) else f"{len(placed)}"
    what = "kernel" if all(task.kind.is_launched for task in placed) else "task"
    what, them = plural(what, len(placed)), "it" if len(placed) == 1 else "them all"
    verb = "repair" if all(task.is_mended for task in placed) else "type"
    return f"{many} small {what}, about {lesson.minutes} minutes. You {verb} {them}."


def next_cell(project: Project, lesson: Lesson, folder: str) -> Cell:
    """The last cell: where to go from here."""
    parts = []
    if folder == "notebooks" and lesson.exercises:
        target = f"../exercises/{lesson.stem}.ipynb"
        parts.append(f"**Your turn:** [exercise {lesson.number} · {lesson.title}]({target})")
    later = project.lessons[project.lessons.index(lesson) + 1 :]
    if later:
        prefix = "" if folder == "notebooks" else "../notebooks/"
        target = f"{prefix}{later[0].stem}.ipynb"
        parts.append(f"**Next:** [lesson {later[0].number} · {later[0].title}]({target})")
    else:
        first = project.lessons[0]
        prefix = "" if folder == "notebooks" else "../notebooks/"
        target = f"[lesson {first.number} · {first.title}]({prefix}{first.stem}.ipynb)"
        parts.append(f"This is the last lesson. To teach somebody, begin with {target}.")
    return markdown("\n\n".join(parts), "next", id="next")


def with_generated_cells(
    cells: list[Cell], project: Project, lesson: Lesson, folder: str
) -> list[Cell]:
    """The author's cells with the generated ones in their places, links completed.

    Raises:
        BuildError: if there is no code cell, a link leads to no notebook of the course, or a task
            cannot stand where it is placed.
    """
    authored = [cell for cell in cells if not {"launch", "next"} & set(tags(cell))]
    placed: list[Task] = []
    if folder == "notebooks":
        authored = with_placed(authored, lesson.number)
        placed = tasks_of(authored)
    place = next((i for i, cell in enumerate(authored) if cell["cell_type"] == "code"), None)
    if place is None:
        raise BuildError("there is no code cell")
    setup = setup_cell(project, lesson.number if folder == "notebooks" else "")
    if "setup" in tags(authored[place]):
        before = authored.pop(place)
        setup |= {key: before[key] for key in ("execution_count", "outputs") if key in before}
    everything = [
        launch_cell(project, lesson, folder, placed),
        *authored[:place],
        setup,
        *authored[place:],
        next_cell(project, lesson, folder),
    ]
    return [_linked(cell, project, folder) for cell in everything]


def readme_table(project: Project, existing: set[str]) -> str:
    """The lessons as a table, with badges where there is an address for them to lead to.

    Args:
        project: the checkout.
        existing: the paths of the notebooks that there are.
    """
    rows = [["lesson", "minutes", "exercise", "launch"], ["---"] * 4]
    for lesson in project.lessons:
        path, exercise = f"notebooks/{lesson.stem}.ipynb", f"exercises/{lesson.stem}.ipynb"
        if path in existing:
            names = ", ".join(f"`{name}`" for name in lesson.exercises)
            task = f"[{names}]({exercise})" if names else ""
            if names and project.has_address:
                task += f" {badge(project, exercise)}"
            title = f"[{lesson.number} · {lesson.title}]({path})"
            rows.append([title, f"{lesson.minutes}", task, badge(project, path)])
    columns = 4 if project.has_address else 3
    table = "\n".join(f"| {' | '.join(row[:columns])} |" for row in rows)
    if not project.has_address:
        return table
    return f"{table}\n\nOr all of it [on Binder]({project.binder}), with the emulator."


def addressed(text: str, project: Project, table: str) -> str:
    """A text file of the project with its table of lessons and its addresses brought up to date.

    Only what says whose address it is can be replaced: the lines that clone the course, and the
    `repository-code` of a citation file.
    """
    if README_BEGIN in text and README_END in text:
        before, rest = text.split(README_BEGIN, 1)
        after = rest.split(README_END, 1)[1]
        text = f"{before}{README_BEGIN}\n{table}\n{README_END}{after}"
    home = f"https://github.com/{project.repository}"
    text = re.sub(r"(git clone )https://github\.com/[\w.-]+/[\w.-]+", rf"\g<1>{home}", text)
    return re.sub(
        r'^(repository-code: )"?https://github\.com/[^"\s]*"?', rf'\g<1>"{home}"', text, flags=re.M
    )


def _purpose(project: Project, lesson: Lesson) -> list[str]:
    place = project.lessons.index(lesson)
    time = f"About {lesson.minutes} minutes."
    if place:
        before = project.lessons[place - 1]
        time += f" Comes after [lesson {before.number} · {before.title}]({before.stem}.ipynb)."
    goals = "\n".join(f"- {goal}" for goal in lesson.goals)
    return [time, f"After this lesson you can:\n\n{goals}"]


def _task(project: Project, lesson: Lesson, folder: str) -> list[str]:
    todo = "\n".join(
        f"- `{exercise.signature}`: {exercise.title[0].lower()}{exercise.title[1:]}"
        f"{project.worth(exercise.id)}"
        for exercise in map(EXERCISES.__getitem__, lesson.exercises)
    )
    home = f"[lesson {lesson.number}](../notebooks/{lesson.stem}.ipynb)"
    if folder == "exercises":
        return [f"What you write here, after {home}:", todo, "Try before you open a hint."]
    return [
        "This is one of many right answers. "
        f"Try the [exercise](../exercises/{lesson.stem}.ipynb) first."
    ]


def without_dead_links(cell: Cell, project: Project, folder: str) -> Cell:
    """A markdown cell in which a link to a notebook that the course leaves out is plain text."""
    if cell["cell_type"] != "markdown":
        return cell

    def shown(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        return found[0] if path in _notebooks(project) else found[1]

    return {**cell, "source": _LINK.sub(shown, _COLAB_LINK.sub("", source(cell)))}


def _linked(cell: Cell, project: Project, folder: str) -> Cell:
    """A markdown cell whose links to notebooks also lead there from Colab."""
    if cell["cell_type"] != "markdown":
        return cell
    plain = _COLAB_LINK.sub("", source(cell))

    def complete(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        if path not in _notebooks(project):
            raise BuildError(f"a link leads to {found[2]}, which is not a notebook of the course")
        colab = f" ([Colab]({project.colab(path)}))" if project.has_address else ""
        return found[0] + colab

    return {**cell, "source": _LINK.sub(complete, plain)}


def _notebooks(project: Project) -> set[str]:
    """The paths of the notebooks that the course has."""
    return {
        f"{folder}/{lesson.stem}.ipynb"
        for lesson in project.lessons
        for folder in (
            ("notebooks", "exercises", "solutions") if lesson.exercises else ("notebooks",)
        )
    }
