"""Notebooks as different programs write them, for the tests of what reads them."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.grading.judging.batches import read_tasks
from course_lib.grading.records import (
    AssignedExercise,
    CellKind,
    Submission,
    SubmittedFile,
    TextCell,
)

REPOSITORY = Path(__file__).resolve().parents[2]


@cache
def tasks() -> dict[str, AssignedExercise]:
    return read_tasks(REPOSITORY / "exercises")


def notebook_file(folder: str, number: str) -> Path:
    return next((REPOSITORY / folder).glob(f"{number}_*.ipynb"))


@cache
def solution(exercise: str) -> str:
    """The answer cell of the course's own solution, without the marks of the solution."""
    for path in (REPOSITORY / "solutions").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            if text.startswith(f"# EXERCISE {exercise}\n"):
                lines = text.split("\n")
                return "\n".join(line for line in lines if "SOLUTION" not in line)
    raise KeyError(exercise)


def code(text: str) -> tuple[CellKind, str]:
    return "code", text


def prose(text: str) -> tuple[CellKind, str]:
    return "markdown", text


def handed_in(*files: Iterable[tuple[CellKind, str]]) -> Submission:
    """A submission of these notebooks, each a list of cells."""
    read = []
    for number, cells in enumerate(files, start=1):
        numbered = [TextCell(*each, place) for place, each in enumerate(cells, start=1)]
        read.append(SubmittedFile(f"notebook-{number}.ipynb", tuple(numbered)))
    return Submission("s12", "s12", tuple(read))


def saved(cells: Iterable[tuple[str, str]], **extra: Any) -> bytes:
    """A notebook file of format 4."""
    made = [{"cell_type": kind, "metadata": {}, "source": text} for kind, text in cells]
    notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook | extra).encode()


def as_colab_saves(notebook: dict[str, Any]) -> bytes:
    """One line of JSON per key, ids in the metadata, figures as text, and Colab's own keys."""
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        metadata = {"id": f"aB3-_{number:04}", "colab": {"base_uri": "https://localhost:8080/"}}
        metadata["outputId"] = "0f2a"
        changed = {"cell_type": cell["cell_type"], "metadata": metadata, "source": cell["source"]}
        if cell["cell_type"] == "code":
            printed = {"name": "stdout", "text": ["# EXERCISE matmul_tiled\n"]}
            changed["execution_count"] = number
            changed["outputs"] = [{"output_type": "stream", **printed}]
        cells.append(changed)
    metadata = {"colab": {"provenance": [], "gpuType": "T4"}, "accelerator": "GPU"}
    saved = {"nbformat": 4, "nbformat_minor": 0, "metadata": metadata, "cells": cells}
    return json.dumps(saved, indent=2, ensure_ascii=False).encode()


def as_vscode_saves(notebook: dict[str, Any]) -> bytes:
    """Sources as one string, languages in the metadata, outputs with several types of data."""
    cells = []
    for cell in notebook["cells"]:
        changed = {key: cell[key] for key in ("cell_type", "id")}
        changed["metadata"] = {"vscode": {"languageId": "python"}}
        changed["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            data = {"text/plain": ["<Figure>"], "image/png": "iVBORw0KGgo="}
            changed["execution_count"] = 7
            changed["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
        cells.append(changed)
    info = {"name": "python", "version": "3.12.1"}
    saved = {"cells": cells, "metadata": {"language_info": info}, "nbformat": 4}
    return json.dumps(saved, indent=1).encode()
