"""What goes wrong far beyond the usual sizes costs its points; honest answers keep theirs.

How many launches are counted is the same for every answer and from try to try.
"""

import re

import pytest
from far_answers import COSTLY_BEYOND_A_SIZE, HONEST, RIGHT_UP_TO_A_SIZE
from passing import without_cause
from sampling import few, marks
from stored_answers import right_answers_to, wrong_answers_to

from course_lib.checking import examine_source

SEEDS = (0, 5)
LOST = {
    **{name: ("matmul_naive", text, "right") for name, text in RIGHT_UP_TO_A_SIZE.items()},
    **COSTLY_BEYOND_A_SIZE,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=marks(number, fast=20, slow=4)) for number, name in enumerate(LOST)],
)
def test_what_is_lost_beyond_a_size_is_not_paid(name: str) -> None:
    exercise, text, lost = LOST[name]
    for seed in SEEDS:
        report = without_cause(exercise, text, seed)
        assert report.earned[lost] == 0, (seed, str(report))


@pytest.mark.parametrize("name", few(HONEST, 0))
def test_an_honest_answer_that_looks_like_them_keeps_its_points(name: str) -> None:
    exercise, text = HONEST[name]
    for seed in SEEDS:
        report = examine_source(exercise, text, seed=seed)
        assert report.points == report.max_points, (seed, str(report))


@pytest.mark.parametrize("exercise", ["mat_add", "block_scan"])
@pytest.mark.slow
def test_launches_are_as_many_from_try_to_try(exercise: str) -> None:
    right = next(iter(right_answers_to(exercise).values()))
    usual = len(examine_source(exercise, right).tried)
    for name, text in list(wrong_answers_to(exercise).items())[::25]:
        for seed in SEEDS:
            held = without_cause(exercise, text, seed).held
            told = [re.search(r"right on (?:\d+ of |all )(\d+)", words) for words in held]
            counted = [int(words[1]) for words in told if words]
            assert counted in ([], [usual]), (name, seed, held)
