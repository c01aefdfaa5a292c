"""One canonical form: whatever a front end does to a file, the same text comes out."""

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.building.notebook import (
    BuildError,
    canonical,
    code,
    dumps,
    markdown,
    new,
    read,
    source,
    write_text,
)

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
