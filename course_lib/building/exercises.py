"""Exercises from solutions: what stands between the markers is taken out, and nothing else.

A solution's answer cell holds, at each place that the student has to fill:

    # your code here
    # BEGIN SOLUTION
    …
    # END SOLUTION

The exercise keeps the first line. So solving an exercise only adds lines, and `is_subsequence`
proves it for every pair.
"""

from __future__ import annotations

import ast
import re

from course_lib.building.notebook import BuildError, Cell, Notebook, source, tagged, tags

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
    """The exercise as a student would hand it in who wrote exactly what the solution has."""
    answers = answer_cells(solution)
    cells = [
        {**cell, "source": source(answers[name])} if (name := exercise_id(cell)) else cell
        for cell in exercise["cells"]
    ]
    return {**exercise, "cells": cells}


def is_subsequence(fewer: list[str], more: list[str]) -> bool:
    """Whether `more` comes from `fewer` by adding lines alone."""
    rest = iter(more)
    return all(line in rest for line in fewer)


def _stub_cell(cell: Cell) -> Cell:
    if BEGIN not in source(cell) and END not in source(cell):
        return cell
    if cell["cell_type"] != "code" or exercise_id(cell) is None:
        raise BuildError("solution markers stand in a cell that has no `# EXERCISE` line")
    try:
        return {**cell, "source": stub(source(cell))}
    except BuildError as error:
        raise BuildError(f"the answer to {exercise_id(cell)}: {error}") from error


def _require_prompt(given: list[str], line: str, number: int) -> None:
    """The student must see where to write: the prompt stands above, at the same indent."""
    indent = line[: len(line) - len(line.lstrip())]
    if not given or not given[-1].startswith(indent + PROMPT):
        raise BuildError(f"line {number}: `{PROMPT}` must stand above, at the same indent")


def _parsed(text: str) -> str:
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise BuildError(f"without the solution it is not valid Python: {error.msg}") from error
    return text
