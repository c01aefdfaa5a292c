"""What a lesson is made of is counted; lessons that are written do-first keep their budgets."""

from pathlib import Path

import pytest
from every_case import every_case
from lesson_rules import words

from course_lib.curriculum import LESSONS

ROOT = Path(__file__).resolve().parents[2]
# Words in cells, and in questions with their choices, reasons, hints and reveals.
BUDGETS = {
    "00": (738, 600),  # with the packages that the import line may mean
    "01": (655, 400),
    "02": (730, 455),
    "03": (970, 595),  # with what a loop costs
    "04": (610, 353),  # with what an atomic add is for
    "05": (728, 675),
    "05b": (624, 430),
    "05c": (655, 435),
    "06": (1360, 805),  # with a C that has too few tiles
    "07": (920, 575),
    "08": (1495, 885),  # with what a fused epilogue saves
    "08b": (1150, 1160),  # a report in three columns; three kernels known by their counters alone
    "09": (940, 785),
    "09b": (940, 845),
    "10": (1165, 895),
    "10b": (1590, 1045),  # six steps from rung 11 to rung 12, each read, predicted and counted
    "10c": (785, 540),
    "11": (712, 745),
    "11b": (1150, 545),  # six kernels to type
    "12": (2860, 3425),
    "13": (1425, 435),  # with a page on the languages that are not typed
}


@pytest.fixture(scope="module")
def counts():
    return {each.lesson: each for each in words.counts(ROOT)}


@every_case("number", BUDGETS)
def test_a_lesson_keeps_its_budget(counts, number):
    each = counts[number]
    cells, questions = BUDGETS[number]
    assert each.cells <= cells and each.questions <= questions, each


def test_lessons_00_to_05_show_at_most_what_they_may_all_told(counts):
    early = [each for each in counts.values() if each.lesson <= "05b"]
    assert sum(each.cells for each in early) <= 6_500
    assert sum(each.cells + each.questions + each.tasks for each in early) <= 11_700


def test_every_lesson_is_counted(counts):
    assert list(counts) == [each.number for each in LESSONS]
    assert all(each.cells > 0 and each.code_lines > 0 for each in counts.values())
    text = words.table(list(counts.values()))
    total = sum(each.cells for each in counts.values())
    assert len(text.splitlines()) == 3 + len(LESSONS) and f"| all | {total} |" in text
