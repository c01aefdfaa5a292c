"""A kernel's body -> the code of its first error, and the line to blame, marked `#!`."""

import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, TASKS

HEAD = "import numpy as np\nfrom numba import cuda, float32\n\n\n@cuda.jit\n"
PLACE = "col, row = cuda.grid(2)\nM, K = A.shape\nN = B.shape[1]\n"
SUM = f"""{PLACE}if row < M and col < N:
    acc = float32(0)
    for k in range(K):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc"""
ADD = "col, row = cuda.grid(2)\n{}C[row, col] = A[row, col] + B[row, col]"
# exercise, body, code, words of the message
SAID: dict[str, tuple[str, str, str, str]] = {
    "no test": ("mat_add", ADD.format("") + "  #!", "out-of-bounds-read", "but the indices"),
    "a test of one index alone": ("mat_add", ADD.format("if row < C.shape[0]:  #!\n    "),
        "wrong-bounds-check", "does not check col"),
    "a test that lets one too many through": ("mat_add",
        ADD.format("if row <= C.shape[0] and col < C.shape[1]:  #!\n    "), "wrong-bounds-check",
        "is true (33 <= 33)"),
    "a test that has a name": ("mat_add",
        ADD.format("inside = row <= C.shape[0] and col < C.shape[1]  #!\nif inside:\n    "),
        "wrong-bounds-check", "is true (33 <= 33)"),
    "an early return": ("mat_add",
        ADD.format("if row > C.shape[0]:  #!\n    return\nif col >= C.shape[1]:\n    return\n"),
        "wrong-bounds-check", "is false (33 > 33)"),
    "a conditional expression": (
        "matmul_naive",
        f"""{PLACE}acc = float32(0)
for k in range(K):
    a = A[row, k] if row <= M else float32(0)  #!
    acc += a * (B[k, col] if col < N else float32(0))
if row < M and col < N:
    C[row, col] = acc""",
        "wrong-bounds-check",
        "is true (33 <= 33)",
    ),
    "a test of the thread's number is no bound": ("mat_add",
        ADD.format("if cuda.threadIdx.x >= 0:\n    ") + "  #!", "out-of-bounds-read",
        "but the indices"),
    "an index that is scaled": (
        "mat_add",
        ADD.format("if row < C.shape[0] and col < C.shape[1]:\n    ").replace(
            "C[row, col] =", "C[row, col * 16] ="
        )
        + "  #!",
        "wrong-index",
        "use another number instead of `16`",
    ),
    "a loop that runs too far": ("matmul_naive", SUM.replace("range(K):", "range(K + 1):  #!"),
        "wrong-loop-bound", ""),
    "a bound in a variable": ("matmul_naive",
        SUM.replace("    acc = ", "    last = K + 1  #!\n    acc = ").replace("(K)", "(last)"),
        "wrong-loop-bound", ""),
    "a bound that is an index as well": (
        "matmul_naive",
        SUM.replace("    acc = ", "    last = K + 1\n    acc = ")
        .replace("(K):", "(last):  #!")
        .replace("C[row, col] = acc", "C[row, col] = acc + 0 * A[row, last - 2]"),
        "wrong-loop-bound",
        "",
    ),
    "a while loop": (
        "matmul_naive",
        SUM.replace("for k in range(K):", "k = 0\n    while k <= K:  #!").replace(
            "    C[row", "        k += 1\n    C[row"
        ),
        "wrong-loop-bound",
        "",
    ),
    "a loop that starts too late": ("matmul_naive",
        SUM.replace("    acc = ", "    first = 1\n    acc = ").replace("(K):", "(first, K):  #!"),
        "wrong-loop-bound", ""),
    "a bound that is worked out before its loop": (
        "block_sums",
        """part = cuda.shared.array(64, float32)
t = cuda.threadIdx.x
if cuda.grid(1) < x.shape[0]:
    part[t] = x[cuda.grid(1)]
cuda.syncthreads()
if t == 0:
    count = x.shape[0] % 64  #!
    total = float32(0)
    for k in range(count):
        total += part[k]
    sums[cuda.blockIdx.x] = total""",
        "wrong-loop-bound",
        "all terms from number",
    ),
    "a step that is shifted": ("matmul_naive",
        SUM.replace("A[row, k] *", "A[row, k + 1] *").replace("col]\n", "col]  #!\n"),
        "wrong-index", "k + 1"),
    "a test around a loop is innocent of its steps": (
        "matmul_naive",
        f"""{PLACE}acc = float32(0)
for base in range(0, K, 8):
    if row < M and col < N:
        for k in range(8):  #!
            acc += A[row, base + k] * B[base + k, col]
if row < M and col < N:
    C[row, col] = acc""",
        "wrong-loop-bound",
        "",
    ),
    "float64 from the first value on": ("matmul_naive", SUM.replace("float32(0)", "0.0  #!"),
        "float64-arithmetic", ""),
    "float64 on the line itself": ("matmul_naive",
        SUM.replace("+= A", "+= 1.0 * A").replace("col]\n", "col]  #!\n"), "float64-arithmetic",
        ""),
}  # fmt: skip


@pytest.mark.parametrize(
    "exercise", ["mat_add", "block_sums", pytest.param("matmul_naive", marks=pytest.mark.slow)]
)
def test_told_at_its_line(exercise: str) -> None:
    @every_case("name", [name for name, row in SAID.items() if row[0] == exercise])
    def told(name: str) -> None:
        _, body, code, said = SAID[name]
        entry = EXERCISES.get(exercise) or TASKS[exercise]
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        text = f"{HEAD}def {exercise}({', '.join(entry.parameters)}):\n{lines}"
        first, *others = examine_source(exercise, text, debug=True).errors
        marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("#!")]
        assert (first.code, [first.line]) == (code, marked), str(first)
        assert said in first.message
        # What only follows from the cause is not told.
        assert {each.code for each in others} <= {"out-of-bounds-write"}

    told()
