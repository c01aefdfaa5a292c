"""Batch notebooks: the instructor's own with a cell for each answer, and what these cells call.

First the exercise notebooks are read, which are the frame; then a batch is made; `Desk` at the end
judges in the child process.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS, lesson
from course_lib.grading.records import FORMER, GRADED, AssignedExercise, CannotGrade, Judgement
from course_lib.grading.transfer import TESTS, TRANSFER
from course_lib.wording.errors import PlainError
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import AUDIENCES, in_words, whole

_MARKER = re.compile(r"^#\s*EXERCISE\s+(\w+)\s*$", re.MULTILINE)
# Cells that are no part of what an answer builds on.
IMPORTS = "import numpy as np\nfrom numba import cuda, float32"
_TAGS_LEFT_OUT = {"setup", "exercise", "check", "figure"}


def read_tasks(folder: Path) -> dict[str, AssignedExercise]:
    """Every exercise of the notebooks in a folder, by id, and those of earlier editions.

    Raises CannotGrade if there is none, or a notebook cannot be read.
    """
    if not folder.is_dir():
        raise CannotGrade(
            f"There is no folder {folder} with the exercise notebooks; name yours with --notebooks."
        )
    tasks: dict[str, AssignedExercise] = {}
    for path in sorted(folder.glob("*.ipynb")):
        for task in _tasks_of(path):
            if task.exercise in tasks:
                other = tasks[task.exercise].notebook
                raise CannotGrade(
                    f"{task.exercise} is in two notebooks of {folder}: {other}.ipynb and "
                    f"{path.name}. Keep only one of them."
                )
            tasks[task.exercise] = task
    if not tasks:
        raise CannotGrade(
            f"No notebook in {folder} has an exercise (a code cell that begins with "
            "`# EXERCISE` and an id); name your folder with --notebooks."
        )
    return {**{name: _former(name) for name in FORMER}, **tasks, **_of_tests()}


def _former(name: str) -> AssignedExercise:
    """An exercise of an earlier edition, whose notebook may no longer exist."""
    task = TASKS[name]
    notebook = lesson(task.lesson).stem
    statement = f"## {task.title}\n\nAn exercise of an earlier edition of the course."
    return AssignedExercise(
        name, notebook, f"# {task.title}", statement, IMPORTS, task.given, is_former=True
    )


def _of_tests() -> dict[str, AssignedExercise]:
    """The kernels of the tests before and after, whose notebooks are made for a release."""
    return {
        name: AssignedExercise(name, test, f"# {test}", f"## {TRANSFER[name].title}", IMPORTS)
        for test, name in TESTS.items()
    }


def _tasks_of(path: Path) -> list[AssignedExercise]:
    cells = _cells(path)
    title = next((text for kind, text, _ in cells if kind == "markdown"), path.stem)
    tasks: list[AssignedExercise] = []
    statement = ""
    above: list[str] = []
    for kind, text, tags in cells:
        found = _MARKER.search(text) if kind == "code" else None
        if found and found.group(1) in GRADED:
            context = "\n\n".join(above)
            tasks.append(
                AssignedExercise(found.group(1), path.stem, title, statement, context, text)
            )
            statement = ""
        elif kind == "markdown" and _begins_exercise(text, statement):
            statement = text
        elif kind == "code" and not tags & _TAGS_LEFT_OUT:
            above.append(text)
    return tasks


def _begins_exercise(text: str, before: str) -> bool:
    """Is this the section that states an exercise? If no heading says so, it is the first one."""
    return text.startswith("## Exercise") or (text.startswith("## ") and not before)


def _cells(path: Path) -> list[tuple[str, str, set[str]]]:
    """Kind, text and tags of each cell."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return [_cell(cell) for cell in notebook["cells"]]
    except OSError as problem:
        raise CannotGrade(f"{path} cannot be read: {problem.strerror}.") from None
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise CannotGrade(f"{path} is not a readable notebook: {problem}.") from None


def _cell(cell: dict[str, Any]) -> tuple[str, str, set[str]]:
    return cell["cell_type"], "".join(cell["source"]), set(cell.get("metadata", {}).get("tags", []))


# --- The notebook of a batch ----------------------------------------------------------------------


METADATA = "matmul_ladder"  # where a cell says which item it is
RESULTS = "results.jsonl"  # what the cells write, beside the notebook

NOTE = """\
*Made by `course.py grade`. Each code cell below passes one answer, as a string, to the examiner, \
which reads it and never runs it.*"""
SETUP = """\
from course_lib.grading.judging import batches

desk = batches.Desk({results!r}, seed={seed}, contexts={contexts})"""


@dataclass(frozen=True)
class Item:
    """One answer of a batch."""

    key: str  # a hash of all that its judgement depends on; see run_folder.key_of
    name: str  # "student::exercise", for people; clean
    exercise: str  # the id
    text: str  # the answer


def batch_notebook(tasks: Mapping[str, AssignedExercise], items: Sequence[Item], seed: int) -> str:
    """The notebook of a batch, as JSON. The items are answers to exercises of one notebook."""
    wanted = [
        task for task in tasks.values() if any(item.exercise == task.exercise for item in items)
    ]
    contexts = {task.exercise: task.context for task in wanted}
    setup = SETUP.format(results=RESULTS, seed=seed, contexts=ascii(contexts))
    cells = [_text(wanted[0].title), _text(NOTE), _code("setup", setup, {"setup": True})]
    for task in wanted:
        cells.append(_text(task.statement))
        cells += [_answer(item) for item in items if item.exercise == task.exercise]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    notebook = {
        "cells": cells,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook)


def _answer(item: Item) -> dict[str, Any]:
    """The only place where an answer meets a notebook: a string literal in plain ASCII."""
    call = f"desk.judge({item.key!r}, {item.exercise!r}, {item.text!a})"
    return _code(item.name, call, {"item": item.key})


def _code(name: str, source: str, about: dict[str, Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {METADATA: {"name": name, **about}},
        "outputs": [],
        "source": source,
    }


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


# --- What its cells call: judge an answer, note the judgement, say it -----------------------------
# This is imported in a kernel of its own. An answer arrives as a string and stays one.


# An answer can make findings long (a name of a million letters), but not the gradebook.
MOST_CHARACTERS = 2000
MOST_FINDINGS = 100
SHOWN = 3


class NotPassed(PlainError):
    """The answer did not pass; a notebook shows this as one line."""


def judge(exercise_id: str, text: str, seed: int, context: str = "") -> Judgement:
    """Examine an answer's text, which is never executed.

    `seed` draws the inputs and the shapes; `context` is the code that stands above the answer in
    the instructor's notebook.
    """
    exercise = TRANSFER.get(exercise_id, exercise_id)
    report = examine_source(exercise, text, seed=seed, context=context)
    return Judgement(
        exercise=exercise_id,
        findings=tuple(map(_plain, report.findings[:MOST_FINDINGS])),
        held=tuple(map(_shortened, report.held)),
        numbers_right=bool(report.numbers_right),
        right_where_even=bool(report.right_where_even),
        needs_review=bool(report.needs_review),
        shares=bool(report.shares),
        launched=_shortened(str(report.launched or "")),
    )


class Desk:
    """Judges the answers of one batch, one after the other."""

    def __init__(self, results: str, seed: int, contexts: Mapping[str, str]) -> None:
        """Judgements are appended to the file `results`; each exercise has a context."""
        self._results = Path(results).resolve()
        self._seed = seed
        self._contexts = contexts

    def judge(self, item: str, exercise_id: str, text: str) -> None:
        """Judge one answer, write the judgement down, and print the verdict.

        Raises NotPassed if it did not pass, so that nbval counts it as failed.
        """
        judgement = judge(exercise_id, text, self._seed, self._contexts[exercise_id])
        line = json.dumps({"item": item, "judgement": judgement.to_json()})
        with open(self._results, "a", encoding="ascii") as file:
            file.write(line + "\n")
        print(verdict(judgement))
        if has_errors(judgement):
            cause = next(finding for finding in judgement.findings if finding.severity == "error")
            raise NotPassed(f"{exercise_id}: not passed [{cause.code}]")


def has_errors(judgement: Judgement) -> bool:
    """Whether the answer did not pass."""
    return any(finding.severity == "error" for finding in judgement.findings)


def verdict(judgement: Judgement) -> str:
    """The verdict in a few lines, for the output of a cell."""
    passed = not has_errors(judgement)
    word = "passed" if passed else "needs review" if judgement.needs_review else "not passed"
    lines = [
        f"{judgement.exercise}: {word}",
        *(f"  holds: {sentence}" for sentence in judgement.held),
    ]
    for finding in judgement.findings[:SHOWN]:
        where = f"line {finding.line}" if finding.line is not None else "the answer"
        lines.append(f"  {where}: {CODES[finding.code].title} [{finding.code}]")
    # What a kernel prints has to be text that can be encoded.
    return "\n".join(lines).encode("utf-8", "backslashreplace").decode()


def _plain(found: Finding) -> Finding:
    message, hint = (
        in_words([_shortened(whole(said, audience)) for audience in AUDIENCES])
        for said in (found.message, found.hint)
    )
    return Finding(found.code, found.severity, message, found.line, hint)


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 2] + " …"
