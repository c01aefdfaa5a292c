"""Right answers pass, whatever their style: a false alarm is as bad as a miss."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from every_case import every_case
from sampling import marks
from stored_answers import CHEAP, right_answers

import course_lib

Answer = tuple[str, str, str]  # exercise, name, text


def _answers() -> Iterator[Answer]:
    """All that are stored. What computes `matmul_naive` with neighbouring threads along a row
    computes `matmul_coalesced`, too."""
    for (exercise, name), text in right_answers().items():
        yield exercise, name, text
        if exercise == "matmul_naive" and name != "uncoalesced_but_right":
            yield "matmul_coalesced", name, text.replace(exercise, "matmul_coalesced")


ANSWERS = sorted(_answers())
IDS = [f"{exercise}-{name}" for exercise, name, _ in ANSWERS]
AT_LEAST = {
    "mat_add": 10,
    "matmul_naive": 10,
    "matmul_coalesced": 10,
    "matmul_column_major": 10,
    "matmul_tiled": 10,
    "blocks_per_sm": 7,
    "pick_a_tile": 4,
    "transpose_tiled": 10,
    "block_scan": 10,
    "attention": 6,
    "attention_mma": 8,
    "matmul_1d": 6,
    "matmul_2d": 6,
    "matmul_wide": 5,
    "matmul_warp_tiled": 4,
    "matmul_two_buffers": 6,
    "matmul_async": 6,
    "matmul_mma": 6,
    "matmul_tma": 5,
}


FAST_ONE_IN = (
    16  # of the answers that cost little; `--all` tries some of every exercise, `--long` all
)
ALL_ONE_IN = 4


def _marks(number: int, exercise: str) -> list[pytest.MarkDecorator]:
    return marks(number, fast=FAST_ONE_IN if exercise in CHEAP else 0, slow=ALL_ONE_IN)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(answer, id=IDS[number], marks=_marks(number, answer[0]))
        for number, answer in enumerate(ANSWERS)
    ],
)
def test_accepted(answer: Answer) -> None:
    exercise, _, text = answer
    report = course_lib.examine_source(exercise, text)
    errors = [f"{each.code}: {each}" for each in report.findings if each.severity == "error"]
    assert not errors, "\n".join(errors)
    assert report.passed
    assert report.points == report.max_points


# With another seed all shapes and inputs are others: what an instructor grades with.
OTHER_SEEDS = range(1, 13)
SLOW_ONE_IN = 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "seed"),
    [
        pytest.param(ANSWERS[number], 1 + number // SLOW_ONE_IN % 12, id=IDS[number])
        for number in range(SLOW_ONE_IN - 1, len(ANSWERS), SLOW_ONE_IN)
    ],
)
def test_accepted_with_another_seed(answer: Answer, seed: int) -> None:
    assert not _objection(answer, seed)


@pytest.mark.long
@pytest.mark.parametrize("answer", ANSWERS, ids=IDS)
def test_accepted_with_other_seeds(answer: Answer) -> None:
    objections = {seed: _objection(answer, seed) for seed in OTHER_SEEDS}
    assert not any(objections.values()), objections


def _objection(answer: Answer, seed: int) -> str:
    """What keeps an answer from having passed with full points; empty if nothing does."""
    exercise, _, text = answer
    report = course_lib.examine_source(exercise, text, seed=seed, debug=True)
    return "" if report.passed and report.points == report.max_points else str(report)


@every_case("exercise", AT_LEAST)
def test_there_are_enough(exercise: str) -> None:
    assert sum(each == exercise for each, _, _ in ANSWERS) >= AT_LEAST[exercise]
