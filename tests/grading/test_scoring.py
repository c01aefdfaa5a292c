"""Points, verdict and reason of a row, and a course's own weights, to the last digit."""

import csv
import io
import re
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from every_case import every_case
from hypothesis import HealthCheck, given
from hypothesis import settings as drawing
from hypothesis import strategies as st
from rows_of_a_class import RACY, RIGHT, UNEVEN, UNSUPPORTED, WRONG, missing, row, submission

from course_lib.building.project import open_project
from course_lib.commands.own_course import with_settings
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.points import FATAL, earned_points, lost_properties
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.scoring import load_overrides, score, with_what_is_set
from course_lib.grading.gradebook.tables import canvas_csv, grades_csv, moodle_csv
from course_lib.grading.records import GRADED, CannotGrade, FoundAnswer, Judgement
from course_lib.grading.settings import Settings, load_settings
from course_lib.wording.findings import CODES, finding

POINTS = EXERCISES["matmul_tiled"].points


def settings(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "grading.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path)


RACE = "Line 5: race: perhaps read before it was written [race-read-after-write]."


@every_case(("judged", "verdict", "lost", "reason"), [
    (RACY, "partly", "right race-free", RACE),
    (UNEVEN, "partly", "right bounds", ""),
    (WRONG, "failed", " ".join(POINTS), "The result is wrong [wrong-result]."),
])  # fmt: skip
def test_a_mistake_costs_its_properties(judged, verdict, lost, reason):
    scored = row("s02", judged)
    assert [name for name, points in scored.earned.items() if not points] == lost.split()
    left = 10.0 - sum(POINTS[name] for name in lost.split())
    assert (scored.verdict, scored.points) == (verdict, left) and reason in scored.reason


@every_case("code", FATAL - {"unsupported", "missing-answer", "uninitialised-read"})
def test_what_cannot_be_judged_earns_nothing_even_if_numbers_were_right(code: str) -> None:
    judged = row("s06", Judgement("matmul_tiled", (finding(code, "So.", 3),), (), True, True))
    assert (judged.points, judged.verdict) == (0.0, "failed")


def test_cells_that_nobody_wrote_cost_all_but_where_only_the_edges_have_them() -> None:
    found = (finding("uninitialised-read", "It is so.", 3),)
    everywhere = Judgement("matmul_tiled", found, (), False, False)
    at_edges = Judgement("matmul_tiled", found, (), False, True)
    assert row("s06", everywhere).points == 0.0
    assert row("s06", at_edges).points == row("s03", UNEVEN).points > row("s02", RACY).points


def test_missing_is_0_and_a_reason_is_one_short_line_that_moves_no_cursor() -> None:
    scored = missing("s07", why="No cell begins with\nthe marker.")
    assert (scored.verdict, scored.points) == ("missing", 0.0)
    assert scored.reason == "No cell begins with the marker."
    empty = Judgement("matmul_tiled", (finding("missing-answer", "It is still empty.", 3),))
    assert (row("s07", empty).verdict, row("s07", empty).points) == ("missing", 0.0)
    broken = submission("s08", problem="The zip file is damaged.")
    assert score(broken, FoundAnswer("mat_add"), None, Settings()).reason == broken.problem
    reason = row("s10", UNSUPPORTED).reason
    assert reason.startswith("Line 2: The emulator does not support ⟨U+001B⟩[2J this.")
    assert "\n" not in reason and "\x1b" not in reason and len(reason) <= 300


@pytest.mark.parametrize("judged", [
    None,
    UNSUPPORTED,
    replace(UNSUPPORTED, findings=(finding("timeout", "So.", 3), *UNSUPPORTED.findings)),
    Judgement("matmul_tiled", outcome="died"),
    Judgement("matmul_tiled", outcome="stopped-by-clock"),
    Judgement("matmul_tiled", numbers_right=True, needs_review=True),
])  # fmt: skip
def test_needs_review_has_no_points_and_never_0(judged: Judgement | None) -> None:
    scored = row("s09", judged)
    assert scored.points is None and scored.max_points == 10.0
    assert scored.verdict == "needs review" and scored.reason.endswith((".", "…"))


@every_case("name", EXERCISES)
def test_every_finding_costs_something_and_nothing_is_earned_before_anything_works(name):
    exercise = EXERCISES[name]
    for code in CODES:
        lost = lost_properties(exercise, [finding(code, "So.", 7, severity="error")], True, True)
        assert lost and set(lost) <= set(exercise.points), code
        assert any("line 7: " in why for why in lost.values())
    assert not any(earned_points(EXERCISES[name], [], numbers_right=False).values())


@pytest.mark.parametrize("name", ["blocks_per_sm", "pick_a_tile"])
def test_what_is_no_kernel_earns_nothing_by_a_wrong_result(name: str) -> None:
    wrong = [finding("wrong-formula", "So.", 2), finding("wrong-loop-bound", "So.", 2)]
    assert not any(earned_points(EXERCISES[name], wrong, True, True).values())


def test_a_course_sets_title_exercises_and_points(tmp_path: Path) -> None:
    text = 'title = "GPU,  autumn"\nexercises = ["06", "mat_add"]\n[points]\nmatmul_naive = 5\n'
    ours = settings(tmp_path, f"{text}[points.matmul_tiled]\nright = 4.5\nfloat32 = 0\n")
    assert ours.title == "GPU, autumn"
    assert ours.exercises == ("blocks_per_sm", "pick_a_tile", "mat_add")  # in the file's order
    assert ours.points["matmul_naive"] == {"right": 2.5, "bounds": 1.5, "float32": 1.0}
    assert ours.max_points("matmul_tiled") == 10.5
    assert ours.max_points("matmul_column_major") == 10
    assert row("s12", RACY, ours).points == 4.0


def test_what_is_worth_nothing_is_still_asked_for_and_a_warning_may_cost_points(tmp_path):
    ours = settings(tmp_path, "[points.matmul_tiled]\nrace-free = 0\n")
    scored = row("s13", RACY, ours)  # it loses `right`, and nothing beside it
    assert (scored.verdict, scored.points, scored.max_points) == ("partly", 5.0, 8.0)
    ours = settings(tmp_path, "[points.matmul_tiled]\nright = 0\nbounds = 0\n")
    scored = row("s13", UNEVEN, ours)
    assert (scored.verdict, scored.points) == ("partly", scored.max_points)
    ours = settings(tmp_path, "[points.matmul_naive]\ncoalesced = 2\n")
    slow = Judgement("matmul_naive", (finding("uncoalesced-load", "So.", 4),), (), True, True)
    found = FoundAnswer("matmul_naive", "text")
    assert score(submission("s14"), found, slow, Settings()).verdict == "passed"
    scored = score(submission("s14"), found, slow, ours)
    assert (scored.verdict, scored.points, scored.max_points) == ("partly", 10.0, 12.0)
    assert scored.reason == "Lost: coalesced (line 4: uncoalesced loads)."


@every_case(("text", "said"), [
    ("points", "this is not TOML"),
    ("titel = 'x'", "there is no key 'titel'; did you mean title?"),
    ("title = 3", "`title` is 3; write text of 1 to 200 characters in quotes"),
    ("exercises = []", "`exercises` is []; write a list of exercises or lessons"),
    ("exercises = [5]", "`exercises` is [5]; write a list"),
    ("exercises = ['matmul_tield']", "there is no exercise or lesson 'matmul_tield'; did you"),
    ("exercises = ['01']", "lesson 01 has no exercise; leave '01' out"),
    ("canvas_assignment = ''", "`canvas_assignment` is ''"),
    ("points = 10", "`points` is 10; write a table for each exercise"),
    ("[points]\nmat_ad = 10", "no exercise 'mat_ad' under `points`; did you mean mat_add"),
    ("[points.mat_add]", "[points.mat_add] is empty; write at least one property"),
    ("[points.mat_add]\nrigth = 1", "no property 'rigth' in mat_add; did you mean right?"),
    ("[points.mat_add]\nreuse = 1", "not a property of mat_add; its properties are right, b"),
    ("[points.mat_add]\nright = -1", "`points.mat_add.right` is -1; write a number from 0 to"),
    ("[points.mat_add]\nright = '4'", "`points.mat_add.right` is '4'; write a number from"),
    ("[points.mat_add]\nright = true", "`points.mat_add.right` is True; write a number from"),
    ("[points.mat_add]\nright = nan", "`points.mat_add.right` is nan; write a number from"),
    ("[points.pick_a_tile]\nright = 0\nresident = 0\nintensity = 0", "all points of pick_a"),
    ("[points]\nmat_add = 0", "`points.mat_add` is 0; give it points, or leave it out"),
    ("[points]\nmat_add = [1]", "`points.mat_add` is [1]; write a number"),
    # Numbers that cannot be kept as they stand.
    *((f"[points]\nmat_add = {number}", "`points.mat_add` is")
          for number in ("0.12345", "1e-9", "inf", "-0.1", "1e999")),
    ("late = 0.1", "`late` is 0.1; write a table [late]"),
    ("[late]\nat_most = 0.5", "write a table [late] with per_day"),
    ("[late]\nper_dya = 1\nper_day = 0.1", "no key 'per_dya' in [late]; did you mean"),
    ("[late]\nper_day = 10", "`late.per_day` is 10; write a number from 0 to 1, without q"),
    ("[late]\nper_day = 0.1\nat_most = -1", "`late.at_most` is -1"),
    ("[questions]\nmat_add = 2", "`questions.mat_add`: a question needs a name of its own"),
    ("[questions]\ncomment = 2", "`questions.comment`: a question needs a name of its own"),
    ("[questions]\n'a b' = 2", "`questions.a b`: a question needs a name of its own"),
    ("[questions]\nwhy = 'two'", "`questions.why` is 'two'; write a number from 0 to"),
    ("questions = 3", "`questions` is 3; write a table [questions]"),
])  # fmt: skip
def test_a_mistake_is_one_sentence_with_file_key_and_mend(tmp_path, text, said):
    with pytest.raises(CannotGrade) as caught:
        settings(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'grading.toml'}: ") and message.endswith((".", "?"))
    assert said in message and "\n" not in message, message


@given(
    st.text(max_size=40)
    | st.sampled_from(["[points]\nmat_add = ", "title = ", "exercises = ", "points = "]).flatmap(
        lambda start: st.sampled_from(
            ["1979-05-27", "0x" + "f" * 5000, "9" * 5000, "[" * 3000, "{}", "[[1]]", "-0.0", "'x'"]
        ).map(lambda value: start + value)
    )
)
def test_any_file_is_used_or_refused_in_one_sentence(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            assert settings(Path(folder), text).points.keys() == GRADED.keys()
        except CannotGrade as problem:
            assert len(str(problem)) < 600 and "\n" not in str(problem)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotGrade, match=r"no_such\.toml: the file cannot be read"):
        load_settings(tmp_path / "no_such.toml")
    (tmp_path / "latin.toml").write_bytes(b"title = '\xfc'")
    with pytest.raises(CannotGrade, match=r"latin\.toml: the file is not UTF-8"):
        load_settings(tmp_path / "latin.toml")


ROOT = Path(__file__).resolve().parents[2]
PROPERTIES = tuple(EXERCISES["matmul_tiled"].points)
tenths = st.integers(0, 50).map(lambda n: f"{n // 10}.{n % 10}")
rates = st.integers(0, 10_000).map(lambda n: f"{n / 10_000:.4f}")
DUST = re.compile(r"\d\.\d{8}")  # no product of these has so many digits


def table(text: str | None) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text or "", newline="")))


@drawing(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.lists(tenths, min_size=len(PROPERTIES), max_size=len(PROPERTIES)), by_hand=tenths,
    per_day=rates, at_most=rates, days=st.integers(0, 9),
)  # fmt: skip
def test_sums_in_every_output_are_the_digits(tmp_path, weights, by_hand, per_day, at_most, days):
    worth = dict(zip(PROPERTIES, map(Fraction, weights), strict=True))
    most = sum(worth.values())
    if not most:
        return
    (tmp_path / "course.toml").write_text(
        "[points.matmul_tiled]\n"
        + "".join(f"{name} = {text}\n" for name, text in zip(PROPERTIES, weights, strict=True))
        + f"[late]\nper_day = {per_day}\nat_most = {at_most}\n"
    )
    set_for_b = f"[b.matmul_tiled]\npoints = {by_hand}\n" if Fraction(by_hand) <= most else ""
    (tmp_path / "overrides.toml").write_text(f"[a]\nlate_days = {days}\n{set_for_b}")
    ours = load_settings(tmp_path / "course.toml")
    known = {"platform": "canvas", "platform_id": "7"}
    graded = [row("a", RIGHT, ours, **known), row("a", RACY, ours, **known), row("b", UNEVEN, ours)]
    overrides = load_overrides(tmp_path / "overrides.toml", ours, tmp_path / "class")
    rows = with_what_is_set(graded, overrides.students)
    left = 1 - min(days * Fraction(per_day), Fraction(at_most))
    right, racy = most * left, (most - worth["race-free"] - worth["right"]) * left
    lines = table(grades_csv(rows))[1:]
    assert [Fraction(each) for each in (lines[0][2], lines[1][2])] == [right, racy]
    assert Fraction(table(canvas_csv(rows, ours))[2][5]) == right + racy
    if set_for_b:
        assert lines[2][2] == lines[2][7] == f"{float(by_hand):g}"
    pages = feedback_page(rows[:2], "a", ours), class_report(rows, ours, 0), moodle_csv(rows) or ""
    assert not DUST.search("".join(pages))
    assert Settings.restored(ours.stored()).points == ours.points


@every_case(("text", "shown"), [
    ("matmul_tiled = 0.3", "0.3 points"),
    ("matmul_tiled = 1", "1 point"),
    ("matmul_tiled = 1234.567", "1234.567 points"),
    ("[points.matmul_tiled]\nright = 0.1\nbounds = 0.2\n", None),
])  # fmt: skip
def test_a_bundle_says_what_the_file_says(tmp_path: Path, text: str, shown: str | None) -> None:
    (tmp_path / "course.toml").write_text(f"[points]\n{text}")
    project = with_settings(open_project(ROOT), tmp_path / "course.toml")
    said = project.worth("matmul_tiled")
    assert said == f" ({shown})" if shown else "." in said and not DUST.search(said)


def test_the_mean_of_small_points_is_no_zero(tmp_path: Path) -> None:
    ours = settings(tmp_path, "[points]\nmatmul_tiled = 0.1\n")
    rows = [row("a", RIGHT, ours), row("b", RACY, ours), row("c", UNEVEN, ours)]
    assert "0.07 of 0.1" in class_report(rows, ours, 0)  # 0.1, 0.05 and 0.06
