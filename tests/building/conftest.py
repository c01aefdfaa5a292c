"""A course of two tiny lessons, complete with pyproject and README, in a temporary folder."""

from pathlib import Path

import pytest

from course_lib.building.notebook import Notebook, code, dumps, markdown, new
from course_lib.building.project import Project, open_project
from course_lib.curriculum import Lesson

PYPROJECT = """\
[project]
name = "tiny"
version = "1.2.3"

[project.urls]
Repository = "https://github.com/OWNER/NAME"
"""
README = """\
# Tiny

git clone https://github.com/OWNER/NAME

<!-- BEGIN LESSONS -->
<!-- END LESSONS -->

The end.
"""
ANSWER = '''\
# EXERCISE mat_add
@cuda.jit
def mat_add(A, B, C):
    """C = A + B, element by element."""
    # your code here
    # BEGIN SOLUTION
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
    # END SOLUTION'''
HINTS = ((1, "look"), (2, "count"), (3, "the idea"))
HINT = "<details>\n<summary>Hint {}: {}</summary>\n\nThink of the edge.\n\n</details>"
TINY = (
    Lesson("00", "first", "First", 10, ("Add", "Subtract", "Multiply"), ("mat_add",)),
    Lesson("01", "second", "Second", 20, ("Read", "Write", "Sleep")),
)


def tiny_lesson() -> Notebook:
    return new([
        code("import numpy as np", id="imports"),
        markdown("**Predict.** How many?", "predict", id="predict"),
        code("print(3)", "nbval-check-output", id="run"),
        code("assert 1 + 2 == 3", "count", id="count"),
        code("_ = np.zeros(3)", "figure", id="picture"),
        markdown("See [lesson 01](01_second.ipynb).", id="see"),
    ])  # fmt: skip


def tiny_solution() -> Notebook:
    return new([
        code("from numba import cuda", id="imports"),
        markdown("Add two matrices. Try first.", id="statement"),
        code(ANSWER, "exercise", id="answer"),
        code('course_lib.check("mat_add", mat_add)', "check", id="check"),
        *(markdown(HINT.format(*each), id=f"hint-{each[0]}") for each in HINTS),
        markdown("This is right because every element has its thread.", "solution", id="why"),
    ])  # fmt: skip


@pytest.fixture
def lesson_notebook() -> Notebook:
    return tiny_lesson()


@pytest.fixture
def solution_notebook() -> Notebook:
    return tiny_solution()


@pytest.fixture
def course(tmp_path: Path) -> Project:
    """The tiny course as its authors wrote it, not built yet."""
    second = tiny_lesson()
    second["cells"][-1]["source"] = "Back to [lesson 00](00_first.ipynb)."
    notebooks = {
        "notebooks/00_first.ipynb": tiny_lesson(),
        "notebooks/01_second.ipynb": second,
        "solutions/00_first.ipynb": tiny_solution(),
    }
    for name, notebook in notebooks.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dumps(notebook), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text('repository-code: "https://github.com/a/b"\n')
    return open_project(tmp_path, TINY)
