"""A test is blamed where it lets the wrong threads pass, and never for what it did not do.

A thread that has an element of the output passes rightly: then the index of the access is wrong.
"""

import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.wording.findings import Finding

HEAD = "import numpy as np\nfrom numba import cuda, float32\n\n\n@cuda.jit\n"
STORE = "C[row, col] = A[row, col] + B[row, col]"


def first(exercise: str, body: str, seed: int = 0) -> tuple[Finding, str]:
    """The first error of a kernel, and the line that it blames."""
    parameters = {"mat_add": "A, B, C", "matmul_naive": "A, B, C"}.get(exercise)
    parameters = parameters or ", ".join(TASKS[exercise].parameters)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{HEAD}def {exercise}({parameters}):\n{lines}"
    found = examine_source(exercise, text, seed=seed, debug=True).errors[0]
    return found, text.splitlines()[(found.line or 0) - 1].strip()


TOO_WIDE = {
    "or for and": "row < M or col < N",
    "| for &": "(row < M) | (col < N)",
    "one too far": "row <= M and col < N",
    "axes exchanged": "row < N and col < M",
    "flattened": "row * N + col < M * N",
    "not": "not (row >= M and col >= N)",
    "chained": "0 <= row <= M and col < N",
    "by a name": "inside",
}


@pytest.mark.slow
@every_case("name", TOO_WIDE)
def test_a_test_that_lets_too_many_pass_is_to_blame(name: str) -> None:
    test = TOO_WIDE[name]
    named = "inside = row < M or col < N\n" if test == "inside" else ""
    body = f"col, row = cuda.grid(2)\nM, N = C.shape\n{named}if {test}:\n    {STORE}"
    found, line = first("mat_add", body)
    assert found.code == "wrong-bounds-check"
    assert line.startswith("inside =" if named else "if ")


EDGES = {
    "nothing passes": ("b <= v and v < b", "wrong-formula"),
    "both edges": ("b <= v and v <= b + 1", "wrong-formula"),
    "neither edge": ("b < v and v < b + 1", "wrong-formula"),
}


@pytest.mark.slow
@pytest.mark.parametrize("held", ["x[i]", "v"])
@every_case("name", EDGES)
def test_a_test_of_elements_is_no_bounds_check(name: str, held: str) -> None:
    test, code = EDGES[name][0].replace("v", held), EDGES[name][1]
    body = f"""\
i = cuda.grid(1)
if i < x.shape[0]:
    v = x[i]
    for b in range(5):
        if {test}:
            cuda.atomic.add(counts, b, 1)"""
    found, line = first("histogram", body)
    assert (found.code, line) == (code, f"if {test}:")


RETURNS = {
    "both needed": "y >= C.shape[0] and x >= C.shape[1]",
    "larger than": "y > C.shape[0] or x > C.shape[1]",
    "exchanged": "y >= C.shape[1] or x >= C.shape[0]",
    "lengths": "y > len(A) or x > len(A[0])",
}


@every_case("name", RETURNS)
@pytest.mark.slow
def test_a_test_that_returns_is_told_where_it_does_not(name: str) -> None:
    test = RETURNS[name]
    where = "bx, by = cuda.blockIdx.x * cuda.blockDim.x, cuda.blockIdx.y * cuda.blockDim.y\n"
    where += "x = bx + cuda.threadIdx.x\ny = by + cuda.threadIdx.y"
    body = f"{where}\nif {test}:\n    return\nC[y, x] = A[y, x] + B[y, x]"
    found, line = first("mat_add", body)
    assert (found.code, line) == ("wrong-bounds-check", f"if {test}:")


@every_case(
    "test", ["row < M and col < N - 1", "0 < row < M and col < N", "row < min(M, 40) and col < N"]
)
def test_a_test_that_keeps_threads_away_is_told_with_the_first_of_their_elements(test: str) -> None:
    body = f"col, row = cuda.grid(2)\nM, N = C.shape\nif {test}:\n    {STORE}"
    found, line = first("mat_add", body)
    assert (found.code, line) == ("wrong-bounds-check", f"if {test}:")
    assert "still holds what it held" in found.message


INNOCENT = {
    "back by one too many": ("mirror_rows", "A[row, N - column]"),
    "the next column": ("mirror_rows", "A[row, column + 1]"),
    "back along the other axis": ("mirror_rows", "A[M - row, column]"),
    "doubled": ("mirror_rows", "A[row, 2 * column]"),
}  # fmt: skip


@every_case("name", INNOCENT)
@pytest.mark.slow
def test_the_index_is_to_blame_in_a_thread_that_has_an_element(name: str) -> None:
    exercise, load = INNOCENT[name]
    guard = "if row < M and column < N:" if "back" in name else "if column < N and M > row:"
    body = f"column, row = cuda.grid(2)\nM, N = A.shape\n{guard}\n    B[row, column] = {load}"
    for seed in (0, 3):
        found, line = first(exercise, body, seed)
        assert found.code in ("wrong-index", "out-of-bounds-read")
        assert line == f"B[row, column] = {load}"


def test_so_it_is_behind_a_test_that_returns_and_where_the_store_goes_astray() -> None:
    body = "x, y = cuda.grid(2)\nM, N = C.shape\nif x >= N or y >= M:\n    return\n"
    for store in ("C[y, x + 1] = A[y, x] + B[y, x]", "C[y, x] = A[y, x] + B[y + 1, x]"):
        found, line = first("mat_add", f"{body}{store}")
        assert (found.code, line) == ("wrong-index", store)
        assert "This test" not in found.message


def test_what_leaves_an_array_is_told_before_what_was_not_written() -> None:
    body = "c, r = cuda.grid(2)\nif r < {0}.shape[1] and c < {0}.shape[0]:\n    {1}"
    for exercise, letter, store in (
        ("mat_add", "C", "C[r, c] = A[r, c] + B[r, c]"),
        ("double_matrix", "A", "B[r, c] = 2 * A[r, c]"),
    ):
        text = HEAD + f"def {exercise}({'A, B, C' if letter == 'C' else 'A, B'}):\n    "
        text += body.format(letter, store).replace("\n", "\n    ")
        report = examine_source(exercise, text, debug=True)
        assert "but the indices along axis" in report.errors[0].message
        assert "right where the blocks divide all sizes" not in report.held


def test_a_thread_without_an_element_is_not_said_to_have_one() -> None:
    text = (
        HEAD
        + """def naive_by_rows(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[1] and j < C.shape[0]:
        total = float32(0)
        for k in range(B.shape[0]):
            total += A[i, k] * B[k, j]
        C[i, j] = total
"""
    )
    report = examine_source("naive_by_rows", text, debug=True)
    assert report.errors
    assert not any("it has an element" in error.message for error in report.errors)
