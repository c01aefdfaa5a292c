"""A task may call what an earlier one has defined, and a device function is judged in a kernel."""

from pathlib import Path

import pytest
from numba import cuda, float32

from course_lib.answer_text.context import fingerprints
from course_lib.building.notebook import answer_cells, read, source
from course_lib.checking import examine, examine_source
from course_lib.curriculum import EXERCISES, LESSONS, TASKS
from course_lib.wording.sentences import Line, facts_of

ROOT = Path(__file__).resolve().parents[1]
HEAD = "from numba import cuda, float32\n\n\n"
USES = TASKS["one_tile_product"]


@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = 0
    if top + y < M.shape[0] and left + x < M.shape[1]:
        tile[y, x] = M[top + y, left + x]


@cuda.jit
def one_tile_product(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    load_tile(sA, A, row - ty, 0)
    load_tile(sB, B, 0, column - tx)
    total = float32(0)
    for k in range(16):
        total += sA[ty, k] * sB[k, tx]
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total


def test_a_device_function_passes_as_an_object_and_as_text() -> None:
    assert examine("load_tile", load_tile, debug=True).passed
    assert examine_source("load_tile", HEAD + TASKS["load_tile"].answer, debug=True).passed


def test_what_the_caller_meets_is_told_at_a_line_of_the_device_function() -> None:
    text = HEAD + TASKS["load_tile"].answer.replace("    else:\n        tile[ty, tx] = 0\n", "")
    (cause, *_) = examine_source("load_tile", text, debug=True).errors
    assert cause.code == "uninitialised-read"
    assert text.splitlines()[(cause.line or 0) - 1].strip().startswith("if top + ty")


@pytest.mark.parametrize("task", ["quad_sum", "piece_at"])
def test_a_device_function_that_returns_nothing_is_told_so(task: str) -> None:
    head, _, last = TASKS[task].answer.rpartition("    return ")
    report = examine_source(task, f"{HEAD}{head}    {last}", debug=True)
    (error, *_) = report.errors
    assert facts_of(error.message)["name"] == task


def test_the_students_own_function_is_called() -> None:
    (race, *_) = examine("one_tile_product", one_tile_product, debug=True).errors
    assert race.code == "race-read-after-write"
    first = one_tile_product.py_func.__code__.co_firstlineno
    assert race.line is not None and first < race.line < first + 12
    # The write stands in another cell, so its line is none of this answer's.
    assert race.other_line is None
    assert facts_of(race.message)["first_line"].number > Line.FIRST_AROUND
    assert str(Line.FIRST_AROUND) not in race.message


@pytest.mark.slow
def test_ours_stands_in_where_the_students_is_missing() -> None:
    assert examine_source("one_tile_product", HEAD + USES.answer, debug=True).passed
    own = "@cuda.jit(device=True)\ndef load_tile(tile, M, top, left):\n    tile[0, 0] = 1\n\n\n"
    assert not examine_source("one_tile_product", HEAD + own + USES.answer, debug=True).passed


def test_only_earlier_tasks_are_used() -> None:
    order = [each.number for each in LESSONS]
    for task in TASKS.values():
        for name in task.uses:
            used = TASKS[name]
            assert (order.index(used.lesson), used.position) < (
                order.index(task.lesson),
                task.position,
            )


def test_exercises_know_the_functions_that_their_cells_give() -> None:
    found: dict[str, dict[str, int]] = {}
    for path in sorted((ROOT / "exercises").glob("*.ipynb")):
        solved = answer_cells(read(ROOT / "solutions" / path.name))
        for name, cell in answer_cells(read(path)).items():
            given, kept = fingerprints(source(cell)), fingerprints(source(solved[name]))
            found[name] = dict(given.items() & kept.items())
    kernels = {name for name, each in EXERCISES.items() if each.kind.is_launched}
    assert {name: dict(EXERCISES[name].gives) for name in kernels} == {
        name: found[name] for name in kernels
    }
