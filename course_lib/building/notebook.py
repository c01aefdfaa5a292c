"""Notebooks as plain data: read, searched, written in one form; and exercises from solutions.

A notebook has many spellings in JSON; the course keeps one, so that a change in a file is a
change in the lesson. Sources, ids and metadata are canonical. Outputs are carried along.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Notebook = dict[str, Any]

# Colab reads `accelerator` and `colab`, everyone else reads `kernelspec`.
METADATA: dict[str, Any] = {
    "accelerator": "GPU",
    "colab": {"gpuType": "T4", "provenance": []},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class BuildError(Exception):
    """Something that only an author can mend; the message names the file and the cell."""


def read(path: Path) -> Notebook:
    """The notebook at a path.

    Raises:
        BuildError: if it is not a notebook of format 4.
    """
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if notebook["nbformat"] != 4 or not isinstance(notebook["cells"], list):
            raise ValueError("it is not a notebook of format 4")
    except (ValueError, KeyError, TypeError) as error:
        raise BuildError(f"{path.name} cannot be read: {error}") from error
    result: Notebook = notebook
    return result


def source(cell: Cell) -> str:
    """The text of a cell; files hold it as a string or as a list of lines."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def tags(cell: Cell) -> list[str]:
    return sorted(set(cell.get("metadata", {}).get("tags", [])))


def code_cells(notebook: Notebook) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def markdown_cells(notebook: Notebook) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]


def tagged(notebook: Notebook, tag: str) -> list[Cell]:
    return [cell for cell in notebook["cells"] if tag in tags(cell)]


def markdown(text: str, *tags: str, id: str = "") -> Cell:
    """A new markdown cell."""
    return {"cell_type": "markdown", "id": id, "metadata": {"tags": list(tags)}, "source": text}


def code(text: str, *tags: str, id: str = "") -> Cell:
    """A new code cell that has not been run."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": id,
        "metadata": {"tags": list(tags)},
        "outputs": [],
        "source": text,
    }


def with_outputs_of(stored: Mapping[str, Cell], cell: Cell) -> Cell:
    """A new cell from the build, with the outputs of the former one of its id and text."""
    before = stored.get(cell["id"])
    if before is None or source(before).strip() != source(cell).strip():
        return cell
    return cell | {key: before[key] for key in ("execution_count", "outputs") if key in before}


def new(cells: Iterable[Cell]) -> Notebook:
    return {"cells": list(cells), "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def canonical(notebook: Notebook) -> Notebook:
    """The same notebook in the course's form; cells keep their ids where they are valid."""
    cells = [_canonical_cell(cell) for cell in notebook["cells"]]
    for cell, name in zip(cells, _stable_ids(cells), strict=True):
        cell["id"] = name
    _open_clean(cells)
    return new(cells)


def _open_clean(cells: list[Cell]) -> None:
    """Above a lesson's first task the cells that have to be run do not look as if they had been.

    What the others show stays, for whoever only reads; a student's own copy has none of it.
    """
    first = next((number for number, cell in enumerate(cells) if "task" in tags(cell)), 0)
    for cell in cells[:first]:
        if cell["cell_type"] == "code" and ("setup" in tags(cell) or not cell["outputs"]):
            cell |= {"execution_count": None, "outputs": []}


def without_outputs(notebook: Notebook) -> Notebook:
    """The same notebook as if it had never been run."""
    fresh: Cell = {"execution_count": None, "outputs": []}
    cells = [cell | fresh if cell["cell_type"] == "code" else cell for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


def dumps(notebook: Notebook) -> str:
    """The file's text: what Jupyter itself writes, so that saving there changes little."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _canonical_cell(cell: Cell) -> Cell:
    text = source(cell).strip("\n")
    metadata = {"tags": tags(cell)} if tags(cell) else {}
    if cell["cell_type"] != "code":
        return {
            "cell_type": cell["cell_type"],
            "id": cell.get("id", ""),
            "metadata": metadata,
            "source": text.rstrip().splitlines(keepends=True),
        }
    tidy = "\n".join(line.rstrip() for line in text.split("\n"))
    return {
        "cell_type": "code",
        "execution_count": cell.get("execution_count"),
        "id": cell.get("id", ""),
        "metadata": metadata,
        "outputs": cell.get("outputs", []),
        "source": tidy.splitlines(keepends=True),
    }


def _stable_ids(cells: list[Cell]) -> Iterator[str]:
    """Each cell's own id if it has a valid one that is not taken, else one made from its text."""
    taken: set[str] = set()
    for cell in cells:
        name = cell["id"]
        if not isinstance(name, str) or not _ID.fullmatch(name) or name in taken:
            name = _unused(hashlib.sha256(source(cell).encode()).hexdigest()[:8], taken)
        taken.add(name)
        yield name


def _unused(name: str, taken: set[str]) -> str:
    candidate, count = name, 2
    while candidate in taken:
        candidate, count = f"{name}-{count}", count + 1
    return candidate


# --- Exercises from solutions: only what is between the markers is taken out ----------------------
# A solution's answer cell holds, at each place that the student has to fill:
#
#     # your code here
#     # BEGIN SOLUTION
#     …
#     # END SOLUTION
#
# The exercise keeps the first line. So solving an exercise only adds lines, and `is_subsequence`
# proves it for every pair.


BEGIN, END, PROMPT = "# BEGIN SOLUTION", "# END SOLUTION", "# your code here"
_MARKER = re.compile(r"# EXERCISE ([A-Za-z_]\w*)")


def exercise_id(cell: Cell) -> str | None:
    """The exercise that a cell answers, by its first line."""
    lines = source(cell).splitlines()
    found = _MARKER.fullmatch(lines[0]) if lines and cell["cell_type"] == "code" else None
    return found.group(1) if found else None


def answer_cells(notebook: Notebook) -> dict[str, Cell]:
    """The answer cells of a notebook by exercise, whatever a front end did to their metadata."""
    found: dict[str, Cell] = {}
    for cell in notebook["cells"]:
        name = exercise_id(cell)
        if name in found:
            raise BuildError(f"two cells answer {name}")
        if name:
            found[name] = cell
    return found


def exercise_of(solution: Notebook) -> list[Cell]:
    """The cells of the exercise that belongs to a solution.

    Raises:
        BuildError: if a marker is missing or misplaced, or what is left is not valid Python.
    """
    kept = [cell for cell in solution["cells"] if "solution" not in tags(cell)]
    for cell in tagged(solution, "solution"):
        if exercise_id(cell) or "check" in tags(cell):
            raise BuildError("an answer cell or a check cell cannot be tagged `solution`")
    return [_stub_cell(cell) for cell in kept]


def stub(text: str) -> str:
    """The text of an answer cell as the student gets it.

    Raises:
        BuildError: see `exercise_of`.
    """
    given: list[str] = []
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        mark = line.strip()
        if mark == (BEGIN if inside else END):
            raise BuildError(f"line {number}: `{mark}` has no partner")
        if mark == BEGIN:
            _require_prompt(given, line, number)
            inside = True
        elif mark == END:
            inside = False
        elif not inside:
            given.append(line)
    if inside:
        raise BuildError(f"`{BEGIN}` has no `{END}`")
    return _parsed("\n".join(given))


def solve(exercise: Notebook, solution: Notebook) -> Notebook:
    """The exercise as a student would hand it in who wrote exactly the solution."""
    answers = answer_cells(solution)
    cells = [
        {**cell, "source": source(answers[name])} if (name := exercise_id(cell)) else cell
        for cell in exercise["cells"]
    ]
    return {**exercise, "cells": cells}


def is_subsequence(fewer: list[str], more: list[str]) -> bool:
    """Whether `more` comes from `fewer` only by adding lines."""
    rest = iter(more)
    return all(line in rest for line in fewer)


def _stub_cell(cell: Cell) -> Cell:
    if BEGIN not in source(cell) and END not in source(cell):
        return cell
    if cell["cell_type"] != "code" or exercise_id(cell) is None:
        raise BuildError("solution markers are in a cell that has no `# EXERCISE` line")
    try:
        return {**cell, "source": stub(source(cell))}
    except BuildError as error:
        raise BuildError(f"the answer to {exercise_id(cell)}: {error}") from error


def _require_prompt(given: list[str], line: str, number: int) -> None:
    """The student must see where to write: the prompt has to be above, at the same indent."""
    indent = line[: len(line) - len(line.lstrip())]
    if not given or not given[-1].startswith(indent + PROMPT):
        raise BuildError(f"line {number}: `{PROMPT}` must be above it, with the same indentation")


def _parsed(text: str) -> str:
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise BuildError(f"without the solution it is not valid Python: {error.msg}") from error
    return text
