"""CONTRIBUTING's task in ten minutes, followed to the letter: one new file and one line."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("course_lib", "notebooks", "exercises", "solutions")
COPIED_FILES = ("README.md", "CONTRIBUTING.md", "CITATION.cff", "pyproject.toml", "course.py")
TRIED = """
from course_lib import check, examine_source
from course_lib.curriculum import TASKS
task = TASKS["double_it"]
head = "from numba import cuda\\n"
for text in (task.answer, task.given, task.answer.replace("= 2 * a[i]\\n", "= a[i]\\n")):
    report = examine_source("double_it", head + text, debug=True)
    print(report.passed, *(each.code for each in report.errors))
check("double_it", None)
"""


def run(root: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.workshop
def test_a_task_in_ten_minutes(tmp_path: Path) -> None:
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in COPIED_FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.split("## A task in ten minutes\n")[1].split("\n## ")[0]
    (file,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (line,) = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    (tmp_path / "course_lib/tasks/double_it.py").write_text(file, encoding="utf-8")
    place(tmp_path / "notebooks/00_start_here.ipynb", line.strip())

    assert "wrote notebooks/00_start_here.ipynb" in run(tmp_path, "-m", "course_lib.commands.build")
    cells = json.loads((tmp_path / "notebooks/00_start_here.ipynb").read_text())["cells"]
    ids = [cell["id"] for cell in cells]
    first = ids.index("task-double_it")
    assert ids[first : first + 3] == ["task-double_it", "check-double_it", "hints-double_it"]
    run(tmp_path, "-m", "course_lib.commands.build", "--check")
    verdicts = run(tmp_path, "-c", TRIED).splitlines()
    assert verdicts[:3] == ["True", "False missing-answer", "False wrong-formula"]


def place(path: Path, line: str) -> None:
    """Put a cell with one line above the last cell of a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = {"cell_type": "code", "execution_count": None, "id": "new", "metadata": {}}
    notebook["cells"].insert(-1, {**cell, "outputs": [], "source": [line]})
    path.write_text(json.dumps(notebook), encoding="utf-8")
