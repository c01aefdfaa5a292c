"""An answer with each size written out as a number passes no task, unless the task says it."""

import ast
import re

import pytest
from passing import without_cause
from sampling import few, marks

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.registry.entry_checks import axes, is_free
from course_lib.registry.exercise import Task
from course_lib.wording.sentences import facts_of

FREE = 64  # where a task's launches have several sizes, any single one is wrong
IMPORTS = "from numba import cuda, float32\n"
IN_WORDS = {"four": 4}


class _Numbers(ast.NodeTransformer):
    """Puts the usual size in the place of each `x.shape[0]`."""

    def __init__(self, task: Task) -> None:
        shapes = zip(task.parameters, task.shapes or ("M,K", "K,N", "M,N"), strict=True)
        self.sizes = {
            name: [FREE if is_free(each) else int(each) for each in axes(shape)]
            for name, shape in shapes
        }
        self.written: set[int] = set()

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(axis)):
                size = self.sizes[name][axis]
                self.written.add(size)
                return ast.copy_location(ast.Constant(size), node)
        return self.generic_visit(node)


def said_in(text: str) -> set[int]:
    """The numbers in a text, in digits or in words."""
    words = re.findall(r"\w+", text)
    return {int(each) for each in words if each.isdecimal()} | {
        IN_WORDS[each] for each in words if each in IN_WORDS
    }


def without_code(cell: str) -> str:
    tree = ast.parse(cell)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    return " ".join(ast.get_docstring(each) or "" for each in functions)


FAST_ONE_IN, SLOW_ONE_IN = 60, 6  # of the tasks; `--long` tries each of them
WITH_SIZES = [each for each in TASKS.values() if each.kind.is_launched and ".shape" in each.answer]


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, id=task.id, marks=marks(number, fast=FAST_ONE_IN, slow=SLOW_ONE_IN))
        for number, task in enumerate(WITH_SIZES)
    ],
)
def test_a_size_written_out_as_a_number_is_refused_or_said(task: Task) -> None:
    numbers = _Numbers(task)
    answer = ast.unparse(numbers.visit(ast.parse(task.answer)))
    assert numbers.written and ".shape" not in answer
    if numbers.written <= said_in(without_code(task.given)) and FREE not in numbers.written:
        return  # "for the 200 numbers of x"
    report = without_cause(task.id, IMPORTS + answer)
    codes = {each.code for each in report.findings}
    assert not report.passed and "compile-error" not in codes, str(report)


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    few(
        [
            ("running_totals", "range(0, x.shape[0], 4)", "range(0, 12, 4)", {"number": 12}),
            ("load_tile", "M.shape[1]", "5", {"number": 5, "axis": "M.shape[1]", "usual": 5}),
            ("four_sums", "A.shape[1]", "24", {"other": 40, "part": "every element"}),
            ("eight_by_eight", "A.shape[0]", "32", {"number": 32}),
        ],
        2,
    ),
)
def test_the_number_is_named_with_the_size_where_it_goes_wrong(name, old, new, told):
    answer = IMPORTS + TASKS[name].answer.replace(old, new)
    report = examine_source(name, answer)
    line = max(n for n, each in enumerate(answer.splitlines(), 1) if new in each)
    assert told.items() <= facts_of(report.errors[0].message).items(), str(report)
    assert report.errors[0].line == line, str(report)


def test_turns_that_follow_from_a_size_are_found_too() -> None:
    """Three chunks of four are 12 numbers."""
    turns = TASKS["running_totals"].answer.replace(
        "for start in range(0, x.shape[0], 4):\n",
        "for chunk in range(3):\n        start = 4 * chunk\n",
    )
    (error,) = examine_source("running_totals", IMPORTS + turns).errors
    assert error.code == "wrong-loop-bound"
    facts = facts_of(error.message)
    assert (facts["number"], facts["axis"], facts["usual"]) == (3, "x.shape[0]", 12)


def test_a_grid_stride_loop_of_four_turns_is_too_short_for_long_arrays() -> None:
    turns = """\
@cuda.jit
def grid_stride(x, y):
    for turn in range(4):
        i = cuda.grid(1) + turn * cuda.gridsize(1)
        if i < x.shape[0]:
            y[i] = 2 * x[i]
"""
    (error, *_) = examine_source("grid_stride", IMPORTS + turns).errors
    assert (error.code, error.line) == ("wrong-loop-bound", 4), error
