"""Every wrong answer is caught, and told its true cause at the right line."""

from __future__ import annotations

from collections import Counter

import pytest
from every_case import every_case
from expectations import Mutant, all_mutants, one_of_each, told_otherwise
from sampling import marks
from stored_answers import CHEAP

import course_lib

MUTANTS = all_mutants()
OTHERWISE = told_otherwise()
# How many may be told otherwise than they are marked.
MOST_OTHERWISE = 88
# Every so many of the wrong answers that cost little are in the fast set; in that of `--all` more
# are, and some of every exercise and every code; `--long` tries all.
FAST_ONE_IN = 80
SLOW_ONE_IN = 60
FEW = one_of_each(MUTANTS)
AT_LEAST = {
    "mat_add": 10,
    "matmul_naive": 10,
    "matmul_coalesced": 10,
    "matmul_column_major": 12,
    "matmul_tiled": 26,
    "blocks_per_sm": 40,
    "pick_a_tile": 15,
    "transpose_tiled": 35,
    "block_scan": 35,
    "attention": 45,
    "attention_mma": 23,
    "matmul_1d": 35,
    "matmul_2d": 35,
    "matmul_wide": 29,
    "matmul_warp_tiled": 20,
    "matmul_two_buffers": 25,
    "matmul_async": 21,
    "matmul_mma": 29,
    "matmul_tma": 28,
}


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
    is_one_of_few = f"{mutant.exercise}-{mutant.name}" in FEW
    fast = FAST_ONE_IN if mutant.exercise in CHEAP else 0
    return marks(number, fast=fast, slow=1 if is_one_of_few else SLOW_ONE_IN)


@pytest.mark.parametrize("mutant", _cases(is_warning=False))
def test_caught(mutant: Mutant) -> None:
    report = course_lib.examine_source(mutant.exercise, mutant.text)
    assert not report.passed, "a wrong answer passes"
    errors = [each for each in report.findings if each.severity == "error"]
    assert errors, "not passed, and yet no error is named"
    otherwise = OTHERWISE.get((mutant.exercise, mutant.name))
    if otherwise:
        assert (errors[0].code, errors[0].line) == otherwise
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
SLOW_AMONG_SEEDS = 400


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(
            mutant,
            marks=marks(number, slow=SLOW_AMONG_SEEDS),
            id=f"{mutant.exercise}-{mutant.name}",
        )
        for number, mutant in enumerate(MUTANTS)
        if (mutant.exercise, mutant.name) not in OTHERWISE
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


@every_case("exercise", AT_LEAST)
def test_there_are_enough(exercise: str) -> None:
    count = Counter(each.exercise for each in MUTANTS if not each.is_warning)[exercise]
    assert count >= AT_LEAST[exercise]


def test_few_are_told_otherwise() -> None:
    known = {(each.exercise, each.name) for each in MUTANTS}
    assert known >= OTHERWISE.keys()
    assert len(OTHERWISE) <= MOST_OTHERWISE
