"""Answers in words are passed on to a person: shown, never judged, worth what is set by hand."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from grading_helpers import REPOSITORY, RIGHT, threads

from course_lib.commands import grade
from course_lib.grading import engine
from course_lib.grading.answers.assembling import read_questions
from course_lib.grading.records import CannotGrade
from course_lib.grading.settings import load_settings

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
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook with an exercise and a question, and four students."""
    given = json.loads((REPOSITORY / "exercises/00_start_here.ipynb").read_text(encoding="utf-8"))
    asked = [cell("markdown", "## Why does it take two barriers?"), cell("markdown", GIVEN)]
    notebook(tmp_path / "notebooks/00_start_here.ipynb", *given["cells"], *asked)
    (tmp_path / "course.toml").write_text(SETTINGS)
    hand_in(tmp_path, "ada", f"{MARK}\n{EVIL}")
    hand_in(tmp_path, "bo", GIVEN)
    hand_in(tmp_path, "cy", f"{MARK}\nfirst", f"later {MARK}", GIVEN)
    hand_in(tmp_path, "dee")
    from grading_helpers import judge_here

    monkeypatch.setattr(engine, "run_batch", judge_here)
    monkeypatch.setattr(grade, "_workplace", lambda options: threads())
    return tmp_path


def run(folder: Path, *more: str) -> int:
    options = ["--settings", "course.toml", "--notebooks", "notebooks", "--seed", "3"]
    named = [
        str(folder / each) if not each.startswith("-") and each != "3" else each for each in options
    ]
    return grade.main([str(folder / "class"), "--out", str(folder / "out"), *named, *more])


def rows(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (folder / "out/grades.csv").open(encoding="utf-8", newline="") as file:
        return {(row["submission"], row["exercise"]): row for row in csv.DictReader(file)}


def test_words_wait_for_a_person_and_nothing_is_missing(course: Path) -> None:
    assert run(course) == 0
    found = rows(course)
    assert found["ada", "mat_add"]["verdict"] == "passed"
    told = {name: found[name, "why-two"] for name in ("ada", "bo", "cy", "dee")}
    assert {name: row["verdict"] for name, row in told.items()} == {
        "ada": "needs review", "bo": "missing", "cy": "needs review", "dee": "missing",
    }  # fmt: skip
    assert told["ada"]["points"] == "" and told["ada"]["max"] == "2" and told["bo"]["points"] == "0"
    page = (course / "out/answers.html").read_text(encoding="utf-8")
    assert "Why does it take two barriers?" in page and "[ada.why-two]" in page
    assert "<p>later</p>" in page and "<p>first</p>" not in page  # the last that says something
    assert "<script" not in page and "&lt;script&gt;" in page and "\u202e" not in page
    report = (course / "out/report.html").read_text(encoding="utf-8")
    assert "2 without points" in report and "every answer could be judged" in report
    assert not (course / "out/alike.csv").exists()


def test_points_and_comments_come_from_overrides(course: Path) -> None:
    assert run(course) == 0
    (course / "overrides.toml").write_text(
        "[ada.why-two]\npoints = 1.5\ncomment = 'Which of the two?'\n"
    )
    assert run(course) == 0
    assert rows(course)["ada", "why-two"]["points"] == "1.5"
    page = (course / "out/feedback/ada.html").read_text(encoding="utf-8")
    assert "11.5 of 12 points" in page and "Which of the two?" in page
    assert "1.5 of 2" in (course / "out/answers.html").read_text(encoding="utf-8")


def test_explain_shows_words_and_what_was_set_for_them(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "overrides.toml").write_text("[cy.why-two]\npoints = 1.5\n")
    assert run(course) == 0
    capsys.readouterr()
    assert run(course, "--explain", "cy", "why-two") == 0
    said = capsys.readouterr().out
    assert "cy · why-two: needs review" in said and "Set by hand: 1.5 of 2 points" in said
    assert "later" in said
    assert run(course, "--explain", "cy", "why-to") == 2
    assert capsys.readouterr().err.startswith("--explain: there is no exercise or lesson 'why-to'")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[questions]\nmat_add = 2", "`questions.mat_add`: a question needs a name of its own"),
        ("[questions]\ncomment = 2", "`questions.comment`: a question needs a name of its own"),
        ("[questions]\n'a b' = 2", "`questions.a b`: a question needs a name of its own"),
        ("[questions]\nwhy = 'two'", "`questions.why` is 'two'; write a number of 0 to"),
        ("questions = 3", "`questions` is 3; write a table [questions]"),
    ],
)
def test_a_bad_line_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(CannotGrade, match=re.escape(said)):
        load_settings(tmp_path / "course.toml")


def test_a_question_that_nobody_asks_is_refused(course: Path) -> None:
    with pytest.raises(CannotGrade, match=r"No notebook in .* asks why-three: write <!-- QUESTION"):
        read_questions(course / "notebooks", ["why-three"])
    notebook(course / "notebooks/zz.ipynb", cell("markdown", GIVEN))
    with pytest.raises(CannotGrade, match="The question why-two stands twice"):
        read_questions(course / "notebooks", ["why-two"])


def test_a_question_goes_with_the_exercises_of_its_notebook(course: Path) -> None:
    (course / "course.toml").write_text(SETTINGS.replace("'mat_add'", "'mat_add', 'matmul_naive'"))
    source = REPOSITORY / "exercises/02_naive_matmul.ipynb"
    (course / "notebooks/02_naive_matmul.ipynb").write_bytes(source.read_bytes())
    assert run(course, "--exercises", "matmul_naive") == 0
    assert {exercise for _, exercise in rows(course)} == {"matmul_naive"}
