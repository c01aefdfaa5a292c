"""The same answers in Pyodide as natively, byte for byte: right tasks, wrong ones, figures."""

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kernels_to_play import MATRICES, NEIGHBOURS, TILED, VECTORS
from programs_to_play import PROGRAMS
from stored_answers import Slip, slips_in

from course_lib.curriculum import TASKS
from course_lib.student import progress
from course_lib.tab import pyodide
from course_lib.tab.requests import answer
from tests.pyodide_files import ROOT, NotHere, from_npm, numpy_wheel

SEED, WRONG_ONES = 14, 2
IN_NODE = Path(__file__).with_name("in_node.mjs")
Asked = dict[str, Any]


def slips_of(lesson: str) -> dict[str, list[Slip]]:
    """The usual slips in the tasks of a lesson."""
    file = (ROOT / "tests/tasks" / f"slips_{lesson}.txt").read_text(encoding="utf-8")
    return slips_in(file, {name: task.answer for name, task in TASKS.items()})


def checks(lesson: str) -> list[Asked]:
    """Each task's answer and two of its wrong answers."""
    chosen, asked = random.Random(SEED), []
    for name, slips in slips_of(lesson).items():
        right = TASKS[name].answer
        some = chosen.sample(slips, min(WRONG_ONES, len(slips)))
        for text in (right, *(slip.text for slip in some)):
            asked.append({"do": "check", "id": name, "text": text})
    return asked


def played(text: str, grid: Any, block: Any, arrays: dict[str, str], **more: str) -> Asked:
    made = [{"name": name, "made": line} for name, line in arrays.items()]
    return {"do": "play", "text": text, "grid": grid, "block": block, "arrays": made, **more}


def figure(name: str, figure: str) -> Asked:
    return {"do": "figure", "id": name, "text": TASKS[name].answer, "figure": figure}


OTHERS = [
    played(NEIGHBOURS, 1, 64, VECTORS), played(TILED, [2, 2], [8, 8], MATRICES),
    played(TILED, [2, 2], [8, 8], MATRICES, figure="step"), played("x = (", 1, 1, {}),
    figure("one_tile_product", "banks"), figure("one_tile_product", "owners"),
    figure("place_the_barriers", "sectors"), figure("place_the_barriers", "race"),
    {"do": "answer", "id": "add_ten"},
    {"do": "restore", "file": '{"answers": {"put_seven": {"passed": true}}}'},
]  # fmt: skip


def answers_in_node(asked: list[Asked], packed: Path) -> list[str]:
    """The answers that Pyodide gives in node, one session for all of them."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here")
    try:
        core, wheel = from_npm("pyodide", pyodide.VERSION), numpy_wheel()
    except NotHere as missing:
        pytest.skip(str(missing))
    done = subprocess.run(
        [node, str(IN_NODE), str(core), str(wheel), str(packed)],
        input="\n".join(map(json.dumps, asked)), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    _, *lines = done.stdout.splitlines()
    return [json.loads(line)["said"] for line in lines]


def test_every_lesson_with_tasks_has_its_slips() -> None:
    files = (ROOT / "tests/tasks").glob("slips_*.txt")
    known = {path.stem.removeprefix("slips_") for path in files}
    assert {each.lesson for each in TASKS.values()} == known
    assert all(len(slips) >= WRONG_ONES for each in known for slips in slips_of(each).values())


@pytest.mark.slow
def test_some_tasks_are_judged_alike_and_all_else_is(packed, monkeypatch):
    """Of every four answers one: by turns a right one, and one of the wrong ones of a task.

    All in one session, for Pyodide takes long to begin.
    """
    programs = [{"do": "play", "text": text} for text in PROGRAMS.values()]
    some = [each for each in checks("05")[:: WRONG_ONES + 2] if each["id"] != "convolve"]  # costly
    told_alike([*some, *OTHERS, *programs], packed, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("lesson", sorted({each.lesson for each in TASKS.values()}))
def test_tasks_are_judged_alike(lesson: str, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told_alike(checks(lesson), packed, monkeypatch)


def told_alike(asked: list[Asked], packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_session", progress._Session())
    there = answers_in_node(asked, packed)
    for request, said in zip(asked, there, strict=True):
        here = answer(json.dumps(request))
        assert json.loads(said) == json.loads(here), request  # a difference is told by its field
        is_program = request["do"] == "play" and "grid" not in request
        assert is_program or said == here
