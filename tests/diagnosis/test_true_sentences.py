"""Sentences that were false of some answers: what they claim is looked at before they say it."""

import re

import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.diagnosis.report import Report

HEAD = "import numpy as np\nfrom numba import cuda, float32\n\n\n"
TILED = """\
TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    acc = float32(0)
    for k0 in range(0, K, TILE):
        sA[ty, tx] = A[row, k0 + tx] if {guard} else float32(0)
        sB[ty, tx] = B[k0 + ty, col] if {guard} else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""


def judged(exercise: str, text: str, seed: int = 0) -> Report:
    return examine_source(exercise, HEAD + text, seed=seed, debug=True)


@pytest.mark.parametrize(
    ("guard", "seed"), [("row < M and col < N", 0), ("col < N", 4), ("row < C.shape[0]", 0)]
)
@pytest.mark.slow
def test_a_tile_that_is_right_where_it_is_full_has_rows_of_the_right_length(
    guard: str, seed: int
) -> None:
    first = judged("matmul_tiled", TILED.format(guard=guard), seed).errors[0]
    assert "is filled in rows of" not in first.message
    assert first.code in ("wrong-bounds-check", "out-of-bounds-read", "wrong-index")


@every_case(
    "test", ["0 < i < n - 1", "i >= 1 and i < n", "i > 0 and i + 1 < n", "i != 0 and i < n"]
)
@pytest.mark.slow
def test_an_element_that_a_test_leaves_out_is_no_wrong_offset(test: str) -> None:
    right = (
        "x[i + 1]"
        if "1 < n" in test or "n - 1" in test
        else "(x[i + 1] if i + 1 < n else float32(0))"
    )
    text = "@cuda.jit\ndef sum_of_three(x, y):\n    i, n = cuda.grid(1), x.shape[0]\n"
    text += f"    if {test}:\n        y[i] = x[i - 1] + x[i] + {right}\n"
    for seed in (0, 2):
        first = judged("sum_of_three", text, seed).errors[0]
        assert "belong to a block" not in first.message
        assert "y[0]" in first.message


def test_a_wrong_offset_of_the_block_is_told_still() -> None:
    text = "@cuda.jit\ndef sum_of_three(x, y):\n    n = x.shape[0]\n"
    text += "    i = cuda.blockIdx.x * 129 + cuda.threadIdx.x\n    if 0 <= i < n:\n"
    text += "        left = x[i - 1] if i > 0 else float32(0)\n"
    text += "        right = x[i + 1] if i + 1 < n else float32(0)\n"
    first = judged("sum_of_three", f"{text}        y[i] = left + x[i] + right\n").errors[0]
    assert (first.code, first.line) == ("wrong-index", 8)


def test_holds_says_no_more_than_the_launches_show() -> None:
    """Where only the numbers differ, a size is not what is wrong."""
    text = "import math\n\n\n@cuda.jit\ndef merge_parts(O, L, out):\n    x = cuda.threadIdx.x\n"
    text += "    top = bottom = float32(0)\n    for i in range(L.shape[0]):\n"
    text += "        w = math.exp(L[i])\n        top += w * O[i, x]\n        bottom += w\n"
    held = judged("merge_parts", f"{text}    out[x] = top / bottom\n").held
    assert not any("divide all sizes" in each for each in held)


def test_a_conflict_of_a_wide_access_is_held_against_what_it_takes_at_best() -> None:
    task = TASKS["piece_at"]
    for turns, rows in ((8, 4), (16, 2)):
        text = task.answer.replace("row % 8", f"row % {rows}")
        message = judged(task.id, text).errors[0].message
        assert f"takes {turns} wavefronts" in message and "takes at least 4 wavefronts" in message


@every_case(("read", "down"), [
    ("s[x % 32, 0]", True),
    ("s[x % 2 * 16, x // 2 * 2]", False),
    ("s[x % 32 // 16, 2 * x]", False),
])  # fmt: skip
def test_lanes_walk_down_a_column_only_if_they_do(read: str, down: bool) -> None:
    text = "BLOCK = (32, 8)\n\n\n@cuda.jit\ndef mat_add(A, B, C):\n"
    text += "    s = cuda.shared.array((32, 64), float32)\n    x, y = cuda.grid(2)\n"
    text += "    t, u = cuda.threadIdx.x, cuda.threadIdx.y\n    for i in range(u, 32, 8):\n"
    text += "        s[i, t] = s[i, t + 32] = float32(i)\n    cuda.syncthreads()\n"
    read = re.sub(r"\bx\b", "t", read)
    text += f"    zero = float32(0) * {read}\n    if y < C.shape[0] and x < C.shape[1]:\n"
    text += "        C[y, x] = A[y, x] + B[y, x] + zero\n"
    found = [each for each in judged("mat_add", text).findings if each.code == "bank-conflict"]
    assert found and all(("walk down" in each.message) == down for each in found)


def test_shuffles_are_no_operands_from_global_memory() -> None:
    text = (
        "@cuda.jit\ndef row_sums(A, y):\n    lane = cuda.threadIdx.x\n    for row in range(32):\n"
    )
    text += "        v = A[row, lane]\n        for d in (16, 8, 4, 2, 1):\n"
    text += "            v += cuda.shfl_down_sync(0xffffffff, v, d)\n"
    text += "        if lane == 0:\n            y[row] = v\n"
    first = judged("row_sums", text).errors[0]
    assert first.code == "not-used" and "operands" not in first.message


@pytest.mark.slow
def test_a_swizzle_that_both_reads_pass_by_is_told() -> None:
    task = TASKS["warp_product"]
    text = re.sub(r"piece_at\(([^,]+), ([^)]+)\)", r"(\1) * 64 + (\2) * 8", task.answer)
    assert text != task.answer
    assert (
        "as if the 16-byte pieces of each row were stored in order"
        in judged(task.id, text).errors[0].message
    )


@pytest.mark.slow
def test_a_number_that_has_to_vary_is_said_so_and_an_element_is_named_once() -> None:
    text = TASKS["prefix_sums"].answer.replace("step *= 2", "step += 1")
    (error, *_) = examine_source("prefix_sums", HEAD + text).errors
    assert "use a variable instead of `1`" in error.message
    assert error.message.count("and should be") == 1
