"""A small class of students, and a way to judge it without starting kernels."""

import contextlib
import csv
import json
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import known_kernels
import pytest

from course_lib import cli
from course_lib.grading.judging import batches
from course_lib.grading.judging.executors import Workplace
from course_lib.grading.judging.worker import Batch, BatchResult
from course_lib.grading.records import Judgement

REPOSITORY = Path(__file__).resolve().parents[2]

RIGHT = f"# EXERCISE mat_add\n{known_kernels.MAT_ADD}"
WRONG = RIGHT.replace("+ B[y, x]", "- B[y, x]")
UNBOUNDED = RIGHT.replace("y < C.shape[0]", "y <= C.shape[0]")


def notebook(*cells: str) -> str:
    """A notebook of code cells, as a student hands it in."""
    sources = ("from numba import cuda", *cells)
    cell = {"cell_type": "code", "metadata": {}, "outputs": []}
    made = [{**cell, "source": source} for source in sources]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def write_class(folder: Path, answers: Mapping[str, str]) -> Path:
    """A folder with one notebook for each student."""
    folder.mkdir(parents=True, exist_ok=True)
    for student, text in answers.items():
        (folder / f"{student}.ipynb").write_text(notebook(text), encoding="utf-8")
    return folder


def threads(width: int = 2) -> Workplace:
    """A workplace in this process."""
    return Workplace(
        lambda: ThreadPoolExecutor(width), lambda pool: pool.shutdown(cancel_futures=True), width
    )


def judge_here(job: str) -> str:
    """`worker.run_batch` without nbval: no kernel, no child process."""
    batch = Batch.from_json(job)
    judgements = {}
    for item in batch.items:
        context = batch.tasks[item.exercise].context
        judgements[item.key] = batches.judge(item.exercise, item.text, batch.seed, context)
    return BatchResult(judgements).to_json()


def look_at(job: str) -> str:
    """As `judge_here`, by a look at the answers: where it does not matter how they are judged."""
    found = {}
    for item in Batch.from_json(job).items:
        right = "+ B" in item.text or "total +=" in item.text
        found[item.key] = Judgement(item.exercise, numbers_right=right, right_where_even=right)
    return BatchResult(found).to_json()


def wait_for(condition: Callable[[], object], seconds: float = 60) -> Any:
    """What it gives as soon as that is something."""
    for _ in range(int(seconds * 20)):
        with contextlib.suppress(OSError, ValueError):
            if found := condition():
                return found
        time.sleep(0.05)
    raise AssertionError("it took too long")


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def files_in(folder: Path, but: str = "") -> dict[str, bytes]:
    """Everything below a folder, by its path there; `but` names a folder that is left out."""
    files = (path for path in folder.rglob("*") if path.is_file() and but not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def lines_of(table: Path) -> list[dict[str, str]]:
    """A table in CSV that was written."""
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Desk:
    """The folder in which an instructor gives commands; `said` is all that the last one printed."""

    def __init__(
        self, place: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        self.place, self.capsys, self.caplog = place, capsys, caplog
        self.out, self.said = place / "grades", ""

    def write(self, name: str, text: str) -> Path:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def hand_in(self, name: str, *cells: str, top: str = "class") -> Path:
        return self.write(f"{top}/{name}.ipynb", notebook(*cells))

    def grade(self, *arguments: object, status: int = 0, out: object = "grades") -> str:
        """Give a command; one that refuses does it in one line, unless that is argparse's."""
        self.caplog.clear()
        self.capsys.readouterr()
        asked = ["grade", *map(str, arguments), "--out", str(out)]
        by_argparse = False
        try:
            found = cli.main(asked)
        except SystemExit as ended:
            found, by_argparse = ended.code, True
        printed = self.capsys.readouterr()
        self.said = " ".join(f"{printed.out}{printed.err}{self.caplog.text}".split())
        assert found == status and "Traceback" not in self.said, self.said
        assert status not in (1, 2) or by_argparse or printed.err.count("\n") == 1, self.said
        return self.said

    def rows(self, out: str = "grades") -> dict[tuple[str, str], dict[str, str]]:
        """The gradebook, by submission and exercise."""
        lines = lines_of(self.place / out / "grades.csv")
        return {(line["submission"], line["exercise"]): line for line in lines}

    def points(self, name: str, exercise: str = "mat_add") -> str:
        return self.rows()[name, exercise]["points"]

    def files(self) -> dict[str, bytes]:
        """Everything that an instructor gets."""
        return files_in(self.out, but=".work")
