"""Do-first lessons run from top to bottom, as they are handed out and with every task solved."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from lesson_rules.rules import COMPARED
from sampling import marks
from warm_kernels import errors_in
from with_nbval import ROOT, nbval

from course_lib.building.notebook import (
    Cell,
    Notebook,
    code,
    code_cells,
    dumps,
    new,
    read,
    source,
    tags,
)
from course_lib.building.placed import CHECK, solved, tasks_of, with_placed
from course_lib.curriculum import LESSONS, TASKS, Task

LESSON = {each.number: ROOT / "notebooks" / f"{each.stem}.ipynb" for each in LESSONS}
DO_FIRST = [number for number, path in LESSON.items() if tasks_of(read(path)["cells"])]
# With every task's answer judged by test_tasks.py, and every cell run as it is handed out, what is
# left to go wrong lies between the two: one lesson in so many shows it to `--all`.
ONE_IN = 10


def with_verdicts(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with an assertion below each check; a solved lesson need not print the same."""
    checks = {task.check_call: task for task in tasks_of(cells)}
    return [_asserting(_not_compared(cell), checks.get(source(cell))) for cell in cells]


def _asserting(cell: Cell, task: Task | None) -> Cell:
    if task is None or CHECK not in tags(cell):  # a lesson may check a broken kernel, too
        return cell
    return {**cell, "source": f"{source(cell)}\n{_assertion(task)}"}


def _assertion(task: Task) -> str:
    """That the check above it has said "passed": a session remembers what was shown last."""
    told = f'course_lib.progress.entry("{task.id}")'
    return f"assert ({told}.passed, {told}.in_a_row) == (True, 0), {task.id!r}"


def _not_compared(cell: Cell) -> Cell:
    metadata = cell.get("metadata", {})
    kept = [tag for tag in metadata.get("tags", []) if tag != COMPARED]
    return {**cell, "metadata": metadata | {"tags": kept}}


def written(folder: Path, name: str, notebook: Notebook) -> Path:
    path = folder / "notebooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(dumps(notebook), encoding="utf-8")
    return path


@pytest.mark.long  # the step for notebooks of `course.py test --all` runs it as it is stored
@pytest.mark.notebook
@pytest.mark.parametrize("number", DO_FIRST)
def test_a_lesson_runs_as_it_is_handed_out(tmp_path, number):
    said = nbval(tmp_path, LESSON[number])
    assert said.status == 0, said.text


@pytest.mark.notebook
@pytest.mark.parametrize("numbers", [
    pytest.param(DO_FIRST[n::ONE_IN], id=f"from {DO_FIRST[n]}", marks=marks(n, slow=ONE_IN))
    for n in range(ONE_IN)
])  # fmt: skip
def test_solved_lessons_pass_every_check(tmp_path, numbers):
    """Many in one test: the libraries are loaded once."""
    paths = [written(tmp_path, LESSON[number].name, solved_lesson(number)) for number in numbers]
    wanted = {(each.stem, cell) for each in paths for cell in range(len(code_cells(read(each))))}
    errors = errors_in(*paths)
    assert errors.keys() == wanted
    assert {cell: error for cell, error in errors.items() if error} == {}


def solved_lesson(number: str) -> Notebook:
    """The lesson with the answers of its tasks, the right guesses, and assertions.

    The pictures of what is wanted are left out: they are drawn of the tasks alone, and the lesson
    as it is handed out shows them.
    """
    cells = solved(read(LESSON[number])["cells"])
    cells = [cell for cell in cells if not cell["id"].startswith("wanted-")]
    done = new(with_verdicts(cells))
    text = "\n".join(map(source, code_cells(done)))
    asserted = [each for each in tasks_of(cells) if _assertion(each) in text]
    assert asserted == tasks_of(cells), f"a check of lesson {number} is missing"
    return done


def test_every_lesson_with_a_solved_form_is_run_in_it():
    forms = {number: read(path)["cells"] for number, path in LESSON.items()}
    two = [number for number, cells in forms.items() if solved(cells) != cells]
    assert two == DO_FIRST


@pytest.mark.slow
@pytest.mark.notebook
def test_a_verdict_that_is_not_passed_stops_a_solved_lesson(tmp_path):
    imports = "import course_lib\nfrom course_lib import figures\nfrom numba import cuda\n"
    lesson = [code(f"{imports}\ncourse_lib.start()", id="setup"), code("# TASK put_seven", id="t")]
    given = with_placed(lesson, "00")
    check = source_of_codes(given).index(TASKS["put_seven"].check_call)
    for name, cells, failed in (("given", given, {check}), ("solved", solved(given), set())):
        path = written(tmp_path, f"{name}.ipynb", new(with_verdicts(cells)))
        errors = errors_in(path)
        assert {cell for cell, error in errors.items() if error} == {(name, n) for n in failed}
        assert len(errors) == len(source_of_codes(given))


def source_of_codes(cells: Sequence[Cell]) -> list[str]:
    return [source(cell) for cell in cells if cell["cell_type"] == "code"]
