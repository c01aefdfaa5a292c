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
    "matmul_tiled": 10,
    "blocks_per_sm": 7,
    "pick_a_tile": 4,
    "transpose_tiled": 10,
    "block_scan": 10,
    "attention": 6,
    "matmul_1d": 6,
    "matmul_2d": 6,
}


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_accepted(path: Path) -> None:
    report = course_lib.examine_source(path.parent.name, path.read_text(encoding="utf-8"))
    errors = [f"{each.code}: {each}" for each in report.findings if each.severity == "error"]
    assert not errors, "\n".join(errors)
    assert report.passed
    assert report.points == report.max_points


@pytest.mark.parametrize("exercise", AT_LEAST)
def test_there_are_enough(exercise: str) -> None:
    assert sum(path.parent.name == exercise for path in ANSWERS) >= AT_LEAST[exercise]
