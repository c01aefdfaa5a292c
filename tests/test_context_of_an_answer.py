"""An answer may use what its notebook and earlier tasks define; its own text is judged."""

import json
from pathlib import Path

import known_kernels
import pytest
from every_case import every_case
from numba import cuda, float32
from sampling import few

from course_lib.answer_text.context import fingerprints
from course_lib.building.notebook import answer_cells, read, source
from course_lib.checking import examine, examine_source
from course_lib.curriculum import EXERCISES, LESSONS, TASKS
from course_lib.diagnosis.report import Report
from course_lib.wording.sentences import Line, facts_of

ROOT = Path(__file__).resolve().parent.parent
IMPORTS = "import numpy as np\nfrom numba import cuda, float32\n"
NAIVE = f"# EXERCISE matmul_naive\n{known_kernels.NAIVE}"
SUMMED = "A[y, x] + B[y, x]"
ADD = f"# EXERCISE mat_add\n{known_kernels.MAT_ADD}".replace(SUMMED, f"float32({SUMMED})")


def judged(text: str, context: str, exercise: str = "matmul_naive") -> Report:
    return examine_source(exercise, text, context=context, debug=True)


def codes(report: Report) -> list[str]:
    return [each.code for each in report.errors]


@every_case("context", [
    "import numba as nb\nfrom numba import cuda\nfloat32 = nb.float32",
    "from numba import *",
    "import numba.cuda as cuda, numpy, os, matplotlib.pyplot as plt\nfrom numpy import float32",
    "%matplotlib inline\n!pip list\nimport os\nfrom numba import cuda, float32",
    "this is no Python\nfrom numba import cuda, float32",
    "def broken(:\n    return 3\nfrom numba import cuda, float32",
    "import course_lib\ncourse_lib.start()\nopen('x')\nfrom numba import cuda, float32",
    "from . import x\nfrom numba import cuda, float32\nfor x in range(3):\n    exec('x')",
])  # fmt: skip
def test_what_cannot_be_read_is_passed_over(context: str) -> None:
    assert judged(ADD, context, "mat_add").passed


@pytest.mark.parametrize("context", ["(" * 300, "\0", "x" * 300_000, "1\n" * 300_000, "\ud800"])
def test_a_context_that_says_nothing_is_none(context: str) -> None:
    assert judged(IMPORTS + ADD, context, "mat_add").passed


def test_lines_are_those_of_the_answer() -> None:
    wrong = NAIVE.replace("float32(0)", "0.0")
    alone = judged(IMPORTS + wrong, "").errors[0]
    beside = judged(wrong, "# one\n# two\n# three\n" + IMPORTS).errors[0]
    assert (alone.code, alone.line) == ("float64-arithmetic", 8)
    assert (beside.code, beside.line) == ("float64-arithmetic", 6)


def test_helpers_of_the_notebook_can_be_called_and_have_no_line() -> None:
    helper = "@cuda.jit(device=True)\ndef product(A, B, row, k, col):\n"
    helper += "    return A[row, k{}] * B[k, col]\n"
    text = NAIVE.replace("A[row, k] * B[k, col]", "product(A, B, row, k, col)")
    assert judged(text, IMPORTS + helper.format("")).passed
    wrong = judged(text, IMPORTS + helper.format(" + 1"))
    assert wrong.errors
    assert all(each.line is None or each.line < 20 for each in wrong.findings)
    assert not any("1000" in each.message for each in wrong.findings)


def test_the_notebook_answers_nothing() -> None:
    assert codes(judged("x = 1", IMPORTS + NAIVE)) == ["missing-answer"]
    numbers = "BM, BN, BK, TM, TN = 128, 128, 8, 8, 8"
    assert judged(numbers, "", "pick_a_tile").numbers_right
    assert codes(judged("x = 1", numbers, "pick_a_tile")) == ["missing-answer"]


def test_what_the_notebook_has_for_people_is_refused_by_name() -> None:
    text = NAIVE.replace("float32(0)", "float32(plt.pi)")
    [error] = judged(text, IMPORTS + "import matplotlib.pyplot as plt, os").errors
    assert error.code == "not-allowed"
    assert facts_of(error.message) == {"name": "plt"}


def test_a_report_says_whether_the_numbers_are_right() -> None:
    for old, new, right in (("", "", True), ("float32(", "(1.0 * ", True), ("+", "-", False)):
        assert judged(ADD.replace(old, new, 1), IMPORTS, "mat_add").numbers_right == right
    assert not judged(NAIVE.replace("float32(0)", "float32(1)"), IMPORTS).numbers_right
    assert not judged("", IMPORTS).numbers_right


LONG = ("08", "09", "10", "11")


@pytest.mark.parametrize("path", few([
    pytest.param(path, id=path.stem, marks=pytest.mark.long if path.stem.startswith(LONG) else ())
    for path in sorted((ROOT / "solutions").glob("*.ipynb"))
], 2))  # fmt: skip
def test_each_solution_passes_with_its_own_notebook_around_it(path: Path) -> None:
    """The answer cell alone, with the code of the exercise notebook that students get."""
    exercises = json.loads((ROOT / "exercises" / path.name).read_text(encoding="utf-8"))
    answers = answer_cells(read(path))
    context = "\n".join(
        "".join(cell["source"])
        for cell in exercises["cells"]
        if cell["cell_type"] == "code" and not "".join(cell["source"]).startswith("# EXERCISE")
    )
    for exercise, cell in answers.items():
        report = judged(source(cell), context, exercise)
        assert report.passed, f"{exercise}: {report}"
        assert report.points == report.max_points


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


def test_a_device_function_passes_as_object_and_text_and_is_told_what_its_caller_meets() -> None:
    assert examine("load_tile", load_tile, debug=True).passed
    assert examine_source("load_tile", HEAD + TASKS["load_tile"].answer, debug=True).passed
    text = HEAD + TASKS["load_tile"].answer.replace("    else:\n        tile[ty, tx] = 0\n", "")
    (cause, *_) = examine_source("load_tile", text, debug=True).errors
    assert cause.code == "uninitialised-read"
    assert text.splitlines()[(cause.line or 0) - 1].strip().startswith("if top + ty")


@every_case("task", ["quad_sum", "piece_at"])
def test_a_device_function_that_returns_nothing_is_told_so(task: str) -> None:
    head, _, last = TASKS[task].answer.rpartition("    return ")
    (error, *_) = examine_source(task, f"{HEAD}{head}    {last}", debug=True).errors
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
            earlier = order.index(used.lesson), used.position
            assert earlier < (order.index(task.lesson), task.position)


def test_exercises_know_the_functions_that_their_cells_give() -> None:
    found: dict[str, dict[str, int]] = {}
    for path in sorted((ROOT / "exercises").glob("*.ipynb")):
        solved = answer_cells(read(ROOT / "solutions" / path.name))
        for name, cell in answer_cells(read(path)).items():
            given, kept = fingerprints(source(cell)), fingerprints(source(solved[name]))
            found[name] = dict(given.items() & kept.items())
    for name, exercise in EXERCISES.items():
        assert not exercise.kind.is_launched or dict(exercise.gives) == found[name], name
