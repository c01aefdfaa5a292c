"""Each task: its answer passes, what is given is no answer yet, slips are told their cause."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from sampling import marks
from stored_answers import Slip, slips_in

import course_lib
from course_lib.checking import examine, examine_source
from course_lib.curriculum import EXERCISES, LESSONS, TASKS, Task
from course_lib.diagnosis.report import Report
from course_lib.registry.kinds import TileKind

HEAD = "from numba import cuda, float32\n\n\n"
ANSWERS = {name: task.answer for name, task in TASKS.items()}
WRONG: dict[str, list[Slip]] = {}
for file in sorted(Path(__file__).parent.glob("slips_*.txt")):
    WRONG |= slips_in(file.read_text(encoding="utf-8"), ANSWERS)

# Tasks without a second answer, and why there is none worth showing.
NOTHING_TO_COMPARE = {
    "put_seven": "one assignment",
    "add_ten": "one index and one assignment; its short form comes two tasks later",
    "add_bias": "one comparison, which can only be spelt in other ways",
    "flop_per_byte": "one division, which can only be spelt in other ways",
}


def judged(task: Task, text: str, seed: int = 0) -> Report:
    return examine_source(task.id, HEAD + text, seed=seed, debug=True)


def slips_of_each_task() -> Iterator[object]:
    """A task with some of its slips, for one test.

    In the fast set stands the first slip of each code, but for languages of tiles, whose emulator
    takes longer; in that of `--all` the first of every second task. The others have a cause that
    is told in other tasks, found in the same way: they are under `long`.
    """
    known: set[str] = set()
    for place, (name, slips) in enumerate(WRONG.items()):
        parts: dict[str, list[Slip]] = {"fast": [], "slow": [], "long": []}
        for number, slip in enumerate(slips):
            is_first = slip.code not in known and not isinstance(TASKS[name].kind, TileKind)
            speed = "fast" if is_first else "long" if number or place % 2 else "slow"
            parts[speed].append(slip)
            known |= {slip.code} if is_first else set()
        for speed, some in parts.items():
            marks = [] if speed == "fast" else [getattr(pytest.mark, speed)]
            if some:
                yield pytest.param(TASKS[name], some, id=f"{name}-{speed}", marks=marks)


EVERY_TASK = pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
ANOTHER = pytest.mark.parametrize(
    "task", [each for each in TASKS.values() if each.another], ids=lambda each: each.id
)


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(each, id=each.id, marks=marks(number, fast=18, slow=1))
        for number, each in enumerate(TASKS.values())
    ],
)
def test_its_answer_passes(task: Task) -> None:
    assert not objection_to_a_pass(task, task.answer, seed=0)


@pytest.mark.slow
@ANOTHER
def test_its_other_answer_passes(task: Task) -> None:
    assert not objection_to_a_pass(task, task.another, seed=7)


@pytest.mark.long
@ANOTHER
def test_its_answers_pass_with_other_seeds(task: Task) -> None:
    assert not objection_to_a_pass(task, task.answer, seed=7)
    assert not objection_to_a_pass(task, task.another, seed=0)


def objection_to_a_pass(task: Task, answer: str, seed: int) -> str:
    """What keeps an answer from having passed without a finding; empty if nothing does."""
    report = judged(task, answer, seed)
    points = (report.points, report.max_points)
    return "" if report.passed and not report.findings and points == (0, 0) else str(report)


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


@EVERY_TASK
def test_its_given_code_is_no_answer_yet(task: Task) -> None:
    report = judged(task, task.given)
    assert [each.code for each in report.findings] == ["missing-answer"]
    assert str(report).startswith(f"{task.id}: no answer yet\n")


@pytest.mark.parametrize(("task", "slips"), [*slips_of_each_task()])
def test_usual_slips_are_told_their_cause(task: Task, slips: list[Slip]) -> None:
    objections = [each for slip in slips if (each := objection_to_what_is_told(task, slip))]
    assert not objections, "\n\n".join(objections)


def objection_to_what_is_told(task: Task, slip: Slip) -> str:
    """What is wrong with the report on a slip; empty if it names the cause and the line."""
    expected = slip.code, slip.line + len(HEAD.splitlines())
    report = judged(task, slip.text, seed=3)
    if report.errors and (report.errors[0].code, report.errors[0].line) == expected:
        return ""
    return f"{expected} is expected:\n{slip.text}\n{report}"


def test_either_warp_may_fetch_and_the_other_one_add() -> None:
    """It asks for two roles, not for who has which."""
    answer = TASKS["fetch_and_add"].answer
    for old, new in (
        ("warp == 0", "warp == 2"),
        ("warp == 1", "warp == 0"),
        ("warp == 2", "warp == 1"),
    ):
        answer = answer.replace(old, new)
    assert not objection_to_a_pass(TASKS["fetch_and_add"], answer, seed=0)


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


def test_check_shows_the_verdict_on_a_task_and_never_raises(capsys):
    def sectors(stride, offset):
        return 4

    course_lib.check("sectors", sectors)
    assert "should return 5: every call returns the same number" in capsys.readouterr().out
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
