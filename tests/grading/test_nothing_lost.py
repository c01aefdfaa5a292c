"""A run into a folder that holds grades loses none; nobody gets 0 for what was not read."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from grading_helpers import RIGHT, WRONG, notebook, threads, write_class

from course_lib import cli
from course_lib.grading import engine
from course_lib.grading.answers.search import find_answers
from course_lib.grading.intake import reading
from course_lib.grading.intake.submissions import each_submission
from course_lib.grading.judging import executors
from course_lib.grading.judging.batches import Item, read_tasks
from course_lib.grading.judging.worker import Batch, BatchResult
from course_lib.grading.records import Judgement
from course_lib.grading.settings import OUR_NOTEBOOKS

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


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are judged by a look at them: how does not matter here."""

    def look(job: str) -> str:
        items = Batch.from_json(job).items
        return BatchResult({each.number: _judged(each) for each in items}).to_json()

    monkeypatch.setattr(engine, "run_batch", look)
    monkeypatch.setattr(executors, "process_pool", lambda workers: threads(2))


def _judged(item: Item) -> Judgement:
    right = "+ B" in item.text or "total +=" in item.text
    return Judgement(item.exercise, numbers_right=right, right_where_even=right)


def run(*arguments: object) -> int:
    return cli.main(["grade", *map(str, arguments)])


def files(out: Path) -> dict[str, bytes]:
    """Everything that an instructor has."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and ".work" not in path.parts
    }


def rows(out: Path, name: str = "grades.csv") -> dict[tuple[str, str], list[str]]:
    with (out / name).open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file)
    return {(line[0], line[1]): line[2:] for line in lines}


@pytest.fixture
def graded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A class of three that was graded on lesson 00."""
    write_class(tmp_path / "class", {"ada": WRONG, "bo": RIGHT, "cy": WRONG + "# mine"})
    out = tmp_path / "out"
    assert run(tmp_path / "class", "--out", out, "--exercises", "00", "--seed", "7") == 0
    capsys.readouterr()
    return out


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    """The sentences in which a run refused."""
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "Traceback" not in said
    return said


# --- another run into the same folder -----------------------------------------------------------


def test_a_run_with_one_student_does_not_replace_the_class(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(graded)
    again = write_class(tmp_path / "again", {"ada": RIGHT})
    assert run(again, "--out", graded) == 1
    said = refused(capsys)
    assert "grades of 2 submissions that this run was not given (bo, cy)" in said
    assert "--only" in said and "another --out" in said
    assert files(graded) == before


def test_one_student_is_graded_again_and_the_others_stay(
    graded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = files(graded)
    again = write_class(tmp_path / "again", {"ada": RIGHT, "bo": WRONG})
    assert run(again, "--out", graded, "--only", "Ada") == 0
    assert "graded again: ada; 2 other submissions kept." in caplog.text
    verdicts = {name: row[2] for (name, _), row in rows(graded).items()}
    assert verdicts == {"ada": "passed", "bo": "passed", "cy": "failed"}
    after = files(graded)
    for page in ("feedback/bo.html", "feedback/cy.html"):
        assert after[page] == before[page]
    assert after["feedback/ada.html"] != before["feedback/ada.html"]
    # The whole class, as it is now, gives the same bytes.
    write_class(tmp_path / "class", {"ada": RIGHT})
    assert run(tmp_path / "class", "--out", graded) == 0
    assert files(graded) == after


def test_late_submissions_come_in_without_naming_them(
    graded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    late = write_class(tmp_path / "late", {"dee": RIGHT, "cy": RIGHT})
    assert run(late, "--out", graded, "--only") == 0
    assert "graded again: cy; new: dee; 2 other submissions kept." in caplog.text
    assert [row[2] for row in rows(graded).values()] == ["failed", "passed", "passed", "passed"]


def test_names_that_nobody_or_several_have(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(graded)
    assert run(tmp_path / "class", "--out", graded, "--only", "adda") == 1
    assert "nobody is called 'adda'; did you mean ada?" in refused(capsys)
    twins = tmp_path / "twins"
    for name in ("Jo Doe_11", "Jo Doe_12"):
        folder = twins / f"{name}_assignsubmission_file_"
        folder.mkdir(parents=True)
        (folder / "a.ipynb").write_text(notebook(RIGHT))
    assert run(twins, "--out", graded, "--only", "Jo Doe") == 1
    assert "'Jo Doe' is the name of 2 submissions; name one: Jo-Doe-11, Jo-Doe-12." in refused(
        capsys
    )
    assert files(graded) == before
    assert run(twins, "--out", graded, "--only", "Jo-Doe-12") == 0
    assert len(rows(graded)) == 4


def test_exercises_are_not_lost(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "class", "--out", graded, "--exercises", "02") == 1
    assert "grades for mat_add, which this run was not asked for" in refused(capsys)
    assert run(tmp_path / "class", "--out", graded, "--only", "ada", "--exercises", "02") == 1
    assert "was graded on mat_add; with --only it stays so" in refused(capsys)
    # Without names it is what it was, and more is no loss.
    assert run(tmp_path / "class", "--out", graded) == 0
    assert set(rows(graded)) == {("ada", "mat_add"), ("bo", "mat_add"), ("cy", "mat_add")}
    assert run(tmp_path / "class", "--out", graded, "--exercises", "00", "02") == 0
    assert len(rows(graded)) == 6


def test_where_each_is_graded_on_what_they_hand_in_earlier_lessons_stay(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = write_class(tmp_path / "first", {"ada": RIGHT, "bo": "print('hello')"})
    assert run(first, "--out", out, "--seed", "7") == 0
    second = write_class(tmp_path / "second", {"ada": NAIVE, "bo": RIGHT})
    assert run(second, "--out", out) == 1
    assert run(second, "--out", out, "--only") == 0
    verdicts = {key: row[2] for key, row in rows(out).items()}
    assert verdicts == {
        ("ada", "mat_add"): "passed",
        ("ada", "matmul_naive"): "passed",
        ("bo", "mat_add"): "passed",
    }


def test_the_points_stay_those_of_the_course(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "grading.toml"
    settings.write_text('title = "Week 1"\n[points]\nmat_add = 20\n')
    assert run(tmp_path / "class", "--out", graded, "--settings", settings) == 0
    write_class(tmp_path / "class", {"ada": RIGHT})
    capsys.readouterr()
    assert run(tmp_path / "class", "--out", graded, "--only", "ada") == 0
    assert "As in the last run into" in capsys.readouterr().out
    assert [row[:2] for row in rows(graded).values()] == [["20", "20"], ["20", "20"], ["0", "20"]]
    assert "Week 1" in (graded / "report.html").read_text(encoding="utf-8")


def test_a_new_name_on_the_platform_is_no_new_student(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def hand_in(folder: str, name: str, text: str) -> Path:
        place = tmp_path / folder / f"{name}_11_assignsubmission_file_"
        place.mkdir(parents=True)
        (place / "a.ipynb").write_text(notebook(text))
        return tmp_path / folder

    out = tmp_path / "out"
    assert run(hand_in("one", "Ada King", WRONG), "--out", out, "--seed", "7") == 0
    assert run(hand_in("two", "Ada Love", RIGHT), "--out", out) == 0
    assert set(rows(out)) == {("Ada Love", "mat_add")}
    assert [path.name for path in (out / "feedback").iterdir()] == ["Ada-Love-11.html"]


@pytest.mark.parametrize("handed_in", ["again", "again/ada king/05.ipynb", "again/ADA KING.ipynb"])
def test_another_file_of_a_student_is_that_students(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, handed_in: str
) -> None:
    """It came by mail and has no number of the platform; what is set by hand is still theirs."""
    for name, text in [("Ada King_11", WRONG), ("Bo_12", WRONG)]:
        place = tmp_path / "class" / f"{name}_assignsubmission_file_"
        place.mkdir(parents=True)
        (place / "a.ipynb").write_text(notebook(text))
    mail = tmp_path / handed_in
    mail = mail / "ada king/05.ipynb" if mail.suffix == "" else mail
    mail.parent.mkdir(parents=True)
    mail.write_text(notebook(RIGHT))
    (tmp_path / "overrides.toml").write_text("['Ada King']\ncomment = 'As we said.'\n")
    out, by_hand = tmp_path / "out", ["--overrides", tmp_path / "overrides.toml"]
    assert run(tmp_path / "class", "--out", out, "--seed", "7", *by_hand) == 0
    assert run(tmp_path / handed_in, "--out", out, "--only", "Ada King") == 0
    assert "graded again: Ada King; 1 other submission kept." in caplog.text
    assert {key: (row[2], row[8]) for key, row in rows(out).items()} == {
        ("Ada King", "mat_add"): ("passed", "As we said."), ("Bo", "mat_add"): ("failed", ""),
    }  # fmt: skip
    assert rows(out, "moodle.csv")["Participant 11", "Ada King"][0] == "10"


def test_a_file_that_bears_anothers_name_is_not_taken_for_theirs(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(graded)
    write_class(tmp_path / "again", {"cy": RIGHT})
    assert run(tmp_path / "again/cy.ipynb", "--out", graded, "--only", "bo") == 1
    assert "bears the name of cy, not of 'bo'" in refused(capsys)
    assert files(graded) == before


def test_stopped_in_the_middle_everything_is_as_it_was(
    graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(graded)
    again = write_class(tmp_path / "again", {"ada": RIGHT + "# new"})

    def stop(job: str) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(engine, "run_batch", stop)
        assert run(again, "--out", graded, "--only", "ada") == 130
    assert files(graded) == before
    with monkeypatch.context() as patched:  # and at the first file that is written
        patched.setattr(engine.outputs, "grades_csv", stop)
        assert run(again, "--out", graded, "--only", "ada") == 130
    assert files(graded) == before
    assert run(again, "--out", graded, "--only", "ada") == 0
    assert [row[2] for row in rows(graded).values()] == ["passed", "passed", "failed"]


def test_without_the_list_of_the_class_nothing_is_replaced(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(graded)
    listed = graded / ".work/counted.json"
    for text in ("", "[", "{}", '{"checksum": "", "holds": {}}', listed.read_text()[:-9]):
        listed.write_text(text)
        assert run(tmp_path / "class", "--out", graded) == 1
        assert "counted.json is damaged" in refused(capsys)
    listed.unlink()
    assert run(tmp_path / "class", "--out", graded) == 1
    assert "counted.json is gone" in refused(capsys)
    assert files(graded) == before


def test_what_was_written_by_hand_is_kept(
    graded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    grades, page = graded / "grades.csv", graded / "feedback/cy.html"
    mine = grades.read_text(encoding="utf-8").replace('"mat_add",0,', '"mat_add",5,')
    for _ in range(2):
        grades.write_text(mine, encoding="utf-8")
        page.write_text("Well done, Cy", encoding="utf-8")
        assert run(tmp_path / "class", "--out", graded) == 0
        assert "changed by hand since the last run, and kept: feedback/cy.html (" in caplog.text
        assert "grades.csv (now changed_by_hand/grades-" in caplog.text
    kept = graded / "changed_by_hand"
    assert (kept / "grades-1.csv").read_text(encoding="utf-8") == mine
    assert sorted(path.name for path in kept.iterdir()) == [
        "cy-1.html", "cy-2.html", "grades-1.csv", "grades-2.csv",
    ]  # fmt: skip
    before = files(graded)
    assert run(tmp_path / "class", "--out", graded) == 0
    assert files(graded) == before


def test_what_is_explained_is_what_stands_in_the_gradebook(
    graded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = write_class(tmp_path / "again", {"ada": RIGHT})
    assert run(again, "--out", graded, "--only", "ada") == 0
    capsys.readouterr()
    # The folder of the class still holds the older answer.
    assert run(tmp_path / "class", "--out", graded, "--explain", "ada", "mat_add") == 0
    assert "ada · mat_add: passed, 10 of 10 points" in capsys.readouterr().out


# --- what nobody could read ---------------------------------------------------------------------

RENAMED = RIGHT.replace("def mat_add", "def add_matrices")


def truncated(folder: Path) -> None:
    (folder / "a.ipynb").write_text(notebook(RIGHT)[:-40])


def oversized(folder: Path) -> None:
    (folder / "a.ipynb").write_text(notebook(RIGHT) + " " * 3000)


def cut_to_nothing(folder: Path) -> None:
    (folder / "a.ipynb").write_bytes(b"")


def of_another_kind(folder: Path) -> None:
    (folder / "a.ipynb").write_bytes(b"%PDF-1.7")


def renamed(folder: Path) -> None:
    (folder / "a.ipynb").write_text(notebook(RENAMED))


def renamed_without_marker(folder: Path) -> None:
    unmarked = RENAMED.replace("# EXERCISE mat_add\n", "")
    (folder / "a.ipynb").write_text(
        notebook("# EXERCISE mat_add\ndef mat_add(A, B, C):\n    pass", unmarked)
    )


def renamed_in_a_script(folder: Path) -> None:
    (folder / "a.py").write_text("from numba import cuda\n" + RENAMED)


def too_long(folder: Path) -> None:
    (folder / "a.ipynb").write_text(notebook(RIGHT + "\n" + "# long" * 40_000))


def beside_one_that_can_be_read(folder: Path) -> None:
    (folder / "b.ipynb").write_text(notebook("x = 1"))
    truncated(folder)


UNREAD = (
    truncated, oversized, cut_to_nothing, of_another_kind, renamed, renamed_without_marker,
    renamed_in_a_script, too_long, beside_one_that_can_be_read,
)  # fmt: skip


def moodle(name: str, number: int) -> str:
    return f"{name}_{number}_assignsubmission_file_"


@pytest.mark.parametrize("hand_in", UNREAD, ids=lambda each: each.__name__)
def test_what_nobody_could_read_leaves_no_number(
    hand_in: Callable[[Path], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if hand_in is oversized:
        monkeypatch.setattr("course_lib.grading.intake.submissions.MAX_FILE_BYTES", 3000)
        monkeypatch.setattr(reading, "MAX_FILE_BYTES", 3000)
    folder = tmp_path / "class"
    for name, number in (("Ada", 11), ("Bo", 12)):
        (folder / moodle(name, number)).mkdir(parents=True)
    hand_in(folder / moodle("Ada", 11))
    (folder / moodle("Bo", 12) / "a.ipynb").write_text(notebook(RIGHT))
    out = tmp_path / "out"
    assert run(folder, "--out", out, "--exercises", "mat_add", "--seed", "7") == 0
    points, _, verdict, reason, *_ = rows(out)["Ada", "mat_add"]
    assert (points, verdict) == ("", "needs review") and reason
    assert [key[0] for key in rows(out, "moodle.csv")] == ["Participant 12"]
    said = capsys.readouterr().out
    assert "Not in moodle.csv: Ada (points are still open: mat_add)." in said
    report = re.sub("<[^>]*>", " ", (out / "report.html").read_text(encoding="utf-8"))
    assert "Not in moodle.csv" in report and "points are still open: mat_add" in report


def test_canvas_files_of_one_user_are_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    for name, text in {
        "loveada_LATE_4711_90001_00.ipynb": RIGHT,
        "kingada_4711_90002_02-1.ipynb": NAIVE,
        "bo_12_90003_00.py": "from numba import cuda\n" + RIGHT,
        "bo_12_90004_02.ipynb": "",
    }.items():
        content = text if name.endswith(".py") or not text else notebook(text)
        (folder / name).write_text(content)
    out = tmp_path / "out"
    assert run(folder, "--out", out, "--exercises", "mat_add", "matmul_naive", "--seed", "7") == 0
    assert {key: row[2] for key, row in rows(out).items()} == {
        ("bo", "mat_add"): "passed",
        ("bo", "matmul_naive"): "needs review",
        ("kingada", "mat_add"): "passed",
        ("kingada", "matmul_naive"): "passed",
    }
    lines = (out / "canvas.csv").read_text(encoding="utf-8").splitlines()
    assert lines[2:] == ['"kingada","4711","","","",20']


def test_what_is_truly_missing_is_missing(tmp_path: Path) -> None:
    """The exercise as it was handed out, a lesson, helpers, another exercise's answer: 0 points."""
    tasks = read_tasks(OUR_NOTEBOOKS)
    folder = tmp_path / "class"
    for path in sorted(OUR_NOTEBOOKS.glob("*.ipynb")):
        (folder / path.stem).mkdir(parents=True)
        shutil.copy(path, folder / path.stem / path.name)
    write_class(folder, {"helper": "def run(A, B, C):\n    C[:] = A + B", "other": NAIVE})
    for submission in each_submission(folder):
        for answer in find_answers(submission, list(tasks), tasks):
            if answer.exercise != "matmul_naive" or submission.key != "other":
                assert answer.problem and not answer.needs_review, answer
