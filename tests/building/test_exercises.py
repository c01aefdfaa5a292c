"""Exercises come from solutions by taking lines out; solving puts them back."""

import pytest

from course_lib.building.notebook import (
    BuildError,
    answer_cells,
    code,
    exercise_of,
    is_subsequence,
    markdown,
    new,
    solve,
    source,
    stub,
)

FULL = '''\
# EXERCISE f
def f(A):
    """Do it."""
    row = 1
    # your code here: the column
    # BEGIN SOLUTION
    col = 2
    # END SOLUTION
    if row:
        # your code here
        # BEGIN SOLUTION
        A[row] = 1

        # END SOLUTION
        pass'''
LEFT = '''\
# EXERCISE f
def f(A):
    """Do it."""
    row = 1
    # your code here: the column
    if row:
        # your code here
        pass'''


def test_solving_only_adds_lines():
    assert is_subsequence(LEFT.splitlines(), FULL.splitlines())
    assert not is_subsequence(FULL.splitlines(), LEFT.splitlines())
    assert not is_subsequence(["b", "a"], ["a", "b"])
    assert not is_subsequence(["a", "a"], ["a", "b"])


@pytest.mark.parametrize(("old", "new", "why"), [
    ("    # END SOLUTION\n    if", "    if", "has no partner"),
    ("        # END SOLUTION\n", "", "has no `# END SOLUTION`"),
    ("    # BEGIN SOLUTION\n    col", "    col", "has no partner"),
    ("    # your code here: the column\n", "", "must be above it"),
    ("        # your code here\n", "    # your code here\n", "must be above it"),
    ("\n        pass", "", "not valid Python"),
])  # fmt: skip
def test_a_misplaced_marker_is_named(old, new, why):
    text = FULL.replace(old, new)
    assert text != FULL
    with pytest.raises(BuildError, match=why):
        stub(text)


@pytest.mark.parametrize("cell", [
    code("# BEGIN SOLUTION\n# END SOLUTION"),
    markdown("# BEGIN SOLUTION\n# END SOLUTION"),
    code(FULL, "solution"),
    code("course_lib.check('f', f)", "solution", "check"),
])  # fmt: skip
def test_answers_stand_in_answer_cells_only(cell):
    with pytest.raises(BuildError):
        exercise_of(new([cell]))


def test_two_answers_to_one_exercise_are_one_too_many():
    with pytest.raises(BuildError, match="two cells answer f"):
        answer_cells(new([code(FULL), code(FULL)]))


def test_a_solved_exercise_holds_the_solutions_answer(solution_notebook):
    exercise = new(exercise_of(solution_notebook))
    solved = solve(exercise, solution_notebook)
    assert source(answer_cells(solved)["mat_add"]) == source(
        answer_cells(solution_notebook)["mat_add"]
    )
    assert [c["id"] for c in solved["cells"]] == [c["id"] for c in exercise["cells"]]
