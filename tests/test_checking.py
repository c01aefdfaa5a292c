"""Answers are judged: right ones pass, wrong ones are told why, and nothing is ever raised."""

import contextlib
import functools
import io
import re

import known_kernels
import pytest
from every_case import every_case
from numba import cuda
from passing import without_cause
from sampling import few

from course_lib.checking import CheckFailed, check, examine, examine_source
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis import launcher
from course_lib.diagnosis.report import MOST_LINES, Report
from course_lib.student import unrun_cells
from course_lib.wording.sentences import facts_of, told

RIGHT = f"\n{known_kernels.IMPORTS}\nTILE = 16\n\n\n{known_kernels.TILED}"
NAIVE = f"\n{known_kernels.IMPORTS}\n\n{known_kernels.NAIVE}"
IMPORTS = "import numpy as np\nfrom numba import cuda, float32\n"
matmul_tiled = cuda.jit(known_kernels.matmul_tiled)


@functools.cache
def judged(text: str, exercise: str = "matmul_tiled") -> Report:
    return examine_source(exercise, text, debug=True)


def broken(old: str, new: str, text: str = RIGHT) -> str:
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    return text.replace(old, new)


@pytest.mark.parametrize("thing", [None, 3, "text", object(), len])
def test_what_is_no_kernel_gets_a_finding(thing: object) -> None:
    report = examine("mat_add", thing)
    assert (report.passed, report.points) == (False, 0)


def test_a_plain_function_is_no_kernel_and_a_block_of_the_callers_changes_the_launch() -> None:
    report = examine("matmul_tiled", matmul_tiled.py_func, debug=True)
    [error] = report.errors
    assert (error.code, report.points) == ("invalid-launch", 0)
    assert facts_of(error.message) == {"name": "matmul_tiled"}
    assert examine_source("matmul_naive", NAIVE, block=(32, 4), debug=True).passed
    assert examine_source("matmul_coalesced", NAIVE.replace("naive", "coalesced"), (32, 2)).passed


def test_the_verdict_is_short_always_the_same_and_tells_all_that_costs_points() -> None:
    text = broken("acc = float32(0)", "acc = 0.0")
    first, again = judged(text), examine_source("matmul_tiled", text)
    assert str(first) == str(again)
    assert len(str(first).splitlines()) <= MOST_LINES
    exchanged = "row < C.shape[1] and col < C.shape[0]"  # right where C is a square
    text = broken("row < C.shape[0] and col < C.shape[1]", exchanged, NAIVE)
    codes = [each.code for each in judged(text.replace("naive", "tiled")).errors]
    assert codes[0] != "not-used" and "not-used" in codes


def test_check_prints_the_verdict_and_raises_one_plain_line(capsys):
    check("matmul_tiled", matmul_tiled)
    assert capsys.readouterr().out.startswith("matmul_tiled: passed (10 of 10 points)\nHolds: ")
    with pytest.raises(CheckFailed) as caught:
        check("matmul_naive", None)
    assert "matmul_naive: could not be judged" in capsys.readouterr().out
    (shown,) = caught.value._render_traceback_()
    assert shown.startswith("matmul_naive is not right yet")


@pytest.mark.parametrize(
    ("old", "new", "code", "lost"),
    few([
        ("    cuda.syncthreads()\n    if", "if", "race-write-after-read", "race-free right"),
        ("acc = float32(0)", "acc = 0.0", "float64-arithmetic", "float32"),
        ("if row < M and col < N:\n", "if True:\n", "out-of-bounds-write", "bounds"),
        ("(K + TILE - 1) // TILE", "K // TILE", "wrong-loop-bound", "right bounds"),
    ], 3),
    ids=["a race", "float64", "no check at the store", "right on even shapes alone"],
)  # fmt: skip
def test_a_mistake_costs_its_own_points(old: str, new: str, code: str, lost: str) -> None:
    report = judged(broken(old, new))
    assert report.findings[0].code == code
    assert {name for name, points in report.earned.items() if not points} == set(lost.split())
    points = EXERCISES["matmul_tiled"].points
    assert report.points == report.max_points - sum(points[name] for name in lost.split())


@pytest.mark.parametrize("body", ["C[0, 0] = 1", "C[row, col] = 3.0", "C[row, col] = A[row, 0]"])
def test_without_right_numbers_anywhere_nothing_is_earned(body: str) -> None:
    text = f"{IMPORTS}@cuda.jit\ndef matmul_tiled(A, B, C):\n    col, row = cuda.grid(2)\n"
    text += f"    if row < C.shape[0] and col < C.shape[1]:\n        {body}\n"
    report = without_cause("matmul_tiled", text)
    assert not report.right_where_even
    assert set(report.earned.values()) == {0}


@pytest.mark.parametrize(("body", "line", "words"), [
    ('    """Only words."""\n', 1, "still empty"),
    ("    C = A + B\n", 2, "gives the name C a new meaning"),
    ("    x, y = cuda.grid(2)\n    return A[y, x] + B[y, x]\n", 3, "cannot return a result"),
    ("    x, y = cuda.grid(2)\n    total = A[y, x] + B[y, x]\n", 3, "stores nothing in C"),
    ("    c = C[0, 0]\n    if True:\n        c += 1\n    c = 7\n", 5, "thread has its own c"),
    ("    x, y = cuda.grid(2)\n", 1, "writes no element of C"),
    ("    C.x = 7\n", 1, "writes no element of C"),
])  # fmt: skip
def test_an_answer_that_writes_nothing_is_told_why(body: str, line: int, words: str) -> None:
    report = examine_source("mat_add", f"def mat_add(A, B, C):\n{body}")
    [only] = report.findings
    assert (only.code, only.line) == ("missing-answer", line) and words in only.message


@pytest.mark.parametrize(("body", "code", "words"), [
    ("    C[0, 0] = table[0, 0]\n", "compile-error", "mistyped"),
    ("    C[0, 0] = a[0, 0]\n", "compile-error", "Did you mean A?"),
    ("    C[0, 0] = A + B\n", "compile-error", "whole arrays"),
    ("    C[0, 0] = A[0, 0]\n", "wrong-index", "Which thread should write C[0, 1]"),
    ("    x, y = cuda.grid(2)\n    C[y, x] = A[y, x] + B[y, x]\n", "out-of-bounds", "every thread"),
])  # fmt: skip
def test_a_hint_leads_on(body: str, code: str, words: str) -> None:
    report = examine_source("mat_add", f"{IMPORTS}@cuda.jit\ndef mat_add(A, B, C):\n{body}")
    cause = report.findings[0]
    assert cause.code.startswith(code) and words in cause.hint, cause


@every_case(("text", "code"), [
    ("", "missing-answer"),
    ("matmul_tiled = 3\n", "missing-answer"),
    ("def matmul_tiled(A, B, C)\n", "compile-error"),
    ("\x00", "compile-error"),
    ("import os\n" + RIGHT.replace("(K +", "(os.getpid() +"), "not-allowed"),
    (RIGHT.replace("TILE = 16", "TILE = 64"), "invalid-launch"),
    (RIGHT.replace("TILE = 16", "TILE = -1"), "invalid-launch"),
    (RIGHT.replace("TILE = 16", 'TILE = "16"'), "invalid-launch"),
    (RIGHT.replace("TILE = 16", "TILE = 16\nBLOCK = (16, 0)"), "invalid-launch"),
])  # fmt: skip
def test_what_cannot_be_run_gets_a_finding(text: str, code: str) -> None:
    report = examine_source("matmul_tiled", text)
    assert not report.passed
    assert report.findings[0].code == code, report


def test_an_error_of_the_checker_is_not_the_students(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **options: object) -> None:
        raise ZeroDivisionError("made up")

    monkeypatch.setattr(launcher, "emulate", fails)
    report = examine_source("matmul_tiled", RIGHT)
    assert report.needs_review
    assert not report.passed
    assert facts_of(report.findings[0].message)["error"] == "ZeroDivisionError"
    with pytest.raises(ZeroDivisionError):
        examine_source("matmul_tiled", RIGHT, debug=True)


def test_an_unsupported_answer_needs_a_person_and_a_strange_exercise_is_answered() -> None:
    unsupported = broken("acc = float32(0)", "acc = float32(C.dtype.itemsize - 4)", NAIVE)
    report = judged(unsupported, "matmul_naive")
    assert report.findings[0].code == "unsupported" and report.needs_review
    assert "could not be judged" in str(report)
    for exercise in (None, 3, ["mat_add"], ""):
        assert not examine_source(exercise, NAIVE).passed  # type: ignore[arg-type]


def test_a_wrong_result_says_where_and_by_how_much() -> None:
    weight = "(float32(0.3) if k % 2 else float32(1.7))"
    text = broken("acc += A", f"acc += {weight} * A", NAIVE)
    message = judged(text, "matmul_naive").findings[0].message
    assert re.search(r"C\[0, 0\] is \S+ and should be -\d+\.\d+\.$", message)
    assert "and should be" not in told(message, "graded student")


ADDS = f"# EXERCISE mat_add\n{known_kernels.MAT_ADD}"


@every_case(("cells", "says"), [
    ([ADDS], None),
    ([ADDS, ADDS.replace("C):", "C)")], "line 3: "),
    ([ADDS, "\n\n" + ADDS.replace("+ B[y, x]", "+ B[y, x")], "line 8: "),
    ([ADDS, ADDS.replace("C):", "C)"), ADDS], None),
    ([ADDS, "1 / 0\n" + ADDS.replace("+", "-")], "before it defined"),
    ([ADDS, ADDS.split("\n", 1)[1].replace("C):", "C)")], "line 2: "),  # no marker
    ([ADDS, ADDS.replace("cuda.jit", "cuda.gird").replace("+", "-")], "before it defined"),
    ([ADDS, "print(mat_add)"], None),
    ([ADDS, ADDS.replace("def mat_add", "def mat_ad")], "does not define mat_add"),
    ([ADDS, ADDS.replace("\n", "\n# ")], "does not define mat_add"),
    ([f"half = 2\n{ADDS}", f"half = 1 / 0\n{ADDS}"], "before it defined"),
    ([ADDS, f"\n\nhalf = 1 / 0\n\n{ADDS}"], "before it defined"),
    ([ADDS, ADDS.replace("cuda.jit", "cuda.jit(1 / 0)")], "before it defined"),
    ([ADDS, "%%time\n" + ADDS.replace("C):", "C)")], "line 4: "),
    ([f"{ADDS}\n1 / 0"], None),
    ([f"\n\n{ADDS}\n1 / 0"], None),
    ([f"1 / 0\n{ADDS}", ADDS], None),
    ([ADDS, "# EXERCISE mat_add\nif True:\n    " + ADDS.replace("\n", "\n    ")], None),
    ([ADDS, ADDS.replace("mat_add(", "f(") + "mat_add = f"], None),
    ([ADDS, "# EXERCISE mat_add\nfrom __main__ import *"], None),
    ([ADDS, "# EXERCISE mat_add\nfor mat_add in [mat_add]:\n    1 / 0"], "before it defined"),
], ids=str)  # fmt: skip
def test_a_check_judges_the_last_text_of_the_cell(cells, says, new_shell):
    """The name still stands for the answer before; the student looks at the one that failed."""
    shell = new_shell()
    unrun_cells.load_ipython_extension(shell)
    shell.run_cell("from numba import cuda\nimport course_lib", store_history=True)
    for text in cells:
        with contextlib.redirect_stdout(io.StringIO()):
            shell.run_cell(text, store_history=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("IPython.get_ipython", lambda: shell)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            result = shell.run_cell('course_lib.check("mat_add", mat_add)', store_history=True)
    if says is None:
        assert result.success
    else:
        assert isinstance(result.error_in_exec, CheckFailed)
        assert says in " ".join(said.getvalue().lower().split())


HEAD, KERNEL = RIGHT.split("@cuda.jit\n")
INDENTED = "\n".join(f"    {line}" for line in f"@cuda.jit\n{KERNEL}".split("\n"))


@pytest.mark.parametrize("text", [
    HEAD + KERNEL.replace("matmul_tiled", "_k") + "matmul_tiled = keep(_k)\n",
    HEAD + "@cuda.jit\n" + KERNEL + "matmul_tiled = keep(matmul_tiled.py_func)\n",
    f"{HEAD}if cuda.is_available():\n{INDENTED}",
    f"{HEAD}with open('x'):\n{INDENTED}".replace("open('x')", "cuda.pinned()"),
], ids=["call", "call of its own", "if", "with"])  # fmt: skip
def test_an_answer_in_an_unknown_form_is_for_a_person(text: str) -> None:
    report = examine_source("matmul_tiled", text, debug=True)
    (found,) = report.findings
    assert found.code == "unsupported" and report.needs_review
    assert "matmul_tiled" in text.splitlines()[found.line - 1]
    assert facts_of(found.message)["name"] == "matmul_tiled"


@every_case("text", [
    "x = 1",
    "matmul_tiled = None",
    "matmul_tiled: int",
    "def f():\n    matmul_tiled = f",
    "class X:\n    def matmul_tiled(A, B, C):\n        C[0, 0] = 1",
    "for matmul_tiled in (1, 2):\n    pass",
    "from course_lib.kernels.rung_03_tiled import tiled as matmul_tiled",
    "print(matmul_tiled)",
])  # fmt: skip
def test_what_gives_an_answer_no_value_is_no_answer(text: str) -> None:
    report = examine_source("matmul_tiled", text, debug=True)
    assert [each.code for each in report.errors] == ["missing-answer"]
    assert not report.needs_review


@every_case("tuples", ["(8,) * 2", "(8,) + (8,)", "[8] * 2"])
def test_constants_may_be_tuples_made_of_tuples(tuples: str) -> None:
    text = f"BM = BN = 1 << 7\nBK = BM // 16\nTM, TN = {tuples}\n"
    assert examine_source("pick_a_tile", text, debug=True).passed


def test_a_lambda_is_a_plain_function_of_an_answer() -> None:
    text = "ceil = lambda a, b: -(-a // b)\n\n\ndef sectors(stride, offset):\n"
    text += "    return ceil(32 * stride, 8)\n"
    report = examine_source("sectors", text, debug=True)
    assert not any(each.code == "unsupported" for each in report.findings)
    kernel = f"{IMPORTS}half = lambda x: x\n{known_kernels.NAIVE}".replace(
        "acc += ", "acc += half(1) * "
    )
    [error] = examine_source("matmul_naive", kernel, debug=True).errors
    assert error.code == "compile-error" and "half is a plain Python function" in error.message
