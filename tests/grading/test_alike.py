"""Answers that are alike are a hint: copies are found, and usual answers accuse nobody."""

import ast
import csv
import io
from pathlib import Path

import pytest
from every_case import every_case
from rows_of_a_class import RIGHT, SETTINGS, submission
from sampling import few
from stored_answers import right_answers, right_answers_to

from course_lib.grading.gradebook.alike import Alike, alike, alike_csv, structure_of
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.records import FoundAnswer, GradebookRow

TESTS = Path(__file__).resolve().parents[1]


def rows(answers: dict[str, str], exercise: str = "matmul_tiled") -> list[GradebookRow]:
    return [
        score(submission(key), FoundAnswer(exercise, text), RIGHT, SETTINGS)
        for key, text in answers.items()
    ]


def renamed(text: str) -> str:
    """The answer under other names, without its comments, as somebody copies it."""
    tree = ast.parse(text)
    own = {
        each.id
        for each in ast.walk(tree)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    own |= {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and each.id in own:
            each.id = f"my_{each.id}"
        elif isinstance(each, ast.arg):
            each.arg = f"my_{each.arg}"
    return ast.unparse(tree)


def hints(answers: dict[str, str], exercise: str = "matmul_tiled") -> list[Alike]:
    return alike(rows(answers, exercise), SETTINGS)


@every_case(
    ("one", "other"),
    [
        ("x = a + b * c", "renamed = c * b + a"),
        (
            "def f(i, n, j, m):\n    if i < n and j < m:\n        i += 1",
            "def f(p, q, r, s):\n    if q > p and s > r:\n        p = p + 1",
        ),
        ("T = 16\nS = 3\ndef f(a): return a", "S = 3\nT = 16\ndef f(b):\n    'T'\n    return b"),
        ("import math\ndef f(a: int) -> int:\n    return a", "def f(x):\n    pass\n    return x"),
        ("f(x)  # why", "f(x)"),
    ],
    ids=["operands", "comparisons", "constants", "annotations", "comments"],
)
def test_what_does_the_same_has_one_structure(one: str, other: str) -> None:
    first, second = structure_of(one), structure_of(other)
    assert first is not None and second is not None
    assert first.whole == second.whole


@every_case(("one", "other"), [
    ("x = a - b", "x = b - a"),
    ("def f(a, b): return a", "def f(a, b): return b"),
    ("y = cuda.grid(1)", "y = cuda.grid(2)"),
    ("a = 1\nb = a", "a = 1\nb = 2"),
    ("sA[ty, k]", "sA[k, ty]"),
], ids=["minus", "parameter", "constant", "name", "index"])  # fmt: skip
def test_what_differs_has_another(one: str, other: str) -> None:
    first, second = structure_of(one), structure_of(other)
    assert first is not None and second is not None
    assert first.whole != second.whole


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
    assert pairs > 400 and found <= 1  # docs/instructors.md says so


@pytest.mark.parametrize("exercise", few(["matmul_tiled", "block_scan", "matmul_2d"], 1))
def test_a_copy_under_other_names_is_found(exercise: str) -> None:
    answers = right_answers_to(exercise)
    for name, text in list(answers.items())[::4]:
        (hint,) = [
            each for each in hints({**answers, "zz": renamed(text)}, exercise) if "zz" in each.keys
        ]
        assert hint.keys == tuple(sorted((name, "zz"))) and hint.equal and not hint.also
        assert (hint.usual, hint.answers) == (2, len(answers) + 1)


def test_a_copy_with_one_line_more_is_nearly_equal() -> None:
    answers = right_answers_to("matmul_tiled")
    text = renamed(answers["if_else_padding"]) + "\n    never = 0\n"
    found = hints({**answers, "zz": text})
    assert [each.keys for each in found] == [("if_else_padding", "zz")]
    assert not found[0].equal and 0.8 <= found[0].share < 1


def test_names_and_comments_that_agree_are_told() -> None:
    text = right_answers_to("matmul_tiled")["if_else_padding"]
    assert hints({"a": text, "b": text.replace("    #", "  #")})[0].also in (
        "names",
        "names and comments",
    )
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
