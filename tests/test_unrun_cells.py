"""A cell that is run before those above it says in one sentence what to do, in a real kernel."""

import os
from pathlib import Path

import nbformat
import pytest
from child import python
from nbclient import NotebookClient

from course_lib.student import unrun_cells

ROOT = Path(__file__).parents[1]
LOAD = f"%load_ext {unrun_cells.__name__}"


def shown(*cells: str) -> list[list[str]]:
    """What each cell shows of an error, run in one fresh kernel of this Python."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    client = NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=60)
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    return [
        [line for output in cell.outputs for line in output.get("traceback", [])]
        for cell in notebook.cells
    ]


@pytest.mark.slow
def test_a_cell_from_the_middle_of_a_notebook_says_what_to_do() -> None:
    cells = {
        "course_lib.two_copies()": "course_lib is not defined yet in this session: run the cells",
        "@cuda.jit\ndef f(x):\n    x[0] = 1": "cuda is not defined yet in this session",
        "import course_lib\ncourse_lib.check('add_ten', add_ten)": "run the cell that defines it",
        "course_lib.check('mat_add', mat_add)": "mat_add is not defined yet",
        "course_lib.predict('02-first-broken', a)": 'answer to a question, put it in quotes: "a"',
    }
    for said, starts in zip(shown(LOAD, *cells)[1:], cells.values(), strict=True):
        assert len(said) == 1 and starts in said[0] and "Run All Above" in said[0]


@pytest.mark.slow
def test_what_a_cell_in_between_defines_is_asked_for_and_other_errors_are_shown_as_ever() -> None:
    (_, said) = shown(LOAD + "\nimport course_lib", "TILE * 2")
    assert len(said) == 1 and said[0].startswith("TILE is not defined yet in this session")
    typo, other = shown(LOAD, "import course_lib\ntotal = 1\nprint(totl)", "1 / 0")[1:]
    assert "NameError" in "".join(typo) and "ZeroDivisionError" in "".join(other)
    assert len(typo) > 1


@pytest.mark.slow
def test_kernels_of_the_courses_own_environment_begin_with_it(tmp_path: Path) -> None:
    """As IPython finds it below a Python's prefix; it is written once, and is nobody's to lose."""
    unrun_cells.kernels_of(tmp_path)
    config = tmp_path / "etc/ipython/ipython_config.py"
    written = config.read_text()
    config.write_text(written + "# mine\n")
    unrun_cells.kernels_of(tmp_path)
    assert config.read_text() == written + "# mine\n"
    script = (
        f"import sys; sys.prefix = {str(tmp_path)!r}\n"
        "from IPython.terminal.ipapp import TerminalIPythonApp as App\n"
        "App.launch_instance(['--no-banner', '-c', 'course_lib.start()'])"
    )
    ran = python("-c", script, status=None, IPYTHONDIR=str(tmp_path / "own"))
    assert "run the cells above first" in ran.stdout + ran.stderr
