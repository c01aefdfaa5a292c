"""The maintainers' `build`: exercises from solutions, canonical notebooks, addresses, outputs.

`expected_files` says what every generated or canonical file should hold; building writes the
files that differ, checking names them. Outputs are carried along and never compared: only
`--execute` makes them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.building.generated import addressed, readme_table, with_generated_cells
from course_lib.building.measured_tables import filled
from course_lib.building.notebook import (
    BuildError,
    Notebook,
    canonical,
    dumps,
    exercise_of,
    new,
    read,
    source,
    without_outputs,
    write_text,
)
from course_lib.building.outputs import blemishes, execute, stored_outputs
from course_lib.building.project import (
    Project,
    open_project,
    repository_of_remote,
    set_ref,
    set_repository,
)
from course_lib.building.release import steps_left
from course_lib.commands.options import read_options
from course_lib.commands.places import REPOSITORY
from course_lib.curriculum import PATHFINDER, Lesson
from course_lib.curriculum import lesson as lesson_named

ADDRESSED = ("README.md", "CONTRIBUTING.md", "CITATION.cff")  # text files that hold our address
OPTIONS = """\
[LESSON …]                 with --execute: only these lessons, such as 03
--check                    change nothing; the status is 1 if a file is out of date
--execute                  run notebooks and store outputs
--repository OWNER/NAME    the course's repository on GitHub
--ref NAME                 the branch or tag that badges open and setup cells install from
"""


@dataclass
class Expectation:
    """What the generated files should hold."""

    # the text of each file, by its path from the root
    texts: dict[str, str] = field(default_factory=dict)
    superfluous: list[str] = field(default_factory=list)  # files that should not be there
    problems: list[str] = field(default_factory=list)  # what only an author can mend


def main(argv: Sequence[str] | None = None) -> int:
    """`course.py build`: 0 if all is well, 1 if something drifted or cannot be built."""
    arguments = _parser().parse_args(argv)
    root = arguments.root.resolve()
    try:
        names = [lesson_named(name).stem for name in arguments.lesson]
        if not arguments.check:
            _take_address(root, arguments.repository, arguments.ref)
        project = open_project(root)
    except (BuildError, KeyError) as error:
        print(error.args[0], file=sys.stderr)
        return 1
    if arguments.check:
        return check(project)
    status = build(project)
    if arguments.execute:
        status = max(status, run_all(project, names))
    if arguments.repository or arguments.ref:
        _say_what_is_left(project)
    return status


def expected_files(project: Project, *, carry: bool = True) -> Expectation:
    """What every file that this module looks after should hold, given the authors' cells.

    `carry` keeps the outputs that a run has left in an exercise; the course stores none there.
    """
    expected = Expectation()
    for lesson in project.lessons:
        _expect(expected, project, lesson, "notebooks")
        if lesson.exercises:
            _expect(expected, project, lesson, "solutions")
            _expect_exercise(expected, project, lesson, carry)
    _find_strangers(expected, project)
    _expect_pathfinders(expected, project.root)
    for path in sorted(project.root.glob("docs/*.md")):
        name = path.relative_to(project.root).as_posix()
        expected.texts[name] = filled(path.read_text(encoding="utf-8"))
    table = readme_table(project, set(expected.texts))
    for name in ADDRESSED:
        if (project.root / name).exists():
            text = (project.root / name).read_text(encoding="utf-8")
            expected.texts[name] = addressed(text, project, table)
    return expected


def check(project: Project, say: Callable[[str], None] = print) -> int:
    """Name every file that is not what it should be; 1 if there is one."""
    expected = expected_files(project)
    drifted = [
        f"{name}: {difference}"
        for name, text in expected.texts.items()
        if (difference := _difference(project.root / name, text))
    ]
    drifted += [f"{name}: it has no solution" for name in expected.superfluous]
    for line in (*expected.problems, *drifted):
        say(line)
    if drifted:
        say("`python3 course.py build` brings these files up to date.")
    else:
        say(f"{len(expected.texts)} files are as they should be.")
    return 1 if drifted or expected.problems else 0


def build(project: Project, say: Callable[[str], None] = print) -> int:
    """Write every file that is not what it should be; 1 if an author has to mend something."""
    expected = expected_files(project, carry=False)
    for name, text in expected.texts.items():
        if _difference(project.root / name, text):
            write_text(project.root / name, text)
            say(f"wrote {name}")
    for name in expected.superfluous:
        (project.root / name).unlink()
        say(f"removed {name}")
    for line in expected.problems:
        say(line)
    return 1 if expected.problems else 0


def run_all(project: Project, names: Iterable[str], say: Callable[[str], None] = print) -> int:
    """Run lessons and solutions (all, or those named) and store what they print."""
    wanted = set(names)
    status = 0
    for folder in ("notebooks", "solutions"):
        for path in sorted((project.root / folder).glob("*.ipynb")):
            if not wanted or path.stem in wanted:
                status = max(status, _run(project, path, say))
    return status


def _expect(expected: Expectation, project: Project, lesson: Lesson, folder: str) -> None:
    """A lesson or a solution: what its author wrote, in canonical form."""
    name = f"{folder}/{lesson.stem}.ipynb"
    try:
        written = read(project.root / name)
        cells = with_generated_cells(written["cells"], project, lesson, folder)
        expected.texts[name] = dumps(canonical(new(cells)))
    except FileNotFoundError:
        expected.problems.append(f"{name}: it is not there")
    except BuildError as error:
        expected.problems.append(f"{name}: {error}")


def _expect_exercise(expected: Expectation, project: Project, lesson: Lesson, carry: bool) -> None:
    """The exercise that a solution leaves when its answers are taken out."""
    name = f"exercises/{lesson.stem}.ipynb"
    solution = expected.texts.get(f"solutions/{lesson.stem}.ipynb")
    if solution is None:
        return  # the solution's own problem has been told
    try:
        unsolved = exercise_of(json.loads(solution))
        cells = with_generated_cells(unsolved, project, lesson, "exercises")
        fresh = without_outputs(canonical(new(cells)))
        path = project.root / name
        expected.texts[name] = dumps(_with_outputs(fresh, path) if carry else fresh)
    except BuildError as error:
        expected.problems.append(f"{name}: {error}")


def _expect_pathfinders(expected: Expectation, root: Path) -> None:
    """The file beside the lessons that leads to the library also lies beside the others."""
    path = root / "notebooks" / PATHFINDER
    if path.exists():
        text = path.read_text(encoding="utf-8")
        expected.texts |= {f"{folder}/{PATHFINDER}": text for folder in ("exercises", "solutions")}


def _find_strangers(expected: Expectation, project: Project) -> None:
    """Notebooks that belong to no lesson: generated ones can go, an author's cannot."""
    known = {f"notebooks/{lesson.stem}.ipynb" for lesson in project.lessons}
    known |= {f"solutions/{lesson.stem}.ipynb" for lesson in project.lessons if lesson.exercises}
    for folder in ("notebooks", "solutions"):
        for path in sorted((project.root / folder).glob("*.ipynb")):
            if f"{folder}/{path.name}" not in known:
                expected.problems.append(f"{folder}/{path.name}: it is not in the curriculum")
    for path in sorted((project.root / "exercises").glob("*.ipynb")):
        solution = f"solutions/{path.name}"
        if solution not in known or not (project.root / solution).exists():
            expected.superfluous.append(f"exercises/{path.name}")


def _with_outputs(fresh: Notebook, path: Path) -> Notebook:
    """A notebook with the outputs that its file holds now, so that they are never compared."""
    if not path.exists():
        return fresh
    stored = stored_outputs(read(path))
    return {**fresh, "cells": [cell | stored.get(cell["id"], {}) for cell in fresh["cells"]]}


def _difference(path: Path, text: str) -> str:
    """Where a file first differs from what it should hold; empty if nowhere."""
    if not path.exists():
        return "it is not there"
    actual = path.read_text(encoding="utf-8")
    if actual == text:
        return ""
    if path.suffix != ".ipynb":
        return "its text is out of date"
    try:
        cells = read(path)["cells"]
    except BuildError as error:
        return str(error)
    wanted = json.loads(text)["cells"]
    for number, (has, should) in enumerate(zip(cells, wanted, strict=False), start=1):
        for part in ("cell_type", "source", "id", "metadata"):
            if (source(has) if part == "source" else has.get(part)) != (
                source(should) if part == "source" else should[part]
            ):
                return f"the {part} of cell {number} ({should['id']}) differs"
    if len(cells) != len(wanted):
        return f"it has {len(cells)} cells instead of {len(wanted)}"
    return "its metadata or layout differs"


def _run(project: Project, path: Path, say: Callable[[str], None]) -> int:
    name = f"{path.parent.name}/{path.name}"
    try:
        ran = execute(read(path), path.parent, project.root)
    except BuildError as error:
        say(f"{name}: {error}")
        return 1
    write_text(path, dumps(canonical(ran)))
    complaints = list(blemishes(ran))
    say(f"ran {name}" + (":" if complaints else ""))
    for complaint in complaints:
        say(f"  {complaint}")
    return 1 if complaints else 0


def _say_what_is_left(project: Project) -> None:
    print(
        f"\nBadges and setup cells lead to {project.ref} of {project.repository}. Before a click:"
    )
    for number, step in enumerate(steps_left(project), start=1):
        print(f"  {number}. {step}")


def _take_address(root: Path, asked: str | None, ref: str | None) -> None:
    """Set the address that was asked for, or the one of the git remote while there is none."""
    if ref:
        set_ref(root, ref)
    if asked:
        set_repository(root, asked)
    elif not open_project(root).has_address and (found := repository_of_remote(root)):
        set_repository(root, found)
        print(f"The address of the course is now {found}, as in `git remote`.")


def _parser() -> argparse.ArgumentParser:
    about = "Exercises from solutions, canonical notebooks, addresses, stored outputs."
    parser = read_options("build", about, OPTIONS)
    parser.add_argument("--root", type=Path, default=REPOSITORY, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
