"""Every wrong answer is caught, and told its true cause at the right line."""

from collections import Counter

import pytest
from expectations import Mutant, all_mutants, one_of_each
from sampling import marks
from stored_answers import BY_COST, CHEAP

import course_lib
from course_lib.wording.findings import CODES

MUTANTS = all_mutants()
# How many may be told otherwise than they are marked.
MOST_OTHERWISE = 68
# Every so many of the wrong answers that cost little are in the fast set; in that of `--all` more
# of these are, and some of every exercise and every code; `--long` tries all.
FAST_ONE_IN = 60
SLOW_ONE_IN = 40
FEW = one_of_each(MUTANTS)


def _cases(is_warning: bool) -> list[object]:
    return [
        pytest.param(
            mutant,
            id=f"{mutant.exercise}-{mutant.name}",
            marks=_marks(number, mutant),
        )
        for number, mutant in enumerate(MUTANTS)
        if mutant.is_warning is is_warning
    ]


def _marks(number: int, mutant: Mutant) -> list[pytest.MarkDecorator]:
    if f"{mutant.exercise}-{mutant.name}" in FEW:
        return marks(number, fast=FAST_ONE_IN if mutant.exercise in CHEAP else 0, slow=1)
    if mutant.exercise in CHEAP:
        return marks(number, fast=FAST_ONE_IN, slow=SLOW_ONE_IN)
    return [pytest.mark.long]


@pytest.mark.parametrize("mutant", _cases(is_warning=False))
def test_caught(mutant: Mutant) -> None:
    report = course_lib.examine_source(mutant.exercise, mutant.text)
    assert not report.passed, "a wrong answer passes"
    errors = [each for each in report.findings if each.severity == "error"]
    assert errors, "not passed, and yet no error is named"
    if mutant.otherwise:
        assert (errors[0].code, errors[0].line) == mutant.otherwise
        return
    objection = mutant.objection(errors[0])
    assert not objection, "\n".join([objection, *(f"  {each.code}: {each}" for each in errors)])


@pytest.mark.parametrize("mutant", _cases(is_warning=True))
def test_warned(mutant: Mutant) -> None:
    report = course_lib.examine_source(mutant.exercise, mutant.text)
    assert report.passed, f"a right answer fails: {report.findings}"
    objections = [mutant.objection(each) for each in report.findings]
    assert "" in objections, objections or "no warning at all"


# With another seed all shapes and inputs are others: what an instructor grades with.
OTHER_SEEDS = (11, 12, 13)
SLOW_AMONG_SEEDS = 120  # of those that cost little


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(
            mutant,
            marks=marks(number, slow=SLOW_AMONG_SEEDS if mutant.exercise in CHEAP else 0),
            id=f"{mutant.exercise}-{mutant.name}",
        )
        for number, mutant in enumerate(MUTANTS)
        if not mutant.otherwise
    ],
)
def test_told_the_same_with_other_seeds(mutant: Mutant) -> None:
    objections = {seed: _objection(mutant, seed) for seed in OTHER_SEEDS}
    assert not any(objections.values()), objections


def _objection(mutant: Mutant, seed: int) -> str:
    """What is wrong with the report on a wrong answer with this seed; empty if nothing is."""
    report = course_lib.examine_source(mutant.exercise, mutant.text, seed=seed, debug=True)
    if report.passed != mutant.is_warning:
        return f"{'passes' if report.passed else 'refused'}: {report}"
    named = report.findings if mutant.is_warning else report.errors[:1]
    objections = [mutant.objection(each) for each in named]
    return "" if "" in objections else f"{objections}: {report}"


def test_there_are_some_of_every_exercise_and_every_code() -> None:
    count = Counter(each.exercise for each in MUTANTS if not each.is_warning)
    assert count.keys() == set(BY_COST) and min(count.values()) >= 8
    told = {code for each in MUTANTS for code in each.codes}
    assert CODES.keys() - told == {"rounded-inputs"}  # of Triton, in which no exercise is answered


def test_few_are_told_otherwise() -> None:
    assert sum(bool(each.otherwise) for each in MUTANTS) <= MOST_OTHERWISE
