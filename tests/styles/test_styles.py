"""Right answers pass, whatever their style: a false alarm is as bad as a miss."""

from __future__ import annotations

from pathlib import Path

import pytest

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


FAST_ONE_IN = 8  # of the answers; every so many are in the set of `--all`, and `--long` tries all
ALL_ONE_IN = 4


def _marks(number: int) -> list[pytest.MarkDecorator]:
    if number % FAST_ONE_IN == 0:
        return []
    return [pytest.mark.long if number % ALL_ONE_IN else pytest.mark.slow]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=f"{path.parent.name}-{path.stem}",
            marks=_marks(number),
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


@pytest.mark.parametrize(
    ("path", "seed"),
    [
        pytest.param(
            path,
            seed,
            marks=pytest.mark.slow
            if (number + seed) % SLOW_ONE_IN == 0 and seed == 1 + number // SLOW_ONE_IN
            else pytest.mark.long,
            id=f"{path.parent.name}-{path.stem}-{seed}",
        )
        for number, path in enumerate(ANSWERS)
        for seed in OTHER_SEEDS
    ],
)
def test_accepted_with_other_seeds(path: Path, seed: int) -> None:
    report = course_lib.examine_source(
        path.parent.name, path.read_text(encoding="utf-8"), seed=seed, debug=True
    )
    assert report.passed, str(report)
    assert report.points == report.max_points


@pytest.mark.parametrize("exercise", AT_LEAST)
def test_there_are_enough(exercise: str) -> None:
    assert sum(path.parent.name == exercise for path in ANSWERS) >= AT_LEAST[exercise]
