"""Whatever the answer, an examination ends, raises nothing, says the same twice; budgets decide."""

import ast
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from costly_answers import costly_answers, kernel
from counted_work import counted_calls
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from random_answers import PARAMETERS, TESTS, damaged, random_kernel, soup
from sampling import marks
from stored_answers import right_answers_to

from course_lib.checking import LONGEST_SENTENCE, MOST_FINDINGS, examine_source
from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.report import Report
from course_lib.wording.sentences import Line, facts_of

ANSWERS = costly_answers()
MOST_CALLS = 15_000_000  # 4.3 million at most of those not marked `long`, in November 2026
MEGABYTES = 400
ENDLESS = "Does the condition of this loop ever become false?"
UNITS = 1 << 20 if sys.platform == "darwin" else 1 << 10  # of ru_maxrss in a megabyte
SLOW_ONE_IN = 18


def judged(name: str) -> Report:
    exercise, text = ANSWERS[name]
    return examine_source(exercise, text, seed=3, debug=True)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(n, slow=SLOW_ONE_IN)) for n, name in enumerate(ANSWERS)]
)
def test_it_ends(name: str) -> None:
    resource = pytest.importorskip("resource", reason="there is no such count on Windows")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with counted_calls(MOST_CALLS):
        report = judged(name)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MEGABYTES * UNITS
    assert not report.passed
    assert not report.needs_review, str(report)
    assert len(report.findings) <= MOST_FINDINGS
    assert all(len(each.message) <= LONGEST_SENTENCE + 9 for each in report.findings)


def test_an_endless_loop_is_named() -> None:
    [error] = judged("matmul_naive: endless").errors
    assert error.code == "timeout"
    assert error.line == 8
    assert facts_of(error.message)["line"] == Line(8)
    assert error.hint == ENDLESS


TURNS_TOO_FEW = """
import math
import numpy as np
from numba import cuda, float32


@cuda.jit
def causal_sums(S, L):
    handed = cuda.shared.array((4, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    query = 4 * cuda.blockIdx.x + y
    if query >= S.shape[0]:
        return
    top, total = float32(-math.inf), float32(0)
    for tile in range((query + 31) // 32):
        key = 32 * tile + x
        handed[y, x] = float32(-math.inf)
        if key <= query:
            handed[y, x] = S[query, key]
        cuda.syncwarp()
        new = top
        for j in range(32):
            new = max(new, handed[y, j])
        total *= math.exp(top - new)
        for j in range(32):
            total += math.exp(handed[y, j] - new)
        top = new
        cuda.syncwarp()
    if x == 0:
        L[query] = top + math.log(total)
"""


def test_changes_with_which_a_loop_turns_for_nothing_are_not_gone_through() -> None:
    """With `range((query + 31) * 32)` the numbers are right, after some thousand more turns."""
    with counted_calls(7_000_000):  # 4.2 million, and 10.0 when all are, in November 2026
        [error] = examine_source("causal_sums", TURNS_TOO_FEW).errors
    assert (error.code, error.line) == ("wrong-loop-bound", 15)


ONE_THREAD = """
import numpy as np
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    if cuda.grid(2)[0] == 0 and cuda.grid(2)[1] == 0:
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                total = np.float32(0)
                for k in range(A.shape[1]):
                    total += A[i, k] * B[k, j]
                C[i, j] = total
"""


@pytest.mark.slow
def test_a_loop_that_ends_is_not_said_to_be_endless() -> None:
    [error] = examine_source("matmul_naive", ONE_THREAD, debug=True).errors
    assert error.code == "timeout"
    facts = facts_of(error.message)
    assert facts["turns"] == "2" and facts["budget"] == "the 15000 steps of this launch"
    assert error.hint != ENDLESS


def test_all_launches_together_have_a_budget() -> None:
    """Each launch alone stays within its own; the answer is right, and hardly ever ends."""
    text = ANSWERS["matmul_naive: endless"][1].replace(
        "    while True:\n        pass",
        "    col, row = cuda.grid(2)\n"
        "    if row < C.shape[0] and col < C.shape[1]:\n"
        "        x = float32(0)\n"
        "        for i in range(6000 if A.shape[0] > 1 else 1):\n"
        "            x = float32(i)\n"
        "        x = float32(0)\n"
        "        for k in range(A.shape[1]):\n"
        "            x += A[row, k] * B[k, col]\n"
        "        C[row, col] = x",
    )
    report = examine_source("matmul_naive", text, debug=True)
    assert [each.code for each in report.errors] == ["timeout"]
    # What was left for the last launch would tell of the steps, so of the inputs, before.
    [error] = examine_source("matmul_naive", text.replace("6000", "2000"), debug=True).errors
    assert facts_of(error.message)["budget"] == "the 70000 steps of all launches together"


NESTED = [
    ("(A[0, 0] + ", "1", ")"),
    ("A[int(", "0", "), 0]"),
    ("(A[0, 0] > 0 and ", "True", ")"),
    ("(1 if A[0, 0] > 5 else ", "2", ")"),
]


@pytest.mark.parametrize(
    ("levels", "opening", "inside", "closing"),
    [
        pytest.param(levels, *parts, marks=marks(number + turn, slow=3))
        for number, parts in enumerate(NESTED)
        for turn, levels in enumerate((30, 44, 58))
    ],
)
def test_how_deep_the_caller_is_does_not_matter(
    levels: int, opening: str, inside: str, closing: str
) -> None:
    """Depth is counted; if Python's own limit decided, a notebook would judge otherwise."""
    text = kernel(f"x = {opening * levels}{inside}{closing * levels}\nC[0, 0] = 1")

    def from_below(frames: int) -> Report:
        if frames:
            return from_below(frames - 1)
        return examine_source("matmul_naive", text, debug=True)

    assert from_below(0) == from_below(250)


# Half of them in the launches, half in the search for a change; a bug means far more, or no end.
MOST_CALLS_FUZZ = 40_000_000
QUICK = ("mat_add", "matmul_naive", "transpose_tiled", "block_scan", "blocks_per_sm")
FUZZED = ("mat_add", "matmul_naive", "block_scan", "blocks_per_sm", "pick_a_tile")
SEEDS = st.integers(0, 2**32 - 1)


def check(exercise: str, text: str, seed: int = 0) -> None:
    """With `debug`, a mistake of the checker's own is raised."""
    with counted_calls(MOST_CALLS_FUZZ):
        first = examine_source(exercise, text, seed=seed, debug=True)
    again = examine_source(exercise, text, seed=seed, debug=True)
    assert first == again
    assert first.findings or first.passed
    assert all(each.message.isprintable() for each in first.findings)
    lines = text.count("\n") + 2
    assert all(each.line is None or 1 <= each.line <= lines for each in first.findings)


@given(SEEDS, st.integers(1, 60), st.sampled_from(sorted(PARAMETERS)))
def test_soup_of_words(seed: int, words: int, exercise: str) -> None:
    check(exercise, soup(random.Random(seed), words))


@pytest.mark.slow
@settings(max_examples=2)
@given(SEEDS, st.sampled_from(QUICK))
def test_random_kernels(seed: int, exercise: str) -> None:
    check(exercise, random_kernel(random.Random(seed), exercise), seed)


@pytest.mark.slow
@settings(max_examples=4)
@given(SEEDS, st.sampled_from(QUICK))
def test_damaged_answers(seed: int, exercise: str) -> None:
    check(exercise, damaged(random.Random(seed), exercise), seed)


@pytest.mark.long
@settings(max_examples=1500)
@given(SEEDS, st.sampled_from(sorted(PARAMETERS)))
def test_many_random_kernels(seed: int, exercise: str) -> None:
    if exercise != "pick_a_tile":
        check(exercise, random_kernel(random.Random(seed), exercise), seed)


@pytest.mark.long
@settings(max_examples=600)
@given(SEEDS, st.sampled_from([*QUICK, "matmul_tiled", "matmul_1d", "matmul_2d", "attention"]))
def test_many_damaged_answers(seed: int, exercise: str) -> None:
    check(exercise, damaged(random.Random(seed), exercise), seed)


@pytest.mark.long
def test_coverage_guided_fuzzing(tmp_path: Path) -> None:
    """Atheris changes real answers for a minute, steered by what the checker's code does."""
    if find_spec("atheris") is None:
        pytest.skip("atheris is not installed here: pip install atheris (Linux)")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, exercise in enumerate(FUZZED):
        for name, text in right_answers_to(exercise).items():
            (corpus / f"{exercise}-{name}").write_bytes(bytes([number]) + text.encode())
    target = Path(__file__).with_name("fuzz_answers.py")
    seconds = os.environ.get("FUZZ_SECONDS", "60")
    options = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=2500", "-max_len=4000"]
    done = subprocess.run(
        [sys.executable, str(target), str(corpus), *options],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
        capture_output=True,
        text=True,
        timeout=int(seconds) + 240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "cov:" in done.stderr  # it did run, and saw the code


HEAD = "import numpy as np\nfrom numba import cuda, float32\n\n\n@cuda.jit\n"
ONE_FOR_ALL = {
    "one thread of the grid": "x, y = cuda.grid(2)\nif x == 0 and y == 0:\n    {}",
    "every thread": "if True:\n    {}",
    "one thread of each block": "if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:\n    {}",
    "the last of the grid": "x, y = cuda.grid(2)\nif x == 0:\n    if y == 0:\n        {}",
}
WORK = {
    "mat_add": "for r in range(C.shape[0]):\n  for c in range(C.shape[1]):\n"
    "    C[r, c] = A[r, c] + B[r, c]",
    "matmul_naive": "for r in range(C.shape[0]):\n  for c in range(C.shape[1]):\n"
    "    for k in range(A.shape[1]):\n      C[r, c] += A[r, k] * B[k, c]",
    "matmul_column_major": "r = c = 0\nfor k in range(A.shape[1]):\n  C[r, c] += A[r, k] * B[k, c]",
    "transpose_tiled": "for r in range(B.shape[0]):\n  B[r, 0] = A[0, r]",
    "block_scan": "for i in range(1, len(x)):\n  y[i] = y[i - 1] + x[i]",
}


# Each of the threads with every second kind of work, and the other way round.
@every_case(
    ("threads", "exercise"),
    [(t, e) for i, t in enumerate(ONE_FOR_ALL) for j, e in enumerate(WORK) if (i + j) % 2 == 0],
)
@pytest.mark.slow
def test_the_checker_never_fails_on_an_index_that_is_the_same_for_all(
    threads: str, exercise: str
) -> None:
    start, _, rest = ONE_FOR_ALL[threads].partition("{}")
    indent = start[start.rfind("\n") + 1 :]
    body = start + WORK[exercise].replace("\n", f"\n{indent}") + rest
    parameters = ", ".join(EXERCISES[exercise].parameters)
    text = f"{HEAD}def {exercise}({parameters}):\n    " + body.replace("\n", "\n    ")
    report = examine_source(exercise, text + "\n", debug=True)
    assert not report.passed and not report.needs_review


def test_so_it_is_where_all_threads_of_a_loop_are_outside() -> None:
    text = f"""{HEAD}def mat_add(A, B, C):
    row = cuda.grid(2)[1]
    while row <= len(C):
        for col in range(cuda.grid(2)[0], C.shape[1], cuda.gridsize(2)[0]):
            C[row][col] = A[row][col] + B[row][col]
        row += cuda.gridsize(2)[1]
"""
    report = examine_source("mat_add", text, debug=True)
    assert not report.passed and not report.needs_review


def test_a_thread_that_runs_out_of_steps_is_told_so() -> None:
    body = WORK["mat_add"].replace("\n", "\n        ")
    text = f"{HEAD}def mat_add(A, B, C):\n    if cuda.grid(2) == (0, 0):\n        {body}\n"
    error = examine_source("mat_add", text, debug=True).errors[0]
    assert error.code == "timeout"


@pytest.fixture
def hung_onto() -> object:
    """`ctx` of all names is one node in a Python process; `executing` gives it a `parent`."""
    tree = ast.parse("a[i] = b")
    nodes = list(ast.walk(tree))
    for node in nodes:
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    yield tree
    for node in nodes:
        vars(node).pop("parent", None)


def test_a_slip_is_told_the_same_with_parents_hung_onto_nodes(hung_onto: object) -> None:
    text = """from numba import cuda
@cuda.jit
def add_ten_everywhere(a, out):
    i = cuda.threadIdx.x
    if i < a.shape[0]:
        out[i] = a[i] + 10
"""
    assert examine_source("add_ten_everywhere", text, debug=True).findings[0].code == "wrong-index"
