"""Makes a batch notebook: the instructor's own, with one cell for each answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.grading.judging.assignment import Task

METADATA = "matmul_ladder"  # where a cell says which item it is
RESULTS = "results.jsonl"  # what the cells write, beside the notebook

NOTE = """\
*Made by `course.py grade`. Each code cell below hands one answer, as a string, to the examiner, \
which reads it and never runs it.*"""
SETUP = """\
from course_lib.grading.judging import batches

desk = batches.Desk({results!r}, seed={seed}, contexts={contexts})"""


@dataclass(frozen=True)
class Item:
    """One answer of a batch.

    Attributes:
        number: its place in the batch.
        name: "student::exercise", for people; clean.
        exercise: the id.
        text: the answer.
    """

    number: int
    name: str
    exercise: str
    text: str


def batch_notebook(tasks: Mapping[str, Task], items: Sequence[Item], seed: int) -> str:
    """The notebook of a batch, as JSON. The items are answers to exercises of one notebook."""
    wanted = [
        task for task in tasks.values() if any(each.exercise == task.exercise for each in items)
    ]
    contexts = {task.exercise: task.context for task in wanted}
    setup = SETUP.format(results=RESULTS, seed=seed, contexts=ascii(contexts))
    cells = [_text(wanted[0].title), _text(NOTE), _code("setup", setup, {"setup": True})]
    for task in wanted:
        cells.append(_text(task.statement))
        cells += [_answer(each) for each in items if each.exercise == task.exercise]
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
    call = f"desk.judge({item.number}, {item.exercise!r}, {item.text!a})"
    return _code(item.name, call, {"item": item.number})


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
