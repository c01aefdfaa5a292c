"""What a command of grading does not read, or changes, it says; what it says is so."""

import os
import re
from pathlib import Path

import pytest
from grading_helpers import RIGHT, WRONG, Desk, notebook
from sampling import few

from course_lib import cli

CLASS = {"Ada King": 11, "Bo": 12, "Cara": 13}


class Office(Desk):
    """A desk with a class of Moodle's."""

    def answer(self, name: str, text: str, number: int = 0, top: str = "class") -> Path:
        folder = f"{name}_{number or CLASS[name]}_assignsubmission_file_"
        return self.hand_in(f"{folder}/a", text, top=top)

    def history(self, name: str) -> str:
        return self.grade("class", "--explain", name, "mat_add").partition("History: ")[2]


@pytest.fixture
def office(looked_at: None, desk: Desk) -> Office:
    """A class of three that is graded."""
    office = Office(desk.place, desk.capsys, desk.caplog)
    for name in CLASS:
        office.answer(name, RIGHT if name == "Bo" else f"{WRONG}# {name}\n")
    office.grade("class", "--seed", 7, "--exercises", "mat_add")
    return office


def test_what_is_set_by_hand_is_found_in_the_working_folder(office: Office) -> None:
    """The guide's step: write the file, and give the command of the class again."""
    office.write("overrides.toml", "[Cara.mat_add]\npoints = 9\n")
    assert "overrides.toml has entries for 1 student." in office.grade("class")
    assert office.points("Cara") == "9"
    office.write("elsewhere/overrides.toml", "[Cara.mat_add]\npoints = 8\n")
    assert "elsewhere" in office.grade("class", "--overrides", "elsewhere/overrides.toml")
    assert "elsewhere" in office.grade("class") and office.points("Cara") == "8"
    assert "You have set the points of 1 row by hand." in office.said


def test_what_is_set_by_hand_is_found_beside_the_remembered_course(office: Office) -> None:
    office.write("week/course.toml", 'title = "Week 1"\n')
    office.grade("class", "--settings", "week/course.toml")
    office.write("overrides.toml", "[Cara.mat_add]\npoints = 8\n")
    office.write("week/overrides.toml", "[Cara.mat_add]\npoints = 9\n")
    assert "overrides.toml has entries for 1 student" in office.grade("class")
    assert office.points("Cara") == "9"


def test_nobody_grades_themselves(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that a student has filled may be the working folder."""
    file = office.answer("Cara", WRONG)
    (file.parent / "overrides.toml").write_text("[Cara.mat_add]\npoints = 10\n")
    monkeypatch.chdir(file.parent)
    out = office.place / "grades"
    assert cli.main(["grade", "a.ipynb", "--out", str(out), "--only", "Cara"]) == 0
    assert "overrides.toml is not read: name it with --overrides" in office.capsys.readouterr().out
    assert cli.main(["grade", ".", "--out", str(out), "--only", "Cara"]) == 1
    assert office.points("Cara") == "0"


@pytest.mark.parametrize("text", few(["[points]\nmat_add = 30\n", "[points", None]))
def test_a_course_that_is_another_by_now_is_named(office: Office, text: str | None) -> None:
    course = office.write("course.toml", "[points]\nmat_add = 20\n")
    said = office.grade("class", "--settings", "course.toml")
    assert "As in the last run" not in said and office.points("Bo") == "20"
    same = f"As in the last run into grades: points from {course}. "
    assert same in office.grade("class") and "--settings" not in office.said
    if text is None:
        course.unlink()
        expected = f"{course} is gone; its old contents still apply."
    else:
        course.write_text(text)
        expected = (
            f"{course} has changed since then and was not read again; to read it, give "
            f"`--settings {course}`."
        )
    for _ in range(2):
        assert f"{same}{expected}" in office.grade("class")
        assert office.points("Bo") == "20"


def test_a_course_of_no_choice_is_named_too(office: Office) -> None:
    course = office.write("course.toml", 'exercises = ["mat_add"]\n')
    office.grade("class", "--settings", "course.toml")
    assert "course.toml" not in office.grade("class")
    course.write_text("[points]\nmat_add = 20\n")
    assert f"{course} has changed since then and was not read again" in office.grade("class")


def test_an_answer_that_is_the_same_stays_that_of_the_class(office: Office) -> None:
    """A refused run says `--only`; whose answer that leaves as it was can still resubmit."""
    left = office.answer("Cara", WRONG)
    office.grade("class")
    left.unlink()
    left.parent.rmdir()
    assert "--only" in office.grade("class", status=1)
    office.answer("Ada King", RIGHT)
    office.grade("class", "--only")
    office.answer("Bo", WRONG)
    office.answer("Ada King", f"{WRONG}# newer\n")
    office.answer("Cara", WRONG)
    office.grade("class")
    assert office.points("Bo") == "0"
    assert "Ada King, mat_add: a.ipynb [" in office.said and "still counts" in office.said


def test_another_name_of_a_student_is_said(office: Office) -> None:
    (office.place / "class/Bo_12_assignsubmission_file_").rename(office.place / "class/gone")
    (office.place / "class/gone").rename(office.place / "class/Bo Two_12_assignsubmission_file_")
    assert "Note: Bo (12) is called Bo Two now." in office.grade("class")
    assert {name for name, _ in office.rows()} == {"Ada King", "Bo Two", "Cara"}
    assert not (office.out / "feedback/Bo-12.html").exists()
    assert "is called" not in office.grade("class")


def test_who_is_new_in_the_class_is_said(office: Office) -> None:
    office.answer("Dee", RIGHT, 14)
    assert "Note: new: Dee." in office.grade("class")
    assert "new:" not in office.grade("class")
    office.grade("class", "--exercises", "mat_add", "matmul_naive")
    assert "Note: new: Ada King, matmul_naive; Bo, matmul_naive; " in office.said
    office.answer("Eve", RIGHT, 15, "late")
    assert office.grade("late", "--only").count("new: Eve") == 1


def test_the_history_says_why(office: Office) -> None:
    office.write("overrides.toml", "[Cara.mat_add]\npoints = 7\n")
    assert "Cara, mat_add 0 → 7 (failed; set by hand)" in office.grade("class")
    office.write("course.toml", "[late]\nper_day = 0.1\n")
    office.write("overrides.toml", "[Cara]\nlate_days = 1\n[Cara.mat_add]\npoints = 7\n")
    office.grade("class", "--settings", "course.toml")
    office.write("overrides.toml", "[Cara]\nlate_days = 1\n")
    office.grade("class")
    _, by_hand, late, back = re.split(r" UTC: ", office.history("Cara"))[1:]
    assert by_hand.startswith("0 → 7 points (failed; set by hand), a.ipynb [")
    said = "7 → 6.3 points (failed; set by hand; 1 day late: 90 % of 7 points are 6.3), "
    assert late.startswith(said)
    assert back.startswith(
        "6.3 → 0 points (failed; 1 day late: 90 % of 0 points are 0; no longer set by hand), "
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has another word for it")
@pytest.mark.parametrize("name", ["run.json", "counted.json", "journal.txt", "lock"])
def test_a_folder_in_place_of_a_file_is_named(office: Office, name: str) -> None:
    path = office.place / "grades/.work" / name
    kept = path.rename(office.place / name)
    path.mkdir()
    for more in ([], ["--explain", "Bo", "mat_add"]):
        said = office.grade("class", *more, status=1)
        assert f"grades/.work/{name} cannot be read or written (Is a directory)" in said
        assert "--out" not in said
    path.rmdir()
    kept.rename(path)
    office.grade("class")


def test_a_work_folder_that_is_gone_is_named(office: Office) -> None:
    work = office.place / "grades/.work"
    kept = work.rename(office.place / "kept")
    for more in (["--seed", 7], [], ["--explain", "Bo", "mat_add"]):
        said = office.grade("class", *more, status=1)
        assert "grades/.work, which contains the seed, the appeals and the history, is gone" in said
        assert "Put back a copy, or choose another --out" in said
        assert not work.exists()
    kept.rename(work)
    office.grade("class")


def test_lines_of_the_journal_that_cannot_be_used(office: Office) -> None:
    journal = office.place / "grades/.work/journal.txt"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + b"nothing\n" + lines[2])
    said = office.grade("class")
    assert "2 of 3 answers were judged" in said
    assert (
        "1 line of grades/.work/journal.txt is damaged; if an answer from there is needed, it is"
        in said
    )
    journal.write_bytes(b"nothing\n" * 3)
    assert "3 lines of grades/.work/journal.txt are damaged; if an answer" in office.grade("class")


@pytest.mark.parametrize(("file", "names", "said"), [
    ("x.ipynb", ["Bo", "Cara"], "you gave one submission, so name one student, not 2."),
    ("Cara.ipynb", ["Bo"], "the file that you gave has the name of Cara, not of 'Bo'"),
    ("x.ipynb", ["Caro"], "nobody is called 'Caro'; did you mean Cara?"),
    ("x.ipynb", ["nobody"], "nobody is called 'nobody'; there are Ada King, Bo, Cara, x."),
    ("late/x.ipynb", ["Bo"], "nothing was handed in by 'Bo'"),
])  # fmt: skip
def test_why_a_name_does_not_fit(office: Office, file: str, names: list[str], said: str) -> None:
    office.write(file, notebook(RIGHT))
    office.write("late/y.ipynb", notebook(RIGHT))
    place = "late" if "/" in file else file
    assert said in office.grade(place, "--only", *names, status=1)
