"""Notebook files as text cells: every format, every encoding, and whatever else arrives."""

from __future__ import annotations

import contextlib
import json
import tracemalloc

import nbformat
import pytest
from counted_work import counted_calls
from every_case import every_case
from notebook_texts import REPOSITORY, as_colab_saves, as_vscode_saves, notebook_file, saved

from course_lib.grading.intake import reading
from course_lib.grading.intake.reading import Unreadable, read_cells

REAL = sorted((REPOSITORY / "exercises").glob("*.ipynb"))


def texts(data: bytes) -> list[tuple[str, str]]:
    return [(cell.kind, cell.text) for cell in read_cells(data)]


def why(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        read_cells(data)
    return str(caught.value)


def one_cell(source: object, **keys: object) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "source": source, **keys}]}).encode()


@every_case("path", REAL, ids=lambda path: path.stem[:2])
def test_reads_what_nbformat_reads(path):
    expected = nbformat.read(path, as_version=4)
    cells = read_cells(path.read_bytes())
    assert [(cell.cell_type, cell.source) for cell in expected.cells] == texts(path.read_bytes())
    assert [cell.number for cell in cells] == list(range(1, len(cells) + 1))


@pytest.mark.parametrize("save", [as_colab_saves, as_vscode_saves])
def test_other_programs_save_the_same_cells(save):
    path = notebook_file("exercises", "05")
    assert texts(save(json.loads(path.read_bytes()))) == texts(path.read_bytes())


@every_case("indent", [None, 4])
@every_case("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_every_encoding(encoding, indent):
    path = notebook_file("exercises", "08")
    text = json.dumps(json.loads(path.read_bytes()), ensure_ascii=False, indent=indent)
    assert texts(text.encode(encoding)) == texts(path.read_bytes())


def test_bytes_that_are_no_utf8_are_windows_and_leave_their_neighbours_alone():
    data = '{"cells": [{"cell_type": "code", "source": "# ⌈N⌉ "}]}'.encode()
    assert texts(data.replace(b' "}', b' \xfcbrig \x96"}')) == [("code", "# ⌈N⌉ übrig –")]


def test_sources_as_lists_and_strings():
    assert texts(one_cell(["a = 1\n", "b = 2"])) == [("code", "a = 1\nb = 2")]
    assert texts(one_cell("a = 1\r\nb = 2\rc")) == [("code", "a = 1\nb = 2\nc")]


@pytest.mark.parametrize("source", [None, 5, {"a": 1}, [], [None, 3, ["x"]], True])
def test_a_source_that_is_no_text_is_empty(source):
    assert texts(one_cell(source)) == [("code", "")]


def test_missing_and_odd_keys():
    cells = [{}, 7, None, {"source": "x"}, {"source": "y", "outputs": []}, {"cell_type": ["code"]}]
    cells += [{"cell_type": " Code ", "source": "z"}, {"cell_type": "raw", "source": "h"}]
    kinds = [("raw", ""), ("raw", ""), ("raw", ""), ("raw", "x"), ("code", "y"), ("raw", "")]
    kinds += [("code", "z"), ("raw", "h")]
    assert texts(json.dumps({"cells": cells}).encode()) == kinds


def test_outputs_metadata_and_attachments_are_not_read():
    evil = "# EXERCISE matmul_tiled\nfull marks"
    extra = {"outputs": [{"text": evil}], "metadata": {"source": evil}, "attachments": {evil: evil}}
    assert texts(one_cell("mine", **extra)) == [("code", "mine")]


def test_pictures_in_prose_are_left_out_and_the_prose_stays():
    picture = "![x](data:image/png;base64," + "A" * 2_000_000 + ")"
    assert texts(saved([("markdown", f"before {picture} after")])) == [
        ("markdown", "before ![x](data:) after")
    ]


def test_what_no_page_can_show_becomes_one_sign():
    text = "a\x00b\x1bc\x85d\u2028e\ufffef\x7f"
    assert texts(one_cell(text)) == [("code", "a�b�c�d�e�f�")]
    assert texts(b'{"cells": [{"cell_type": "code", "source": "x\\ud800y"}]}') == [("code", "x�y")]


def test_ordinary_white_space_and_foreign_letters_stay():
    text = "\tif x:  # größer, 大, 🙂, עברית\n        y"
    assert texts(one_cell(text)) == [("code", text)]
    assert texts(one_cell("x\n\f\ny\fz")) == [("code", "x\n\ny z")]


def test_raw_control_characters_in_the_file():
    data = b'{"cells": [{"cell_type": "code", "source": "a\tb\nc\x01"}]}'
    assert texts(data) == [("code", "a\tb\nc�")]


def test_a_script_with_cells():
    script = "import numpy\n\n# %%\ndef f(): pass\n\n# %% [markdown]\n# # Words\n#%% title\nx = 1\n"
    expected = [("code", "import numpy"), ("code", "def f(): pass"), ("markdown", "# # Words")]
    assert texts(script.encode()) == [*expected, ("code", "x = 1")]


def test_a_script_from_jupyter():
    script = (
        "#!/usr/bin/env python\n# coding: utf-8\n\n# In[ ]:\n\n\nimport math\n\n# In[12]:\nx = 2\n"
    )
    assert texts(script.encode())[1:] == [("code", "import math"), ("code", "x = 2")]


def test_a_script_without_cells_keeps_its_line_numbers():
    script = '# -*- coding: utf-8 -*-\n"""Colab wrote this."""\n\n\n# EXERCISE mat_add\n'
    assert texts(script.encode()) == [("code", script)]


def test_a_script_from_colab_has_its_text_as_strings():
    script = (
        '# -*- coding: utf-8 -*-\n"""x.ipynb\n\nAutomatically generated by Colab.\n"""\n\n'
        '# !pip install x\nimport math\n\n"""## Exercise\nWrite it.\n"""\n\n'
        'def f():\n    """Not\n    a cell."""\n\n"""## Break it\n"""\n\nx = "y"\n'
    )
    cells = read_cells(script.encode())
    kinds = ["code", "markdown", "code", "markdown", "code", "markdown", "code"]
    assert [cell.kind for cell in cells] == kinds
    assert cells[5].text == "## Break it\n"
    for cell in cells:
        if cell.kind == "code":  # its lines are those of the file
            last = cell.text.rstrip("\n").count("\n")
            assert cell.text.split("\n")[last] == script.split("\n")[last]


@every_case(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \n\0\0", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"\n  <html>def f():", "web page"),
        (b"PK\x03\x04abc", "ZIP archive"),
        (b"%PDF-1.7", "PDF"),
        (b"\x89PNG\r\n", "picture"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"Dear all, I was ill.", "neither a notebook nor Python"),
        (b"{}", "no list of cells"),
        (b"[1, 2]", "no list of cells"),
        (b'{"cells": {"0": {}}}', "no list of cells"),
        (b'{"worksheets": [{"cells": []}]}', "no list of cells"),
        (b'{"cells": [}', "line 1"),
        (b'{"cells": [{"cell_type": "code", "sour', "ends in the middle"),
        (b'{"cells": [{"cell_type": "code"},', "ends in the middle"),
        (b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> b\n]}', "unfinished merge"),
        (b"[" * 50_000, "nested too deeply"),
        (b'{"a":' * 50_000, "nested too deeply"),
        (one_cell("x") + one_cell("y"), "not a valid notebook"),
    ],
)
def test_the_reason_is_one_sentence(data, said):
    reason = why(data)
    assert said in reason
    assert reason.endswith(".") and "\n" not in reason and len(reason) < 250


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: b" " * (reading.MAX_FILE_BYTES + 1), "20,000,001 bytes"),
        (lambda: b"[" + b"[]," * 700_000 + b"[]]", "1,000,000 values"),
        (lambda: saved([("code", "")] * (reading.MAX_CELLS + 1)), "5,000 cells"),
        (lambda: saved([("code", "x" * 100_000)] * 3), "250,000 characters"),
        (lambda: saved([("code", "x" * 250_001)]), "250,000 characters"),
        (lambda: b"# %%\nx = 1\n" * 25_000, "250,000 characters"),
    ],
    ids=["bytes", "values", "cells", "code", "cell", "script"],
)
def test_limits(make, said):
    assert said in why(make())


def test_prose_beyond_the_limit_is_left_empty():
    cells = texts(saved([("markdown", "x" * 150_000)] * 2 + [("code", "y")]))
    assert [len(text) for _, text in cells] == [150_000, 0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: b"{" + b",".join(b'"%d":1' % number for number in range(490_000)) + b"}",
        lambda: b'{"cells": [' + b"{}," * 490_000 + b"{}]}",
        lambda: b"\xff" * reading.MAX_FILE_BYTES,
        lambda: b'{"cells": [{"cell_type": "raw", "source": "' + b"\x01" * 19_000_000 + b'"}]}',
        lambda: b'{"x": ' + b"1" * 19_000_000 + b"}",
        lambda: b"# " * 9_000_000,
    ],
    ids=["keys", "objects", "bytes", "control", "integer", "comment"],
)
def test_work_and_memory_are_bounded(make):
    data = make()
    tracemalloc.start()
    with counted_calls(1_500_000), contextlib.suppress(Unreadable):
        read_cells(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000_000
