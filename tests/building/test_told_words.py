"""What lessons say is counted, gives no prediction away, and states what the exercises launch."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from lesson_rules import words
from lesson_rules.shown import ShownPiece, in_order
from lesson_rules.spoilers import found, read_aloud, spoilt

from course_lib.curriculum import EXERCISES, LESSONS, Exercise, ceil_div
from course_lib.devices import device
from course_lib.problems.table import problem_of
from course_lib.questions import lessons, predictions
from course_lib.questions.kinds import Number

ROOT = Path(__file__).resolve().parents[2]
# Words in cells, and in questions with their choices, reasons, hints and reveals.
BUDGETS = {
    "00": (738, 600),  # with the packages that the import line may mean
    "01": (655, 400),
    "02": (730, 455),
    "03": (970, 595),  # with what a loop costs
    "04": (610, 353),  # with what an atomic add is for
    "05": (728, 675),
    "05b": (624, 430),
    "05c": (655, 435),
    "06": (1360, 805),  # with a C that has too few tiles
    "07": (920, 575),
    "08": (1495, 885),  # with what a fused epilogue saves
    "08b": (1150, 1160),  # a report in three columns; three kernels known by their counters alone
    "09": (940, 785),
    "09b": (940, 845),
    "10": (1165, 895),
    "10b": (1590, 1045),  # six steps from rung 11 to rung 12, each read, predicted and counted
    "10c": (785, 540),
    "11": (712, 745),
    "11b": (1150, 545),  # six kernels to type
    "12": (2860, 3425),
    "13": (1425, 435),  # with a page on the languages that are not typed
}


@pytest.fixture(scope="module")
def counts():
    return {each.lesson: each for each in words.counts(ROOT)}


@every_case("number", BUDGETS)
def test_a_lesson_keeps_its_budget(counts, number):
    each = counts[number]
    cells, questions = BUDGETS[number]
    assert each.cells <= cells and each.questions <= questions, each


def test_every_lesson_is_counted_and_the_early_ones_show_at_most_what_they_may(counts):
    assert list(counts) == [each.number for each in LESSONS]
    assert all(each.cells > 0 and each.code_lines > 0 for each in counts.values())
    text = words.table(list(counts.values()))
    total = sum(each.cells for each in counts.values())
    assert len(text.splitlines()) == 3 + len(LESSONS) and f"| all | {total} |" in text
    early = [each for each in counts.values() if each.lesson <= "05b"]
    assert sum(each.cells for each in early) <= 6_500
    assert sum(each.cells + each.questions + each.tasks for each in early) <= 11_700


PREDICTIONS = {name: each for number in lessons() for name, each in predictions(number).items()}


@pytest.fixture(scope="module")
def pieces():
    return list(in_order(ROOT))


@pytest.fixture(scope="module")
def aloud(pieces):
    return [read_aloud(each.text) for each in pieces]


@pytest.mark.slow
def test_nothing_shows_a_spoiler_before_its_prediction(pieces):
    assert list(spoilt(pieces)) == []


@every_case("name", PREDICTIONS)
def test_a_prediction_lists_what_would_spoil_it(pieces, aloud, name):
    """And its reveal or what comes after it says one of these, or they would guard nothing."""
    place = next(place for place, each in enumerate(pieces) if each.reveals == name)
    spoilers = PREDICTIONS[name].spoilers
    assert any(found(each, text) for each in spoilers for text in aloud[place:])


@every_case(("spoiler", "text", "is_found"), [
    ("all four", "It is **all** `four` of them.", True),
    ("all four", "ALL\nfour", True),
    ("all four", "all fourteen", False),
    ("12", "112 or 12.", True),
    ("12", "1,120", False),
    ("out[2]", "it writes `out[2]` twice", True),
    (re.compile(r"\b12 (bytes|B)\b"), "asks for 12 BYTES", True),
    (re.compile(r"\b12 (bytes|B)\b"), "asks for 12 bits", False),
])  # fmt: skip
def test_a_spoiler_is_found_however_it_is_written(spoiler, text, is_found):
    assert bool(found(spoiler, read_aloud(text))) == is_found


NUMBER = Number(
    id="00-writers", asks="How many write?", unit="threads", value=lambda: 4,
    reveal="All {answer} do.", spoilers=("all 4", re.compile(r"every thread")),
)  # fmt: skip


@pytest.mark.parametrize(("texts", "said"), [
    (["How many?", "REVEAL", "All 4 do, every thread."], []),
    (["So all 4 write.", "REVEAL"], ["there 0 spoils 00-writers: “So all 4 write.”"]),
    (["Every thread does.", "x", "REVEAL", "REVEAL"], ["there 0 spoils"] * 2),
])  # fmt: skip
def test_what_comes_too_early_is_quoted_with_its_place(texts, said):
    pieces = []
    for n, text in enumerate(texts):
        reveals = text == "REVEAL"
        shown = "" if reveals else text
        pieces.append(ShownPiece("00", f"there {n}", shown, reveals=NUMBER.id * reveals))
    complaints = list(spoilt(pieces, lambda name: NUMBER))
    assert len(complaints) == len(said)
    assert all(map(str.startswith, complaints, said))


def test_the_order_is_the_front_page_the_titles_the_lessons_and_their_exercises(pieces):
    files = list(dict.fromkeys(each.where.split(",")[0] for each in pieces[2:]))
    assert pieces[0].where == "README.md" and pieces[1].text.startswith(LESSONS[0].title)
    folders = [(each, ("notebooks", "exercises")[: 1 + bool(each.exercises)]) for each in LESSONS]
    assert files == [f"{folder}/{each.stem}.ipynb" for each, some in folders for folder in some]


BIG = {"M": 1000, "N": 700, "n": 1000}  # no multiple of any tile, and all different
# The others are stated in sentences, or in other terms.
WITHOUT_TABLE = {"mat_add", "matmul_naive", "attention", "attention_mma"}
WITH_TABLE = [
    each for each in EXERCISES.values() if each.kind.is_launched and each.id not in WITHOUT_TABLE
]


def statement_of(exercise: Exercise) -> dict[str, str]:
    """The table of its statement, by the first column."""
    (path,) = (ROOT / "solutions").glob(f"{exercise.lesson}_*.ipynb")
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
    (path,) = (ROOT / "solutions").glob("06_*.ipynb")
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
