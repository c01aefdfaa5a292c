"""Answers a minute: the course's grader beside nbgrader, otter-grader and bare nbval, in one run.

    python benchmarks/grading.py                 # one small assignment, all four graders

The small assignment is lesson 00's exercise notebook. Every student hands in another text; half of
them are wrong. All four run the same check (`course_lib.check`), so what differs is what stands
around it: the others execute the student's notebook, ours reads it. Each grader's verdicts are
compared with what is known of the answers before its time counts. grading_class.py grades a whole
class, with all exercises.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib.building.notebook import (  # noqa: E402
    Notebook,
    answer_cells,
    dumps,
    exercise_id,
    read,
    solve,
    source,
)
from course_lib.building.release import declared  # noqa: E402
from course_lib.commands import environments  # noqa: E402

EXERCISE, STEM = "mat_add", "00_start_here"
PEERS = "nbgrader==0.9.6\notter-grader==7.0.0\nnbval==0.11.0\npytest-xdist\n"
IMPORTED = "numpy\nnumba>=0.61.2\nmatplotlib>=3.10.0\nipykernel\n"  # by the notebook
Passed = dict[str, bool]  # by student


@dataclass(frozen=True)
class Measured:
    """One grader's run over a class."""

    grader: str
    answers: int
    seconds: float
    processor_seconds: float
    as_expected: bool

    def line(self) -> str:
        rate = 60 * self.answers / self.seconds
        each = self.processor_seconds / self.answers
        verdicts = "as known" if self.as_expected else "NOT as known"
        return f"| {self.grader} | {self.answers} | {rate:.0f} | {each:.2f} s | {verdicts} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--answers", type=int, default=24, help="students of the small assignment")
    parser.add_argument("--only", nargs="+", choices=GRADERS, default=list(GRADERS))
    options = parser.parse_args()
    print(f"{machine()}\n\n| grader | answers | a minute | processor time for one | verdicts |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        expected = hand_in(Path(folder, "submitted"), options.answers)
        python = peers_python() if set(options.only) != {"ours"} else sys.executable
        runs = []
        for name in options.only:
            runs.append(measured(name, Path(folder), python, expected))
            print(runs[-1].line(), flush=True)
    return 0 if all(run.as_expected for run in runs) else 1


def machine() -> str:
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, load average {load:.1f}"


def peers_python() -> str:
    """The Python of an environment that holds the other graders."""
    base = environments.this_python()
    return str(environments.make(".venv-graders", base, PEERS + IMPORTED, hashed=False))


def hand_in(folder: Path, count: int) -> Passed:
    """Write one notebook for each student; whose answer is right?"""
    exercise = read(ROOT / "exercises" / f"{STEM}.ipynb")
    right = solve(exercise, read(ROOT / "solutions" / f"{STEM}.ipynb"))
    expected = {}
    for number in range(count):
        student, passes = f"student{number:03d}", number % 2 == 0
        text = source(answer_cells(right)[EXERCISE])
        text = text if passes else text.replace("A[", "B[", 1)  # adds the wrong matrix
        answer = f"{text}\n\n# handed in by {student}"
        target = folder / student / f"{STEM}.ipynb"
        target.parent.mkdir(parents=True)
        target.write_text(dumps(with_answer(right, answer)), encoding="utf-8")
        expected[student] = passes
    return expected


def with_answer(notebook: Notebook, answer: str) -> Notebook:
    cells = [
        {**cell, "source": answer} if exercise_id(cell) else cell for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def measured(name: str, folder: Path, python: str, expected: Passed) -> Measured:
    """Run one grader on a copy of what was handed in, and compare its verdicts."""
    work = folder / name
    shutil.copytree(folder / "submitted", work / "submitted")
    prepare, grade, verdicts = GRADERS[name]
    prepare(work, python)
    clock, before = time.perf_counter(), used()
    grade(work, python)
    seconds, processor = time.perf_counter() - clock, used() - before
    return Measured(name, len(expected), seconds, processor, verdicts(work) == expected)


def used() -> float:
    """Processor seconds of all that this program has started and waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def call(command: Sequence[str | Path], work: Path, statuses: tuple[int, ...] = (0,)) -> None:
    settings = {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore"}
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(part) for part in command], cwd=work, env={**os.environ, **settings, "PATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode not in statuses:
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-3000:]}")


def nothing(work: Path, python: str) -> None:
    """This grader needs no preparation."""


# --- Ours -------------------------------------------------------------------------------------


def run_ours(work: Path, python: str) -> None:
    grade = [sys.executable, "-m", "course_lib.cli", "grade", work / "submitted"]
    call([*grade, "--out", work / "out", "--seed", "1"], work)


def rows(work: Path) -> list[dict[str, str]]:
    with (work / "out/grades.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ours_said(work: Path) -> Passed:
    return {row["submission"]: row["verdict"] == "passed" for row in rows(work)}


# --- bare nbval: each student's own notebook, with the check cell that it came with -------------


def run_nbval(work: Path, python: str) -> None:
    workers = str(os.cpu_count() or 1)
    options = ["-n", workers, "--dist", "loadfile", "--nbval-lax", "--nbval-current-env"]
    report = ["--nbval-cell-timeout", "120", "--junitxml", "junit.xml", "-p", "no:cacheprovider"]
    call([python, "-m", "pytest", "-q", *options, *report, "submitted"], work, (0, 1))


def nbval_said(work: Path) -> Passed:
    said: Passed = {}
    for case in ElementTree.parse(work / "junit.xml").iter("testcase"):
        student = case.attrib["classname"].split(".")[1]
        failed = case.find("failure") is not None or case.find("error") is not None
        said[student] = said.get(student, True) and not failed
    return said


# --- nbgrader: the same notebook, its answer and check cells declared ----------------------------


def prepare_nbgrader(work: Path, python: str) -> None:
    release = declared(read(ROOT / "exercises" / f"{STEM}.ipynb"), points)
    target = work / "source/week1" / f"{STEM}.ipynb"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(release), encoding="utf-8")
    for path in sorted((work / "submitted").glob(f"*/{STEM}.ipynb")):
        text = json.dumps(declared(read(path), points))
        path.unlink()
        moved = path.parent / "week1" / path.name
        moved.parent.mkdir()
        moved.write_text(text, encoding="utf-8")
    (work / "nbgrader_config.py").write_text("c = get_config()\n", encoding="utf-8")
    call([beside(python, "nbgrader"), "generate_assignment", "week1"], work)


def points(exercise: str) -> float:
    """What the check is worth."""
    return 10.0


def run_nbgrader(work: Path, python: str) -> None:
    program = beside(python, "nbgrader")
    call([program, "autograde", "week1", "--quiet"], work, (0, 1))
    call([program, "export", "--to", "grades.csv"], work)


def nbgrader_said(work: Path) -> Passed:
    with (work / "grades.csv").open(newline="") as file:
        return {
            row["student_id"]: row["raw_score"] == row["max_score"] for row in csv.DictReader(file)
        }


# --- otter-grader: the same notebook, the check as its test file ---------------------------------

OTTER_TEST = f"""
OK_FORMAT = True
test = {{
    "name": "{EXERCISE}",
    "points": 10,
    "suites": [{{
        "cases": [{{
            "code": ">>> import course_lib\\n"
                    ">>> course_lib.examine('{EXERCISE}', {EXERCISE}).passed\\nTrue",
            "hidden": False,
            "locked": False,
        }}],
        "scored": True, "setup": "", "teardown": "", "type": "doctest",
    }}],
}}
"""


def prepare_otter(work: Path, python: str) -> None:
    tests = work / "tests"
    tests.mkdir()
    (tests / f"{EXERCISE}.py").write_text(OTTER_TEST, encoding="utf-8")
    call([beside(python, "otter"), "generate", "-t", "tests", "-o", "autograder.zip"], work)


def run_otter(work: Path, python: str) -> None:
    """One notebook after another on each processor, as its users script it without containers."""
    waiting = sorted((work / "submitted").glob(f"*/{STEM}.ipynb"))
    running: list[subprocess.Popen[bytes]] = []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            running.append(start_otter(work, python, waiting.pop()))
        running.pop(0).wait()


def start_otter(work: Path, python: str, notebook: Path) -> subprocess.Popen[bytes]:
    command = [beside(python, "otter"), "run", "-a", work / "autograder.zip", "-o", "."]
    settings = {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    return subprocess.Popen(
        [*map(str, command), notebook.name], cwd=notebook.parent, env={**os.environ, **settings},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def otter_said(work: Path) -> Passed:
    said = {}
    for path in (work / "submitted").glob("*/results.json"):
        tests = json.loads(path.read_text())["tests"]
        scored = [each for each in tests if "max_score" in each]
        said[path.parent.name] = bool(scored) and all(
            each["score"] == each["max_score"] for each in scored
        )
    return said


def beside(python: str, program: str) -> Path:
    return Path(python).with_name(program)


Prepare = Callable[[Path, str], None]
GRADERS: dict[str, tuple[Prepare, Prepare, Callable[[Path], Passed]]] = {
    "ours": (nothing, run_ours, ours_said),
    "nbval": (nothing, run_nbval, nbval_said),
    "nbgrader": (prepare_nbgrader, run_nbgrader, nbgrader_said),
    "otter": (prepare_otter, run_otter, otter_said),
}


if __name__ == "__main__":
    sys.exit(main())
