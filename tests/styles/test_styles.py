"""Right answers pass, whatever their style: a false alarm is as bad as a miss."""

from collections import Counter
from collections.abc import Iterator

import pytest
from sampling import marks
from stored_answers import BY_COST, CHEAP, right_answers

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
# Of the answers that cost little; `--all` tries some of every exercise, `--long` all.
FAST_ONE_IN = 16
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


def test_there_are_some_of_every_exercise() -> None:
    count = Counter(exercise for exercise, _, _ in ANSWERS)
    assert count.keys() == set(BY_COST) and min(count.values()) >= 4
