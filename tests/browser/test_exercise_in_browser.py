"""A student opens an exercise, checks it unsolved, types a solution, and reads the verdict."""

import json

import pytest
from notebook_page import cell_with, open_notebook, replace_source, run_all, run_cell

from course_lib.curriculum import EXERCISES, LESSONS

TRIED = (
    "mat_add",
    "blocks_per_sm",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("matmul_tiled", "transpose_tiled")),
)


def said(output) -> str:
    """What an output holds, whether the browser has drawn it or waits until it is scrolled to."""
    return output.text_content() or ""


def solved(root, exercise) -> str:
    """The answer cell of the solution, as a student would type it."""
    lesson = next(each for each in LESSONS if each.number == exercise.lesson)
    notebook = json.loads((root / "solutions" / f"{lesson.stem}.ipynb").read_text())
    texts = ("".join(cell["source"]) for cell in notebook["cells"])
    text = next(each for each in texts if each.startswith(f"# EXERCISE {exercise.id}\n"))
    lines = [line for line in text.splitlines() if line.strip()[:5] not in ("# BEG", "# END")]
    return "\n".join(lines)


@pytest.mark.parametrize("name", TRIED)
def test_an_exercise_is_solved_by_typing(page, lab, pytestconfig, name) -> None:
    exercise = EXERCISES[name]
    lesson = next(each for each in LESSONS if each.number == exercise.lesson)
    open_notebook(page, lab, f"exercises/{lesson.stem}.ipynb")
    run_all(page)
    check = cell_with(page, f'course_lib.check("{name}"')
    verdict = check.locator(".jp-OutputArea")
    assert "[missing-answer]" in said(verdict), said(verdict)
    answer = cell_with(page, f"# EXERCISE {name}")
    replace_source(page, answer, solved(pytestconfig.rootpath, exercise))
    run_cell(page, answer)
    run_cell(page, check)
    words = said(verdict)
    assert "passed" in words and "[missing-answer]" not in words, words
