"""What the statements of graded exercises say of block and grid is what the entries launch."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course_lib.curriculum import EXERCISES, Exercise, ceil_div
from course_lib.devices import device
from course_lib.problems.table import problem_of

REPOSITORY = Path(__file__).resolve().parents[2]
BIG = {"M": 1000, "N": 700, "n": 1000}  # no multiple of any tile, and all different
# The others are stated in sentences, or in other terms.
WITHOUT_TABLE = {"mat_add", "matmul_naive", "attention", "attention_mma"}
WITH_TABLE = [
    each for each in EXERCISES.values() if each.kind.is_launched and each.id not in WITHOUT_TABLE
]


def statement_of(exercise: Exercise) -> dict[str, str]:
    """The table of its statement, by the first column."""
    (path,) = (REPOSITORY / "solutions").glob(f"{exercise.lesson}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    (own,) = (text for text in texts if text.startswith(f"## Exercise: `{exercise.id}`"))
    return dict(re.findall(r"^\| (\w+) \| (.+) \|$", own, re.MULTILINE))


@pytest.mark.parametrize("exercise", WITH_TABLE, ids=lambda each: each.id)
def test_block_and_grid_are_those_of_the_entry(exercise: Exercise) -> None:
    said = statement_of(exercise)
    shape = (BIG["n"],) if exercise.family == "scan" else (BIG["M"], BIG["N"], 64)
    launch = exercise.launch(problem_of(exercise).covered(shape))
    sizes = {**BIG, **exercise.constants}
    blocks = [
        ceil_div(sizes[size], int(tile) if tile.isdecimal() else sizes[tile])
        for size, tile in re.findall(r"⌈(\w+) / (\w+)⌉", said["grid"])
    ]
    assert tuple(blocks) == launch.grid
    threads = re.sub(r"\b[A-Z]+\b", lambda each: str(sizes.get(each[0], each[0])), said["block"])
    counts = re.search(r"(\d+)(?: × (\d+))? threads", threads)
    assert counts and math.prod(map(int, filter(None, counts.groups()))) == math.prod(launch.block)


def function_of(text: str) -> Callable[..., int]:
    scope: dict[str, Any] = {}
    exec(text, scope)
    return scope["blocks_per_sm"]  # type: ignore[no-any-return]


def test_every_refusal_that_exercise_06_asks_for_can_change_an_answer() -> None:
    """A rule that follows from the others is no rule: nobody should have to type it."""
    (path,) = (REPOSITORY / "solutions").glob("06_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ("".join(cell["source"]) for cell in cells)
    text = next(each for each in texts if each.startswith("# EXERCISE blocks_per_sm"))
    whole = function_of(text)
    refusals = re.findall(r"    if [^\n]+:\n        return 0\n", text)
    assert refusals
    launches = [
        (device(name).sm, threads, registers, shared)
        for name in ("A6000", "T4", "H200")
        for threads in (32, 800, 1024, 2048)
        for registers in (24, 65, 255, 300)
        for shared in (0, 48 << 10, 200 << 10)
    ]
    for refusal in refusals:
        without = function_of(text.replace(refusal, ""))
        assert any(whole(*each) != without(*each) for each in launches), refusal
