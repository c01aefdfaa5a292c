"""What an instructor sets by hand: kept, shown, handed on; and what was judged stays."""

from __future__ import annotations

import csv
import io
import re
import tempfile
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from every_case import every_case
from grading_helpers import RIGHT, WRONG, judge_here, notebook, threads, write_class
from hypothesis import given
from hypothesis import strategies as st
from rows_of_a_class import RACY, UNSUPPORTED, missing, row

from course_lib import cli
from course_lib.grading import engine
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.explain import explain
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.outputs import junit_xml
from course_lib.grading.gradebook.scoring import SetForStudent, load_overrides, with_what_is_set
from course_lib.grading.gradebook.tables import canvas_csv, grade, grades_csv, lateness, moodle_csv
from course_lib.grading.judging import executors
from course_lib.grading.records import CannotGrade, GradebookRow, Override, Standing
from course_lib.grading.settings import LateRule, Settings, load_settings

LATE = Settings(late=LateRule(Decimal("0.1"), Decimal("0.5")))
EVIL = "<script>alert(1)</script>\n=1+1 \u202eevil & 1 < 2"


def by_hand(
    rows: list[GradebookRow], standing: Standing | None = None, **answers: Override
) -> list[GradebookRow]:
    """The rows, with what is set for the first one's student."""
    theirs = SetForStudent(standing or Standing(), answers)
    return with_what_is_set(rows, {rows[0].submission.key: theirs})


def table(text: str | None) -> list[dict[str, str]]:
    assert text is not None
    return list(csv.DictReader(io.StringIO(text, newline="")))


def words(page: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", page).split())


# --- the rule of late days ----------------------------------------------------------------------


@every_case(
    ("days", "share"), [(0, 1.0), (1, 0.9), (2, 0.8), (3, 0.7), (5, 0.5), (6, 0.5), (366, 0.5)]
)
def test_each_day_costs_its_share_up_to_a_limit(days: int, share: float) -> None:
    assert LateRule(Decimal("0.1"), Decimal("0.5")).share_left(days) == Decimal(str(share))
    assert LateRule(Decimal("0.3333")).share_left(4) == 0


def test_late_days_come_off_the_sum_and_the_page_says_how() -> None:
    rows = by_hand(
        [row("s01", platform="canvas", platform_id="7"), row("s01", RACY)],
        Standing("", 2, Decimal("0.8")),
    )
    assert lateness(rows) == "2 days late: 80 % of 15 points are 12."
    assert grade(rows) == Decimal("12")
    page = words(feedback_page(rows, "s01", LATE))
    assert "12 of 20 points. 2 days late: 80 % of 15 points are 12." in page
    assert [line["points"] for line in table(grades_csv(rows))] == ["8", "4"]
    assert [line["late_days"] for line in table(grades_csv(rows))] == ["2", "2"]
    assert table(canvas_csv(rows[:1], LATE))[1][LATE.title] == "8"
    assert "2 days late: 80 % of 15 points" in words(class_report(rows, LATE, 5))


def test_while_points_are_open_lateness_promises_no_number() -> None:
    rows = by_hand([row("s01"), row("s01", UNSUPPORTED)], Standing("", 1, Decimal("0.9")))
    assert lateness(rows) == "1 day late: 90 % of the points count."
    assert grade(rows) is None
    assert "an instructor still has to look" in words(feedback_page(rows, "s01", LATE))


def test_the_rule_comes_from_the_settings_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "grading.toml"
    path.write_text("[late]\nper_day = 0.1\nat_most = 0.5\n")
    ours = load_settings(path)
    assert ours.late == LateRule(Decimal("0.1"), Decimal("0.5"))
    assert Settings.restored(ours.stored()) == ours
    path.write_text("[late]\nper_day = 0.25\n")
    assert load_settings(path).late == LateRule(Decimal("0.25"))


@every_case(
    ("text", "said"),
    [
        ("late = 0.1", "`late` is 0.1; write a table [late]"),
        ("[late]\nat_most = 0.5", "write a table [late] with per_day"),
        ("[late]\nper_dya = 1\nper_day = 0.1", "there is no key 'per_dya' in [late]; did you mean"),
        ("[late]\nper_day = 10", "`late.per_day` is 10; write a number of 0 to 1, unquoted"),
        ("[late]\nper_day = 0.1\nat_most = -1", "`late.at_most` is -1"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "grading.toml"
    path.write_text(text)
    with pytest.raises(CannotGrade) as caught:
        load_settings(path)
    assert said in str(caught.value) and str(path) in str(caught.value)


# --- points and comments in every output --------------------------------------------------------


def test_points_set_by_hand_stand_beside_the_judges() -> None:
    known = {"platform": "moodle", "platform_id": "4711"}
    before = row("s01", RACY, **known)
    (after,) = by_hand([before], matmul_tiled=Override(Decimal("9.5"), "My mistake."))
    assert (after.points, after.judged_points, after.verdict) == (9.5, 5.0, "partly")
    assert after.judgement == before.judgement and after.earned == before.earned
    (line,) = table(grades_csv([after]))
    assert (line["points"], line["judged"], line["set"]) == ("9.5", "5", "9.5")
    assert line["comment"] == "My mistake."
    (line,) = table(moodle_csv([after]))
    assert line["Grade"] == "9.5"
    said = "matmul_tiled: 9.5 of 10 (set by the instructor): My mistake."
    assert line["Feedback comments"] == said
    page = words(feedback_page([after], "s01", Settings()))
    assert "9.5 of 10 points. Your instructor has set these points; the checker gave 5" in page
    assert "From your instructor My mistake." in page
    assert "9.5 instead of 5 My mistake." in words(class_report([after], Settings(), 5))
    told = explain(after)
    assert "partly, 5 of 10 points" in told and "Set by hand: 9.5 of 10 points" in told


def test_points_decide_what_needed_review() -> None:
    known = {"platform": "canvas", "platform_id": "7"}
    (after,) = by_hand([row("s01", UNSUPPORTED, **known)], matmul_tiled=Override(Decimal("7")))
    assert table(canvas_csv([after], LATE))[1][LATE.title] == "7"
    report = words(class_report([after], LATE, 5))
    assert "Nothing: every answer could be judged." in report and "7 instead of open" in report
    page = words(feedback_page([after], "s01", LATE))
    assert "the checker left them open" in page and "needs review" not in page
    assert 'skipped="0"' in junit_xml([after], "x") and 'failures="1"' in junit_xml([after], "x")
    (full,) = by_hand([row("s01", RACY)], matmul_tiled=Override(Decimal("10")))
    assert 'failures="0"' in junit_xml([full], "x")


def test_points_for_what_was_missing_are_points() -> None:
    (after,) = by_hand([missing("s01")], mat_add=Override(Decimal("5")))
    assert "Missing" not in class_report([after], LATE, 5)
    assert table(grades_csv([after]))[0]["points"] == "5"


def test_a_comment_alone_leaves_the_points() -> None:
    (after,) = by_hand([row("s01", RACY)], Standing("For all."), matmul_tiled=Override(None, "So."))
    assert (after.points, after.is_set) == (5.0, False)
    (line,) = table(grades_csv([after]))
    assert (line["set"], line["comment"], line["student_comment"]) == ("", "So.", "For all.")
    page = words(feedback_page([after], "s01", LATE))
    assert "From your instructor For all." in page and "From your instructor So." in page
    assert "partly" in page and "the checker gave" not in page


def test_a_comment_is_text_everywhere() -> None:
    known = {"platform": "moodle", "platform_id": "7", "student": EVIL}
    rows = by_hand(
        [row("s01", RACY, **known)], Standing(EVIL), matmul_tiled=Override(Decimal("9"), EVIL)
    )
    for page in (feedback_page(rows, EVIL, LATE), class_report(rows, LATE, 5)):
        assert "<script" not in page and "\u202e" not in page
        assert "&lt;script&gt;" in page and "1 &lt; 2" in page
    (line,) = table(moodle_csv(rows))
    assert "<" not in line["Feedback comments"] and "1 &lt; 2" in line["Feedback comments"]
    formula = by_hand([row("s01")], Standing("=1+1"), matmul_tiled=Override(None, "@SUM(A1)"))
    (line,) = table(grades_csv(formula))
    assert (line["comment"], line["student_comment"]) == ("'@SUM(A1)", "'=1+1")
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", explain(rows[0]))


def test_what_is_set_for_one_student_touches_no_other() -> None:
    others = [row("s02", RACY)]
    after = by_hand(
        [row("s01"), *others], Standing("x", 3, Decimal("0.7")), matmul_tiled=Override(Decimal("1"))
    )
    assert after[1:] == others
    assert replace(after[0], points=10.0, override=Override(), standing=Standing()) == row("s01")


# --- the file -----------------------------------------------------------------------------------


def load(folder: Path, text: str) -> dict[str, SetForStudent]:
    path = folder / "overrides.toml"
    path.write_text(text, encoding="utf-8")
    return dict(load_overrides(path, LATE, folder / "class").students)


def test_the_file_says_points_comments_and_days(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        '["Ada L."]\nlate_days = 2\ncomment = " Hello. "\n'
        '["Ada L.".mat_add]\npoints = 8\n[bo.matmul_tiled]\ncomment = """\nTwo\nlines"""\n',
    )
    assert found["Ada L."] == SetForStudent(
        Standing("Hello.", 2, Decimal("0.8")), {"mat_add": Override(Decimal("8"))}
    )
    assert found["bo"].answers == {"matmul_tiled": Override(None, "Two\nlines")}
    assert load(tmp_path, "") == {}


@every_case(
    ("text", "said"),
    [
        ("ada = 3", "`ada` is 3; write a student's name as the head of a table"),
        ("[ada]", "`ada` is {}; write a student's name"),
        ("[ada.mat_ad]\npoints = 3", "there is no exercise 'mat_ad' under `ada`; did you mean"),
        ("[ada.mat_add]", "`ada.mat_add` is {}; write a table [ada.mat_add]"),
        ("[ada]\nmat_add = 3", "`ada.mat_add` is 3; write a table"),
        (
            "[ada.mat_add]\npiont = 3",
            "there is no key 'piont' under `ada.mat_add`; did you mean points?",
        ),
        ("[ada.mat_add]\npoints = 11", "`ada.mat_add.points` is 11; write a number of 0 to 10"),
        ("[ada.mat_add]\npoints = -1", "`ada.mat_add.points` is -1"),
        ("[ada.mat_add]\npoints = '8'", "`ada.mat_add.points` is '8'; write a number"),
        ("[ada.mat_add]\npoints = true", "`ada.mat_add.points` is True"),
        ("[ada.mat_add]\npoints = nan", "`ada.mat_add.points` is nan"),
        ("[ada.mat_add]\ncomment = 3", "`ada.mat_add.comment` is 3; write text of 1 to 2000"),
        ("['a b']\ncomment = ' '", "`'a b'.comment` is ' '; write text"),
        ("[ada]\nlate_days = 1.5", "`ada.late_days` is 1.5; write a whole number of 0 to 366"),
        ("[ada]\nlate_days = true", "`ada.late_days` is True"),
        ("[ada", "this is not TOML"),
        ('["a\\nb\\u202e".x]\npoints = 1', "under `'a\\nb\\u202e'`"),
    ],
)
def test_a_mistake_is_one_sentence_with_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CannotGrade) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'overrides.toml'}: ")
    assert said in message and "\n" not in message, message


@given(
    st.text(max_size=40)
    | st.sampled_from(
        ["9" * 5000, "1979-05-27", "[]", "[[1]]", "{}", "{x = 1}", "inf", "''", "0x" + "f" * 5000]
    ).flatmap(
        lambda value: st.sampled_from(
            ["a = ", "a.comment = ", "a.late_days = ", "a.mat_add = ", "a.mat_add.points = "]
        ).map(lambda key: key + value)
    )
)
def test_any_file_is_used_or_refused_in_one_sentence(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            load(Path(folder), text)
        except CannotGrade as problem:
            assert len(str(problem)) < 700 and "\n" not in str(problem)


def test_late_days_need_a_rule(tmp_path: Path) -> None:
    path = tmp_path / "overrides.toml"
    path.write_text("[ada]\nlate_days = 2\n")
    with pytest.raises(CannotGrade, match=r"`ada\.late_days` is 2, and no rule says what that"):
        load_overrides(path, Settings(), tmp_path / "class")
    path.write_text("[ada]\nlate_days = 0\n")
    assert load_overrides(path, Settings(), tmp_path / "class").students["ada"].standing.share == 1


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class of two that was graded by its settings, and nothing set by hand."""
    monkeypatch.setattr(engine, "run_batch", judge_here)
    monkeypatch.setattr(executors, "process_pool", lambda workers: threads(2))
    write_class(tmp_path / "class", {"ada": RIGHT, "bo": WRONG})
    (tmp_path / "grading.toml").write_text("exercises = ['00']\n[late]\nper_day = 0.1\n")
    assert run(tmp_path, "--settings", tmp_path / "grading.toml", "--seed", "7") == 0
    return tmp_path


def run(folder: Path, *arguments: object, submissions: str = "class") -> int:
    first = ["grade", str(folder / submissions), "--out", str(folder / "out")]
    return cli.main([*first, *map(str, arguments)])


def points(folder: Path) -> dict[str, str]:
    text = (folder / "out/grades.csv").read_text(encoding="utf-8")
    return {line["submission"]: line["points"] for line in table(text)}


def outputs(folder: Path) -> dict[str, bytes]:
    out = folder / "out"
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and ".work" not in path.parts
    }


def set_by_hand(folder: Path, text: str) -> Path:
    path = folder / "overrides.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_set_survives_regrading_and_leaves_with_its_entry(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, journal = outputs(graded), (graded / "out/.work/journal.txt").read_bytes()
    set_by_hand(graded, "[bo.mat_add]\npoints = 6\ncomment = 'Seen.'\n[ada]\nlate_days = 2\n")
    assert run(graded, "--settings", graded / "grading.toml") == 0
    said = capsys.readouterr().out
    assert f"Set by hand for 2 students: {graded / 'overrides.toml'}." in said
    assert "Set by hand: the points of 1 row." in said
    assert points(graded) == {"ada": "8", "bo": "6"}
    assert run(graded) == 0  # neither settings nor overrides are named: as in the last run
    assert points(graded) == {"ada": "8", "bo": "6"}
    set_by_hand(graded, "")  # each run reads the file anew
    assert run(graded) == 0
    assert outputs(graded) == before
    assert (graded / "out/.work/journal.txt").read_bytes() == journal


def test_an_appeal_of_one_keeps_what_is_set_for_others(graded: Path) -> None:
    path = set_by_hand(graded, "[bo.mat_add]\npoints = 6\n")
    assert run(graded, "--overrides", path) == 0
    write_class(graded / "again", {"ada": WRONG, "bo": WRONG, "cy": RIGHT})
    assert run(graded, "--only", "ada,cy", submissions="again") == 0
    assert points(graded) == {"ada": "0", "bo": "6", "cy": "10"}


def test_explain_shows_both(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = set_by_hand(graded, "[bo.mat_add]\npoints = 6\ncomment = 'Seen.'\n")
    assert run(graded, "--overrides", path, "--explain", "bo", "mat_add") == 0
    said = capsys.readouterr().out
    assert "bo · mat_add: failed, 0 of 10 points" in said
    assert "Set by hand: 6 of 10 points" in said and "Your comment: Seen." in said


@every_case(
    ("text", "said"),
    [
        ("[adda.mat_add]\npoints = 1", "nothing was handed in by `adda`"),
        ("[ada.matmul_tiled]\npoints = 1", "`ada.matmul_tiled`: ada is graded on mat_add alone"),
        ("[ada]\ncomment = 'x'\n[ADA]\ncomment = 'y'", "`ADA` is set for ada, as another table is"),
        ("[ada.mat_add]\npoints = 10.5", "`ada.mat_add.points` is 10.5"),
    ],
)
def test_a_mistake_stops_the_run_before_anything_is_graded(
    graded: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    before = outputs(graded)
    (graded / "class/new.ipynb").write_text(notebook(RIGHT + "# new"), encoding="utf-8")
    journal = (graded / "out/.work/journal.txt").read_bytes()
    assert run(graded, "--overrides", set_by_hand(graded, text)) == 1
    refused = capsys.readouterr().err
    assert said in refused and "overrides.toml" in refused and refused.count("\n") == 1
    assert outputs(graded) == before
    assert (graded / "out/.work/journal.txt").read_bytes() == journal


def test_two_of_one_name_are_told_apart_by_key(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(graded / "two.zip", "w") as zipped:
        for number in (1, 2):
            zipped.writestr(f"Ada_{number}_assignsubmission_file_/a.ipynb", notebook(RIGHT))
    path = set_by_hand(graded, "[Ada.mat_add]\npoints = 1\n")
    first = ["grade", str(graded / "two.zip"), "--exercises", "00"]
    rest = ["--out", str(graded / "two"), "--overrides", str(path)]
    assert cli.main([*first, *rest]) == 1
    assert "`Ada` is the name of 2 submissions; name one:" in capsys.readouterr().err


def test_a_file_that_is_gone_takes_no_points_along(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = set_by_hand(graded, "[bo.mat_add]\npoints = 6\n")
    assert run(graded, "--overrides", path) == 0
    before = outputs(graded)
    path.unlink()
    capsys.readouterr()
    assert run(graded) == 1
    assert "is gone; put it back" in capsys.readouterr().err
    assert outputs(graded) == before


def test_a_file_that_was_handed_in_sets_nothing(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the instructor keeps grading.toml in the folder that students' files come to."""
    (graded / "class/grading.toml").write_bytes((graded / "grading.toml").read_bytes())
    (graded / "class/overrides.toml").write_text("[bo.mat_add]\npoints = 10\n")
    before = outputs(graded)
    for way in ("--settings", "grading.toml"), ("--overrides", "overrides.toml"):
        assert run(graded, way[0], graded / "class" / way[1]) == 1
        assert "lies among the submissions" in capsys.readouterr().err
    assert outputs(graded) == before
    assert run(graded) == 0
    assert points(graded)["bo"] == "0"
