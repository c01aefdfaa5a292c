"""Each task: its answer passes, what is given is no answer yet, slips are told their cause."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import course_lib
from course_lib.checking import examine, examine_source
from course_lib.curriculum import EXERCISES, LESSONS, TASKS, Task
from course_lib.diagnosis.report import Report

HEAD = "from numba import cuda, float32\n\n\n"
# By task: what is written instead of what (its last place in the answer), the code that it must be
# told, and the line to blame. Each lesson has a file of them.
FILES = sorted(Path(__file__).parent.glob("slips_*.py"))
WRONG = {
    name: slips
    for file in FILES
    for name, slips in importlib.import_module(file.stem).SLIPS.items()
}
CASES = [(name, *slip) for name, slips in WRONG.items() for slip in slips]


# Tasks without a second answer, and why there is none worth showing.
NOTHING_TO_COMPARE = {
    "put_seven": "one assignment",
    "add_ten": "one index and one assignment; its short form comes two tasks later",
    "flop_per_byte": "one division, which can only be spelt in other ways",
}


def judged(task: Task, text: str, seed: int = 0) -> Report:
    return examine_source(task.id, HEAD + text, seed=seed, debug=True)


def with_marks() -> Iterator[object]:
    """The slips; in the fast set stand the first one of each task and the first of each code."""
    seen: set[str] = set()
    for name, old, new, code, line in CASES:
        is_first = not {name, code} <= seen
        seen |= {name, code}
        yield pytest.param(name, old, new, code, line, marks=[] if is_first else [pytest.mark.slow])


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_its_answers_pass(task: Task) -> None:
    for answer in filter(None, (task.answer, task.another)):
        for seed in (0, 7):
            report = judged(task, answer, seed)
            assert report.passed and not report.findings, str(report)
            assert (report.points, report.max_points) == (0, 0)


def test_a_second_answer_is_another_one_and_what_differs_is_said() -> None:
    assert {each.id for each in TASKS.values() if not each.another} == NOTHING_TO_COMPARE.keys()
    for task in TASKS.values():
        assert bool(task.another) == bool(task.compared), task.id
        assert len(task.compared.split()) <= 30, task.id
        if task.another:
            assert shape_of(task.another) != shape_of(task.answer), f"{task.id}: only other names"


def shape_of(text: str) -> str:
    """A text's tree without its names and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = "name"
    return ast.dump(tree)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_its_given_code_is_no_answer_yet(task: Task) -> None:
    report = judged(task, task.given)
    assert [each.code for each in report.findings] == ["missing-answer"]
    assert str(report).startswith(f"{task.id}: no answer yet\n")


@pytest.mark.parametrize(("name", "old", "new", "code", "line"), [*with_marks()])
def test_usual_slips_are_told_their_cause(
    name: str, old: str, new: str, code: str, line: str
) -> None:
    task = TASKS[name]
    text = new.join(task.answer.rsplit(old, 1))
    assert text != task.answer
    lines = (HEAD + text).splitlines()
    blamed = max(n for n, each in enumerate(lines, 1) if line in each)  # not the docstring
    report = judged(task, text, seed=3)
    assert report.errors, str(report)
    assert (report.errors[0].code, report.errors[0].line) == (code, blamed), str(report)


def test_at_least_three_wrong_answers_of_each_are_tried() -> None:
    assert {name for name, slips in WRONG.items() if len(slips) >= 3} == TASKS.keys()


def test_what_lay_there_before_may_be_read_and_may_stay() -> None:
    """The statement promises zeros; who relies on them is right."""
    task = TASKS["put_seven"]
    for line in (
        "out[2] += 7",
        "if out[0] == 0:\n        out[2] = 7",
        "out[0] = 0\n    out[2] = 7",
    ):
        assert judged(task, task.answer.replace("    out[2] = 7", f"    {line}")).passed


def test_check_shows_the_verdict_on_a_task_and_never_raises(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def sectors(stride, offset):
        return 4

    course_lib.check("sectors", sectors)
    assert "right is 5: the same number comes out" in capsys.readouterr().out
    course_lib.check("sectors", None)
    course_lib.check("put_seven", 7)
    assert "7 is not a kernel" in capsys.readouterr().out
    with pytest.raises(course_lib.checking.CheckFailed):
        course_lib.check("blocks_per_sm", sectors)


def test_ids_are_unique_and_lessons_exist() -> None:
    assert not TASKS.keys() & EXERCISES.keys()
    assert {each.lesson for each in TASKS.values()} <= {each.number for each in LESSONS}
    assert not any(TASKS.keys() & set(each.exercises) for each in LESSONS)


def test_an_object_is_judged_as_its_text() -> None:
    def sectors(stride, offset):
        seen = []
        for lane in range(32):
            if (offset + lane * stride) // 8 not in seen:
                seen.append((offset + lane * stride) // 8)
        return len(seen)

    assert examine("sectors", sectors, debug=True).passed
