"""The numbers of lessons 06 and 12, worked out apart from the course's own formulas."""

from __future__ import annotations

import pytest

from course_lib.questions import of_lesson
from course_lib.questions.kinds import Number

WORKED_OUT = {
    "06-sixteen": min(48 // 8, 4 * (16_384 // 1280) // 8, 102_400 // (2048 + 1024), 16),
    "12-naive": 2 / (4 + 4),
    "12-sectors": len({(4 * 1024 * lane + 28) // 32 for lane in range(32)}),
    "12-requested": 4096 / 32,
    "12-h100": 100 * 32 / 64,
    "12-stride": max([24 * lane % 32 for lane in range(32)].count(bank) for bank in range(32)),
    "12-eight-by-eight": 16 / 64,
}


def test_the_numbers_are_what_they_should_be():
    asked = {**of_lesson("06"), **of_lesson("12")}
    numbers = {name: each.value() for name, each in asked.items() if isinstance(each, Number)}
    assert numbers == pytest.approx(WORKED_OUT)
