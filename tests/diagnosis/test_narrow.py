"""A product of one row and one column: judged at its own sizes, told which steps are missing."""

from __future__ import annotations

import pytest
from sampling import few

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.problems.products import NarrowProduct
from course_lib.problems.table import problem_of

TASK = TASKS["one_dot_product"]
HEAD = "from numba import cuda, float32\n\n\n"


@pytest.mark.parametrize("seed", [0, 5])
def test_every_launch_keeps_the_sizes_that_are_numbers(seed):
    problem = problem_of(TASK)
    assert isinstance(problem, NarrowProduct)
    shapes = [each.shape for each in problem.cases(problem.exact(48), seed)]
    assert {(M, N) for M, N, _ in shapes} == {(1, 1)}
    assert len({K for _, _, K in shapes}) > 3
    assert problem_of(TASKS["naive_by_rows"]).exact(48) == (48, 48, 48)


@pytest.mark.parametrize(("old", "new", "code", "told"), few([
    ("range(A.shape[1])", "range(3, A.shape[1])", "wrong-loop-bound", "instead of `3`"),
    ("total += ", "total = ", "accumulator-error",
     "the last term is there, and the rest is missing"),
    ("range(A.shape[1])", "range(K)", "compile-error", "The name K is not defined"),
    ("range(A.shape[1])", "range(A.shape[1] - 2)", "wrong-loop-bound", "instead of `2`"),
], 3))  # fmt: skip
def test_what_is_missing_is_named(old, new, code, told):
    answer = TASK.answer.replace(old, new)
    assert answer != TASK.answer
    for seed in (0, 5):
        found = examine_source(TASK.id, HEAD + answer, seed=seed).errors[0]
        assert found.code == code and told in found.message


def test_a_size_that_no_kernel_is_given_is_asked_for_in_a_shape():
    answer = TASK.answer.replace("A.shape[1]", "K")
    assert "Which entry of a .shape is K?" in examine_source(TASK.id, HEAD + answer).errors[0].hint
    answer = TASK.answer.replace("A.shape[1]", "lenght")
    assert "mistyped" in examine_source(TASK.id, HEAD + answer).errors[0].hint


def test_what_a_task_says_of_wrong_answers_holds_for_a_kernel_too():
    task = TASKS["outer_product"]
    answer = task.answer.replace("a[row] * b[column]", "a[row] + b[column]")
    found = examine_source(task.id, HEAD + answer).errors[0]
    assert found.code == "wrong-formula"
    assert found.message.startswith("C holds the wrong numbers: your kernel adds `a[row]`")
