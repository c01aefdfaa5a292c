"""What Python lets pass and no GPU does is told plainly, at its line."""

import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.diagnosis.report import Report
from course_lib.wording.sentences import facts_of

HEAD = "from numba import cuda, float32\nfrom numba.cuda import syncthreads\n\n\n"
INDEX = "    x, y = cuda.grid(2)\n"
STORE = "    if y < C.shape[0] and x < C.shape[1]:\n        C[y, x] = A[y, x] + B[y, x]\n"
THROUGH_A_TILE = (
    "    s = cuda.shared.array((16, 16), float32)\n"
    "    i, j = cuda.threadIdx.y, cuda.threadIdx.x\n"
    "    inside = y < C.shape[0] and x < C.shape[1]\n"
    "    s[15 - i, j] = float32(i)\n"
    "    {barrier}\n"
    "    if inside:\n"
    "        C[y, x] = A[y, x] + B[y, x] + float32(0) * s[i, j]\n"
)


def judged(body: str, decorator: str = "@cuda.jit") -> tuple[Report, list[str]]:
    text = f"{HEAD}{decorator}\ndef mat_add(A, B, C):\n{INDEX}{body}"
    return examine_source("mat_add", text, debug=True), text.split("\n")


@every_case(("body", "code", "words", "line"), [
    (f"{STORE}    return C\n", "compile-error", "refuses a kernel that returns", "return C"),
    (f"{STORE}        return x\n", "compile-error", "refuses a kernel that returns", "return x"),
    (f"    C.fill(0)\n{STORE}", "unsupported", "C.fill() works on whole", "C.fill(0)"),
    (f"    s = A.sum()\n{STORE}", "unsupported", "A.sum() works on whole", "s = A.sum()"),
    (f"    D = A.dot(B)\n{STORE}", "compile-error", "A.dot() works on whole", "D = A.dot(B)"),
    (f"    D = A @ B\n{STORE}", "compile-error", "A @ B works on whole", "D = A @ B"),
    ("    for k in range(1):\n        C = A[y, x] + B[y, x]\n", "incomplete-output",
     "gives the name C a new meaning", "C = A[y, x] + B[y, x]"),
])  # fmt: skip
def test_told_at_its_line(body: str, code: str, words: str, line: str) -> None:
    report, lines = judged(body)
    [error] = report.errors
    assert error.code == code and report.points == 0
    assert words in error.message and lines[(error.line or 0) - 1].strip() == line


@pytest.mark.parametrize("decorator", ["", "@cuda.jit(device=True)"])
def test_what_a_gpu_cannot_launch_earns_nothing(decorator: str) -> None:
    report, _ = judged(STORE, decorator)
    assert [each.code for each in report.errors] == ["invalid-launch"]
    assert report.points == 0


@pytest.mark.parametrize("barrier", ["cuda.syncthreads", "syncthreads"])
def test_a_barrier_without_brackets_is_why_there_is_a_race(barrier: str) -> None:
    report, lines = judged(THROUGH_A_TILE.format(barrier=barrier))
    error = report.errors[0]
    assert error.code.startswith("race-") and lines[(error.line or 0) - 1].strip() == barrier
    assert facts_of(error.message)["name"] == barrier
    assert "no races" not in report.held
    assert judged(THROUGH_A_TILE.format(barrier=f"{barrier}()"))[0].passed


def test_a_barrier_that_nobody_needs_is_a_warning() -> None:
    report, _ = judged(f"    cuda.syncthreads\n{STORE}")
    assert report.passed
    [warning] = report.warnings
    assert facts_of(warning.message)["name"] == "cuda.syncthreads"


@pytest.mark.parametrize("body", ["    return\n", "    return None\n", "    C = C[:, :]\n"])
def test_what_is_fine_is_not_told(body: str) -> None:
    first = body if "C =" in body else ""
    last = "" if first else body
    assert not judged(f"{first}{STORE}{last}")[0].errors
