"""Grading without kernels and child processes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grading_helpers import Desk, judge_here, look_at, threads

from course_lib.grading import engine
from course_lib.grading.judging import executors


def _graded_by(judge: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "run_batch", judge)
    monkeypatch.setattr(executors, "process_pool", lambda workers: threads(2))


@pytest.fixture
def judged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are judged in this process."""
    _graded_by(judge_here, monkeypatch)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are judged by a look at them: how does not matter."""
    _graded_by(look_at, monkeypatch)


@pytest.fixture
def desk(tmp_path, monkeypatch, capsys, caplog):
    """An instructor's folder, as the working folder."""
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys, caplog)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Any]:
    """A Dask cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        host="127.0.0.1", local_directory=str(tmp_path / "dask"),
    ) as made:  # fmt: skip
        yield made
