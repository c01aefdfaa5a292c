"""Answers in words are passed on to a person: shown, never judged, worth what is set by hand."""

import json
from pathlib import Path

import pytest
from grading_helpers import REPOSITORY, RIGHT, Desk

from course_lib.grading.answers.assembling import read_questions
from course_lib.grading.records import CannotGrade

MARK = "<!-- QUESTION why-two -->"
GIVEN = f"{MARK}\n*Your answer here.*"
SETTINGS = "title = 'Week 1'\nexercises = ['mat_add']\n[questions]\nwhy-two = 2\n"
EVIL = "Because.\n\n<script>alert(1)</script> \u202e=cmd|' /C calc'!A0"


def cell(kind: str, text: str) -> dict[str, object]:
    extra = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text, **extra}


def notebook(path: Path, *cells: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(whole), encoding="utf-8")


def hand_in(folder: Path, student: str, *texts: str) -> None:
    cells = [cell("code", RIGHT), *(cell("markdown", text) for text in texts)]
    notebook(folder / f"class/{student}.ipynb", *cells)


@pytest.fixture
def course(looked_at: None, desk: Desk) -> Desk:
    """A notebook with an exercise and a question, and four students."""
    given = json.loads((REPOSITORY / "exercises/00_start_here.ipynb").read_text(encoding="utf-8"))
    asked = [cell("markdown", "## Why does it take two barriers?"), cell("markdown", GIVEN)]
    notebook(desk.place / "notebooks/00_start_here.ipynb", *given["cells"], *asked)
    desk.write("course.toml", SETTINGS)
    hand_in(desk.place, "ada", f"{MARK}\n{EVIL}")
    hand_in(desk.place, "bo", GIVEN)
    hand_in(desk.place, "cy", f"{MARK}\nfirst", f"later {MARK}", GIVEN)
    hand_in(desk.place, "dee")
    return desk


def run(course: Desk, *more: str, status: int = 0) -> str:
    named = ("--settings", "course.toml", "--notebooks", "notebooks", "--seed", "3")
    return course.grade("class", *named, *more, status=status)


def test_words_wait_for_a_person_and_nothing_is_missing(course: Desk) -> None:
    run(course)
    found = course.rows()
    assert found["ada", "mat_add"]["verdict"] == "passed"
    told = {name: found[name, "why-two"] for name in ("ada", "bo", "cy", "dee")}
    assert {name: row["verdict"] for name, row in told.items()} == {
        "ada": "needs review", "bo": "missing", "cy": "needs review", "dee": "missing",
    }  # fmt: skip
    assert told["ada"]["points"] == "" and told["ada"]["max"] == "2" and told["bo"]["points"] == "0"
    page = (course.out / "answers.html").read_text(encoding="utf-8")
    assert "Why does it take two barriers?" in page and "[ada.why-two]" in page
    assert "<p>later</p>" in page and "<p>first</p>" not in page  # the last that says something
    assert "<script" not in page and "&lt;script&gt;" in page and "\u202e" not in page
    report = (course.out / "report.html").read_text(encoding="utf-8")
    assert "2 without points" in report and "every answer could be judged" in report
    assert not (course.out / "alike.csv").exists()


def test_explain_shows_words_and_what_was_set_for_them(course: Desk) -> None:
    course.write("overrides.toml", "[cy.why-two]\npoints = 1.5\n")
    run(course)
    said = run(course, "--explain", "cy", "why-two")
    assert "cy · why-two: needs review" in said and "Set by hand: 1.5 of 2 points" in said
    assert "later" in said
    said = run(course, "--explain", "cy", "why-to", status=2)
    assert said.startswith("--explain: there is no exercise or lesson 'why-to'")


def test_a_question_that_nobody_asks_is_refused(course: Desk) -> None:
    with pytest.raises(CannotGrade, match=r"No notebook in .* asks why-three: write <!-- QUESTION"):
        read_questions(course.place / "notebooks", ["why-three"])
    notebook(course.place / "notebooks/zz.ipynb", cell("markdown", GIVEN))
    with pytest.raises(CannotGrade, match=r"The question why-two is in .* twice"):
        read_questions(course.place / "notebooks", ["why-two"])


def test_a_question_goes_with_the_exercises_of_its_notebook(course: Desk) -> None:
    course.write("course.toml", SETTINGS.replace("'mat_add'", "'mat_add', 'matmul_naive'"))
    source = REPOSITORY / "exercises/02_naive_matmul.ipynb"
    (course.place / "notebooks/02_naive_matmul.ipynb").write_bytes(source.read_bytes())
    run(course, "--exercises", "matmul_naive")
    assert {exercise for _, exercise in course.rows()} == {"matmul_naive"}
