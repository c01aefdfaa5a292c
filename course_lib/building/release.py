"""The release: the bundle that students get, and what a maintainer must do before badges work.

The bundle has neither the solutions nor the grader.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from course_lib.building.notebook import (
    BuildError,
    Cell,
    Notebook,
    answer_cells,
    code_cells,
    dumps,
    exercise_id,
    read,
    source,
    stub,
)
from course_lib.building.project import Project, git
from course_lib.curriculum import EXERCISES, LESSONS, PATHFINDER, Lesson, lessons_meant
from course_lib.student.exam import MARK as EXAM_MARK

_VERSION = re.compile(r"v?\d+(\.\d+)*")


def steps_left(project: Project) -> list[str]:
    """The steps in their order, as far as this copy knows; none where GitHub has all of it.

    Nothing is asked of the network. What lies on GitHub is what the last fetch or push has seen of
    a branch; whether it has a tag cannot be known, so that one is always named.
    """
    if not project.has_address:
        return ["python3 course.py build --repository OWNER/NAME"]
    return [*_of_git(project), *_of_github(project)]


def _of_git(project: Project) -> Iterator[str]:
    root, ref = project.root, project.ref
    home = f"https://github.com/{project.repository}"
    remote = git(root, "remote", "get-url", "origin")
    if remote is None:
        yield f"git remote add origin {home}.git"
    elif project.repository not in remote:
        yield f"git remote set-url origin {home}.git    (it is {remote})"
    changed = git(root, "status", "--porcelain") != ""
    if changed:
        yield f'git commit --all --message "Notebooks of {project.repository}, {ref}"'
    if is_tag(project):
        if changed or git(root, "rev-parse", f"{ref}^{{commit}}") != git(root, "rev-parse", "HEAD"):
            moved = "--force " if git(root, "tag", "--list", ref) else ""
            yield f"git tag {moved}{ref}"
            yield f"git push {moved}origin {ref}"
        else:
            yield f"git push origin {ref}    (unless it is there)"
    elif changed or git(root, "merge-base", "--is-ancestor", "HEAD", f"origin/{ref}") is None:
        on = git(root, "branch", "--show-current")
        yield f"git push origin {ref}" if on == ref else f"git push origin HEAD:{ref}"


def _of_github(project: Project) -> Iterator[str]:
    yield f"https://github.com/{project.repository} must be public: Colab asks without a password."


def is_tag(project: Project) -> bool:
    """Whether badges lead to a tag; a ref that is not there yet is one if it looks like a version.

    Where a branch and a tag have one name, GitHub's archive is the branch's.
    """
    if git(project.root, "branch", "--list", project.ref):
        return False
    known = bool(git(project.root, "tag", "--list", project.ref))
    return known or bool(_VERSION.fullmatch(project.ref))


# --- The bundle for students ----------------------------------------------------------------------
# The bundle is what a student needs of this checkout, byte for byte, with these changes:
# front_door.py loses the commands for instructors and maintainers, README.md is one for
# students, and the notebooks of a course of one's own are as `own_course` makes them.
#
# Two places of the library hold finished kernels that answer exercises: the rungs of the ladder,
# which are left out unless a lesson of the bundle runs them, and the kernel that figures film.
# What a bundle shows in this way is part of the record, so that an instructor can be told.


MARK = ".matmul-ladder-release"  # a folder that holds it was made here, so it may be replaced

FILES = (
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "LICENSE-TEXT",
    "course.py",
    "docs/cache_model.md",
    "docs/counters.md",
    "docs/machine_code.md",
    "docs/shared_memory_measured.md",
    "environment-gpu.yml",
    "environment.yml",
    "locks/gpu-cu12.txt",
    "locks/gpu-cu13.txt",
    "locks/lab.txt",
    "pyproject.toml",
)
_SPEAKS_OF_HINTS = "Try before you open a hint."
STUDENTS_COMMANDS = ("lab", "prepare", "run", "doctor")
# Parts of course_lib that only instructors and maintainers use.
LEFT_OUT = (
    "book",
    "building",
    "commands/autograder.py",
    "commands/book.py",
    "commands/build.py",
    "commands/environments.py",
    "commands/grade.py",
    "commands/grade_says.py",
    "commands/lock.py",
    "commands/own_course.py",
    "commands/release.py",
    "commands/run_tests.py",
    "grading",
)
LADDER = ("bench", "commands/bench.py", "commands/bench_runs.py", "kernels")
FILMED = "course_lib/figures/watch/kernels.py"  # a tiled kernel, for figures of lessons
SUFFIXES = (".css", ".html", ".js", ".json", ".md", ".py")
_COMMAND_LINE = re.compile(r'^    "([a-z]+)": .*,\n', re.MULTILINE)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can hold


@dataclass(frozen=True)
class Release:
    """A bundle that is not written yet."""

    lessons: tuple[Lesson, ...]  # what it holds
    files: Mapping[str, bytes]  # path within the bundle, with slashes, and content; sorted
    # the files and folders with finished kernels, and the exercises that these answer
    shows: Mapping[str, tuple[str, ...]]
    because: tuple[Lesson, ...] = ()  # the lessons that run the rungs of the ladder


def chosen_lessons(names: Sequence[str]) -> tuple[Lesson, ...]:
    """The lessons that "05", "coalescing" or "00-07" mean; all of them for no name.

    Raises:
        BuildError: for a name that is none.
    """
    try:
        chosen = lessons_meant(names)
    except KeyError as problem:
        raise BuildError(problem.args[0]) from None
    # JupyterLab opens the first one.
    return tuple(lesson for lesson in LESSONS if not names or lesson in (LESSONS[0], *chosen))


def make_release(
    project: Project,
    for_nbgrader: bool = False,
    is_exam: bool = False,
    tests: Mapping[str, bytes] = MappingProxyType({}),
) -> Release:
    """The bundle of a checkout, or of the part of it that a course of one's own uses.

    Args:
        project: the checkout, and what is chosen of it.
        for_nbgrader: whether nbgrader is told which cells are checks.
        is_exam: whether hints are left out, and checks say only whether an answer is right.
        tests: further notebooks, by their place in the bundle.

    Raises:
        BuildError: if a file is missing, an exercise notebook holds an answer, or what stays needs
            what is left out.
    """
    root, lessons = project.root, project.lessons
    notebooks = root / "notebooks"
    runs = tuple(
        lesson for lesson in lessons if _runs_the_ladder(notebooks / f"{lesson.stem}.ipynb")
    )
    left_out = LEFT_OUT if runs else (*LEFT_OUT, *LADDER)
    commands = (*STUDENTS_COMMANDS, "bench") if runs else STUDENTS_COMMANDS
    files = {name: _content(root, name) for name in FILES} | _notebooks(project)
    for name in [name for name in files if re.fullmatch(r"exercises/.*\.ipynb", name)]:
        if is_exam:
            files[name] = dumps(without_hints(json.loads(files[name]))).encode()
        if for_nbgrader:
            files[name] = dumps(declared(json.loads(files[name]), project.points_of)).encode()
    files |= tests
    if is_exam:
        files[EXAM_MARK] = b"Made by `course.py release --exam`: checks do not say why.\n"
    files |= {name: _content(root, name) for name in _library(root, left_out)}
    door = "course_lib/commands/front_door.py"
    files[door] = _with_commands(_content(root, door), commands)
    files["README.md"] = _readme(project, commands).encode()
    files[MARK] = b"Made by `course.py release`; the next release may replace this folder.\n"
    shows: dict[str, tuple[str, ...]] = {FILMED: ("matmul_tiled",)}
    if runs:
        rungs = tuple(exercise.id for exercise in EXERCISES.values() if exercise.rung)
        shows["course_lib/kernels"] = rungs
    return Release(lessons, dict(sorted(files.items())), shows, runs)


def without_hints(notebook: Notebook) -> Notebook:
    """An exercise notebook without its hints, and without the sentence that mentions them."""
    cells = [
        {**cell, "source": source(cell).replace(_SPEAKS_OF_HINTS, "").rstrip()}
        for cell in notebook["cells"]
        if not source(cell).startswith("<details>\n<summary>Hint")
    ]
    return {**notebook, "cells": cells}


def write_folder(release: Release, out: Path) -> None:
    """Make the folder beside its place, and move it there only when it is whole.

    Raises:
        BuildError: if the place holds other files.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BuildError(f"{out} is not a folder; name a new or empty one with --out.")
    if out.exists() and any(out.iterdir()) and not (out / MARK).is_file():
        raise BuildError(f"{out} contains other files; name a new or empty folder with --out.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".release-") as folder:
        made = Path(folder, "course")
        for name, content in release.files.items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if out.exists():
            shutil.rmtree(out)
        made.rename(out)


def zipped(release: Release, folder: str) -> bytes:
    """The bundle as a zip file with one folder in it: equal files are equal bytes."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for name, content in release.files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", _LONG_AGO)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # the same on Windows
            file.writestr(entry, content)
    return archive.getvalue()


def write_archive(release: Release, path: Path) -> None:
    """Write the zip file; it replaces one that was made here, and nothing else.

    Raises:
        BuildError: if the file is another one, such as the zip of a class's submissions.
    """
    if path.exists() and not _is_ours(path):
        raise BuildError(
            f"{path} exists and is not a release; name another --out, or move it away."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zipped(release, path.stem))


def _is_ours(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.count("/") == 1 and name.endswith(MARK) for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def _notebooks(project: Project) -> dict[str, bytes]:
    """The notebooks of the bundle; an exercise has to be as unsolved as it was made."""
    root = project.root
    beside = [f"{folder}/{PATHFINDER}" for folder in ("notebooks", "exercises")]
    found = {name: _content(root, name) for name in beside}
    for lesson in project.lessons:
        for folder in ("notebooks", "exercises") if lesson.exercises else ("notebooks",):
            name = f"{folder}/{lesson.stem}.ipynb"
            if folder == "exercises":
                _refuse_answers(root / name, root / f"solutions/{lesson.stem}.ipynb")
            found[name] = _own(project, lesson, folder) if project.is_own else _content(root, name)
    return found


def _own(project: Project, lesson: Lesson, folder: str) -> bytes:
    # Predictions are drawn with NumPy, which a release of the course as it is does not need.
    from course_lib.building.own_course import notebook_of

    return dumps(notebook_of(project, lesson, folder)).encode()


def _refuse_answers(exercise: Path, solution: Path) -> None:
    """Nobody must hand out the copy in which he tried the exercise himself."""
    notebook = read(exercise)
    if any(cell.get("outputs") for cell in code_cells(notebook)):
        raise BuildError(f"{exercise.name} has outputs; `course.py build` makes a fresh one.")
    if not solution.exists():
        return
    full = answer_cells(read(solution))
    for name, cell in answer_cells(notebook).items():
        if name in full and source(cell) != stub(source(full[name])):
            raise BuildError(
                f"{exercise.name} contains an answer to {name}; `course.py build` makes a fresh "
                "one."
            )


def _runs_the_ladder(notebook: Path) -> bool:
    return any("course_lib.kernels" in source(cell) for cell in code_cells(read(notebook)))


def _library(root: Path, left_out: Sequence[str]) -> Iterator[str]:
    """The files of course_lib that are in the bundle."""
    library = root / "course_lib"
    for path in library.rglob("*"):
        name = path.relative_to(library).as_posix()
        if any(name == prefix or name.startswith(f"{prefix}/") for prefix in left_out):
            continue
        hidden = re.search(r"(^|/)(\.|__pycache__)", name)
        if path.suffix in SUFFIXES and path.is_file() and not hidden:
            yield f"course_lib/{name}"


def _content(root: Path, name: str) -> bytes:
    try:
        return (root / name).read_bytes()
    except OSError as error:
        raise BuildError(f"{name} cannot be read: {error.strerror}") from None


def _with_commands(content: bytes, kept: Sequence[str]) -> bytes:
    """The text with only those lines of its table of commands that students need."""
    text = content.decode("utf-8").replace("\r\n", "\n")
    before, start, rest = text.partition("\nCOMMANDS = {\n")
    table, end, after = rest.partition("\n}\n")
    found = _COMMAND_LINE.findall(table + "\n")
    if not start or not end or not set(kept) <= set(found) or len(found) != table.count("\n") + 1:
        raise BuildError("the table of commands is not one line for each command")
    fewer = _COMMAND_LINE.sub(lambda line: line[0] if line[1] in kept else "", table + "\n")
    return f"{before}{start}{fewer.rstrip()}{end}{after}".encode()


def _readme(project: Project, commands: Sequence[str]) -> str:
    rows = "\n".join(_row(project, lesson) for lesson in project.lessons)
    bench = "| `python3 course.py bench` | times every rung on your GPU |\n"
    template = Path(__file__).with_name("students_readme.md").read_text(encoding="utf-8")
    return template.format(
        title=project.title, rows=rows, bench=bench if "bench" in commands else ""
    )


def _row(project: Project, lesson: Lesson) -> str:
    title = f"[{lesson.number} · {lesson.title}](notebooks/{lesson.stem}.ipynb)"
    names = ", ".join(f"`{name}`{project.worth(name)}" for name in lesson.exercises)
    task = f"[{names}](exercises/{lesson.stem}.ipynb)" if names else ""
    return f"| {title} | {lesson.minutes} | {task} |"


# --- What nbgrader is told: which cells check answers, and what these are worth -------------------
# nbgrader's cell metadata, schema version 3: https://nbgrader.readthedocs.io, "Metadata". Its
# gradebook knows such a cell as `check-` and the exercise's id. Cells for answers are not declared:
# nbgrader would empty them when it generates the assignment, and they hold no answer.


SCHEMA = 3
_CHECK = re.compile(r"""^course_lib\.check\(\s*["'](\w+)["']""", re.MULTILINE)


def check_name(exercise: str) -> str:
    """What nbgrader calls the cell that checks an exercise."""
    return f"check-{exercise}"


def declared(notebook: Notebook, points: Callable[[str], float]) -> Notebook:
    """The notebook with nbgrader's metadata on the cells that check its exercises.

    Args:
        notebook: an exercise notebook.
        points: how many an exercise is worth.
    """
    asked = {exercise_id(cell) for cell in notebook["cells"]} - {None}
    cells = [_declared_cell(cell, asked, points) for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


def _declared_cell(cell: Cell, asked: set[str | None], points: Callable[[str], float]) -> Cell:
    checks = _CHECK.search(source(cell)) if cell["cell_type"] == "code" else None
    if checks is None or checks[1] not in asked:
        return cell
    said = {
        "schema_version": SCHEMA,
        "grade_id": check_name(checks[1]),
        "grade": True,
        "locked": True,
        "solution": False,
        "task": False,
        "points": points(checks[1]),
    }
    return {**cell, "metadata": {**cell["metadata"], "nbgrader": said}}
