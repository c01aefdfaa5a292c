"""The thirty kernels run without a finding, and no ratio is given for a wrong result."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from by_path import module_at

pytest.importorskip("numba")

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "thirty_kernels.py"
STORED = SCRIPT.with_suffix(".json")


@pytest.fixture(scope="module")
def thirty():
    return module_at(SCRIPT)


@pytest.mark.slow
def test_there_are_thirty_and_each_runs_without_an_error(thirty, monkeypatch) -> None:
    assert len(thirty.CASES) == 30
    monkeypatch.setattr(thirty, "REPEATS", 1)
    for name in thirty.CASES:
        arrays, seconds = thirty.ours(name, thirty.EVERYTHING)
        assert seconds >= 0 and any(each.any() for each in arrays if each.dtype.names is None)


def test_what_is_below_its_aim_is_named(thirty) -> None:
    rows = [thirty.Row("saxpy", 0.1, 0.1, 9.0), thirty.Row("tiled matmul", 0.1, 0.1, 99.0)]
    assert "below their aim: tiled matmul" in thirty.verdict(rows)
    assert "saxpy" not in thirty.verdict(rows)
    assert "below their aim: none" in thirty.verdict(rows[:1])


def test_the_page_shows_the_stored_run(thirty) -> None:
    stored = json.loads(STORED.read_text())
    rows = [thirty.Row(**row) for row in stored["rows"]]
    assert [row.kernel for row in rows] == list(thirty.CASES)
    page = (ROOT / "docs" / "emulator.md").read_text()
    assert thirty.table(rows) in page
    assert thirty.verdict(rows) in page


@pytest.mark.slow
def test_a_kernel_runs_beside_the_simulator() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--only", "Needleman"],
        env=os.environ | {"NUMBA_DISABLE_PERFORMANCE_WARNINGS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "| Needleman-Wunsch |" in done.stdout and "nan" not in done.stdout
