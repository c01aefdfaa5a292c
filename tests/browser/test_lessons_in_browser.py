"""Every lesson in JupyterLab: it runs, nothing is red, figures and quick checks respond."""

import pytest
from cards import (
    FIGURES,
    QUICK_CHECKS,
    answer,
    look,
    move_first_control,
    move_last_control,
    quick_checks_of,
    started,
)
from notebook_page import error_outputs, has_number, open_notebook, prompts, run_all

from course_lib.curriculum import LESSONS

# Figures of many kinds; the book's tests try the others, on its pages, where the same scripts run.
TRIED = ("05", "07")
LESSONS_HERE = [
    each if each.number in TRIED else pytest.param(each, marks=pytest.mark.long) for each in LESSONS
]
BROKEN_PICTURES = """
    () => [...document.querySelectorAll(".jp-OutputArea img")]
        .filter(picture => !picture.complete || picture.naturalWidth === 0).length
"""


@pytest.mark.parametrize("lesson", LESSONS_HERE, ids=lambda each: each.number)
def test_a_lesson_runs_and_responds(page, lab, lesson) -> None:
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    open_notebook(page, lab, f"notebooks/{lesson.stem}.ipynb")
    run_all(page)
    assert all(map(has_number, prompts(page))), prompts(page)
    assert error_outputs(page) == []
    assert page.locator(".jp-OutputArea img").count() > 0
    assert page.evaluate(BROKEN_PICTURES) == 0
    for figure in started(page, FIGURES):
        before = look(figure)
        move_first_control(figure)
        if look(figure)[1] == before[1]:  # a figure that is played speaks once it is stepped
            move_last_control(figure)
        after = look(figure)
        title = figure.locator(".ml-title").inner_text()
        assert after[0] != before[0], f"{title}: the picture stays as it is"
        assert after[1] != before[1], f"{title}: the words stay as they are"
    checks = started(page, QUICK_CHECKS)
    assert len(checks) == quick_checks_of(lesson)
    assert all(len(answer(each)) > 40 for each in checks[:1]), "a verdict needs a reason"
    assert wrong == []
