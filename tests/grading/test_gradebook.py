"""What is written from the rows of a class: tables, junit.xml, what is alike, candidates."""

import ast
import csv
import io
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from rows_of_a_class import (
    RACY,
    RIGHT,
    SETTINGS,
    UNEVEN,
    UNSUPPORTED,
    WRONG,
    a_class,
    missing,
    row,
    submission,
)
from sampling import few
from stored_answers import right_answers, right_answers_to

from course_lib.commands import grade
from course_lib.grading.gradebook.alike import Alike, alike, alike_csv, structure_of
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.outputs import (
    candidates,
    junit_xml,
    without_texts,
    write_all,
    write_candidates,
)
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.gradebook.tables import canvas_csv, grades_csv, moodle_csv, names
from course_lib.grading.records import FoundAnswer, GradebookRow, Judgement
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
    numbers = {"s01": "7", "s02": "07"}
    twice = [row(key, platform="canvas", platform_id=each) for key, each in numbers.items()]
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
    written = [(tmp_path / f"feedback/s0{i}.html").read_bytes() for i in (1, 2)]
    names = [f"Participant_471{i}_assignfeedback_file_/feedback.html" for i in (1, 2)]
    assert pages == dict(zip(names, written, strict=True))
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


TEXT = '''\
# Ada Lovelace wrote this
@cuda.jit
def matmul_tiled(A, B, C):
    """By Ada,
    in two lines."""
    C[0, 0] = 1.0  # A. L.
'''


def one(judgement: Judgement, text: str = TEXT, student: str = "Ada Lovelace") -> GradebookRow:
    whose = submission("s01", student)
    return score(whose, FoundAnswer("matmul_tiled", text), judgement, SETTINGS)


@every_case(("judgement", "count"), [
    *((found, 0) for found in (RIGHT, RACY, UNEVEN)), (WRONG, 1), (UNSUPPORTED, 1),
    *((replace(RIGHT, outcome=end, needs_review=True), 1) for end in ("died", "stopped-by-clock")),
])  # fmt: skip
def test_what_has_a_cause_is_no_candidate(judgement: Judgement, count: int) -> None:
    assert len(candidates([one(judgement)], 7)) == count


def test_a_candidate_has_no_names_and_keeps_its_lines():
    ((name, text),) = candidates([one(WRONG)], 7).items()
    assert name.startswith("matmul_tiled-") and name.endswith(".py")
    assert "Ada" not in text and "A. L." not in text and "s01" not in text
    assert text.splitlines()[5] == "    C[0, 0] = 1.0"
    assert "# exercise matmul_tiled, seed 7, grader " in text and "[wrong-result]" in text
    compile(text, name, "exec")
    other = TEXT.replace("C", "out").replace("Ada", "Bo")
    assert len(candidates([one(WRONG), one(WRONG, other, "Bo")], 7)) == 1


@every_case("text", [
    TEXT.replace("C[0, 0] = 1.0", "ada_total = 1.0"),
    TEXT.replace("C[0, 0] = 1.0", "lovelace = 1.0"),
    TEXT.replace("C[0, 0] = 1.0", "print('by Ada')"),
    "def f(:",
], ids=["part of a name", "a name", "a text", "no Python"])  # fmt: skip
def test_who_is_named_or_unreadable_is_left_out(text: str) -> None:
    assert candidates([one(WRONG, text)], 7) == {}


@every_case(("text", "left"), [
    ("x = 1  # Bo", "x = 1"),
    ('def f():\n    """a\n    b"""\n    return 1', 'def f():\n    """\n"""\n    return 1'),
    ("x = 'float32'", "x = 'float32'"),
], ids=["comment", "docstring", "text in use"])  # fmt: skip
def test_what_says_nothing_to_python_goes(text: str, left: str) -> None:
    assert without_texts(text) == left


def test_candidates_are_written_beside_other_classes_and_not_among_submissions(tmp_path, capsys):
    write_candidates(tmp_path / "new", {"a.py": "1\n"})
    write_candidates(tmp_path / "new", {"b.py": "2\n"})
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a.py", "b.py"]
    (tmp_path / "class").mkdir()
    folder = str(tmp_path / "class/candidates")
    arguments = [str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--candidates", folder]
    assert grade.main(arguments) == 2
    assert "name a folder outside" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


TESTS = Path(__file__).resolve().parents[1]


def rows(answers: dict[str, str], exercise: str = "matmul_tiled") -> list[GradebookRow]:
    return [
        score(submission(key), FoundAnswer(exercise, text), RIGHT, SETTINGS)
        for key, text in answers.items()
    ]


def renamed(text: str) -> str:
    """The answer under other names, without its comments, as somebody copies it."""
    tree = ast.parse(text)
    names = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    own = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    own |= {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    for each in ast.walk(tree):
        if isinstance(each, ast.arg):
            each.arg = f"my_{each.arg}"
    for each in names:
        each.id = f"my_{each.id}" if each.id in own else each.id
    return ast.unparse(tree)


def hints(answers: dict[str, str], exercise: str = "matmul_tiled") -> list[Alike]:
    return alike(rows(answers, exercise), SETTINGS)


IN_ORDER = "def f(i, n, j, m):\n    if i < n and j < m:\n        i += 1"
TURNED = "def f(p, q, r, s):\n    if q > p and s > r:\n        p = p + 1"
TYPED = "import math\ndef f(a: int) -> int:\n    return a"


@every_case(("one", "other", "alike"), [
    ("x = a + b * c", "renamed = c * b + a", True),
    (IN_ORDER, TURNED, True),
    ("T = 16\nS = 3\ndef f(a): return a", "S = 3\nT = 16\ndef f(b):\n    'T'\n    return b", True),
    (TYPED, "def f(x):\n    pass\n    return x", True),
    ("f(x)  # why", "f(x)", True),
    ("x = a - b", "x = b - a", False),
    ("def f(a, b): return a", "def f(a, b): return b", False),
    ("y = cuda.grid(1)", "y = cuda.grid(2)", False),
    ("a = 1\nb = a", "a = 1\nb = 2", False),
    ("sA[ty, k]", "sA[k, ty]", False),
])  # fmt: skip
def test_what_does_the_same_has_one_structure(one: str, other: str, alike: bool) -> None:
    first, second = structure_of(one), structure_of(other)
    assert first is not None and second is not None
    assert (first.whole == second.whole) == alike


@every_case(
    "text",
    ["def f(:", "x = " + "(" * 500 + ")" * 500, "x = 1\n" * 200_000, "\x00", "a" * 10_000_000],
    ids=["broken", "deep", "long", "null", "huge"],
)
def test_what_cannot_be_compared_is_passed_over(text: str) -> None:
    assert structure_of(text) is None
    assert hints({"a": text, "b": text}) == []


@pytest.mark.slow
def test_right_answers_that_people_wrote_accuse_nobody() -> None:
    """Of the pairs of answers in different styles, hardly any is alike."""
    found, pairs = 0, 0
    for exercise in sorted({exercise for exercise, _ in right_answers()}):
        answers = right_answers_to(exercise)
        pairs += len(answers) * (len(answers) - 1) // 2
        found += len(hints(answers, exercise))
    assert pairs > 250 and found <= 1  # docs/instructors.md tells of a larger set


@pytest.mark.parametrize("exercise", few(["matmul_tiled", "block_scan", "matmul_2d"], 1))
def test_a_copy_under_other_names_is_found(exercise: str) -> None:
    answers = right_answers_to(exercise)
    for name, text in list(answers.items())[::4]:
        found = hints({**answers, "zz": renamed(text)}, exercise)
        (hint,) = [each for each in found if "zz" in each.keys]
        assert hint.keys == tuple(sorted((name, "zz"))) and hint.equal and not hint.also
        assert (hint.usual, hint.answers) == (2, len(answers) + 1)


def test_a_copy_with_one_line_more_is_nearly_equal_and_names_that_agree_are_told() -> None:
    answers = right_answers_to("matmul_tiled")
    text = renamed(answers["if_else_padding"]) + "\n    never = 0\n"
    found = hints({**answers, "zz": text})
    assert [each.keys for each in found] == [("if_else_padding", "zz")]
    assert not found[0].equal and 0.8 <= found[0].share < 1
    text = right_answers_to("matmul_tiled")["if_else_padding"]
    (hint,) = hints({"a": text, "b": text.replace("    #", "  #")})
    assert hint.also in ("names", "names and comments")
    assert hints({"a": text + "# odd", "b": text + "# odd"})[0].also == "names and comments"
    assert hints({"a": text + "# odd", "b": text + "# other"})[0].also == "names"


def test_what_many_have_is_the_usual_answer_unless_it_is_word_for_word() -> None:
    text = right_answers_to("matmul_tiled")["if_else_padding"]
    various = {"a": text}
    for key, before in zip("bcde", "abcd", strict=True):
        various[key] = renamed(various[before])
    (hint,) = hints({key: various[key] for key in "abc"})
    assert (len(hint.keys), hint.usual, hint.answers) == (3, 3, 3)
    assert hints(various) == []
    (hint,) = hints(dict.fromkeys("abcde", f"{text}# thanks to Bo"))
    assert (hint.usual, hint.answers, hint.also) == (5, 5, "names and comments")


def test_short_answers_and_the_courses_own_are_nobodys():
    numbers = "TILE_M = 64\nTILE_N = 64\nTILE_K = 8\nTHREADS = 256\nREGISTERS = 64"
    assert hints(dict.fromkeys("ab", numbers), "pick_a_tile") == []
    # Whoever learns the published solution by heart is no copy of whoever else does.
    from course_lib.building.notebook import answer_cells, read, source

    path = TESTS.parent / "solutions/05_shared_memory_tiling.ipynb"
    text = source(answer_cells(read(path))["matmul_tiled"])
    assert hints({key: renamed(text) for key in "abc"}) == []
    stub = source(answer_cells(read(TESTS.parent / "exercises" / path.name))["matmul_tiled"])
    assert hints(dict.fromkeys("abc", stub)) == []


def test_the_table_and_the_report_name_them_and_no_students_page_does() -> None:
    answers = right_answers_to("matmul_tiled")
    text = answers["if_else_padding"]
    of_class = rows({**answers, "=cmd": text, "zz-copy": text})
    found = alike(of_class, SETTINGS)
    called = {row.submission.key: row.submission.student for row in of_class}
    table = alike_csv(found, called)
    assert table is not None
    header, line = csv.reader(io.StringIO(table))
    assert header[:2] == ["exercise", "submissions"]
    assert line[1].startswith("'=cmd; if_else_padding; zz-copy") and line[2] == "equal"
    report = class_report(of_class, SETTINGS, 1, found)
    assert "<h2>Alike</h2>" in report and "never a verdict" in report
    assert f"3 of {len(of_class)}" in report
    assert "Alike" not in class_report(of_class, SETTINGS, 1)
    page = feedback_page([of_class[-1]], "zz-copy", SETTINGS)
    assert "if_else_padding" not in page and "alike" not in page.casefold()
