"""A command into a folder of grades loses none; what it does not read, or changes, it says."""

import os
import re
from pathlib import Path

import pytest
from grading_helpers import RIGHT, WRONG, Desk, lines_of, notebook
from sampling import few

from course_lib import cli
from course_lib.grading import engine
from course_lib.grading.intake import reading

pytestmark = pytest.mark.usefixtures("looked_at")
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
        changed = f"{course} has changed since then and was not read again; to read it, give "
        expected = f"{changed}`--settings {course}`."
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
    said = "6.3 → 0 points (failed; 1 day late: 90 % of 0 points are 0; no longer set by hand), "
    assert back.startswith(said)


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
    damaged = "1 line of grades/.work/journal.txt is damaged; if an answer from there is needed"
    said = office.grade("class")
    assert "2 of 3 answers were judged" in said and damaged in said
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


NAIVE = """\
# EXERCISE matmul_naive
@cuda.jit
def matmul_naive(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        total = np.float32(0)
        for k in range(A.shape[1]):
            total += A[y, k] * B[k, x]
        C[y, x] = total
"""


@pytest.fixture
def graded(desk: Desk) -> Desk:
    """A class of three that was graded on lesson 00."""
    for name, text in {"ada": WRONG, "bo": RIGHT, "cy": WRONG + "# mine"}.items():
        desk.hand_in(name, text)
    desk.grade("class", "--exercises", "00", "--seed", "7")
    return desk


def verdicts(desk: Desk) -> list[str]:
    return [row["verdict"] for row in desk.rows().values()]


def test_a_run_with_one_student_or_without_the_list_does_not_replace_the_class(graded):
    before = graded.files()
    graded.hand_in("ada", RIGHT, top="again")
    said = graded.grade("again", status=1)
    assert "grades of 2 submissions that this run was not given (bo, cy)" in said
    assert "A new answer then counts until you give another one with `--only`" in said
    assert "another --out" in said
    assert graded.files() == before
    (graded.out / ".work/counted.json").unlink()
    assert "counted.json is gone" in graded.grade("class", status=1)
    assert graded.files() == before


def test_one_student_is_graded_again_and_the_others_stay(graded: Desk) -> None:
    before = graded.files()
    graded.hand_in("ada", RIGHT, top="again")
    graded.hand_in("bo", WRONG, top="again")
    said = graded.grade("again", "--only", "Ada")
    assert "graded again: ada; 2 other submissions kept." in said
    assert verdicts(graded) == ["passed", "passed", "failed"]
    after = graded.files()
    for page in ("feedback/bo.html", "feedback/cy.html"):
        assert after[page] == before[page]
    assert after["feedback/ada.html"] != before["feedback/ada.html"]
    # The whole class, as it is now, gives the same bytes.
    graded.hand_in("ada", RIGHT)
    graded.grade("class")
    assert graded.files() == after


def test_names_that_nobody_or_several_have(graded: Desk) -> None:
    before = graded.files()
    said = graded.grade("class", "--only", "adda", status=1)
    assert "nobody is called 'adda'; did you mean ada?" in said
    for number in (11, 12):
        graded.hand_in(f"{moodle('Jo Doe', number)}/a", RIGHT, top="twins")
    said = graded.grade("twins", "--only", "Jo Doe", status=1)
    assert "'Jo Doe' is the name of 2 submissions; name one: Jo-Doe-11, Jo-Doe-12." in said
    assert graded.files() == before
    graded.grade("twins", "--only", "Jo-Doe-12")
    assert len(graded.rows()) == 4


def test_exercises_are_not_lost(graded: Desk) -> None:
    said = graded.grade("class", "--exercises", "02", status=1)
    assert "grades for mat_add, which you did not name this time" in said
    said = graded.grade("class", "--only", "ada", "--exercises", "02", status=1)
    assert "was graded on mat_add; with --only this cannot change" in said
    # Without names it is what it was, and more is no loss.
    graded.grade("class")
    assert set(graded.rows()) == {(name, "mat_add") for name in ("ada", "bo", "cy")}
    graded.grade("class", "--exercises", "00", "02")
    assert len(graded.rows()) == 6


def test_where_each_is_graded_on_what_they_hand_in_earlier_lessons_stay(desk: Desk) -> None:
    desk.hand_in("ada", RIGHT)
    desk.hand_in("bo", "print('hello')")
    desk.grade("class", "--seed", "7")
    desk.hand_in("ada", NAIVE)
    desk.hand_in("bo", RIGHT)
    desk.grade("class", status=1)
    desk.grade("class", "--only")
    assert {key: row["verdict"] for key, row in desk.rows().items()} == {
        ("ada", "mat_add"): "passed",
        ("ada", "matmul_naive"): "passed",
        ("bo", "mat_add"): "passed",
    }


@pytest.mark.parametrize("handed_in", ["again", "again/ada king/05.ipynb", "again/ADA KING.ipynb"])
def test_another_file_of_a_student_is_that_students(desk: Desk, handed_in: str) -> None:
    """It came by mail and has no number of the platform; what is set by hand is still theirs."""
    for name, number in (("Ada King", 11), ("Bo", 12)):
        desk.hand_in(f"{moodle(name, number)}/a", WRONG)
    mail = handed_in if handed_in.endswith("ipynb") else f"{handed_in}/ada king/05.ipynb"
    desk.write(mail, notebook(RIGHT))
    desk.write("overrides.toml", "['Ada King']\ncomment = 'As we said.'\n")
    desk.grade("class", "--seed", "7", "--overrides", "overrides.toml")
    said = desk.grade(handed_in, "--only", "Ada King")
    assert "graded again: Ada King; 1 other submission kept." in said
    told = {key[0]: (row["verdict"], row["student_comment"]) for key, row in desk.rows().items()}
    assert told == {"Ada King": ("passed", "As we said."), "Bo": ("failed", "")}
    (ada, _) = lines_of(desk.out / "moodle.csv")
    known = [ada[name] for name in ("Identifier", "Full name", "Grade")]
    assert known == ["Participant 11", "Ada King", "10"]


def test_stopped_in_the_middle_everything_is_as_it_was(graded, monkeypatch):
    before = graded.files()
    graded.hand_in("ada", RIGHT + "# new", top="again")

    def stop(job: str) -> str:
        raise KeyboardInterrupt

    # While it is judged, and at the first file that is written.
    for place, name in ((engine, "run_batch"), (engine.outputs, "grades_csv")):
        with monkeypatch.context() as patched:
            patched.setattr(place, name, stop)
            graded.grade("again", "--only", "ada", status=130)
        assert graded.files() == before
    graded.grade("again", "--only", "ada")
    assert verdicts(graded) == ["passed", "passed", "failed"]


def test_what_was_written_by_hand_is_kept(graded: Desk) -> None:
    grades, page = graded.out / "grades.csv", graded.out / "feedback/cy.html"
    mine = grades.read_text(encoding="utf-8").replace('"mat_add",0,', '"mat_add",5,')
    for _ in range(2):
        grades.write_text(mine, encoding="utf-8")
        page.write_text("Well done, Cy", encoding="utf-8")
        said = graded.grade("class")
        assert "changed by hand since the last run, and kept: feedback/cy.html (" in said
        assert "grades.csv (now changed_by_hand/grades-" in said
    kept = graded.out / "changed_by_hand"
    assert (kept / "grades-1.csv").read_text(encoding="utf-8") == mine
    assert sorted(path.name for path in kept.iterdir()) == [
        "cy-1.html", "cy-2.html", "grades-1.csv", "grades-2.csv",
    ]  # fmt: skip
    before = graded.files()
    graded.grade("class")
    assert graded.files() == before


RENAMED = RIGHT.replace("def mat_add", "def add_matrices")
UNMARKED = RENAMED.replace("# EXERCISE mat_add\n", "")
EMPTY = "# EXERCISE mat_add\ndef mat_add(A, B, C):\n    pass"
UNREAD: dict[str, dict[str, str]] = {
    "cut off": {"a.ipynb": notebook(RIGHT)[:-40]},
    "oversized": {"a.ipynb": notebook(RIGHT) + " " * 3000},
    "cut to nothing": {"a.ipynb": ""},
    "of another kind": {"a.ipynb": "%PDF-1.7"},
    "renamed": {"a.ipynb": notebook(RENAMED)},
    "renamed without its marker": {"a.ipynb": notebook(EMPTY, UNMARKED)},
    "renamed in a script": {"a.py": "from numba import cuda\n" + RENAMED},
    "too long": {"a.ipynb": notebook(RIGHT + "\n" + "# long" * 40_000)},
    "beside one that can be read": {"b.ipynb": notebook("x = 1"), "a.ipynb": notebook("")[:-40]},
}


def moodle(name: str, number: int) -> str:
    return f"{name}_{number}_assignsubmission_file_"


@pytest.mark.parametrize("handed_in", UNREAD)
def test_what_nobody_could_read_leaves_no_number(handed_in, desk, monkeypatch):
    if handed_in == "oversized":
        monkeypatch.setattr("course_lib.grading.intake.submissions.MAX_FILE_BYTES", 3000)
        monkeypatch.setattr(reading, "MAX_FILE_BYTES", 3000)
    for name, text in UNREAD[handed_in].items():
        desk.write(f"class/{moodle('Ada', 11)}/{name}", text)
    desk.hand_in(f"{moodle('Bo', 12)}/a", RIGHT)
    said = desk.grade("class", "--exercises", "mat_add", "--seed", "7")
    row = desk.rows()["Ada", "mat_add"]
    assert (row["points"], row["verdict"]) == ("", "needs review") and row["reason"]
    assert [each["Identifier"] for each in lines_of(desk.out / "moodle.csv")] == ["Participant 12"]
    assert "Not in moodle.csv: Ada (points are still open: mat_add)." in said
    report = re.sub("<[^>]*>", " ", (desk.out / "report.html").read_text(encoding="utf-8"))
    assert "Not in moodle.csv" in report and "points are still open: mat_add" in report


def test_canvas_files_of_one_user_are_one_line(desk: Desk) -> None:
    desk.hand_in("loveada_LATE_4711_90001_00", RIGHT)
    desk.hand_in("kingada_4711_90002_02-1", NAIVE)
    desk.write("class/bo_12_90003_00.py", "from numba import cuda\n" + RIGHT)
    desk.write("class/bo_12_90004_02.ipynb", "")
    desk.grade("class", "--exercises", "mat_add", "matmul_naive", "--seed", "7")
    assert {key: row["verdict"] for key, row in desk.rows().items()} == {
        ("bo", "mat_add"): "passed",
        ("bo", "matmul_naive"): "needs review",
        ("kingada", "mat_add"): "passed",
        ("kingada", "matmul_naive"): "passed",
    }
    lines = (desk.out / "canvas.csv").read_text(encoding="utf-8").splitlines()
    assert lines[2:] == ['"kingada","4711","","","",20']
