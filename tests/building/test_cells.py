"""Notebooks have one form, answers are taken out and put back, tasks have their places."""

import json
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.building.measured_tables import TABLES, filled
from course_lib.building.notebook import (
    BuildError,
    Cell,
    answer_cells,
    canonical,
    code,
    dumps,
    exercise_of,
    is_subsequence,
    markdown,
    new,
    read,
    solve,
    source,
    stub,
    write_text,
)
from course_lib.building.placed import with_placed
from course_lib.building.project import repository_of
from course_lib.measurements import load

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30)
CELLS = st.lists(st.builds(
    lambda make, lines, name: make("\n".join(lines), id=name), st.sampled_from([code, markdown]),
    st.lists(TEXT, max_size=4), st.sampled_from(["a", "a", "b", "", "not valid!"]),
), max_size=6)  # fmt: skip


@pytest.mark.slow
@given(CELLS)
def test_canonical_form_is_valid_stable_and_jupyters_own(cells):
    text = dumps(canonical(new(cells)))
    notebook = json.loads(text)
    assert dumps(canonical(notebook)) == text
    as_node = nbformat.from_dict(notebook)
    nbformat.validate(as_node)
    assert nbformat.writes(as_node) + "\n" == text
    assert len({cell["id"] for cell in notebook["cells"]}) == len(cells)


def test_what_front_ends_add_is_dropped_and_our_tags_stay():
    cell = code("x = 1  \n\n", "count", "count")
    cell["metadata"] |= {"colab": {"base_uri": "…"}, "executionInfo": {"elapsed": 3}}
    notebook = new([cell]) | {"metadata": {"language_info": {"version": "3.13.1"}}}
    tidy = canonical(notebook)
    assert tidy["cells"][0]["metadata"] == {"tags": ["count"]}
    assert source(tidy["cells"][0]) == "x = 1"
    assert tidy["metadata"]["colab"]["gpuType"] == "T4"
    assert tidy["metadata"]["language_info"] == {"name": "python"}


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"nbformat": 3, "cells": []}', "<html>"])
def test_a_file_that_is_no_notebook_is_named(tmp_path, text):
    path = tmp_path / "broken.ipynb"
    path.write_text(text)
    with pytest.raises(BuildError, match=r"broken\.ipynb cannot be read"):
        read(path)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder" / "file.txt"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert [each.name for each in path.parent.iterdir()] == ["file.txt"]


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


def test_solving_only_adds_lines():
    full, left = FULL.splitlines(), [*FULL.splitlines()[:5], "    if row:", "        pass"]
    assert is_subsequence(left, full) and not is_subsequence(full, left)
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
    answers = [source(answer_cells(each)["mat_add"]) for each in (solved, solution_notebook)]
    assert answers[0] == answers[1]
    assert [c["id"] for c in solved["cells"]] == [c["id"] for c in exercise["cells"]]


def lesson(*placed: str) -> list[Cell]:
    lines = [code(f"# TASK {name}", id=f"t{n}") for n, name in enumerate(placed)]
    imports = "from numba import cuda, float32\nfrom course_lib import figures"
    return [code(imports, id="i"), *lines, markdown("Next.", id="n")]


@pytest.mark.parametrize(("placed", "number", "words"), [
    (("put_eight",), "00", "there is no task put_eight"),
    (("put_seven", "put_seven"), "00", "is there twice"),
    (("put_seven",), "01", "belongs to lesson 00"),
])  # fmt: skip
def test_a_task_that_cannot_stand_there_is_told(placed, number, words):
    with pytest.raises(BuildError, match=words):
        with_placed(lesson(*placed), number)


DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_table_stands_in_a_page_with_its_label_and_others_are_refused() -> None:
    with pytest.raises(BuildError, match="'bnaks'; there are: tensor-cores"):
        filled("<!-- MEASURED bnaks -->\n<!-- END MEASURED -->")
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for name, table in TABLES.items():
        assert f"<!-- MEASURED {name} -->\n{table()}\n<!-- END MEASURED -->" in pages
        assert table().startswith(load("H200").device)


SPELLINGS = """
    https://github.com/some-one/a.course https://github.com/some-one/a.course.git
    https://github.com/some-one/a.course/ git@github.com:some-one/a.course.git
""".split()


def test_githubs_spellings_mean_one_repository_and_other_addresses_none():
    for address in (*SPELLINGS, "ssh://git@github.com/some-one/a.course.git\n"):
        assert repository_of(address) == "some-one/a.course"
    others = "https://gitlab.com/a/b /home/a/b https://github.com/a github.com/a/b/c".split()
    assert [repository_of(address) for address in ("", *others)] == [None] * 5
