"""Right answers pass, whatever their style: a false alarm is as bad as a miss."""

from __future__ import annotations

from pathlib import Path

import pytest

import course_lib

ANSWERS = sorted((Path(__file__).parent / "answers").glob("*/*.py"))
EXERCISES = ("mat_add", "matmul_naive", "matmul_coalesced", "matmul_tiled")


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_accepted(path: Path) -> None:
    report = course_lib.examine_source(path.parent.name, path.read_text(encoding="utf-8"))
    errors = [f"{each.code}: {each}" for each in report.findings if each.severity == "error"]
    assert not errors, "\n".join(errors)
    assert report.passed
    assert report.points == report.max_points


@pytest.mark.parametrize("exercise", EXERCISES)
def test_there_are_enough(exercise: str) -> None:
    assert sum(path.parent.name == exercise for path in ANSWERS) >= 10
