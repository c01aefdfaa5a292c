"""The tasks of lesson 10c: right answers in odd styles pass; a row beyond the registers counts."""

import pytest
from sampling import few

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS

HEAD = "import math\nfrom numba import cuda, float32\n\n\n"
NAIVE = """
@cuda.jit
def softmax_naive(X, Y):
    r = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    rows, columns = X.shape
    if r >= rows:
        return
"""
RIGHT = {
    "the largest by comparing, while loops": (
        "softmax_naive",
        NAIVE
        + """\
    top = X[r, 0]
    j = 1
    while j < columns:
        if X[r, j] > top:
            top = X[r, j]
        j += 1
    total = float32(0.0)
    for j in range(columns):
        total = total + math.exp(X[r, j] - top)
    for j in range(columns - 1, -1, -1):
        Y[r, j] = math.exp(X[r, j] - top) / total
""",
    ),
    "shuffles in a device function": (
        "softmax_warps",
        """
@cuda.jit(device=True)
def joined(number, is_sum):
    for k in range(5):
        other = cuda.shfl_xor_sync(-1, number, 1 << k)
        number = number + other if is_sum else max(number, other)
    return number


@cuda.jit
def softmax_warps(X, Y):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    lane = cuda.laneid
    top = float32(-math.inf)
    total = float32(0)
    if row >= X.shape[0]:
        return
    for j in range(lane, X.shape[1], cuda.warpsize):
        top = max(top, X[row, j])
    top = joined(top, False)
    for j in range(lane, X.shape[1], cuda.warpsize):
        total += math.exp(X[row, j] - top)
    total = joined(total, True)
    for j in range(lane, X.shape[1], cuda.warpsize):
        Y[row, j] = math.exp(X[row, j] - top) / total
""",
    ),
    "the tree by strides that grow": (
        "softmax_tree",
        TASKS["softmax_tree"].answer.replace(
            """\
    half = 64
    while half > 0:
        cuda.syncthreads()
        if t < half:
            parts[t] += parts[t + half]
        half //= 2
""",
            """\
    apart = 1
    while apart < 128:
        cuda.syncthreads()
        if t % (2 * apart) == 0:
            parts[t] += parts[t + apart]
        apart *= 2
""",
        ),
    ),
    "no number in the place of one that is not there": (
        "softmax_once",
        TASKS["softmax_once"]
        .answer.replace(
            """\
        kept[k] = X[row, j] if j < columns else float32(-math.inf)
        top = max(top, kept[k])
""",
            """\
        if j < columns:
            kept[k] = X[row, j]
            top = max(top, kept[k])
""",
        )
        .replace("if 256 * k < columns:", "if t + 256 * k < columns:"),
    ),
}


@pytest.mark.parametrize("style", few(RIGHT, 2))
def test_a_right_answer_in_another_style_passes(style: str) -> None:
    name, text = RIGHT[style]
    assert text != TASKS[name].answer
    report = examine_source(name, HEAD + text, seed=5)
    assert report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop", ["total += math.exp(X[row, j] - top)", "Y[row, j] = math.exp(X[row, j] - top) * share"]
)
def test_a_row_longer_than_what_is_kept_needs_its_own_loops(loop: str) -> None:
    beyond = f"    for j in range(t + 4096, columns, 256):\n        {loop}\n"
    answer = TASKS["softmax_once"].answer
    assert beyond in answer
    report = examine_source("softmax_once", HEAD + answer.replace(beyond, ""), seed=5)
    assert [found.code for found in report.errors] == ["wrong-loop-bound"]
    lines = (HEAD + answer).splitlines()
    assert lines[(report.errors[0].line or 0) - 1].strip() == "for k in range(16):"
