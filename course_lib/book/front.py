"""The first page of the book: what the course is, where to start, how far the ladder goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from course_lib import measurements
from course_lib.book.live_cells import first_asked
from course_lib.book.playground import SMOOTH, filled, holder, report_on
from course_lib.building.notebook import BuildError
from course_lib.building.own_course import notebook_of
from course_lib.building.project import Project
from course_lib.curriculum import EXERCISES, RUNGS, TASKS, Lesson
from course_lib.measurements import Speeds

SIZE = 4096  # edge of the matrices of the ladder that is shown


def front_page(project: Project) -> str:
    """The page in MyST Markdown."""
    speeds = _speeds()
    return filled(
        "front.md",
        title=project.title,
        first=first_asked(notebook_of(project, project.lessons[0], "notebooks")["cells"]),
        start=f"notebooks/{project.lessons[0].stem}.html",
        commands=_commands(project),
        race=holder([SMOOTH], small=True, report=report_on(SMOOTH)),
        rungs=list(_rungs(speeds, project.lessons)),
        measured_on=speeds.label,
        lessons=[(lesson, *_asked(project, lesson)) for lesson in project.lessons],
    )


def _speeds() -> Speeds:
    """What the newest stored file says.

    Raises:
        BuildError: if there is none; the page shows nothing that nobody has measured.
    """
    newest = measurements.latest()
    if newest is None:
        raise BuildError("course_lib/measurements holds no file of measurements")
    return newest.speeds(SIZE, ("float32",))


def _rungs(speeds: Speeds, lessons: Sequence[Lesson]) -> Iterator[tuple[str, float, str]]:
    """The rungs from the top down, each with its share of cuBLAS and its lesson's page."""
    pages = {lesson.number: f"notebooks/{lesson.stem}.html" for lesson in lessons}
    lesson_of = {rung.name: pages[rung.lesson] for rung in RUNGS if rung.lesson in pages}
    for name, share in reversed([*speeds.of_cublas.items()]):
        # The kernels with a `while` loop are lesson 05b's story, and no rungs of their own.
        if not name.endswith("_while"):
            yield name, share, lesson_of.get(name, "")


def _asked(project: Project, lesson: Lesson) -> tuple[int, str]:
    """How many tasks a lesson has, and what is graded after it."""
    there = TASKS if project.tasks is None else project.tasks
    tasks = sum(1 for name in there if TASKS[name].lesson == lesson.number)
    graded = [
        _in_sentence(EXERCISES[name].title) + project.worth(name) for name in lesson.exercises
    ]
    return tasks, ", ".join(graded)


def _in_sentence(title: str) -> str:
    return title[:1].lower() + title[1:]


def _commands(project: Project) -> str:
    if not project.has_address:
        return "python3 course.py lab"
    name = project.repository.split("/")[1]
    return f"git clone https://github.com/{project.repository}\ncd {name}; python3 course.py lab"
