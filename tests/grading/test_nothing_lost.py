"""A run into a folder that holds grades loses none; nobody gets 0 for what was not read."""

import re

import pytest
from grading_helpers import RIGHT, WRONG, Desk, lines_of, notebook

from course_lib.grading import engine
from course_lib.grading.intake import reading

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


pytestmark = pytest.mark.usefixtures("looked_at")


@pytest.fixture
def graded(desk: Desk) -> Desk:
    """A class of three that was graded on lesson 00."""
    for name, text in {"ada": WRONG, "bo": RIGHT, "cy": WRONG + "# mine"}.items():
        desk.hand_in(name, text)
    desk.grade("class", "--exercises", "00", "--seed", "7")
    return desk


def verdicts(desk: Desk) -> list[str]:
    return [row["verdict"] for row in desk.rows().values()]


def test_a_run_with_one_student_does_not_replace_the_class(graded: Desk) -> None:
    before = graded.files()
    graded.hand_in("ada", RIGHT, top="again")
    said = graded.grade("again", status=1)
    assert "grades of 2 submissions that this run was not given (bo, cy)" in said
    assert "A new answer then counts until you give another one with `--only`" in said
    assert "another --out" in said
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
    assert (ada["Identifier"], ada["Full name"], ada["Grade"]) == (
        "Participant 11",
        "Ada King",
        "10",
    )


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


def test_without_the_list_of_the_class_nothing_is_replaced(graded: Desk) -> None:
    before = graded.files()
    (graded.out / ".work/counted.json").unlink()
    assert "counted.json is gone" in graded.grade("class", status=1)
    assert graded.files() == before


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
