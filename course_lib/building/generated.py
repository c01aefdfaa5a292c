"""The texts that no author writes: headings with badges, the setup cell, and the links onwards.

Each comes from the curriculum and the project's address, so it cannot disagree with them.
"""

from __future__ import annotations

import posixpath
import re

from course_lib.building.notebook import BuildError, Cell, code, markdown, source, tags
from course_lib.building.predictions import with_predictions
from course_lib.building.project import Project
from course_lib.building.tasks import with_tasks
from course_lib.curriculum import EXERCISES, Lesson

BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
README_BEGIN, README_END = "<!-- BEGIN LESSONS -->", "<!-- END LESSONS -->"
NO_ADDRESS = "This copy of the course has no address yet"
_LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\((?!https?:)([^)\s]+\.ipynb)\)")
_COLAB_LINK = re.compile(r" \(\[Colab\]\(https://colab\.research\.google\.com/[^)\s]*\)\)")

_SETUP = """\
import sys
from importlib.util import find_spec
{imports}
sys.path.append("..")  # in a copy of the whole course, course_lib lies one folder up
if find_spec("course_lib") is None:  # on Colab: fetch it, and leave everything else as it is
{otherwise}
import course_lib

course_lib.start()"""
_INSTALL = """\
    archive = "{archive}"
    pip = run([sys.executable, "-m", "pip", "install", "--no-deps", archive], capture_output=True)
    missing = {missing}
    if pip.returncode:
        raise ImportError(missing if b" 404 " in pip.stderr else pip.stderr.decode())"""
_REFUSE = """\
    raise ImportError(
        "this copy of the course has no address yet: "
        "get the whole course, and run `python3 course.py lab` in its folder"
    )"""


def setup_cell(project: Project) -> Cell:
    """The first code cell of every notebook: at most 14 lines, and nothing hidden."""
    if project.has_address:
        install = _INSTALL.format(archive=project.archive, missing=_missing(project))
        text = _SETUP.format(imports="from subprocess import run\n", otherwise=install)
    else:
        text = _SETUP.format(imports="", otherwise=_REFUSE)
    # What start() prints depends on the machine.
    return code(text, "nbval-ignore-output", "setup", id="setup")


def _missing(project: Project) -> str:
    """What GitHub does not have where it says 404, as a literal."""
    return f'"404: {project.ref} of {project.repository} is not pushed, or not public"'


def badge(project: Project, path: str) -> str:
    """The launch badge of a notebook, as markdown."""
    return f"[![Open in Colab]({BADGE})]({project.colab(path)})"


def launch_cell(project: Project, lesson: Lesson, folder: str) -> Cell:
    """The first cell: title, badge, and what this notebook is for."""
    headings = {"notebooks": "", "exercises": "Exercise ", "solutions": "Solution "}
    parts = [
        f"# {headings[folder]}{lesson.number} · {lesson.title}",
        badge(project, f"{folder}/{lesson.stem}.ipynb"),
    ]
    if not project.has_address:
        parts.append(f"*{NO_ADDRESS}, so the badge leads nowhere: use `python3 course.py lab`.*")
    parts += _purpose(project, lesson) if folder == "notebooks" else _task(lesson, folder)
    return markdown("\n\n".join(parts), "launch", id="launch")


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
        parts.append("This is the last lesson, for now.")
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
    if folder == "notebooks":
        authored = with_tasks(authored, lesson.number)
        authored = with_predictions(authored, lesson.number)
    place = next((i for i, cell in enumerate(authored) if cell["cell_type"] == "code"), None)
    if place is None:
        raise BuildError("there is no code cell")
    setup = setup_cell(project)
    if "setup" in tags(authored[place]):
        before = authored.pop(place)
        setup |= {key: before[key] for key in ("execution_count", "outputs") if key in before}
    everything = [
        launch_cell(project, lesson, folder),
        *authored[:place],
        setup,
        *authored[place:],
        next_cell(project, lesson, folder),
    ]
    return [_linked(cell, project, folder) for cell in everything]


def readme_table(project: Project, existing: set[str]) -> str:
    """The lessons as a table; `existing` holds the paths of the notebooks that there are."""
    rows = ["| lesson | minutes | exercise | launch |", "|---|---|---|---|"]
    for each in project.lessons:
        path, exercise = f"notebooks/{each.stem}.ipynb", f"exercises/{each.stem}.ipynb"
        if path in existing:
            names = ", ".join(f"`{name}`" for name in each.exercises)
            task = f"[{names}]({exercise}) {badge(project, exercise)}" if names else ""
            title = f"[{each.number} · {each.title}]({path})"
            rows.append(f"| {title} | {each.minutes} | {task} | {badge(project, path)} |")
    if not project.has_address:
        rows += ["", f"{NO_ADDRESS}: the badges lead nowhere until a maintainer has run"]
        rows[-1] += " `python3 course.py build --repository OWNER/NAME`."
    else:
        rows += ["", f"Or all of it [on Binder]({project.binder}), with the emulator."]
    return "\n".join(rows)


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


def _task(lesson: Lesson, folder: str) -> list[str]:
    exercises = [EXERCISES[name] for name in lesson.exercises]
    todo = "\n".join(f"- `{each.signature}`: {each.title.lower()}" for each in exercises)
    home = f"[lesson {lesson.number}](../notebooks/{lesson.stem}.ipynb)"
    if folder == "exercises":
        return [f"What you write here, after {home}:", todo, "Try before you open a hint."]
    return [
        f"One right answer of many. Try the [exercise](../exercises/{lesson.stem}.ipynb) first."
    ]


def _linked(cell: Cell, project: Project, folder: str) -> Cell:
    """A markdown cell whose links to notebooks also lead there from Colab."""
    if cell["cell_type"] != "markdown":
        return cell
    plain = _COLAB_LINK.sub("", source(cell))
    known = {
        f"{each}/{lesson.stem}.ipynb"
        for lesson in project.lessons
        for each in (
            ("notebooks", "exercises", "solutions") if lesson.exercises else ("notebooks",)
        )
    }

    def complete(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found.group(1)))
        if path not in known:
            raise BuildError(f"a link leads to {found.group(1)}, which is no notebook of ours")
        colab = f" ([Colab]({project.colab(path)}))" if project.has_address else ""
        return found.group(0) + colab

    return {**cell, "source": _LINK.sub(complete, plain)}
