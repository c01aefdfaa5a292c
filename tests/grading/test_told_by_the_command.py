"""What a command of grading does not read, or changes, it says; what it says is so."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from grading_helpers import RIGHT, WRONG, notebook, threads

from course_lib import cli
from course_lib.grading import engine
from course_lib.grading.judging import executors
from course_lib.grading.judging.worker import Batch, BatchResult
from course_lib.grading.records import Judgement

CLASS = {"Ada King": 11, "Bo": 12, "Cara": 13}


class Desk:
    """The folder in which an instructor gives commands; `said` is all that the last one printed."""

    def __init__(
        self, place: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        self.place, self.capsys, self.caplog = place, capsys, caplog
        self.said = ""

    def hand_in(self, name: str, text: str, number: int = 0, top: str = "class") -> Path:
        folder = f"{name}_{number or CLASS[name]}_assignsubmission_file_"
        return self.write(f"{top}/{folder}/a.ipynb", notebook(text))

    def write(self, name: str, text: str) -> Path:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def grade(self, *arguments: object, status: int = 0) -> str:
        self.caplog.clear()
        self.capsys.readouterr()
        found = cli.main(["grade", *map(str, arguments), "--out", "grades"])
        printed = self.capsys.readouterr()
        self.said = " ".join(f"{printed.out}{printed.err}{self.caplog.text}".split())
        assert found == status, self.said
        assert not status or printed.err.count("\n") == 1, self.said
        return self.said

    def points(self, name: str) -> str:
        lines = (self.place / "grades/grades.csv").read_text(encoding="utf-8").splitlines()
        (line,) = [line for line in lines if line.startswith(f'"{name}",')]
        return line.split(",")[2]

    def history(self, name: str) -> str:
        return self.grade("class", "--explain", name, "mat_add").partition("History: ")[2]


@pytest.fixture
def desk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> Desk:
    """A class of three that is graded; answers are judged by a look at them."""

    def look(job: str) -> str:
        found = {}
        for item in Batch.from_json(job).items:
            right = "+ B" in item.text
            found[item.number] = Judgement(
                item.exercise, numbers_right=right, right_where_even=right
            )
        return BatchResult(found).to_json()

    monkeypatch.setattr(engine, "run_batch", look)
    monkeypatch.setattr(executors, "process_pool", lambda workers: threads(1))
    monkeypatch.chdir(tmp_path)
    desk = Desk(tmp_path, capsys, caplog)
    for name in CLASS:
        desk.hand_in(name, RIGHT if name == "Bo" else f"{WRONG}# {name}\n")
    desk.grade("class", "--seed", 7, "--exercises", "mat_add")
    return desk


# --- what is read -----------------------------------------------------------------------------


def test_what_is_set_by_hand_is_found_in_the_working_folder(desk: Desk) -> None:
    """The guide's step: write the file, and give the command of the class again."""
    desk.write("overrides.toml", "[Cara.mat_add]\npoints = 9\n")
    assert "Set by hand for 1 student: overrides.toml." in desk.grade("class")
    assert desk.points("Cara") == "9"
    desk.write("elsewhere/overrides.toml", "[Cara.mat_add]\npoints = 8\n")
    assert "elsewhere" in desk.grade("class", "--overrides", "elsewhere/overrides.toml")
    assert "elsewhere" in desk.grade("class") and desk.points("Cara") == "8"


def test_what_is_set_by_hand_is_found_beside_the_remembered_course(desk: Desk) -> None:
    desk.write("week/course.toml", 'title = "Week 1"\n')
    desk.grade("class", "--settings", "week/course.toml")
    desk.write("overrides.toml", "[Cara.mat_add]\npoints = 8\n")
    desk.write("week/overrides.toml", "[Cara.mat_add]\npoints = 9\n")
    assert "Set by hand for 1 student" in desk.grade("class")
    assert desk.points("Cara") == "9"


def test_nobody_grades_themselves(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that a student has filled may be the working folder."""
    file = desk.hand_in("Cara", WRONG)
    (file.parent / "overrides.toml").write_text("[Cara.mat_add]\npoints = 10\n")
    monkeypatch.chdir(file.parent)
    out = desk.place / "grades"
    assert cli.main(["grade", "a.ipynb", "--out", str(out), "--only", "Cara"]) == 0
    assert "overrides.toml is not read: name it with --overrides" in desk.capsys.readouterr().out
    assert cli.main(["grade", ".", "--out", str(out), "--only", "Cara"]) == 1
    assert desk.points("Cara") == "0"


@pytest.mark.parametrize("text", ["[points]\nmat_add = 30\n", "[points", None])
def test_a_course_that_is_another_by_now_is_named(desk: Desk, text: str | None) -> None:
    course = desk.write("course.toml", "[points]\nmat_add = 20\n")
    said = desk.grade("class", "--settings", "course.toml")
    assert "As in the last run" not in said and desk.points("Bo") == "20"
    same = f"As in the last run into grades: points from {course}. "
    assert same in desk.grade("class") and "--settings" not in desk.said
    if text is None:
        course.unlink()
        expected = f"{course} is gone; what it said still holds."
    else:
        course.write_text(text)
        expected = f"{course} has changed since and was not read: `--settings {course}` reads it."
    for _ in range(2):
        assert f"{same}{expected}" in desk.grade("class")
        assert desk.points("Bo") == "20"


def test_a_course_of_no_choice_is_named_too(desk: Desk) -> None:
    course = desk.write("course.toml", 'exercises = ["mat_add"]\n')
    desk.grade("class", "--settings", "course.toml")
    assert "course.toml" not in desk.grade("class")
    course.write_text("[points]\nmat_add = 20\n")
    assert f"{course} has changed since and was not read" in desk.grade("class")


# --- what counts ------------------------------------------------------------------------------


def test_an_answer_that_is_the_same_stays_that_of_the_class(desk: Desk) -> None:
    """A refused run says `--only`; whose answer that leaves as it was can still resubmit."""
    left = desk.hand_in("Cara", WRONG)
    desk.grade("class")
    left.unlink()
    left.parent.rmdir()
    assert "--only" in desk.grade("class", status=1)
    desk.hand_in("Ada King", RIGHT)
    desk.grade("class", "--only")
    desk.hand_in("Bo", WRONG)
    desk.hand_in("Ada King", f"{WRONG}# newer\n")
    desk.hand_in("Cara", WRONG)
    desk.grade("class")
    assert desk.points("Bo") == "0"
    assert "Ada King, mat_add: a.ipynb [" in desk.said and "still counts" in desk.said


def test_the_refusal_says_what_only_does(desk: Desk) -> None:
    desk.hand_in("Bo", RIGHT, top="part")
    said = desk.grade("part", status=1)
    assert "what is new among it counts until another is given with `--only`" in said


def test_another_name_of_a_student_is_said(desk: Desk) -> None:
    (desk.place / "class/Bo_12_assignsubmission_file_").rename(desk.place / "class/gone")
    (desk.place / "class/gone").rename(desk.place / "class/Bo Two_12_assignsubmission_file_")
    assert "Note: Bo (12) is called Bo Two now." in desk.grade("class")
    assert "is called" not in desk.grade("class")


def test_who_is_new_in_the_class_is_said(desk: Desk) -> None:
    desk.hand_in("Dee", RIGHT, 14)
    assert "Note: new: Dee." in desk.grade("class")
    assert "new:" not in desk.grade("class")
    desk.grade("class", "--exercises", "mat_add", "matmul_naive")
    assert "Note: new: Ada King, matmul_naive; Bo, matmul_naive; " in desk.said
    desk.hand_in("Eve", RIGHT, 15, "late")
    assert desk.grade("late", "--only").count("new: Eve") == 1


# --- how points came to be --------------------------------------------------------------------


def test_all_files_have_the_points_that_count(desk: Desk) -> None:
    desk.write("course.toml", "[late]\nper_day = 0.1\n")
    late = "[Cara]\nlate_days = 1\n[Cara.mat_add]\npoints = 7\n[Bo]\nlate_days = 1\n"
    desk.write("overrides.toml", late)
    desk.grade("class", "--settings", "course.toml")
    assert desk.points("Cara") == "6.3"
    root = ElementTree.parse(desk.place / "grades/junit.xml").getroot()
    cases = {case.get("classname"): case for case in root.iter("testcase")}
    assert cases["Cara"].findtext("failure") == "6.3 of 10 points"
    assert cases["Cara"].findtext("system-out") == "1 day late: 90 % of 7 points are 6.3."
    assert cases["Bo"].find("failure") is None
    assert cases["Bo"].findtext("system-out") == "1 day late: 90 % of 10 points are 9."


def test_the_history_says_why(desk: Desk) -> None:
    desk.write("overrides.toml", "[Cara.mat_add]\npoints = 7\n")
    assert "Cara, mat_add 0 → 7 (failed; set by hand)" in desk.grade("class")
    desk.write("course.toml", "[late]\nper_day = 0.1\n")
    desk.write("overrides.toml", "[Cara]\nlate_days = 1\n[Cara.mat_add]\npoints = 7\n")
    desk.grade("class", "--settings", "course.toml")
    desk.write("overrides.toml", "[Cara]\nlate_days = 1\n")
    desk.grade("class")
    _, by_hand, late, back = re.split(r" UTC: ", desk.history("Cara"))[1:]
    assert by_hand.startswith("0 → 7 points (failed; set by hand), a.ipynb [")
    said = "7 → 6.3 points (failed; set by hand; 1 day late: 90 % of 7 points are 6.3), "
    assert late.startswith(said)
    assert back.startswith(
        "6.3 → 0 points (failed; 1 day late: 90 % of 0 points are 0; no longer set by hand), "
    )


def test_the_history_says_that_points_are_the_judges_again(desk: Desk) -> None:
    desk.write("overrides.toml", "[Cara.mat_add]\npoints = 7\n")
    desk.grade("class")
    desk.write("overrides.toml", "")
    assert "7 → 0 (failed; no longer set by hand)" in desk.grade("class")
    assert "7 → 0 points (failed; no longer set by hand), a.ipynb" in desk.history("Cara")


# --- what is wrong with a folder --------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="permissions as POSIX has them")
def test_the_pages_for_moodle_are_shut_again(desk: Desk) -> None:
    archive = desk.place / "grades/moodle_feedback.zip"
    archive.chmod(0o644)
    desk.grade("class")
    assert archive.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name == "nt", reason="Windows has another word for it")
@pytest.mark.parametrize("name", ["run.json", "counted.json", "journal.txt", "lock"])
def test_a_folder_in_place_of_a_file_is_named(desk: Desk, name: str) -> None:
    path = desk.place / "grades/.work" / name
    kept = path.rename(desk.place / name)
    path.mkdir()
    for more in ([], ["--explain", "Bo", "mat_add"]):
        said = desk.grade("class", *more, status=1)
        assert f"grades/.work/{name} cannot be read or written (Is a directory)" in said
        assert "--out" not in said
    path.rmdir()
    kept.rename(path)
    desk.grade("class")


def test_a_work_folder_that_is_gone_is_named(desk: Desk) -> None:
    work = desk.place / "grades/.work"
    kept = work.rename(desk.place / "kept")
    for more in (["--seed", 7], [], ["--explain", "Bo", "mat_add"]):
        said = desk.grade("class", *more, status=1)
        assert "grades/.work, which holds seed, appeals and history, is gone" in said
        assert "put back a copy, or choose another --out" in said
        assert not work.exists()
    kept.rename(work)
    desk.grade("class")


def test_lines_of_the_journal_that_cannot_be_used(desk: Desk) -> None:
    journal = desk.place / "grades/.work/journal.txt"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + b"nothing\n" + lines[2])
    said = desk.grade("class")
    assert "2 of 3 answers are known" in said
    assert "1 line of grades/.work/journal.txt is damaged; what stood there is judged again" in said
    journal.write_bytes(b"nothing\n" * 3)
    assert "3 lines of grades/.work/journal.txt are damaged; what stood" in desk.grade("class")


# --- whose file it is -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "names", "said"),
    [
        (
            "x.ipynb",
            ["Bo", "Cara"],
            "what was given is one submission, so name one student, not 2.",
        ),
        ("Cara.ipynb", ["Bo"], "what was given bears the name of Cara, not of 'Bo'"),
        ("x.ipynb", ["Caro"], "nobody is called 'Caro'; did you mean Cara?"),
        ("x.ipynb", ["nobody"], "nobody is called 'nobody'; there are Ada King, Bo, Cara, x."),
        ("late/x.ipynb", ["Bo"], "nothing was handed in by 'Bo'"),
    ],
)
def test_why_a_name_does_not_fit(desk: Desk, file: str, names: list[str], said: str) -> None:
    desk.write(file, notebook(RIGHT))
    desk.write("late/y.ipynb", notebook(RIGHT))
    place = "late" if "/" in file else file
    assert said in desk.grade(place, "--only", *names, status=1)
