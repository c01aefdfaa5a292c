"""Right answers pass, whatever their style: a false alarm is as bad as a miss."""

from __future__ import annotations

from pathlib import Path

import pytest
from every_case import every_case
from sampling import marks

import course_lib

ANSWERS = sorted((Path(__file__).parent / "answers").glob("*/*.py"))
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
    "matmul_1d": 6,
    "matmul_2d": 6,
}


FAST_ONE_IN = 12  # of the answers; every so many are in the set of `--all`, and `--long` tries all
ALL_ONE_IN = 4


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=f"{path.parent.name}-{path.stem}",
            marks=marks(number, fast=FAST_ONE_IN, slow=ALL_ONE_IN),
        )
        for number, path in enumerate(ANSWERS)
    ],
)
def test_accepted(path: Path) -> None:
    report = course_lib.examine_source(path.parent.name, path.read_text(encoding="utf-8"))
    errors = [f"{each.code}: {each}" for each in report.findings if each.severity == "error"]
    assert not errors, "\n".join(errors)
    assert report.passed
    assert report.points == report.max_points


# With another seed all shapes and inputs are others: what an instructor grades with.
OTHER_SEEDS = range(1, 13)
SLOW_ONE_IN = 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "seed"),
    [
        pytest.param(path, 1 + number % 12, id=f"{path.parent.name}-{path.stem}")
        for number, path in enumerate(ANSWERS[SLOW_ONE_IN - 1 :: SLOW_ONE_IN])
    ],
)
def test_accepted_with_another_seed(path: Path, seed: int) -> None:
    assert not _objection(path, seed)


@pytest.mark.long
@pytest.mark.parametrize("path", ANSWERS, ids=lambda each: f"{each.parent.name}-{each.stem}")
def test_accepted_with_other_seeds(path: Path) -> None:
    objections = {seed: _objection(path, seed) for seed in OTHER_SEEDS}
    assert not any(objections.values()), objections


def _objection(path: Path, seed: int) -> str:
    """What keeps an answer from having passed with full points; empty if nothing does."""
    text = path.read_text(encoding="utf-8")
    report = course_lib.examine_source(path.parent.name, text, seed=seed, debug=True)
    return "" if report.passed and report.points == report.max_points else str(report)


@every_case("exercise", AT_LEAST)
def test_there_are_enough(exercise: str) -> None:
    assert sum(path.parent.name == exercise for path in ANSWERS) >= AT_LEAST[exercise]
