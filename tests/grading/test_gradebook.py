"""The tables for a gradebook, the files that they stand in, and junit.xml."""

import csv
import io
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from rows_of_a_class import RACY, SETTINGS, UNSUPPORTED, a_class, missing, row, submission

from course_lib.grading.gradebook.outputs import junit_xml, write_all
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.gradebook.tables import canvas_csv, grades_csv, moodle_csv, names
from course_lib.grading.records import FoundAnswer, GradebookRow
from course_lib.grading.settings import Settings

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u202e=1", "＝1"]
FORMULAS += ["=cmd|'/c x'!A1"]


def read(text: str | None) -> list[list[str]]:
    assert text is not None
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_a_line_for_each_row_that_programs_read_as_it_is() -> None:
    text = grades_csv([row("s01", student="Zoë"), row("s02", RACY), row("s03", UNSUPPORTED)])
    assert text.startswith('"submission"')  # no byte order mark
    assert text.endswith("\r\n") and "\n" not in text.replace("\r\n", "")
    head, *lines = read(text)
    assert head == [
        "submission", "exercise", "points", "max", "verdict", "reason",
        "judged", "set", "late_days", "comment", "student_comment", "late",
    ]  # fmt: skip
    assert lines[0][:5] == ["Zoë", "matmul_tiled", "10", "10", "passed"]
    assert lines[1][2:5] == ["5", "10", "partly"] and lines[2][2:5] == ["", "10", "needs review"]


@every_case("name", FORMULAS)
def test_no_cell_is_a_formula(name: str) -> None:
    rows = [row("s01", student=name, platform="canvas", platform_id="7"), missing("s02", why=name)]
    for text in (grades_csv(rows), canvas_csv(rows, SETTINGS)):
        for cell in (each for line in read(text) for each in line):
            assert cell.lstrip()[:1] not in ("=", "+", "-", "@", "＝"), cell
            assert not any(ord(each) < 32 for each in cell)


@pytest.mark.parametrize("name", ['a","b', "a\r\nb,passed", "x;=1+1;y", '"', "'"])
def test_no_name_ends_its_cell(name: str) -> None:
    text = grades_csv([row("s01", student=name), row("s02")])
    assert [len(line) for line in read(text)] == [12, 12, 12]
    # Where a semicolon separates, the name is still one quoted cell.
    assert f'"{read(text)[1][0].replace(chr(34), chr(34) * 2)}"' in text


def test_nobody_has_anothers_name_or_number():
    rows = [row("ada-2", student="Ada"), row("ada", student="ada"), row("bo", student="Bo")]
    assert names(rows) == {"ada-2": "ada-2", "ada": "ada", "bo": "Bo"}
    rows = [row("s1", student="s2"), row("s2", student="Bo")]
    assert names(rows) == {"s1": "s1", "s2": "Bo"}
    assert len(set(names([row("a", student="'=1"), row("b", student="=1")]).values())) == 2
    twice = [
        row("s01", platform="canvas", platform_id="7"),
        row("s02", platform="canvas", platform_id="07"),
    ]
    assert canvas_csv(twice, SETTINGS) is None
    other = row("s03", platform="canvas", platform_id="8")
    assert [line[1] for line in read(canvas_csv([*twice, other], SETTINGS))] == ["ID", "", "8"]


def students(platform: str, number: str | None = "4711") -> list[GradebookRow]:
    known = {"platform": platform, "platform_id": number}
    return [row("s01", RACY, student="One, S", **known), missing("s01")]


def test_canvas_gets_its_columns_and_no_open_grade() -> None:
    rows = [students("canvas")[0], row("s02", UNSUPPORTED, platform="canvas", platform_id="12")]
    rows.append(row("s03", student="Points Possible 1", platform="canvas", platform_id="13"))
    title = Settings(canvas_assignment="Week 5 (99)")
    head, most, first, fake = read(canvas_csv(rows, title))
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Week 5 (99)"]
    assert most == ["    Points Possible", "", "", "", "", "10"]
    assert first == ["One, S", "4711", "", "", "", "5"]
    assert "Points Possible" not in fake[0]  # which would make it the line of the points


@pytest.mark.parametrize("number", [None, "", "47 11", "=1", "../4", "٤"])
def test_only_a_number_names_a_student_there(number: str | None) -> None:
    assert canvas_csv(students("canvas", number), SETTINGS) is None
    assert moodle_csv(students("moodle", number)) is None


def test_moodle_gets_each_page_under_its_students_number(tmp_path: Path) -> None:
    rows = [
        row("s01", student="A_B/../C", platform="moodle", platform_id="4711"),
        row("s02", UNSUPPORTED, platform="moodle", platform_id="4712"),
        row("s03"),
    ]
    write_all(rows, SETTINGS, 5, tmp_path)
    with zipfile.ZipFile(tmp_path / "moodle_feedback.zip") as archive:
        pages = {name: archive.read(name) for name in archive.namelist()}
    assert pages == {
        f"Participant_471{i}_assignfeedback_file_/feedback.html": (
            tmp_path / f"feedback/s0{i}.html"
        ).read_bytes()
        for i in (1, 2)
    }
    write_all(rows[2:], SETTINGS, 5, tmp_path / "nobody")
    assert not (tmp_path / "nobody/moodle_feedback.zip").exists()


def test_nothing_to_grade_is_written_too(tmp_path: Path) -> None:
    write_all([], SETTINGS, 5, tmp_path)
    assert "0 submissions" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(read((tmp_path / "grades.csv").read_text(encoding="utf-8"))) == 1


# What the schemas in use (Jenkins, Ant, GitLab) agree on: attributes that must be there, those
# that may be, and children.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"},
        {"skipped", "time", "timestamp", "hostname", "id", "package"},
        {"testcase", "properties", "system-out", "system-err"}),
    "testcase": ({"name", "classname"}, {"time", "assertions", "status"},
        {"failure", "error", "skipped", "system-out", "system-err"}),
    "failure": (set(), {"message", "type"}, set()),
    "skipped": (set(), {"message"}, set()),
}  # fmt: skip


def valid(element: ElementTree.Element) -> ElementTree.Element:
    """The element, if it and all below it follow the schema."""
    needed, allowed, children = SCHEMA[element.tag]
    assert needed <= set(element.attrib) <= needed | allowed, element.attrib
    assert {each.tag for each in element} <= children
    for each in element:
        valid(each)
    return element


def suite(text: str) -> ElementTree.Element:
    root = valid(ElementTree.fromstring(text.encode("utf-8")))
    (only,) = root
    return only


def test_a_case_for_each_row() -> None:
    found = suite(junit_xml(a_class(), "Week 5"))
    assert found.attrib["name"] == "Week 5"
    counts = {name: found.attrib[name] for name in ("tests", "failures", "skipped", "errors")}
    assert counts == {"tests": "10", "failures": "8", "skipped": "1", "errors": "0"}
    assert len(found.findall("testcase/failure")) == 8
    first = found[0]
    assert (first.attrib["classname"], first.attrib["name"]) == ("s01", "matmul_tiled")
    assert len(first) == 0
    (failure,) = found[1]
    assert failure.attrib["type"] == "partly" and failure.text == "5 of 10 points"
    assert failure.attrib["message"].startswith("Line 5: race")
    (skipped,) = found[4]
    assert skipped.tag == "skipped" and "does not support" in skipped.attrib["message"]


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_is_valid_xml(text: str) -> None:
    answer = FoundAnswer("mat_add", problem=text)
    suite(junit_xml([score(submission("s01", text or "x"), answer, None, SETTINGS)], text))
