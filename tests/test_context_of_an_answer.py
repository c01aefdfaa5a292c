"""An answer may use the names that its notebook defines, and is judged by its own text alone."""

import json
from pathlib import Path

import known_kernels
import pytest
from every_case import every_case
from sampling import few

from course_lib.building.notebook import answer_cells, read, source
from course_lib.checking import examine_source
from course_lib.diagnosis.report import Report
from course_lib.wording.sentences import facts_of

ROOT = Path(__file__).resolve().parent.parent
IMPORTS = "import numpy as np\nfrom numba import cuda, float32\n"
NAIVE = f"# EXERCISE matmul_naive\n{known_kernels.NAIVE}"
ADD = """# EXERCISE mat_add
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = float32(A[y, x] + B[y, x])
"""


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
    helper = (
        "@cuda.jit(device=True)\n"
        "def product(A, B, row, k, col):\n"
        "    return A[row, k{}] * B[k, col]\n"
    )
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


@pytest.mark.parametrize(
    "path",
    few(
        [
            pytest.param(path, marks=pytest.mark.long if path.stem.startswith(LONG) else ())
            for path in sorted((ROOT / "solutions").glob("*.ipynb"))
        ],
        2,
    ),
    ids=lambda path: path.stem,
)
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
