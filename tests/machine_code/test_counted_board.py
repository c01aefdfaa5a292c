"""A real board: answers compiled, followed and ranked; made again, it has the same bytes."""

import json
from pathlib import Path

import pytest
from stored_answers import right_answers

from course_lib.commands import board
from course_lib.curriculum import TASKS

pytestmark = pytest.mark.slow

HEAD = "from numba import cuda, float32\nimport numpy as np\n"
HOSTILE = """\
import os
os.system("touch {there}")
from numba import cuda, float32

def planted(default=open("{there}", "w")):
    pass

"""


def folder_of(where: Path) -> Path:
    """A board of three rungs, and one that would like to run."""
    assert board.main([str(where), "--new"]) == 0
    settings = (where / "board.toml").read_text().replace("size = 256", "size = 128")
    (where / "board.toml").write_text(settings)
    for name in ("naive_by_rows", "matmul_coalesced"):
        (where / f"{name}.py").write_text(HEAD + TASKS[name].answer)
    text = next(text for (name, _), text in right_answers().items() if name == "matmul_2d")
    (where / "matmul_2d.py").write_text(text)
    planted = HOSTILE.format(there=where / "touched")
    (where / "hostile.py").write_text(planted + TASKS["matmul_coalesced"].answer)
    return where


def test_a_board_is_made_again_with_the_same_bytes(corpus, tmp_path, capsys):
    folder = folder_of(tmp_path)
    assert board.main([str(folder)]) == 0
    plain = json.loads((folder / "board.json").read_text())
    ranked = [entry["name"] for entry in plain["entries"] if not entry["refused"]]
    assert "hostile" in ranked
    order = [name for name in ranked if name != "hostile"]
    assert order == ["matmul_2d", "matmul_coalesced", "naive_by_rows"]
    assert not (folder / "touched").exists()
    assert board.main([str(folder), "--check"]) == 0
    (folder / "matmul_2d.py").write_text((folder / "matmul_2d.py").read_text() + "\n# later\n")
    capsys.readouterr()
    assert board.main([str(folder), "--check"]) == 1
    assert "look at matmul_2d." in capsys.readouterr().out
