"""No lesson that is written do-first tells a measured number that no cell of it has printed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from every_case import every_case

from course_lib.building.notebook import (
    Notebook,
    code,
    code_cells,
    markdown,
    markdown_cells,
    new,
    read,
    source,
    tags,
)
from course_lib.building.outputs import text_of
from course_lib.building.tasks import tasks_of
from course_lib.curriculum import LESSONS

ROOT = Path(__file__).resolve().parents[2]
UNITS = "GB/s|TB/s|GB|TB|MB|ms|µs|ns|G?FLOP/s|TFLOP/s"
NUMBER = r"\d[\d,]*(?:\.\d+)?"
# With a unit, as a share, or with decimals, as counts and speed-ups have; 10.2.3 is a section.
MEASURED = re.compile(
    rf"(?<![\w.])(?:({NUMBER}) ?(?:{UNITS})(?!\w)|({NUMBER}) ?%|({NUMBER}(?<=\.\d)\d*)(?!\.?\w))"
)
CODE = re.compile(r"`[^`]*`")
# Hints say what a unit is, and questions are looked at by themselves.
NO_PROSE = {"task-hints", "question"}
SOURCES = "sources"  # the cell that names them


def unprinted(notebook: Notebook) -> list[str]:
    """The measured numbers in prose that stand in no output."""
    printed = "\n".join(
        text_of(output) for cell in code_cells(notebook) for output in cell["outputs"]
    )
    return [
        found[0]
        for cell in markdown_cells(notebook)
        if not NO_PROSE & set(tags(cell)) and cell["id"] != SOURCES
        for found in MEASURED.finditer(CODE.sub("", source(cell)))
        if next(filter(None, found.groups())) not in re.findall(NUMBER, printed)
    ]


def written_down(text: str) -> list[str]:
    """The measured numbers among the words that a module of questions or a task says.

    A number that an f-string or a fact computes is no part of its words; what spoils a question,
    code, and a student's guess are no words of ours.
    """
    tree = ast.parse(text)
    ours = {"asks", "reveal", "why", "hint", "other", "meaning"}
    said = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg in ours
    ]
    said += [
        each
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("Choice", "Trap", "Suspect")
        for each in node.args[-1:]
    ]
    words = (
        node.value for each in said for node in ast.walk(each) if isinstance(node, ast.Constant)
    )
    texts = (CODE.sub("", each) for each in words if isinstance(each, str))
    return [found[0] for each in texts for found in MEASURED.finditer(each)]


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_prose_tells_no_measured_number_of_its_own(lesson):
    notebook = read(ROOT / "notebooks" / f"{lesson.stem}.ipynb")
    if tasks_of(notebook["cells"]):
        assert unprinted(notebook) == []


TELLING = {"lesson_12.py"}
# Sums that anybody can do in his head, and examples of what the task's own arguments may be.
DONE_IN_THE_HEAD = {
    "lesson_06.py": ("questions", ["100 %"]),
    "requested_bytes.py": ("tasks", ["0.25"]),
}


@pytest.mark.parametrize("folder", ["questions", "tasks"])
def test_questions_and_tasks_compute_the_measured_numbers_they_say(folder):
    found = {
        path.name: numbers
        for path in sorted((ROOT / "course_lib" / folder).glob("*.py"))
        if path.name not in TELLING and (numbers := written_down(path.read_text(encoding="utf-8")))
    }
    allowed = {name: each for name, each in DONE_IN_THE_HEAD.items() if folder in each[0]}
    assert found == {name: each[1] for name, each in allowed.items()}


def test_a_number_of_its_own_is_seen():
    printed = code("print(277)", id="run") | {
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "time 277 ms"}]
    }
    prose = [markdown("It took 277 ms, not 716 ms.", id="a"), markdown("At 768 GB/s.", id="b")]
    prose += [markdown("1.5 times, or 94 %. See 10.2.3 and `0.5`; 2 is enough.", id="c")]
    hint = markdown("1 GB/s is a byte in each ns.", "task-hints", id="d")
    assert unprinted(new([*prose, hint, printed])) == ["716 ms", "768 GB/s", "1.5", "94 %"]


def test_a_number_written_into_a_question_is_seen():
    text = 'Q = Number(asks=f"{x} MB, 6.6 times, 4096", reveal="{ms} ms, 25 %", spoilers=("3.5",))'
    assert written_down(text) == ["6.6", "25 %"]
