"""The first page of the book: it leads everywhere, and shows nothing that was not measured."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from lesson_rules.shown import ShownPiece, in_order
from lesson_rules.spoilers import spoilt

from course_lib import measurements
from course_lib.book.site import SIZE, front_page
from course_lib.building.project import open_project

PROJECT = open_project(Path(__file__).resolve().parents[2])
WITH_ADDRESS = replace(PROJECT, repository="somebody/ladder")
FRONT = front_page(PROJECT)


def test_it_leads_to_every_lesson_and_exercise() -> None:
    for lesson in PROJECT.lessons:
        assert f"](notebooks/{lesson.stem}.ipynb)" in FRONT
        assert f"\nnotebooks/{lesson.stem}\n" in FRONT
        assert (f"\nexercises/{lesson.stem}\n" in FRONT) == bool(lesson.exercises)


def test_it_says_how_to_get_the_course_where_that_has_an_address() -> None:
    assert "git clone" not in FRONT
    assert "git clone https://github.com/somebody/ladder\n" in front_page(WITH_ADDRESS)


def test_the_ladder_is_what_was_measured_last() -> None:
    newest = measurements.latest()
    assert newest is not None
    speeds = newest.speeds(SIZE, ("float32",))
    shown = re.findall(r"<code>(\w+)</code>.*?--share: ([\d.]+).*?>(\d+%)<", FRONT)
    expected = [
        (name, f"{share:.4f}", f"{share:.0%}")
        for name, share in speeds.of_cublas.items()
        if not name.endswith("_while")
    ]
    assert shown == expected[::-1]
    assert "NVIDIA H200" in FRONT and newest.date[:10] in FRONT


@pytest.mark.slow
def test_it_gives_no_prediction_away() -> None:
    front = ShownPiece("", "the book's first page", FRONT)
    assert list(spoilt([front, *in_order(PROJECT.root)])) == []
