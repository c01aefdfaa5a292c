"""The words of lesson 12: each is met in the lesson that its row names."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from every_case import every_case
from lesson_rules.shown import words_of

from course_lib.building.notebook import markdown_cells, read, source
from course_lib.curriculum import LESSONS, TASKS, lesson
from course_lib.questions import of_lesson

pytestmark = pytest.mark.workshop

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| (\d\d[a-z]?) \|$", re.MULTILINE)
PAGE = "\n".join(
    source(cell)
    for cell in markdown_cells(read(ROOT / "notebooks" / f"{lesson('12').stem}.ipynb"))
    if cell["id"].startswith("words-")
)
WORDS = [
    (word.strip().strip("`"), number)
    for words, _, number in ROW.findall(PAGE)
    for word in words.split(",")
]


@cache
def told_in(number: str) -> str:
    """Everything that a lesson says to its reader, but for the words of lesson 12 themselves."""
    cells = read(ROOT / "notebooks" / f"{lesson(number).stem}.ipynb")["cells"]
    said = [source(cell) for cell in cells if not cell["id"].startswith("words-")]
    said += [text for each in of_lesson(number).values() for text in words_of(each)]
    said += [
        f"{each.meaning} {each.given} {' '.join(each.hints)}"
        for each in TASKS.values()
        if each.lesson == number
    ]
    return "\n".join(said).casefold()


def test_every_table_is_read() -> None:
    assert len(WORDS) > 45 and ("mma", "10") in WORDS


@every_case(("word", "number"), WORDS)
def test_a_word_is_met_in_the_lesson_that_is_named(word: str, number: str) -> None:
    stem = word.casefold().removesuffix("ing")
    assert stem in told_in(number), f"lesson {number} never says {word!r}"


# What a word for one thing would be a second word for another.
SECOND_WORDS = {
    # Banks serve one wavefront after the other; a kernel passes a check, and data pass through L1.
    "wavefront": re.compile(r"\b(?:\d+|one|two|four|many|each|every|extra|per|the) pass(?:es)?\b"),
    "iteration": re.compile(
        r"\b(?:each|every|next|first|last|one|of the) turns?\b|\bturns? of (?:the|its) loop|"
        r"go(?:es)? round (?:its|the) loop"),
}  # fmt: skip
# Over all keys at once, as the literature says.
OTHER_THINGS = re.compile(r"one pass\b.*(?:softmax|row|tiles)|two passes over|in one pass")


def said_by_the_course() -> Iterator[tuple[str, str]]:
    for each in LESSONS:
        for folder in ("notebooks", "exercises") if each.exercises else ("notebooks",):
            cells = markdown_cells(read(ROOT / folder / f"{each.stem}.ipynb"))
            yield from ((f"{folder} {each.number} {cell['id']}", source(cell)) for cell in cells)
        for name, question in of_lesson(each.number).items():
            yield from ((name, text) for text in words_of(question))
    for task in TASKS.values():
        yield task.id, "\n".join((task.meaning, task.compared, task.answer, *task.hints))


@pytest.mark.parametrize("term", SECOND_WORDS)
def test_one_thing_has_one_word(term: str) -> None:
    found = [
        (where, line)
        for where, text in said_by_the_course()
        for line in text.splitlines()
        if SECOND_WORDS[term].search(line) and not OTHER_THINGS.search(line)
    ]
    assert found == []
