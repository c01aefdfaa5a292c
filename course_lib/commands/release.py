"""`course.py release`: the course for students, without the solutions and without the grader."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from course_lib.building.notebook import BuildError, dumps
from course_lib.building.project import Project, open_project
from course_lib.building.release import (
    Release,
    chosen_lessons,
    make_release,
    write_archive,
    write_folder,
)
from course_lib.commands.options import read_options
from course_lib.commands.own_course import with_settings
from course_lib.commands.places import REPOSITORY
from course_lib.curriculum import LESSONS, Lesson
from course_lib.grading.records import CannotGrade
from course_lib.wording.words import counted, joined, plural

OPTIONS = """\
--out DIR          a new or empty folder
--lessons NN …     only these lessons, such as 05 or 00-07 (lesson 00 is always there)
--settings FILE    the file of a course of your own: its lessons, exercises, tasks and points
                   (course.toml)
--nbgrader         exercises with nbgrader's metadata in their cells
--exam             for an exam: no hints, and a check says whether an answer is right, not why
--pretest          with the pretest, exercises/pretest.ipynb
--posttest         with the posttest, exercises/posttest.ipynb
--zip              make DIR.zip as well
"""


def main(arguments: list[str]) -> int:
    """Make the bundle; 0 if it is there."""
    options = read_options("release", __doc__, OPTIONS, required=("out",)).parse_args(arguments)
    out = options.out.resolve() if not options.out.is_symlink() else options.out.absolute()
    try:
        project = open_project(REPOSITORY, chosen_lessons(options.lessons or ()))
        if options.settings:
            if options.lessons:
                raise BuildError(f"{options.settings} says which lessons; leave --lessons out.")
            _check_packages("--settings")
            project = with_settings(project, options.settings)
        asked = [name for name in ("pretest", "posttest") if getattr(options, name)]
        tests = _tests(project, asked)
        release = make_release(project, options.nbgrader, options.exam, tests)
        archive = out.with_name(out.name + ".zip") if options.zip else None
        if archive:
            write_archive(release, archive)
        write_folder(release, out)
    except (BuildError, CannotGrade) as problem:
        print(f"The release was not made: {problem}", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"The release was not made: {problem.strerror}: {problem.filename}", file=sys.stderr)
        return 1
    _say(release, out, archive)
    return 0


def _check_packages(option: str) -> None:
    if importlib.util.find_spec("numpy") is None:
        raise BuildError(f"{option} needs packages; `python3 course.py prepare` installs them.")


def _tests(project: Project, names: Sequence[str]) -> dict[str, bytes]:
    """The notebooks of these tests, by their place in the bundle."""
    if not names:
        return {}
    _check_packages(f"--{names[0]}")
    from course_lib.grading.learning.forms import FORMS, notebook_of

    notebooks = {name: notebook_of(FORMS[name], project) for name in names}
    return {
        f"exercises/{name}.ipynb": dumps(notebook).encode() for name, notebook in notebooks.items()
    }


def _say(release: Release, out: Path, archive: Path | None) -> None:
    size = sum(map(len, release.files.values()))
    exercises = sum(len(lesson.exercises) for lesson in release.lessons)
    print(
        f"{counted(len(release.lessons), 'lesson')} ({_numbers(release.lessons)}), "
        f"{counted(exercises, 'exercise')}, {counted(len(release.files), 'file')}, "
        f"{size / 1e6:.1f} MB: {archive or out}"
    )
    for path, names in release.shows.items():
        print(
            f"Note: a student who searches the library can find a way to solve {joined(names)} "
            f"in {path}."
        )
    if release.because:
        count = len(release.because)
        lessons = f"{plural('lesson', count)} {joined(lesson.number for lesson in release.because)}"
        before = LESSONS[_place(release.because[0]) - 1].number
        print(
            f"course_lib/kernels is included because {lessons} {'runs' if count == 1 else 'run'} "
            "it. Until those exercises are handed in, release fewer lessons: --lessons "
            f"00-{before}."
        )


def _numbers(lessons: Sequence[Lesson]) -> str:
    """Which lessons these are: "00 to 05", or "00, 04" where some between are left out."""
    numbers = [lesson.number for lesson in lessons]
    places = [*map(_place, lessons)]
    if len(places) > 1 and places == [*range(places[0], places[-1] + 1)]:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(numbers)


def _place(wanted: Lesson) -> int:
    """A lesson's place in the whole course; in one of one's own it may have fewer exercises."""
    return next(i for i, lesson in enumerate(LESSONS) if lesson.number == wanted.number)
