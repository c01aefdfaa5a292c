"""The site of the book: its first page, a page from each notebook, their sources, and Sphinx."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from course_lib import measurements
from course_lib.book.live_cells import alive, first_asked, write_tab
from course_lib.book.playground import SMOOTH, filled, holder, playground_page, report_on
from course_lib.building.notebook import BuildError, Cell, Notebook, dumps, source, tags
from course_lib.building.own_course import notebook_of
from course_lib.building.placed import PICTURE, QUESTION, prediction_placed
from course_lib.building.project import Project
from course_lib.curriculum import EXERCISES, RUNGS, TASKS, Lesson
from course_lib.measurements import Speeds
from course_lib.questions import find
from course_lib.questions.kinds import Question
from course_lib.questions.prediction_card import html_of

# --- The first page: what the course is, where to start, how far the ladder goes ------------------


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


# --- Notebooks as pages: only what needs a running notebook is left out ---------------------------
# A page keeps the lesson's cells and their stored outputs, so pictures, figures to play with and
# quick checks are alive in it. An answer's cell becomes a live one, and a prediction a card with
# its reveal, which is computed when the book is made. What goes: the setup cell, and the launch
# badge, for the book's own launch button does its work (and the badge would be fetched from
# elsewhere).


_BADGE = re.compile(r"\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)\n*")
NO_INPUT = "remove-input"  # of myst-nb: a cell's output alone
NOTEBOOK_ONLY = "notebook-only"  # a cell about the notebook itself, such as its keys
OF_A_SESSION = ("course_lib.yours_or_ours", "figures.my_ladder")
_SUMMARY, _BACKTICKS = re.compile(r"<summary>.*?</summary>"), re.compile(r"`([^`]+)`")
_COLAB_LINK = re.compile(r" \(\[Colab\]\([^)\s]*\)\)")


def page(notebook: Notebook) -> Notebook:
    """The notebook of a lesson or an exercise as a page; the notebook itself stays as it is."""
    cells = [_cell(cell) for cell in alive(notebook["cells"]) if not _is_for_notebooks(cell)]
    return {**notebook, "cells": cells}


def _is_for_notebooks(cell: Cell) -> bool:
    """Is it the setup, something else that a session needs, or a question that its card repeats?"""
    if {"setup", NOTEBOOK_ONLY, QUESTION} & set(tags(cell)):
        return True
    return cell["cell_type"] == "code" and _needs_a_session(source(cell))


def _needs_a_session(text: str) -> bool:
    """Does the code only do what concerns a running notebook?

    That is to import, to take over what the student has written, and to draw their ladder.
    """
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return False
    return bool(statements) and all(map(_is_of_a_session, statements))


def _is_of_a_session(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in OF_A_SESSION


def _cell(cell: Cell) -> Cell:
    if name := prediction_placed(cell):
        return _card(cell, find(name))
    if cell["cell_type"] == "code":
        return _with_words(_picture_alone(cell))
    text = _COLAB_LINK.sub("", source(cell))
    if "launch" in tags(cell):
        text = _BADGE.sub("", text)
    return {**cell, "source": _SUMMARY.sub(_with_code, text)}


def _with_code(summary: re.Match[str]) -> str:
    """The head of a fold, in which Markdown's backticks mean nothing."""
    return _BACKTICKS.sub(r"<code>\1</code>", summary[0])


def _card(cell: Cell, question: Question) -> Cell:
    """A prediction as a card that needs no kernel, in place of the call that takes a guess."""
    shown = {"text/html": html_of(question), "text/plain": question.asks}
    output = {"output_type": "display_data", "data": shown, "metadata": {}}
    hidden = {"metadata": {**cell["metadata"], "tags": [*tags(cell), NO_INPUT]}}
    return {**cell, **hidden, "outputs": [output]}


def _picture_alone(cell: Cell) -> Cell:
    """The picture of what a task wants, without the call that drew it."""
    if PICTURE not in tags(cell):
        return cell
    return {**cell, "metadata": {**cell["metadata"], "tags": [*tags(cell), NO_INPUT]}}


def _with_words(cell: Cell) -> Cell:
    """A code cell whose pictures carry their words where the book's builder looks for them."""
    words = [
        output["metadata"]["image/png"]["alt"] for output in cell["outputs"] if _has_words(output)
    ]
    if not words:
        return cell
    image = {"mystnb": {"image": {"alt": " ".join(words)}}}
    return {**cell, "metadata": {**cell["metadata"], **image}}


def _has_words(output: dict[str, Any]) -> bool:
    return "alt" in output.get("metadata", {}).get("image/png", {})


# --- The folder of sources, and Sphinx ------------------------------------------------------------
# Sphinx, myst-nb and the book theme do the work. Nothing is executed: the outputs are the stored
# ones. Everything that a page needs is in the site's own folder, so that a plain file server, or a
# click on index.html, is enough.


def write_sources(project: Project, folder: Path) -> None:
    """Write what Sphinx reads: the pages, their style, the configuration.

    Raises:
        BuildError: if a notebook cannot be read, or needs what the course leaves out.
    """
    for kind in ("notebooks", "exercises"):
        (folder / kind).mkdir(parents=True)
        for lesson in project.lessons:
            if kind == "notebooks" or lesson.exercises:
                text = dumps(page(notebook_of(project, lesson, kind)))
                (folder / kind / f"{lesson.stem}.ipynb").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text(front_page(project), encoding="utf-8")
    (folder / "playground.md").write_text(playground_page(), encoding="utf-8")
    (folder / "_static").mkdir()
    shutil.copy(Path(__file__).with_name("book.css"), folder / "_static")
    live = write_tab(folder / "_static", folder / "_root")
    configuration = filled(
        "conf.py.txt", title=project.title, options=theme_options(project), live=live
    )
    (folder / "conf.py").write_text(configuration, encoding="utf-8")


def theme_options(project: Project) -> dict[str, object]:
    """What the book theme shows; launch buttons need the repository's address."""
    options: dict[str, object] = {
        "use_download_button": False,
        "use_fullscreen_button": False,
        "show_navbar_depth": 1,
        "show_toc_level": 2,
        "home_page_in_toc": True,
        "navbar_persistent": [],
        "footer_content_items": ["extra-footer"],
    }
    if project.has_address:
        options |= {
            "repository_url": f"https://github.com/{project.repository}",
            "repository_branch": project.ref,
            "path_to_docs": "",
            "use_repository_button": True,
            "launch_buttons": {
                "colab_url": "https://colab.research.google.com",
                "binderhub_url": "https://mybinder.org",
                "notebook_interface": "jupyterlab",
            },
        }
    return options


def run_sphinx(source: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Have Sphinx make the site; every warning of it is an error."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "--nitpicky"]
    command += ["-q", "--color", str(source), str(site)]
    return subprocess.run(command, capture_output=True, text=True)
