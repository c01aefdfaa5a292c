"""Answers that the judge could not explain are collected without names, ready to be judged anew."""

from dataclasses import replace
from pathlib import Path

from every_case import every_case
from rows_of_a_class import RACY, RIGHT, SETTINGS, UNEVEN, UNSUPPORTED, WRONG, submission

from course_lib.commands import grade
from course_lib.grading.gradebook.outputs import candidates, without_texts, write_candidates
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.records import FoundAnswer, GradebookRow, Judgement

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


@every_case(
    ("judgement", "count"),
    [
        (RIGHT, 0),
        (RACY, 0),
        (UNEVEN, 0),
        (WRONG, 1),
        (UNSUPPORTED, 1),
        (replace(RIGHT, outcome="died", needs_review=True), 1),
        (replace(RIGHT, outcome="stopped-by-clock", needs_review=True), 1),
    ],
    ids=["right", "race", "cause", "wrong-result", "unsupported", "died", "clock"],
)
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


def test_they_are_written_beside_those_of_other_classes(tmp_path: Path) -> None:
    write_candidates(tmp_path / "new", {"a.py": "1\n"})
    write_candidates(tmp_path / "new", {"b.py": "2\n"})
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a.py", "b.py"]


def test_they_do_not_lie_among_the_submissions(tmp_path, capsys):
    (tmp_path / "class").mkdir()
    folder = str(tmp_path / "class/candidates")
    arguments = [str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--candidates", folder]
    assert grade.main(arguments) == 2
    assert "name a folder outside" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
