"""A sentence remembers its facts, and says to each reader what is meant for them."""

import ast
import copy
import pickle
from collections.abc import Callable, Iterable, Iterator

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from library_trees import nodes_of, trees

from course_lib.wording import words
from course_lib.wording.errors import PlainError
from course_lib.wording.sentences import Index, in_words, say, told, whole, with_values


def test_each_reader_is_told_what_is_meant_for_them():
    index = Index(70_000, last=9)
    inner = say("A at {index}", index=index)
    said = say("it reads {seen}, {right}.", graded="it reads {seen}.", seen=inner, right="not 3")
    assert said == told(said, "instructor") == "it reads A at index 70000, not 3."
    assert told(said, "graded student") == "it reads A at an index far outside."
    assert told("plain", "graded student") == "plain"
    said = with_values("the sum is wrong.", "C[0] is 7.")
    assert said == told(said, "instructor") == "the sum is wrong. C[0] is 7."
    assert told(said, "graded student") == "the sum is wrong."
    assert with_values("the sum is wrong.", "") == "the sum is wrong."
    assert whole("thread 3 waits.", "student") == "Thread 3 waits."
    assert whole(say("{cell} is read.", cell="sA[3]"), "instructor") == "sA[3] is read."


@pytest.mark.parametrize(("index", "far"), [
    (Index(1044, last=9), False),  # two arrays and a block
    (Index(1045, last=9), True),
    (Index(-1045, last=9), True),
    (Index(100_000), False),
    (Index(100_001), True),
])  # fmt: skip
def test_only_an_index_far_outside_is_withheld(index: Index, far: bool) -> None:
    assert index.told("student") == f"index {index.number}"
    assert (index.told("graded student") == "an index far outside") == far
    assert Index(10**7, name="flat index").told("graded student") == "a flat index far outside"


@given(st.text())
def test_text_of_an_answer_is_no_template(text: str) -> None:
    said = say("It calls {name}.", name=text)
    assert said == f"It calls {text}." == told(said, "graded student")
    assert in_words([text, f"{text}!", text]).told("graded student") == f"{text}!"


def test_a_sentence_can_be_copied_and_sent() -> None:
    said = say("at {index}", index=Index(10**6, last=9), graded="far from {index}")
    for again in (copy.deepcopy(said), pickle.loads(pickle.dumps(said))):
        assert (again, again.told("graded student")) == (said, said.told("graded student"))


def test_no_sentence_ends_where_its_line_does() -> None:
    """A string below another statement, meant to go on with its sentence, would be lost."""
    for path in trees():
        lost = [node.lineno for node in lost_strings(nodes_of(path))]
        assert not lost, f"{path.name}, line {lost[0]}: put the parts of this sentence in brackets"


def lost_strings(nodes: Iterable[ast.AST]) -> Iterator[ast.Expr]:
    """The strings that stand alone and are no docstrings."""
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for statement in block[1:] if isinstance(block, list) else ():
                is_alone = isinstance(statement, ast.Expr)
                if is_alone and isinstance(getattr(statement.value, "value", None), str):
                    yield statement


@every_case(("made", "wanted"), [
    (lambda: words.counted(1, "row"), "1 row"),
    (lambda: words.counted(1024, "pass"), "1,024 passes"),
    (lambda: words.joined(["A"]), "A"),
    (lambda: words.joined("AB"), "A and B"),
    (lambda: words.joined("ABC"), "A, B and C"),
    (lambda: words.span("step", [3]), "step 3"),
    (lambda: words.span("step", [3, 4, 5]), "steps 3 to 5"),
    (lambda: words.at_end("last", 1, "row"), "the last row"),
    (lambda: words.at_end("first", 3, "step"), "the first 3 steps"),
    (lambda: words.element("C", [2, 3]), "C[2, 3]"),
    (lambda: words.element("", [4]), "[4]"),
])  # fmt: skip
def test_it_reads_like_this(made: Callable[[], str], wanted: str) -> None:
    assert made() == wanted


def test_a_notebook_shows_the_sentence_and_no_traceback(capsys, monkeypatch, tmp_path, new_shell):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = new_shell()
    shell.user_ns["error"] = PlainError("Only this sentence.")
    shell.run_cell("raise error")
    shown = capsys.readouterr()
    assert "Only this sentence." in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err
