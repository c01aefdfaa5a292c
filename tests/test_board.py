"""The board: what may enter, what is told of the rest, and that its words are the measurement's."""

import json
import re
from pathlib import Path

import pytest

from course_lib.board import entries
from course_lib.board.entries import BoardEntry, BoardSettings, board_text, read_board
from course_lib.board.page import page_of, trust
from course_lib.commands import board
from course_lib.measurements import counted_cost
from course_lib.measurements.counted_cost import COSTS, correlation, faster_half

WRONG_SETTINGS = {
    "ladder = 'sums'": "ladder in",
    "size = 16": "size in",
    "size = true": "must be of type int",
    "seed = -1": "seed in",
    "cc = '9'": "cc of",
    "time = 1": "has a key 'time'; the possible keys are title, ladder, seed, size, cc",
    "size = ": "can't be read",
}


@pytest.mark.parametrize("text", WRONG_SETTINGS)
def test_settings_that_cannot_be_used_are_told_in_a_sentence(text, tmp_path, capsys):
    (tmp_path / "board.toml").write_text(text)
    assert board.main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert WRONG_SETTINGS[text] in said and said.count("\n") == 1


def test_a_folder_without_settings_says_so_and_new_ones_can_be_read(tmp_path, capsys):
    assert board.main([str(tmp_path)]) == 2
    assert "board.toml is missing" in capsys.readouterr().err
    assert board.main([str(tmp_path / "new"), "--new"]) == 0
    assert entries.read_settings(tmp_path / "new") == BoardSettings()
    assert board.main([str(tmp_path / "new"), "--new"]) == 2


NOT_RANKED = {
    "nothing": (b"x = 1\n", "An entry must define one of these functions: naive_by_rows"),
    "two": (b"def matmul_tiled():\n    pass\ndef matmul_1d():\n    pass\n", "must define one of"),
    "in-halves": (b"def matmul_mma(A, B, C):\n    pass\n", "must define one of these"),
    "in-words": (b"# def matmul_tiled(A, B, C) is left to others\n", "must define one of these"),
    "empty": (b"", "must have from 1 to"),
    "bytes": (b"\xff\xfe", "not UTF-8"),
    "long": (b"#" * 100_001, "must have from 1 to"),
    "a b": (b"x = 1\n", "A name may have at most"),
    "wrong": (
        b"from numba import cuda\n@cuda.jit\ndef matmul_coalesced(A, B, C):\n    C[0, 0] = 1\n",
        "The kernel is wrong"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_RANKED)
def test_what_is_not_ranked_is_told_why(name: str, tmp_path: Path) -> None:
    text, why = NOT_RANKED[name]
    path = tmp_path / f"{name}.py"
    path.write_bytes(text)
    assert why in entries.entry_of(path, BoardSettings()).refused


def test_a_link_elsewhere_is_not_read(tmp_path):
    (tmp_path / "secret").write_text("def matmul_tiled(A, B, C):\n    pass\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "secret")
    assert "from 1 to" in entries.entry_of(tmp_path / "link.py", BoardSettings()).refused


def test_the_cheapest_stands_first_and_the_refused_last() -> None:
    some = [
        BoardEntry("dear", "0", "matmul_1d", "", 800, 400, 100, "ptxas"),
        BoardEntry("no", "0", "", "Why <not>"),
        BoardEntry("cheap", "0", "matmul_2d", "", 400, 0, 100, "ptxas"),
    ]
    settings, ranked = read_board(board_text(BoardSettings(title="<b>"), some))
    costs = {entry.name: entry.cost for entry in ranked}
    assert list(costs.items()) == [("cheap", 200), ("dear", 400), ("no", 0)]
    page = page_of(settings, ranked)
    assert "<h1>&lt;b&gt;</h1>" in page and "Why &lt;not&gt;" in page
    assert "Content-Security-Policy" in page and "<script" not in page
    assert json.loads(board_text(settings, ranked)) == json.loads(board_text(settings, some))


def test_what_the_page_promises_is_what_was_measured():
    costs = counted_cost.load()
    assert len(costs.kernels) == len(costs.written) == 51
    assert f"{correlation(costs.kernels, counted_cost.SUM):.2f}" in trust()
    assert correlation(costs.kernels, counted_cost.SUM) >= 0.9  # else there would be no board
    assert "9 of 1,024 pairs" in trust()
    text = (Path(__file__).parents[1] / "docs" / "board.md").read_text(encoding="utf-8")
    shown = re.findall(r"\| \**([01]\.\d{3})\** \| \**([01]\.\d{3})\** \|", text)
    whose = [(costs.kernels, by) for by in COSTS if by != "wavefronts"]
    whose.append((costs.written, "L1 and shared memory"))
    pairs = [(correlation(all_, by), correlation(faster_half(all_), by)) for all_, by in whose]
    assert shown == [(f"{whole:.3f}", f"{half:.3f}") for whole, half in pairs]
