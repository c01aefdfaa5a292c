"""Nothing gives a prediction away before it is made, in the whole course and in its order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from every_case import every_case
from lesson_rules.shown import ShownPiece, in_order
from lesson_rules.spoilers import found, read_aloud, spoilt

from course_lib.building.notebook import code, dumps, markdown, new, read
from course_lib.questions import lessons, predictions, quick_checks
from course_lib.questions.kinds import Choice, Choose, Number

ROOT = Path(__file__).resolve().parents[2]
PREDICTIONS = {name: each for number in lessons() for name, each in predictions(number).items()}


@pytest.fixture(scope="module")
def pieces():
    return list(in_order(ROOT))


@pytest.fixture(scope="module")
def aloud(pieces):
    return [read_aloud(each.text) for each in pieces]


@pytest.mark.slow
def test_nothing_shows_a_spoiler_before_its_prediction(pieces):
    assert list(spoilt(pieces)) == []


@every_case("name", PREDICTIONS)
def test_a_prediction_lists_what_would_spoil_it(pieces, aloud, name):
    """And its reveal or what comes after it says one of these, or they would guard nothing."""
    place = next(place for place, each in enumerate(pieces) if each.reveals == name)
    spoilers = PREDICTIONS[name].spoilers
    assert any(found(each, text) for each in spoilers for text in aloud[place:])


@every_case(
    ("spoiler", "text", "is_found"),
    [
        ("all four", "It is **all** `four` of them.", True),
        ("all four", "ALL\nfour", True),
        ("all four", "all fourteen", False),
        ("12", "112 or 12.", True),
        ("12", "1,120", False),
        ("out[2]", "it writes `out[2]` twice", True),
        (re.compile(r"\b12 (bytes|B)\b"), "asks for 12 BYTES", True),
        (re.compile(r"\b12 (bytes|B)\b"), "asks for 12 bits", False),
    ],
)
def test_a_spoiler_is_found_however_it_is_written(spoiler, text, is_found):
    assert bool(found(spoiler, read_aloud(text))) == is_found


NUMBER = Number(
    id="00-writers",
    asks="How many write?",
    unit="threads",
    value=lambda: 4,
    reveal="All {answer} do.",
    spoilers=("all 4", re.compile(r"every thread")),
)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["How many?", "REVEAL", "All 4 do, every thread."], []),
        (["So all 4 write.", "REVEAL"], ["there 0 spoils 00-writers: “So all 4 write.”"]),
        (["Every thread does.", "x", "REVEAL", "REVEAL"], ["there 0 spoils"] * 2),
    ],
)
def test_what_comes_too_early_is_quoted_with_its_place(texts, said):
    pieces = [
        ShownPiece(
            "00",
            f"there {n}",
            "" if text == "REVEAL" else text,
            reveals=NUMBER.id * (text == "REVEAL"),
        )
        for n, text in enumerate(texts)
    ]
    complaints = list(spoilt(pieces, lambda name: NUMBER))
    assert len(complaints) == len(said)
    assert all(map(str.startswith, complaints, said))


CHOICE = Choose(
    id="00-which",
    asks="Which one?",
    choices=(Choice("The first.", "No."), Choice("The second.", "Yes.", right=True)),
    reveal="Always {answer}.",
    spoilers=("the second",),
)


def output(text):
    data = {"text/plain": text, "text/html": f"<style>hidden{{}}</style><b>{text}&amp;</b>"}
    return {"output_type": "display_data", "data": data, "metadata": {}}


@pytest.fixture
def order(course, monkeypatch):
    """The tiny course with two predictions in its first lesson, read in its order."""
    monkeypatch.setattr(
        "lesson_rules.shown.of_lesson",
        lambda number: {each.id: each for each in (NUMBER, CHOICE)} | quick_checks("00"),
    )
    path = course.root / "notebooks/00_first.ipynb"
    picture = code("draw()", id="picture") | {"outputs": [output("a drawing")]}
    check = next(iter(quick_checks("00")))
    cells = [
        markdown("# 00 · First\n\n- a goal", "launch", id="launch"),
        picture,
        markdown("**Predict.** …", "question", id="question-00-which"),
        code('course_lib.predict("00-which", ...)', "predict", id="predict-00-which"),
        code("# TASK put_seven\n...", "task", id="task"),
        code(f'course_lib.quiz.ask("{check}")', "quiz", id="quiz"),
    ]
    path.write_text(dumps(new(cells)))
    (course.root / "exercises").mkdir()
    exercise = course.root / "exercises/00_first.ipynb"
    exercise.write_text(dumps(new([markdown("Add them.", id="statement")])))
    return list(in_order(course.root, course.lessons)), quick_checks("00")[check]


def test_the_order_is_the_front_page_the_titles_the_lessons_and_their_exercises(order, course):
    pieces, _ = order
    assert pieces[0].where == "README.md" and "Tiny" in pieces[0].text
    assert pieces[1].text == "First\nSecond"
    files = list(dict.fromkeys(each.where.split(",")[0] for each in pieces[2:]))
    assert files == [
        "notebooks/00_first.ipynb",
        "exercises/00_first.ipynb",
        "notebooks/01_second.ipynb",
    ]
    assert read(course.root / files[0])["cells"][0]["id"] == "launch"
