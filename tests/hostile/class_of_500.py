"""A class from a seed: right, wrong in known ways, half done, and hostile; saved by any editor.

Every student hands in the exercise notebook of one lesson, with answers from tests/styles (right)
or tests/mutants (wrong, and known how), or a hostile submission. What each row of the gradebook
has to say is known beforehand.
"""

import json
import random
import re
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "grading"))

from attack import Attack, below, code, markdown, notebook
from notebook_texts import as_colab_saves, as_vscode_saves
from stored_answers import right_answers_to, wrong_answers_to

from course_lib.curriculum import EXERCISES, LESSONS, Lesson

TESTS = Path(__file__).resolve().parents[1]
HOSTILE_ONE_IN = 10
Kind = Literal["right", "wrong", "missing"]
Cells = list[dict[str, Any]]

_LOOP = re.compile(r"^(?P<space> +)for (?P<name>\w+) in range\(.*\):$", re.MULTILINE)
_HEAD_OF_ANSWER = re.compile(r"^def \w+\(.*\).*:\n(?: +\"\"\".*\"\"\"\n)?", re.MULTILINE)
_MARK = re.compile(r"[ \t]*# <- (?P<codes>[a-z0-9, -]+?)(?: \([a-z0-9 -]+\))*$", re.MULTILINE)
ANSWERED = tuple(lesson for lesson in LESSONS if lesson.exercises)
_KINDS = {"right": 45, "wrong": 45, "missing": 10}  # of a hundred answers
# What the grader knows of a notebook, and a check of the answer alone does not: that these numbers
# are those that the exercise gave, and that an import of the cell is one that no answer needs.
_KNOWN_OTHERWISE: dict[str, Kind] = {"tile_of_lesson_05": "missing", "imports_os": "right"}
# An answer that nobody has begun, in the ways in which one is not begun.
_NOT_DONE = ("untouched", "emptied", "deleted", "only-a-comment")


@dataclass(frozen=True)
class Expected:
    """What the row of a student and an exercise has to say.

    Attributes:
        kind: right has all points, wrong has fewer, missing has none.
        codes: of what is wrong, one of these stands in the reason.
        source: the answer's file, to find it by.
    """

    kind: Kind
    codes: frozenset[str] = frozenset()
    source: str = ""


@dataclass(frozen=True)
class Student:
    """One submission, and what comes of it; for a hostile one, the attack says what."""

    name: str
    expected: dict[str, Expected]
    saved_by: str = ""
    attack: Attack | None = None


def hand_in_class(
    submissions: Path,
    count: int,
    seed: int,
    attacks: Sequence[Attack],
    lessons: Sequence[Lesson] = ANSWERED,
) -> tuple[Student, ...]:
    """Write the submissions of a class, a folder for each student."""
    drawn = random.Random(seed)
    hostile = iter(drawn.sample(attacks, min(len(attacks), count // HOSTILE_ONE_IN)))
    students = []
    for number in range(count):
        attack = next(hostile, None) if number % HOSTILE_ONE_IN == HOSTILE_ONE_IN // 2 else None
        if attack:
            attack.hand_in(submissions)
            students.append(Student(attack.submission, {}, attack=attack))
        else:
            students.append(hand_in(submissions, f"student-{number:03}", drawn, lessons))
    return tuple(students)


def as_moodle_zip(submissions: Path, archive: Path) -> None:
    """The same class as Moodle exports it; only files that a ZIP archive can hold."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for number, folder in enumerate(sorted(submissions.iterdir()), 4000):
            for file in sorted(folder.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    inside = file.relative_to(folder)
                    name = f"{folder.name}_{number}_assignsubmission_file_/{inside}"
                    zipped.write(file, name)


def hand_in(
    submissions: Path,
    name: str,
    drawn: random.Random,
    lessons: Sequence[Lesson] = ANSWERED,
    kinds: Mapping[str, int] = _KINDS,
) -> Student:
    """Write the notebook of one lesson, each of its exercises answered in one of these ways."""
    lesson = drawn.choice(lessons)
    cells = json.loads(_notebook(lesson))["cells"]
    expected = {}
    for exercise in lesson.exercises:
        kind = drawn.choices(tuple(kinds), tuple(kinds.values()))[0]
        expected[exercise], cells = _ANSWERS[kind](exercise, cells, drawn)
    saved_by = drawn.choice(tuple(_EDITORS))
    cells = [{"id": f"cell-{n}", **cell} for n, cell in enumerate(_untidied(cells, drawn))]
    file = drawn.choice(_FILE_NAMES).format(lesson.stem)
    (below(submissions, name) / file).write_bytes(_EDITORS[saved_by](notebook(cells)))
    return Student(name, expected, saved_by)


_FILE_NAMES = (
    "{}.ipynb", "{} (1).ipynb", "Copy of {}.ipynb", "Kopie von {}.ipynb", "{}-Copy1.ipynb",
)  # fmt: skip


@cache
def _notebook(lesson: Lesson) -> str:
    path = TESTS.parent / "exercises" / f"{lesson.stem}.ipynb"
    return path.read_text(encoding="utf-8")


def _right(exercise: str, cells: Cells, drawn: random.Random) -> tuple[Expected, Cells]:
    name, text = drawn.choice([*right_answers_to(exercise).items()])
    return Expected("right", source=f"{exercise}/{name}"), _answered(cells, exercise, text, drawn)


def _wrong(exercise: str, cells: Cells, drawn: random.Random) -> tuple[Expected, Cells]:
    name, text = drawn.choice(_wrong_answers(exercise))
    codes = frozenset(code for mark in _MARK.finditer(text) for code in mark["codes"].split(", "))
    kind = _KNOWN_OTHERWISE.get(name, "missing" if codes == {"missing-answer"} else "wrong")
    expected = Expected(kind, codes, f"{exercise}/{name}")
    return expected, _answered(cells, exercise, _MARK.sub("", text), drawn)


def _missing(exercise: str, cells: Cells, drawn: random.Random) -> tuple[Expected, Cells]:
    how = drawn.choice(_NOT_DONE)
    place = _place_of(cells, exercise)
    if how == "deleted":
        cells = [*cells[:place], *cells[place + 1 :]]
    elif how != "untouched":
        comment = "# I will come back to this one\n" if how == "only-a-comment" else ""
        cells = _replaced(cells, place, f"# EXERCISE {exercise}\n{comment}")
    return Expected("missing", source=how), cells


def _endless(exercise: str, cells: Cells, drawn: random.Random) -> tuple[Expected, Cells]:
    """A right answer with its first loop, or a new one, turned into one that never ends."""
    name, text = drawn.choice([*right_answers_to(exercise).items()])
    source = f"{exercise}/{name}"
    if EXERCISES[exercise].kind.name == "constants":
        return Expected("right", source=source), _answered(cells, exercise, text, drawn)
    loop = _LOOP.search(text)
    if loop:
        space, name = loop["space"], loop["name"]
        endless = f"{space}{name} = 0\n{space}while {name} < 10:"
        text = text[: loop.start()] + endless + text[loop.end() :]
    else:
        text = _HEAD_OF_ANSWER.sub(r"\g<0>    while True:\n        pass\n", text, count=1)
    expected = Expected("wrong", frozenset({"timeout"}), f"{source}, endless")
    return expected, _answered(cells, exercise, text, drawn)


_ANSWERS: dict[str, Callable[[str, Cells, random.Random], tuple[Expected, Cells]]] = {
    "right": _right, "wrong": _wrong, "missing": _missing, "endless": _endless,
}  # fmt: skip


@cache
def _wrong_answers(exercise: str) -> tuple[tuple[str, str], ...]:
    """Names and texts, without those that are right but costly."""
    found = wrong_answers_to(exercise)
    return tuple((name, text) for name, text in found.items() if "(warning)" not in text)


def _place_of(cells: Cells, exercise: str) -> int:
    marker = f"# EXERCISE {exercise}\n"
    return next(i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith(marker))


def _replaced(cells: Cells, place: int, source: str) -> Cells:
    changed = cells[place] | {"source": source.splitlines(keepends=True)}
    return [*cells[:place], changed, *cells[place + 1 :]]


def _answered(cells: Cells, exercise: str, text: str, drawn: random.Random) -> Cells:
    """The answer in its cell, or in one of the ways in which students put it elsewhere."""
    place = _place_of(cells, exercise)
    marked = f"# EXERCISE {exercise}\n{text}"
    ways = {"plain": 6, "earlier-try": 2, "no-marker": 1, "markdown": 1, "timed": 1}
    how = drawn.choices([*ways], [*ways.values()])[0]
    if EXERCISES[exercise].kind.name == "constants" and how == "no-marker":
        how = "plain"  # five numbers have no name to be found by
    if how == "no-marker":
        return _replaced(cells, place, text)
    if how == "timed":
        return _replaced(cells, place, f"%%time\n{marked}")
    if how == "markdown":
        return [*cells[:place], markdown(marked), *cells[place + 1 :]]
    if how == "earlier-try":
        return [*cells[: place + 1], code(marked), *cells[place + 1 :]]
    return _replaced(cells, place, marked)


def _untidied(cells: Cells, drawn: random.Random) -> Cells:
    """Cells that were added, and sometimes moved about."""
    cells = list(cells)
    for source in drawn.sample(_SCRIBBLES, 2):
        cells.insert(drawn.randrange(len(cells) + 1), code(source))
    if drawn.random() < 0.15:
        drawn.shuffle(cells)
    return cells


_SCRIBBLES = (
    "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2, 3]);", "!nvidia-smi",
    "%pip install numba-cuda", "print(1 +", "x = 3\nx", "help(cuda.grid)",
    "import os\nos.getcwd()", "",
)  # fmt: skip


def _as_classic_saves(notebook: dict[str, Any]) -> bytes:
    """No ids at all, and every source is one text, with Windows' ends of lines."""
    cells = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).replace("\n", "\r\n")
        cells.append({name: cell[name] for name in cell if name != "id"} | {"source": source})
    return json.dumps({**notebook, "cells": cells, "nbformat_minor": 4}).encode()


_EDITORS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "JupyterLab": lambda notebook: json.dumps(notebook).encode(),
    "Colab": as_colab_saves,
    "VS Code": as_vscode_saves,
    "classic": _as_classic_saves,
}
