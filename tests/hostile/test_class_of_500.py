"""Classes that are drawn from a seed are graded by the real command, and every row is right."""

import os
import re
import resource
from pathlib import Path

import pytest
from catalogue import ATTACKS
from class_of_500 import ANSWERED, Expected, Student, as_moodle_zip, hand_in_class
from outputs_checked import objections_to
from sandbox import Graded, grade
from test_hostile import objection_to

from course_lib.curriculum import EXERCISES

SEED = 20_261_120
# In a ZIP archive there are only files, and Moodle's names of folders.
INSIDE_A_ZIP = [
    each for each in ATTACKS if not (each.heavy or each.folder) and each.family != "files"
]


def test_a_class_is_drawn_from_its_seed(tmp_path: Path) -> None:
    first = hand_in_class(tmp_path / "first", 12, SEED, INSIDE_A_ZIP)
    again = hand_in_class(tmp_path / "again", 12, SEED, INSIDE_A_ZIP)
    other = hand_in_class(tmp_path / "other", 12, SEED + 1, INSIDE_A_ZIP)
    assert first == again
    assert first != other
    kinds = {each.kind for student in first for each in student.expected.values()}
    assert {"right", "wrong"} <= kinds


@pytest.mark.slow
def test_class_of_10(tmp_path: Path) -> None:
    """Of the first lessons, whose answers are judged in a second; those of all are below."""
    students = hand_in_class(tmp_path / "class", 10, SEED, INSIDE_A_ZIP, ANSWERED[:3])
    as_moodle_zip(tmp_path / "class", tmp_path / "class.zip")
    graded = grade(tmp_path / "class.zip", tmp_path / "out", tuple(EXERCISES))
    wrong = _wrong_rows(students, graded)
    assert not wrong, wrong
    assert (tmp_path / "out" / "moodle.csv").exists()
    assert not objections_to(tmp_path / "out")


@pytest.mark.long
def test_class_of_500(tmp_path: Path) -> None:
    usable = [each for each in ATTACKS if not (each.heavy or each.has_twin)]
    students = hand_in_class(tmp_path / "class", 500, SEED, usable)
    graded = grade(tmp_path / "class", tmp_path / "out", tuple(EXERCISES), patience=3600)
    _print_figures(students, graded)
    wrong = _wrong_rows(students, graded)
    assert not wrong, wrong


def _wrong_rows(students: tuple[Student, ...], graded: Graded) -> str:
    """What is wrong with the gradebook, row by row; empty if nothing is."""
    assert graded.status == 0, graded.said
    objections = [each for student in students for each in _objections(student, graded)]
    if len(graded.rows) != len(students) * len(EXERCISES):
        objections.append(f"{len(graded.rows)} rows for {len(students)} students")
    return "\n".join(objections)


def _objections(student: Student, graded: Graded) -> list[str]:
    if student.attack:
        objection = objection_to(student.attack, graded)
        return [objection] if objection else []
    found = []
    for exercise in EXERCISES:
        expected = student.expected.get(exercise, Expected("missing"))
        row = graded.row(student.name, exercise)
        if not _is_right(row, expected, EXERCISES[exercise].max_points):
            told = f"{row['points']!r} points, {row['verdict']}: {row['reason']}"
            found.append(f"{student.name} ({student.saved_by}), {exercise}, {expected}: {told}")
    return found


def _is_right(row: dict[str, str], expected: Expected, most: int) -> bool:
    if expected.kind == "right":
        return row["verdict"] == "passed" and row["points"] == str(most)
    if expected.kind == "missing":
        return row["verdict"] == "missing" and row["points"] == "0"
    if row["verdict"] == "missing":
        return "missing-answer" in expected.codes and row["points"] == "0"
    if row["verdict"] == "needs review":
        return "unsupported" in expected.codes and row["points"] == ""
    code = re.search(r"\[([a-z0-9-]+)\]", row["reason"])
    is_told = code is not None and code[1] in expected.codes
    return row["verdict"] in ("failed", "partly") and float(row["points"]) < most and is_told


def _print_figures(students: tuple[Student, ...], graded: Graded) -> None:
    answers = sum(len(student.expected) or 1 for student in students)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    load = os.getloadavg()[0]
    print(
        f"{len(students)} submissions, {answers} answers in {graded.seconds:.0f} s: "
        f"{answers / graded.seconds * 60:.0f} a minute; the largest process held {memory:.0f} MB; "
        f"load average {load:.1f}"
    )
    print(graded.said)
