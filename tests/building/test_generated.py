"""Headings, setup cells, links and the README's table come from the registry and the address."""

import dataclasses
import shutil
import sys
import types

import pytest
from child import ROOT, python
from IPython.core.inputtransformer2 import TransformerManager
from sampling import few

from course_lib.building.generated import setup_cell, with_generated_cells
from course_lib.building.notebook import BuildError, code, markdown, source
from course_lib.building.project import Project
from course_lib.curriculum import PATHFINDER


@pytest.fixture
def placed(course) -> Project:
    return dataclasses.replace(course, repository="some-one/course")


def plain(text: str) -> str:
    """A cell as Python, its shell line a call of the notebook's."""
    return TransformerManager().transform_cell(text)


class Notebook:
    """What `get_ipython()` gives, here or on Colab; it keeps the commands of shell lines."""

    def __init__(self, is_colab: bool) -> None:
        self.is_colab, self.commands = is_colab, []

    def __str__(self) -> str:
        return f"<{'google.colab._shell.Shell' if self.is_colab else 'ipykernel.zmqshell'} object>"

    def system(self, command: str) -> None:
        self.commands.append(command)


def run_setup(text: str, monkeypatch, is_colab: bool) -> list[str]:
    """Run a setup cell with the shell and the library replaced; the commands that it ran."""
    library = types.ModuleType("course_lib")
    library.start = lambda: print("started")
    monkeypatch.setitem(sys.modules, "course_lib", library)
    notebook = Notebook(is_colab)
    exec(compile(plain(text), "<setup>", "exec"), {"get_ipython": lambda: notebook})
    return notebook.commands


def test_setup_installs_what_the_badge_opens_without_dependencies(placed, monkeypatch, capsys):
    (command,) = run_setup(source(setup_cell(placed)), monkeypatch, is_colab=True)
    assert command.split() == ["pip", "install", "--quiet", "--no-deps", placed.archive]
    assert capsys.readouterr().out == "started\n"


@pytest.mark.parametrize(("ref", "sentence"), few([
    ("", "not found? Get the whole course, and run `python3 course.py lab` in its folder"),
    ("main", "404? main of some-one/course is not pushed, or not public"),
    ("v9.9.9", "404? v9.9.9 of some-one/course is not pushed, or not public"),
], 1))  # fmt: skip
def test_a_lesson_without_the_course_ends_in_a_sentence(course, placed, ref, sentence, tmp_path):
    """What a notebook shows of a failed cell: the line with its comment, and the error."""
    # The course may be installed where this runs, so the cell asks for one that nowhere is.
    project = dataclasses.replace(placed, ref=ref) if ref else course
    text = source(setup_cell(project)).replace("course_lib", "course_lib_of_nobody")
    asked = ("-m", "IPython", "--colors=NoColor", "-c", text)
    ran = python(*asked, cwd=tmp_path, status=None, IPYTHONDIR=str(tmp_path))
    said = ran.stdout + ran.stderr
    assert f"import course_lib_of_nobody  # {sentence}\n" in said
    assert said.strip().endswith("No module named 'course_lib_of_nobody'")


@pytest.mark.parametrize("folder", ["exercises", "my/exercises"])
def test_setup_finds_the_library_of_a_checkout(course, folder, tmp_path):
    library = tmp_path / "course_lib"
    library.mkdir()
    (library / "__init__.py").write_text("def start(lesson=''):\n    print('from the checkout')\n")
    place = tmp_path / folder
    place.mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / PATHFINDER, place)  # as in every folder of notebooks
    # -E and -S: neither PYTHONPATH nor an installed copy of the course helps.
    ran = python("-E", "-S", "-c", source(setup_cell(course)), cwd=place)
    assert ran.stdout == "from the checkout\n"


def generate(project, cells, folder="notebooks"):
    return with_generated_cells(cells, project, project.lessons[0], folder)


def test_links_lead_to_colab_once_there_is_an_address(course, placed):
    cells = [code("x = 1"), markdown("[on](01_second.ipynb) and [do](../exercises/00_first.ipynb)")]
    with_address = source(generate(placed, cells)[-2])
    base = "https://colab.research.google.com/github/some-one/course/blob/main"
    assert f"[on](01_second.ipynb) ([Colab]({base}/notebooks/01_second.ipynb))" in with_address
    assert f"([Colab]({base}/exercises/00_first.ipynb))" in with_address
    moved = dataclasses.replace(course, repository="other/place")
    there = source(generate(moved, generate(placed, cells))[-2])
    assert there == with_address.replace("some-one/course", "other/place")
    assert source(generate(course, generate(placed, cells))[-2]) == source(cells[1])


@pytest.mark.parametrize("target", ["02_third.ipynb", "../exercises/01_second.ipynb", "x.ipynb"])
def test_a_link_to_nowhere_is_refused(course, target):
    with pytest.raises(BuildError, match="not a notebook of the course"):
        generate(course, [code("x = 1"), markdown(f"[see]({target})")])
