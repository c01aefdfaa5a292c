"""Gradescope's autograder: one zip file, and one results.json for each submission."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from course_lib.commands import autograder, grade

ROOT = Path(__file__).resolve().parents[2]
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


def test_the_zip_is_what_gradescope_calls(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    archive = tmp_path / "autograder.zip"
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


def test_an_unknown_exercise_makes_no_zip(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    archive = tmp_path / "autograder.zip"
    assert autograder.main(["--out", str(archive), "--exercises", "nonsense"]) == 2
    assert "'nonsense'" in capsys.readouterr().err and not archive.exists()
