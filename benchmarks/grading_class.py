"""How long a class takes: N notebooks as students hand them in, graded by one command.

    python benchmarks/grading_class.py                         # 120 notebooks, all lessons
    python benchmarks/grading_class.py 120 --lessons 07 08     # the notebooks of these lessons

Each notebook is of one lesson and answers all its exercises: right in some style, wrong in some way
that the tests know, not done, or without an end. One in ten is a classmate's under another name.
They are saved as JupyterLab, Colab, VS Code and the classic notebook save them. What the gradebook
says is held against what is known of the answers before the time counts.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/hostile"), str(ROOT / "tests")]

import class_of_500  # noqa: E402
from class_of_500 import Expected, Student  # noqa: E402

from course_lib.curriculum import LESSONS, lesson  # noqa: E402

SEED = 2026
COPIED_ONE_IN = 10
KINDS = {"right": 40, "wrong": 45, "missing": 10, "endless": 5}  # of a hundred answers


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("notebooks", type=int, nargs="?", default=120, metavar="N")
    parser.add_argument("--lessons", nargs="+", metavar="NN", help="only notebooks of these")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (one a processor)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        students = hand_in(folder / "submitted", options.notebooks, options.lessons)
        seconds, processor = grade(folder, options.workers)
        wrong = objections(students, folder / "out/grades.csv")
        print(told(students, seconds, processor, wrong))
    return 1 if wrong else 0


def hand_in(folder: Path, count: int, lessons: Sequence[str] | None) -> list[Student]:
    """Write the notebooks, a folder for each student; what has to come of each is known."""
    drawn = random.Random(SEED)
    meant = [lesson(name) for name in lessons or ()] or [each for each in LESSONS if each.exercises]
    students: list[Student] = []
    for number in range(count):
        name = f"student-{number:04}"
        if number % COPIED_ONE_IN == COPIED_ONE_IN - 1:
            other = drawn.choice(students)
            shutil.copytree(folder / other.name, folder / name)
            students.append(replace(other, name=name))
        else:
            students.append(class_of_500.hand_in(folder, name, drawn, meant, KINDS))
            sign(folder / name, students[-1])
    return students


def sign(folder: Path, student: Student) -> None:
    """Make the answers the student's own, as no two texts of a class are equal that are no copy."""
    (path,) = folder.glob("*.ipynb")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if any(
            f"# EXERCISE {name}\n" in text or f"def {name}(" in text for name in student.expected
        ):
            cell["source"] = f"{text}\n# {student.name}"
    path.write_text(json.dumps(notebook), encoding="utf-8")


def grade(folder: Path, workers: int | None) -> tuple[float, float]:
    """Grade the class; seconds by the clock, and of the processors."""
    command = [sys.executable, "-m", "course_lib.cli", "grade", str(folder / "submitted")]
    command += ["--out", str(folder / "out"), "--seed", str(SEED)]
    command += ["--workers", str(workers)] if workers else []
    clock, before = time.perf_counter(), used()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    seconds, processor = time.perf_counter() - clock, used() - before
    if done.returncode:
        raise SystemExit(f"the grader ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return seconds, processor


def used() -> float:
    """Processor seconds of all that this program has started and waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def objections(students: Sequence[Student], grades: Path) -> list[str]:
    """What the gradebook says otherwise than is known."""
    with grades.open(encoding="utf-8", newline="") as file:
        rows = {(row["submission"], row["exercise"]): row for row in csv.DictReader(file)}
    found = []
    for student in students:
        for exercise, expected in student.expected.items():
            row = rows.get((student.name, exercise))
            if row is None and expected.kind == "missing":
                continue  # a notebook without any answer is about no exercise
            if row is None or not as_expected(row, expected):
                found.append(f"{student.name}, {exercise}: {expected}, and not {row}")
    return found


def as_expected(row: dict[str, str], expected: Expected) -> bool:
    if expected.kind == "wrong":
        at_most = ("missing",) * ("missing-answer" in expected.codes)
        return row["verdict"] in ("failed", "partly", "needs review", *at_most)
    return row["verdict"] == {"right": "passed", "missing": "missing"}[expected.kind]


def told(
    students: Sequence[Student], seconds: float, processor: float, wrong: Sequence[str]
) -> str:
    answers = sum(len(each.expected) for each in students)
    kinds = Counter(
        "endless" if "endless" in expected.source else expected.kind
        for each in students
        for expected in each.expected.values()
    )
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    return "\n".join(
        [
            f"{len(students)} notebooks, {answers} answers ({dict(kinds)}): {seconds:.0f} s by the "
            f"clock, {processor:.0f} s of processors; load average {os.getloadavg()[0]:.1f}; "
            f"{machine}",
            *wrong,
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
