"""Nothing gives a prediction away before it is made, in the whole course and in its order."""

import re
from pathlib import Path

import pytest
from every_case import every_case
from lesson_rules.shown import ShownPiece, in_order
from lesson_rules.spoilers import found, read_aloud, spoilt

from course_lib.curriculum import LESSONS
from course_lib.questions import lessons, predictions
from course_lib.questions.kinds import Number

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


@every_case(("spoiler", "text", "is_found"), [
    ("all four", "It is **all** `four` of them.", True),
    ("all four", "ALL\nfour", True),
    ("all four", "all fourteen", False),
    ("12", "112 or 12.", True),
    ("12", "1,120", False),
    ("out[2]", "it writes `out[2]` twice", True),
    (re.compile(r"\b12 (bytes|B)\b"), "asks for 12 BYTES", True),
    (re.compile(r"\b12 (bytes|B)\b"), "asks for 12 bits", False),
])  # fmt: skip
def test_a_spoiler_is_found_however_it_is_written(spoiler, text, is_found):
    assert bool(found(spoiler, read_aloud(text))) == is_found


NUMBER = Number(
    id="00-writers", asks="How many write?", unit="threads", value=lambda: 4,
    reveal="All {answer} do.", spoilers=("all 4", re.compile(r"every thread")),
)  # fmt: skip


@pytest.mark.parametrize(("texts", "said"), [
    (["How many?", "REVEAL", "All 4 do, every thread."], []),
    (["So all 4 write.", "REVEAL"], ["there 0 spoils 00-writers: “So all 4 write.”"]),
    (["Every thread does.", "x", "REVEAL", "REVEAL"], ["there 0 spoils"] * 2),
])  # fmt: skip
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


def test_the_order_is_the_front_page_the_titles_the_lessons_and_their_exercises(pieces):
    files = list(dict.fromkeys(each.where.split(",")[0] for each in pieces[2:]))
    assert pieces[0].where == "README.md" and pieces[1].text.startswith(LESSONS[0].title)
    assert files == [
        f"{folder}/{each.stem}.ipynb"
        for each in LESSONS
        for folder in ("notebooks", "exercises")
        if folder == "notebooks" or each.exercises
    ]
