"""A name that nobody knows is told with the one that was perhaps meant, whatever it names."""

import numpy as np
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.emulator.language.intrinsics import ATTRIBUTES, INTRINSICS

HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float32\n\n\n"
KERNEL = """\
@cuda.jit
def mat_add(A, B, C):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = A[row, column] + B[row, column]
"""
TYPOS = {
    "cuda.grid(2)": {
        "cuda.gird(2)": "cuda.grid", "cuda.Grid(2)": "cuda.grid", "cdua.grid(2)": "cuda",
        "cuda.threadldx.x, 0": "cuda.threadIdx", "cuda.grid(2)\n    cuda.syncthread()":
        "cuda.syncthreads", "cuda.grid(2)\n    cuda.sync_threads()": "cuda.syncthreads",
        "cuda.grid(2)\n    t = cuda.shared.aray(9, float32)": "cuda.shared.array",
        "cuda.grid(2)\n    t = cuda.shared.array(9, flaot32)": "float32",
        "cuda.grid(2)\n    cuda.atomic.ad(C, 0, 1)": "cuda.atomic.add",
        "cuda.grid(2)\n    unused = cuda.blockldx.x": "cuda.blockIdx"},
    "C.shape[1]": {"C.shpae[1]": ".shape", "C.Shape[1]": ".shape", "c.shape[1]": "C"},
    "if row <": {"if rwo <": "row", "if Row <": "row"},
    "B[row, column]": {
        "B[row, colum]": "column", "math.sqr(B[row, column])": "math.sqrt",
        "np.flaot32(B[row, column])": "np.float32", "b[row, column]": "B"},
    "@cuda.jit": {"@cuda.jti": "cuda.jit", "@cdua.jit": "cuda"},
}  # fmt: skip


@every_case(("old", "new"), [(old, new) for old in TYPOS for new in TYPOS[old]])
def test_the_name_that_was_meant(old: str, new: str) -> None:
    text = HEAD + KERNEL.replace(old, new, 1)
    error = examine_source("mat_add", text, debug=True).errors[0]
    assert error.hint == f"Did you mean {TYPOS[old][new]}?"
    wrong = new.rpartition("\n")[2].strip()
    assert wrong in text.splitlines()[(error.line or 0) - 1]


def test_a_parameter_of_a_task() -> None:
    task = TASKS["double_matrix"]
    text = HEAD + task.answer.replace("out[y, x] =", "ouy[y, x] =")
    assert examine_source(task.id, text, debug=True).errors[0].hint == "Did you mean out?"


def test_no_name_that_exists_is_called_a_slip() -> None:
    known = [path for path in (*INTRINSICS, *ATTRIBUTES) if path.startswith("numba.cuda.")]
    assert len(known) > 200
    text = "".join(
        f"    each = {path.removeprefix('numba.')}\n" for path in known if "libdevice" not in path
    )
    for part in np.array_split(text.splitlines(keepends=True), 8):
        body = KERNEL.replace("    column, row", f"{''.join(part)}    column, row", 1)
        found = examine_source("mat_add", HEAD + body, debug=True).findings
        assert not any("does not exist" in each.message for each in found)
