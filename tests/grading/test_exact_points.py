"""Points, shares and sums are decimal numbers: what is shown adds up to the last digit."""

import csv
import io
import re
from fractions import Fraction
from pathlib import Path

from every_case import every_case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows_of_a_class import RACY, RIGHT, UNEVEN, row

from course_lib.building.project import open_project
from course_lib.commands.own_course import with_settings
from course_lib.curriculum import EXERCISES
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.scoring import load_overrides, with_what_is_set
from course_lib.grading.gradebook.tables import canvas_csv, grades_csv, moodle_csv
from course_lib.grading.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
PROPERTIES = tuple(EXERCISES["matmul_tiled"].points)
tenths = st.integers(0, 50).map(lambda n: f"{n // 10}.{n % 10}")
rates = st.integers(0, 10_000).map(lambda n: f"{n / 10_000:.4f}")
DUST = re.compile(r"\d\.\d{8}")  # no product of these has so many digits


def table(text: str | None) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text or "", newline="")))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.lists(tenths, min_size=len(PROPERTIES), max_size=len(PROPERTIES)), by_hand=tenths,
    per_day=rates, at_most=rates, days=st.integers(0, 9),
)  # fmt: skip
def test_sums_in_every_output_are_those_of_the_digits(
    tmp_path, weights, by_hand, per_day, at_most, days
):
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
    (tmp_path / "course.toml").write_text("[points]\nmatmul_tiled = 0.1\n")
    ours = load_settings(tmp_path / "course.toml")
    rows = [row("a", RIGHT, ours), row("b", RACY, ours), row("c", UNEVEN, ours)]
    assert "0.07 of 0.1" in class_report(rows, ours, 0)  # 0.1, 0.05 and 0.06
