"""What an instructor sets by hand, and who was late: kept, shown, handed on, charged."""

import csv
import io
import re
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
from every_case import every_case
from grading_helpers import RIGHT, WRONG, Desk, lines_of, notebook
from hypothesis import given
from hypothesis import strategies as st
from rows_of_a_class import RACY, UNSUPPORTED, row

from course_lib import cli
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.explain import explain
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.outputs import junit_xml
from course_lib.grading.gradebook.scoring import SetForStudent, load_overrides, with_what_is_set
from course_lib.grading.gradebook.tables import canvas_csv, grade, grades_csv, lateness, moodle_csv
from course_lib.grading.records import CannotGrade, GradebookRow, Override, Standing
from course_lib.grading.settings import LateRule, Settings

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


def test_late_days_come_off_the_sum_and_promise_no_number_while_points_are_open() -> None:
    theirs = [row("s01", platform="canvas", platform_id="7"), row("s01", RACY)]
    rows = by_hand(theirs, Standing("", 2, Decimal("0.8")))
    assert lateness(rows) == "2 days late: 80 % of 15 points are 12."
    assert grade(rows) == Decimal("12")
    page = words(feedback_page(rows, "s01", LATE))
    assert "12 of 20 points. 2 days late: 80 % of 15 points are 12." in page
    assert [line["points"] for line in table(grades_csv(rows))] == ["8", "4"]
    assert [line["late_days"] for line in table(grades_csv(rows))] == ["2", "2"]
    assert table(canvas_csv(rows[:1], LATE))[1][LATE.title] == "8"
    assert "2 days late: 80 % of 15 points" in words(class_report(rows, LATE, 5))
    rows = by_hand([row("s01"), row("s01", UNSUPPORTED)], Standing("", 1, Decimal("0.9")))
    assert lateness(rows) == "1 day late: 90 % of the points count."
    assert grade(rows) is None
    assert "an instructor still has to look" in words(feedback_page(rows, "s01", LATE))


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
    assert "Your comment: My mistake." in told


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


def load(folder: Path, text: str) -> dict[str, SetForStudent]:
    path = folder / "overrides.toml"
    path.write_text(text, encoding="utf-8")
    return dict(load_overrides(path, LATE, folder / "class").students)


def test_the_file_says_points_comments_and_days(tmp_path: Path) -> None:
    ada = '["Ada L."]\nlate_days = 2\ncomment = " Hello. "\n["Ada L.".mat_add]\npoints = 8\n'
    found = load(tmp_path, ada + '[bo.matmul_tiled]\ncomment = """\nTwo\nlines"""\n')
    points = {"mat_add": Override(Decimal("8"))}
    assert found["Ada L."] == SetForStudent(Standing("Hello.", 2, Decimal("0.8")), points)
    assert found["bo"].answers == {"matmul_tiled": Override(None, "Two\nlines")}
    assert load(tmp_path, "") == {}


@every_case(("text", "said"), [
    ("ada = 3", "`ada` is 3; write a student's name as the head of a table"),
    ("[ada]", "`ada` is {}; write a student's name"),
    ("[ada.mat_ad]\npoints = 3", "there is no exercise 'mat_ad' under `ada`; did you mean"),
    ("[ada.mat_add]", "`ada.mat_add` is {}; write a table [ada.mat_add]"),
    ("[ada]\nmat_add = 3", "`ada.mat_add` is 3; write a table"),
    ("[ada.mat_add]\npiont = 3", "no key 'piont' under `ada.mat_add`; did you mean points?"),
    ("[ada.mat_add]\npoints = 11", "`ada.mat_add.points` is 11; write a number from 0 to 10"),
    ("[ada.mat_add]\npoints = -1", "`ada.mat_add.points` is -1"),
    ("[ada.mat_add]\npoints = '8'", "`ada.mat_add.points` is '8'; write a number"),
    ("[ada.mat_add]\npoints = true", "`ada.mat_add.points` is True"),
    ("[ada.mat_add]\npoints = nan", "`ada.mat_add.points` is nan"),
    ("[ada.mat_add]\ncomment = 3", "`ada.mat_add.comment` is 3; write text of 1 to 2000"),
    ("['a b']\ncomment = ' '", "`'a b'.comment` is ' '; write text"),
    ("[ada]\nlate_days = 1.5", "`ada.late_days` is 1.5; write a whole number from 0 to 366"),
    ("[ada]\nlate_days = true", "`ada.late_days` is True"),
    ("[ada", "this is not TOML"),
    ('["a\\nb\\u202e".x]\npoints = 1', "under `'a\\nb\\u202e'`"),
])  # fmt: skip
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
    said = r"`ada\.late_days` is 2, but no rule says how many points that"
    with pytest.raises(CannotGrade, match=said):
        load_overrides(path, Settings(), tmp_path / "class")
    path.write_text("[ada]\nlate_days = 0\n")
    assert load_overrides(path, Settings(), tmp_path / "class").students["ada"].standing.share == 1


@pytest.fixture
def graded(looked_at: None, desk: Desk) -> Desk:
    """A class of two that was graded by its settings, and nothing set by hand."""
    desk.hand_in("ada", RIGHT)
    desk.hand_in("bo", WRONG)
    desk.write("grading.toml", "exercises = ['00']\n[late]\nper_day = 0.1\n")
    desk.grade("class", "--settings", "grading.toml", "--seed", "7")
    return desk


def set_by_hand(desk: Desk, text: str) -> Path:
    return desk.write("overrides.toml", text)


@every_case(("text", "said"), [
    ("[adda.mat_add]\npoints = 1", "nothing was handed in by `adda`"),
    ("[ada.matmul_tiled]\npoints = 1", "`ada.matmul_tiled`: ada is graded on mat_add alone"),
    ("[ada]\ncomment = 'x'\n[ADA]\ncomment = 'y'", "`ADA` is for ada, and so is another table"),
    ("[ada.mat_add]\npoints = 10.5", "`ada.mat_add.points` is 10.5"),
])  # fmt: skip
def test_a_mistake_stops_the_run_before_anything_is_graded(graded, text, said):
    before, journal = graded.files(), (graded.out / ".work/journal.txt").read_bytes()
    graded.hand_in("new", RIGHT + "# new")
    refused = graded.grade("class", "--overrides", set_by_hand(graded, text), status=1)
    assert said in refused and "overrides.toml" in refused
    assert graded.files() == before
    assert (graded.out / ".work/journal.txt").read_bytes() == journal


def test_two_of_one_name_are_told_apart_by_key(looked_at: None, desk: Desk) -> None:
    for number in (1, 2):
        desk.hand_in(f"Ada_{number}_assignsubmission_file_/a", RIGHT)
    path = set_by_hand(desk, "[Ada.mat_add]\npoints = 1\n")
    said = desk.grade("class", "--exercises", "00", "--overrides", path, status=1)
    assert "`Ada` is the name of 2 submissions; name one:" in said


def test_a_file_that_is_gone_takes_no_points_along(graded: Desk) -> None:
    path = set_by_hand(graded, "[bo.mat_add]\npoints = 6\n")
    graded.grade("class", "--overrides", path)
    before = graded.files()
    path.unlink()
    assert "is gone; from it, the last run read" in graded.grade("class", status=1)
    assert graded.files() == before


def test_a_file_that_was_handed_in_sets_nothing(graded: Desk) -> None:
    """Also where the instructor keeps grading.toml in the folder that students' files come to."""
    graded.write("class/grading.toml", (graded.place / "grading.toml").read_text())
    graded.write("class/overrides.toml", "[bo.mat_add]\npoints = 10\n")
    before = graded.files()
    for option, name in ("--settings", "grading.toml"), ("--overrides", "overrides.toml"):
        said = graded.grade("class", option, f"class/{name}", status=1)
        assert "is among the submissions" in said
    assert graded.files() == before
    graded.grade("class")
    assert graded.points("bo") == "0"


# As Canvas's "Download Submissions" writes them: Bo was late, Cy in time at first and late with
# the second attempt, Dee is graded without a name, and Eve has typed into the text box.
FILES = {
    "lovelaceada_101_9001_00_start_here.ipynb": RIGHT,
    "bo_LATE_102_9002_00_start_here.ipynb": RIGHT,
    "cy_103_9003_00_start_here.ipynb": "# EXERCISE mat_add",
    "cy_LATE_103_9104_00_start_here-1.ipynb": RIGHT,
    "LATE_anon_Xy12Z_9005_00_start_here.ipynb": RIGHT,
    "eve_LATE_106_text.html": "<p>I can't.</p>",
}


@pytest.fixture
def canvas(looked_at: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The zip file; every answer that is there is right."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "submissions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text if name.endswith("html") else notebook(text))
    return path


def graded_late(*arguments: str) -> dict[str, dict[str, str]]:
    """The gradebook's lines, by name."""
    asked = ["submissions.zip", "--out", "grades", "--exercises", "mat_add", "--seed", "1"]
    assert cli.main(["grade", *asked, *arguments]) == 0
    return {line["submission"]: line for line in lines_of(Path("grades/grades.csv"))}


WERE_LATE = {"bo", "cy", "anon_Xy12Z", "eve"}


def test_the_flag_stands_in_the_table_and_costs_nothing(canvas, capsys):
    lines = graded_late()
    assert {name for name, line in lines.items() if line["late"] == "yes"} == WERE_LATE
    assert {line["late_days"] for line in lines.values()} == {"0"}
    points = {"lovelaceada": "10", "bo": "10", "cy": "10", "eve": "0"}
    assert {name: lines[name]["points"] for name in points} == points
    said = " ".join(capsys.readouterr().out.split())
    names = "anon_Xy12Z, bo, cy, eve"
    assert f"Late, according to the file names: {names} (this alone costs no points)" in said
    assert "Handed in late." in Path("grades/feedback/bo-102.html").read_text()
    assert "in late" not in Path("grades/feedback/lovelaceada-101.html").read_text()


@pytest.mark.slow
@every_case(("rule", "noted", "points"), [
    ("flat = 0.2", "", {"lovelaceada": "10", "bo": "8", "cy": "8"}),
    ("per_day = 0.1", "", {"lovelaceada": "10", "bo": "10", "cy": "10"}),
    ("per_day = 0.1", "[bo]\nlate_days = 3\n", {"lovelaceada": "10", "bo": "7", "cy": "10"}),
    ("flat = 0.2", "[bo]\nlate_days = 0\n", {"bo": "10", "cy": "8"}),
    ("flat = 0.2", "[lovelaceada]\nlate_days = 1\n", {"lovelaceada": "8", "bo": "8"}),
    ("flat = 0.2\nper_day = 0.1", "[bo]\nlate_days = 2\n", {"bo": "6", "cy": "8"}),
    ("flat = 0.2\nper_day = 0.3\nat_most = 0.5", "[bo]\nlate_days = 2\n", {"bo": "5"}),
])  # fmt: skip
def test_it_costs_what_the_rule_says(canvas, rule, noted, points):
    Path("course.toml").write_text(f"[late]\n{rule}\n")
    Path("overrides.toml").write_text(noted)
    lines = graded_late("--settings", "course.toml")
    assert {name: lines[name]["points"] for name in points} == points
    with open("grades/canvas.csv", newline="", encoding="utf-8") as file:
        imported = {line[0]: line[-1] for line in csv.reader(file)}
    assert {name: imported[name] for name in points} == points
    assert lines["bo"]["late"] == ("" if "late_days = 0" in noted else "yes")
