"""nbgrader and Gradescope: what a release and the autograder hold, and points in their form."""

import csv
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course_lib.building.notebook import answer_cells, read, source
from course_lib.commands import autograder, grade, release

ROOT = Path(__file__).resolve().parents[2]
LESSON = "02_naive_matmul"


def released(folder: Path, *options: str) -> dict[str, dict]:
    """nbgrader's metadata of a released exercise notebook, by the cell's first line."""
    assert release.main(["--out", str(folder), "--lessons", "02", *options]) == 0
    notebook = read(folder / f"exercises/{LESSON}.ipynb")
    return {
        source(cell).splitlines()[0]: cell["metadata"]["nbgrader"]
        for cell in notebook["cells"]
        if "nbgrader" in cell["metadata"]
    }


def test_checks_are_declared_with_their_points_and_only_on_request(tmp_path: Path) -> None:
    assert released(tmp_path / "plain") == {}
    (said,) = released(tmp_path / "declared", "--nbgrader").values()
    assert said == {
        "schema_version": 3, "grade_id": "check-matmul_naive", "grade": True, "locked": True,
        "solution": False, "task": False, "points": 10.0,
    }  # fmt: skip


def test_without_a_gradebook_nothing_is_lost_and_a_sentence_says_so(tmp_path, capsys):
    (tmp_path / "in/ada").mkdir(parents=True)
    (tmp_path / f"in/ada/{LESSON}.ipynb").write_bytes(
        (ROOT / f"exercises/{LESSON}.ipynb").read_bytes()
    )
    arguments = [str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--seed", "1"]
    arguments += ["--exercises", "matmul_naive", "--nbgrader", str(tmp_path / "no.db"), "week1"]
    assert grade.main(arguments) == 1
    assert "`nbgrader generate_assignment week1` creates it" in capsys.readouterr().err
    assert "matmul_naive" in (tmp_path / "out/grades.csv").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_class_of_nbgraders_gets_our_points(tmp_path: Path) -> None:
    """With nbgrader itself: generate, collect, our grader, its export."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    packages = ["nbgrader==0.9.6", f"{ROOT}[grade]"]
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    course = tmp_path / "course"
    released(tmp_path / "release", "--nbgrader")
    (course / "source/week1").mkdir(parents=True)
    name = f"{LESSON}.ipynb"
    (course / f"source/week1/{name}").write_bytes(
        (tmp_path / f"release/exercises/{name}").read_bytes()
    )
    (course / "nbgrader_config.py").write_text("c = get_config()\n")
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}

    def call(*command: str) -> None:
        subprocess.run(command, cwd=course, env=environment, check=True, capture_output=True)

    call("nbgrader", "generate_assignment", "week1")
    right = source(answer_cells(read(ROOT / f"solutions/{name}"))["matmul_naive"])
    for student, text in (("ada", right), ("bob", right.replace("float32(0)", "float32(1)"))):
        notebook = read(course / f"release/week1/{name}")
        answer_cells(notebook)["matmul_naive"]["source"] = text
        home = course / f"submitted/{student}/week1"
        home.mkdir(parents=True)
        (home / name).write_text(json.dumps(notebook))
    call(str(python), "-m", "course_lib.cli", "grade", "submitted", "--out", "grades",
         "--exercises", "matmul_naive", "--nbgrader", "gradebook.db", "week1")  # fmt: skip
    call("nbgrader", "export", "--to", "exported.csv")
    with (course / "exported.csv").open(newline="") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    with (course / "grades/grades.csv").open(newline="", encoding="utf-8") as file:
        ours = {row["submission"]: float(row["points"]) for row in csv.DictReader(file)}
    assert scores == ours and scores["ada"] == 10 > scores["bob"]


# What Gradescope's specification knows of; in a test and beside the tests.
OF_A_TEST = {"name", "score", "max_score", "status", "output", "output_format"}
BESIDE = {"score", "output", "visibility", "tests"}


@pytest.mark.slow
def test_a_submission_gets_its_results(tmp_path: Path) -> None:
    notebooks = {"right": "solutions", "empty": "exercises"}
    found = {}
    for student, folder in notebooks.items():
        given = tmp_path / student / "in" / "submission"
        given.mkdir(parents=True)
        shutil.copy(ROOT / folder / "02_naive_matmul.ipynb", given)
        out, file = tmp_path / student / "out", tmp_path / student / "results.json"
        arguments = [str(given.parent), "--out", str(out), "--exercises", "02", "--workers", "1"]
        assert grade.main([*arguments, "--gradescope", str(file)]) == 0
        found[student] = json.loads(file.read_text())
        assert set(found[student]) == BESIDE
        assert all(set(test) == OF_A_TEST for test in found[student]["tests"])
    (right,), (empty,) = (found[each]["tests"] for each in notebooks)
    assert (right["score"], right["max_score"], right["status"]) == (10, 10, "passed")
    assert (empty["score"], empty["status"]) == (0, "failed") and empty["output"]


@pytest.mark.slow
def test_two_submissions_are_refused_in_a_sentence(tmp_path, capsys):
    for student in ("ann", "bob"):
        (tmp_path / "in" / student).mkdir(parents=True)
        shutil.copy(ROOT / "exercises" / "02_naive_matmul.ipynb", tmp_path / "in" / student)
    arguments = [str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--exercises", "02"]
    assert grade.main([*arguments, "--gradescope", str(tmp_path / "results.json")]) == 1
    assert "name one student's folder" in capsys.readouterr().err


def test_the_zip_is_what_gradescope_calls_and_an_unknown_exercise_makes_none(tmp_path, capsys):
    archive = tmp_path / "autograder.zip"
    assert autograder.main(["--out", str(archive), "--exercises", "nonsense"]) == 2
    assert "'nonsense'" in capsys.readouterr().err and not archive.exists()
    assert autograder.main(["--out", str(archive), "--exercises", "02", "--seed", "7"]) == 0
    assert "seed 7" in capsys.readouterr().out
    with zipfile.ZipFile(archive) as zipped:
        names = zipped.namelist()
        assert {"setup.sh", "run_autograder", "course/course.py", "course/locks/grade.txt"} <= {
            *names
        }
        assert not [name for name in names if "solutions" in name or "/." in name]
        for name in ("setup.sh", "run_autograder"):
            assert zipped.getinfo(name).external_attr >> 16 & 0o111
            assert not subprocess.run(["bash", "-n"], input=zipped.read(name)).returncode
        assert "--exercises 02" in zipped.read("run_autograder").decode()
