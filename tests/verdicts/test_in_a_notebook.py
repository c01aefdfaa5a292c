"""In a real kernel: the verdict is an output, said once, and only a student's progress is kept."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).parents[2]
HEAD = "from numba import cuda, float32\nimport course_lib\ncourse_lib.start('00')"
RIGHT = "@cuda.jit\ndef put_seven(out):\n    # TASK\n    out[2] = 7\n"
WRONG = "@cuda.jit\ndef mat_add(A, B, C):\n    x, y = cuda.grid(2)\n    C[y, x] = A[y, x]\n"
CELLS = [
    HEAD, RIGHT, "course_lib.check('put_seven', put_seven)",
    WRONG, "course_lib.check('mat_add', mat_add)",
]  # fmt: skip
OF_TESTS = ("CI", "PYTEST_VERSION", "PYTEST_CURRENT_TEST")


def run(folder: Path, *cells: str, **changes: str) -> Any:
    """The notebook after a run in a kernel that no test seems to have started."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    known = {name: value for name, value in os.environ.items() if name not in OF_TESTS}
    environment = known | {
        "PYTHONPATH": str(ROOT), "MATMUL_LADDER_PROGRESS": str(folder / "progress.json"),
    }  # fmt: skip
    client = nbclient.NotebookClient(notebook, kernel_name="python3", allow_errors=True)
    client.execute(env=environment | changes, cwd=str(folder))
    return notebook


def outputs(notebook: Any, cell: int) -> list[Any]:
    return notebook.cells[cell].outputs


@pytest.mark.slow
def test_a_student_sees_the_verdict_once_and_finds_it_again(tmp_path: Path) -> None:
    notebook = run(tmp_path, *CELLS)
    verdict, *pictures = outputs(notebook, 2)
    assert verdict.data["text/html"].count("put_seven: passed") == 1
    assert verdict.data["text/plain"].startswith("put_seven: passed\nHolds: ")
    assert any("image/png" in each.get("data", {}) for each in pictures), "their own run"
    shown, error = outputs(notebook, 4)
    assert "mat_add: not yet" in shown.data["text/html"]
    assert error.traceback == ["The cells below wait until this answer passes."]
    assert "mat_add is not right yet. Line " in error.evalue
    kept = json.loads((tmp_path / "progress.json").read_text())["answers"]
    assert kept["put_seven"]["passed"] and kept["put_seven"]["text"] == RIGHT
    assert kept["mat_add"] == {"failures": 1, "in_a_row": 1}


@pytest.mark.slow
def test_a_test_leaves_nothing_behind(tmp_path: Path) -> None:
    notebook = run(tmp_path, *CELLS, PYTEST_VERSION="9")
    [_, error] = outputs(notebook, 4)
    assert error.traceback[0].startswith("mat_add is not right yet. Line ")
    assert os.listdir(tmp_path) == []
