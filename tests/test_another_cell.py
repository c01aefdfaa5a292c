"""What goes wrong in a function of another cell is told at its call, with the cell it stands in."""

import ast
import linecache

import pytest
from sampling import few

import course_lib
from course_lib.answer_text.context import HEAD
from course_lib.curriculum import TASKS
from course_lib.diagnosis.report import Report

HELPERS = """\
from numba import cuda


@cuda.jit(device=True)
def shifted(A, row, column):
    return A[row, column + 1]


@cuda.jit(device=True)
def put(C, row, column, value):
    if row <= C.shape[0] and column < C.shape[1]:
        C[row, column] = value


@cuda.jit(device=True)
def by_way_of(C, row, column, value):
    put(C, row, column, value)
"""
ANSWER = """\
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    a = {a}
    if y < C.shape[0] and x < C.shape[1]:
        {store}
"""
SUM = "    one = A[y, x] + B[y, x] if y < C.shape[0] and x < C.shape[1] else 0"
SLIPS = {
    "reads the neighbour": ("float32(0)", "C[y, x] = shifted(A, y, x) + B[y, x]", "shifted", 6),
    "lets a row too many pass": ("0", f"pass\n{SUM}\n    put(C, y, x, one)", "put", 8),
    "by way of another": ("0", f"pass\n{SUM}\n    by_way_of(C, y, x, one)", "put", 8),
}


def judged(slip: str, as_object: bool) -> tuple[Report, str]:
    a, store, function, _ = SLIPS[slip]
    text = ANSWER.format(a=a.replace("float32(0)", "0"), store=store)
    if not as_object:
        return course_lib.examine_source("mat_add", text, context=HELPERS, debug=True), function
    names = defined_in_cells({3: HELPERS, 4: text})
    return course_lib.examine("mat_add", names["mat_add"], debug=True), function


def defined_in_cells(cells: dict[int, str]) -> dict[str, object]:
    """What these cells of a notebook define, each run under its number."""
    names: dict[str, object] = {"__name__": "cells"}
    for number, cell in cells.items():
        file = f"<ipython-input-{number}-{len(cell)}>"
        linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
        exec(compile(cell, file, "exec"), names)
    return names


@pytest.mark.parametrize(("slip", "as_object"), few(
    [(slip, (n + k) % 2 == 0) for k in range(2) for n, slip in enumerate(SLIPS)], 3,
))  # fmt: skip
def test_it_is_told_where_the_answer_calls_it(slip: str, as_object: bool) -> None:
    report, function = judged(slip, as_object)
    told = [each for each in report.errors if f"In {function}, which is defined in" in each.message]
    place = "cell [3]" if as_object else "another cell"
    assert told and told[0] is report.errors[0]
    assert told[0].line == SLIPS[slip][3] and place in told[0].message


def test_a_function_of_the_same_cell_is_told_at_its_own_line() -> None:
    text = HELPERS + ANSWER.format(a="0", store="C[y, x] = shifted(A, y, x) + B[y, x]")
    error = course_lib.examine_source("mat_add", text, debug=True).errors[0]
    assert error.line == text.splitlines().index("    return A[row, column + 1]") + 1


def with_an_unknown_name(function: str, text: str) -> tuple[str, int]:
    """A cell in whose function the first statement uses a name that nobody knows, and its line."""
    tree = ast.parse(text)
    [found] = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function]
    line = found.body[1].lineno if isinstance(found.body[0], ast.Expr) else found.body[0].lineno
    lines = text.splitlines()
    lines[line - 1 : line - 1] = [f"{' ' * found.body[0].col_offset}unused = nowhere"]
    return "\n".join(lines), line


@pytest.mark.parametrize("as_object", [False, True])
@pytest.mark.parametrize(
    "task", [each for each in TASKS.values() if each.caller], ids=lambda each: each.id
)
def test_a_function_that_a_given_kernel_calls_is_told_at_its_own_line(task, as_object):
    text, line = with_an_unknown_name(task.id, HEAD + task.answer)
    if as_object:
        used = HEAD + "\n".join(TASKS[each].answer for each in task.uses)
        report = course_lib.examine(task, defined_in_cells({3: used, 4: text})[task.id], debug=True)
    else:
        report = course_lib.examine_source(task, text, debug=True)
    error = report.errors[0]
    assert (error.code, error.line) == ("compile-error", line), error
    assert "nowhere" in error.message
