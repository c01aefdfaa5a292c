"""The same answer gets the same verdict as an object, as text and in a notebook."""

import ast
import linecache
import sys
import textwrap
from pathlib import Path

import known_kernels
import pytest
from every_case import every_case

sys.path.insert(0, str(Path(__file__).parent / "grading"))

from notebook_texts import code, handed_in, tasks
from sampling import few, marks
from stored_answers import CHEAP, right_answers_to, wrong_answers_to

from course_lib.checking import examine, examine_source
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.report import Report
from course_lib.emulator import load_program
from course_lib.grading.answers.search import find_answers
from course_lib.grading.gradebook.scoring import lost_by
from course_lib.grading.judging import batches
from course_lib.grading.records import Judgement
from course_lib.grading.settings import Settings

ANSWERS = [  # exercise, name, text: right ones, then wrong ones
    (exercise, name, text)
    for answers_to in (right_answers_to, wrong_answers_to)
    for exercise in EXERCISES
    for name, text in answers_to(exercise).items()
]
ADD = f"from numba import cuda\nimport numpy as np\n\n{known_kernels.MAT_ADD}"
IMPORTS, KERNEL = ADD.split("\n\n")
BARE = KERNEL.replace("@cuda.jit\n", "")
MADE = f"def make(unused, scale=1):\n{textwrap.indent(KERNEL, '    ')}    return mat_add\n\n"
TILED = """def make(tile):
    @cuda.jit(fastmath=True)
    def kernel(A, B, C):
        sA = cuda.shared.array((tile, tile), float32)
        sB = cuda.shared.array((tile, tile), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        acc = float32(0)
        for start in range(0, A.shape[1], tile):
            inside = row < A.shape[0] and start + tx < A.shape[1]
            sA[ty, tx] = A[row, start + tx] if inside else float32(0)
            inside = start + ty < A.shape[1] and col < C.shape[1]
            sB[ty, tx] = B[start + ty, col] if inside else float32(0)
            cuda.syncthreads()
            for k in range(tile):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        if row < C.shape[0] and col < C.shape[1]:
            C[row, col] = acc
    return kernel
"""

Verdict = tuple[bool, int, bool, list[tuple[str, str, str]]]


def _verdict(report: Report | Judgement, points: int, text: str) -> Verdict:
    """Passed, points, review, and the findings with the text of their lines."""
    lines = text.split("\n")
    errors = [each for each in report.findings if each.severity == "error"]
    found = [
        (each.code, each.severity, lines[each.line - 1].strip() if each.line else "")
        for each in report.findings
    ]
    return not errors, points, report.needs_review, found


def as_object(exercise: str, text: str) -> Verdict | None:
    """The verdict on what the text defines when Python runs it; None if that is nothing."""
    filename = f"<answer {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec("from numba import cuda, float32\nimport numpy as np\nimport math", namespace)
    exec(compile(text, filename, "exec"), namespace)
    if exercise not in namespace:
        return None
    report = examine(exercise, namespace[exercise], debug=True)
    return _verdict(report, report.points, text)


def as_text(exercise: str, text: str) -> Verdict:
    usual = "from numba import cuda, float32\nimport numpy as np\nimport math"
    report = examine_source(exercise, text, context=usual, debug=True)
    return _verdict(report, report.points, text)


def in_a_notebook(exercise: str, cells: list[str]) -> Verdict | None:
    """The grader's verdict; None if it finds nothing to judge there."""
    task = tasks()[exercise]
    [answer] = find_answers(handed_in([code(each) for each in cells]), [exercise], tasks())
    if answer.problem and not answer.needs_review:
        return None
    assert answer.problem is None, answer.problem
    judged = batches.judge(exercise, answer.text, 0, task.context)
    lost = lost_by(judged, Settings())
    points = sum(each for name, each in EXERCISES[exercise].points.items() if name not in lost)
    return _verdict(judged, points, answer.text)


def is_nothing(verdict: Verdict) -> bool:
    """Whether an answer was judged as one that is not written yet."""
    passed, points, review, found = verdict
    return (passed, points, review) == (False, 0, False) and found[0][0] == "missing-answer"


INDENTED = textwrap.indent(KERNEL, "    ")
COMPILED = MADE.replace("@cuda.jit", "").replace("return mat_add", "return cuda.jit(mat_add)")
TWICE = f"{MADE}def twice(n):\n    return make(n)\n\nmat_add = twice(2)\n"


def below(decorator: str) -> str:
    """The answer below another decorator."""
    return ADD.replace("@cuda.jit", decorator)


def adding(term: str, before: str = "") -> str:
    """The answer with another first term."""
    return ADD.replace("A[y, x] +", f"{term} +").replace("@cuda", f"{before}@cuda")


def unlike(*lines: str) -> str:
    """The imports, and then these lines."""
    return "\n".join([IMPORTS, *lines])


# How an answer may come: its cells, and whether it passes (None: a person has to look).
FORMS: dict[str, tuple[list[str], bool | None]] = {
    "as it is": ([ADD], True),
    "imports apart": ([IMPORTS, KERNEL], True),
    "unused imports": ([f"import os, random as r\nfrom sys import *\n{ADD}"], True),
    "an import from below": ([ADD.replace("\n\n", "\nfrom os import path\n\n")], True),
    "a helper that no kernel uses": ([f"def show(*many):\n    print(many)\n\n{ADD}"], True),
    "something is printed": ([f"{ADD}\nprint(len(str(np)))\nx = sorted([2, 1])"], True),
    "jit called": ([unlike(BARE, "mat_add = cuda.jit(mat_add)")], True),
    "jit called with options": ([unlike(BARE, "mat_add = cuda.jit(fastmath=True)(mat_add)")], True),
    "jit called in another cell": ([unlike(BARE), "mat_add = cuda.jit(mat_add)"], True),
    "another name": ([unlike(BARE.replace("mat_add", "add"), "mat_add = cuda.jit(add)")], True),
    "jit under its own name": ([below("from numba.cuda import jit\n@jit")], True),
    "jit with options": ([below("@cuda.jit(fastmath=True)")], True),
    "jit with a signature": ([below('@cuda.jit("void(f4[:,::1], f4[:,::1], f4[:,::1])")')], True),
    "jit with brackets": ([below("@cuda.jit()")], True),
    "another name for it": ([ADD.replace("mat_add", "add") + "\nmat_add = add\n"], True),
    "made": ([unlike(MADE, "mat_add = make(16)")], True),
    "made in another cell": ([unlike(MADE), "mat_add = make(unused=3, scale=2 * 8)"], True),
    "made and compiled": ([unlike(COMPILED, "mat_add = make(1)")], True),
    "made by one that is made": ([unlike(TWICE)], True),
    "in an if": ([unlike(f"if np.pi > 3:\n{INDENTED}")], True),
    "in a try": ([unlike(f"try:\n{INDENTED}except OSError:\n    pass")], True),
    "no jit": ([unlike(BARE)], False),
    "jit for the processor": ([below("from numba import njit\n@njit")], False),
    "a device function": ([below("@cuda.jit(device=True)")], False),
    "a used import": ([f"import os\n{adding('os.getpid()')}"], False),
    "a used name of a module": ([f"from random import random\n{adding('random()')}"], False),
    "a plain helper": ([adding("plus(A[y, x])", "def plus(a):\n    return a\n\n")], False),
    "deleted": ([f"{ADD}\ndel mat_add\n"], None),
    "deleted in another cell": ([ADD, "del mat_add"], None),
    "rebound": ([f"{ADD}\nmat_add = np.vectorize(mat_add)\n"], None),
    "rebound in another cell": ([ADD, "mat_add = np.vectorize(mat_add)"], None),
    "decorated twice": ([below("def quiet(f):\n    return f\n\n@quiet\n@cuda.jit")], None),
}


@every_case("form", FORMS)
@pytest.mark.slow
def test_one_verdict_for_every_form(form: str) -> None:
    cells, passes = FORMS[form]
    text = "\n".join(cells)
    said = as_text("mat_add", text)
    assert (None if said[2] else said[0]) == passes, said
    assert in_a_notebook("mat_add", cells) == said
    seen = as_object("mat_add", text)
    if passes is None:  # where it is, it cannot be judged as an object either
        assert seen is None or seen[2], seen
    else:
        assert seen == said


@pytest.mark.parametrize("tile", few(["8", "4 * 4"], 1))
def test_a_tile_that_a_factory_is_given(tile: str) -> None:
    text = f"{TILED}\nmatmul_tiled = make({tile})\n"
    said = as_text("matmul_tiled", text)
    assert said[:3] == (True, 10, False), said
    assert in_a_notebook("matmul_tiled", [TILED, f"matmul_tiled = make({tile})"]) == said
    assert as_object("matmul_tiled", text) == said


def test_a_factory_that_makes_itself_ends() -> None:
    text = "def make(n):\n    k = make(n)\n    j = make(n)\n    return k\n\nmat_add = make(1)\n"
    assert examine_source("mat_add", text, debug=True).needs_review


@pytest.mark.parametrize("decorator", ["@njit", "@cuda.jit", "@cuda.jit(device=True)"])
def test_a_plain_function_is_asked_for_without_a_decorator(decorator: str) -> None:
    text = right_answers_to("blocks_per_sm")["reference"]
    text = text.replace("def blocks_per_sm", f"{decorator}\ndef blocks_per_sm")
    said = as_text("blocks_per_sm", f"from numba import njit, cuda\n{text}")
    assert said[:2] == (False, 0) and said[3][0][0] == "compile-error", said
    assert as_object("blocks_per_sm", f"from numba import njit, cuda\n{text}") == said


# Each is judged three times, so none stands in the fast set, and of those that take long none in
# that of `--all`.
ONE_IN = 40


def _marks(number: int, exercise: str) -> list[pytest.MarkDecorator]:
    return marks(number, slow=ONE_IN if exercise in CHEAP else 0)


@pytest.mark.parametrize(("exercise", "text"), [
    pytest.param(exercise, text, marks=_marks(number, exercise), id=f"{exercise}-{name}")
    for number, (exercise, name, text) in enumerate(ANSWERS)
])  # fmt: skip
def test_one_verdict_for_every_answer(exercise: str, text: str) -> None:
    if EXERCISES[exercise].kind.name == "constants":
        pytest.skip("constants are no object of their own")
    said = as_text(exercise, text)
    try:
        ast.parse(text)
    except SyntaxError:
        return
    if f"def {exercise}(" not in text:
        return  # nothing is there, or only under another name
    assert as_object(exercise, text) == said
    graded = in_a_notebook(exercise, [f"# EXERCISE {exercise}\n{text}"])
    assert graded == said if graded else is_nothing(said)


RAISED = ("raise NotImplementedError", "raise NotImplementedError('later')")
NOTHING = ("pass", "...", "return", "return None", '"""What it will do."""\n    pass', *RAISED)
SOMETHING = ("n = 1", "len((1, 2))", "return 1", "raise ValueError")
NOT_WRITTEN_YET = dict.fromkeys(NOTHING, True) | dict.fromkeys(SOMETHING, False)


@pytest.mark.parametrize("exercise", ["mat_add", "blocks_per_sm"])
@every_case("body", NOT_WRITTEN_YET)
def test_grader_judge_and_figures_agree_on_what_is_still_empty(body: str, exercise: str) -> None:
    signature = EXERCISES[exercise].signature
    text = f"def {signature}:\n    {body}\n"
    graded = in_a_notebook(exercise, [f"# EXERCISE {exercise}\n{text}"])
    said = as_text(exercise, text)
    assert (graded is None) == NOT_WRITTEN_YET[body]
    assert load_program(text).kernel(exercise).is_empty == NOT_WRITTEN_YET[body]
    if NOT_WRITTEN_YET[body]:
        assert is_nothing(said), said
