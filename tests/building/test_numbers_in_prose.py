"""No lesson that is written do-first tells a measured number that no cell of it has printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
MEASURED = re.compile(r"(\d[\d,.]*) ?(?:GB/s|TB/s|GB|TB|MB|ms|µs|ns|G?FLOP/s|TFLOP/s)(?!\w)")
# Hints say what a unit is, and questions compute the numbers that they name.
NO_PROSE = {"task-hints", "question"}


def unprinted(notebook: Notebook) -> list[str]:
    """The measured numbers in prose that stand in no output."""
    printed = "\n".join(
        text_of(output) for cell in code_cells(notebook) for output in cell["outputs"]
    )
    return [
        found[0]
        for cell in markdown_cells(notebook)
        if not NO_PROSE & set(tags(cell))
        for found in MEASURED.finditer(source(cell))
        if found[1] not in re.findall(r"\d[\d,.]*", printed)
    ]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.number)
def test_prose_tells_no_measured_number_of_its_own(lesson):
    notebook = read(ROOT / "notebooks" / f"{lesson.stem}.ipynb")
    if tasks_of(notebook["cells"]):
        assert unprinted(notebook) == []


def test_a_number_of_its_own_is_seen():
    printed = code("print(277)", id="run") | {
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "time 277 ms"}]
    }
    prose = [markdown("It took 277 ms, not 716 ms.", id="a"), markdown("At 768 GB/s.", id="b")]
    hint = markdown("1 GB/s is a byte in each ns.", "task-hints", id="c")
    assert unprinted(new([*prose, hint, printed])) == ["716 ms", "768 GB/s"]
