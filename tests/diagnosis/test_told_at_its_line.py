"""What shows at one line and is caused at another one is told there: an answer, and its `#!`."""

from __future__ import annotations

from every_case import every_case
from test_first_message import HEAD

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.wording.findings import Finding

SUMS_OF_FOUR = TASKS["sums_of_four"].answer.split("sums = ", 1)[1]
IN_TWO_ARRAYS = """one, two = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    one[t] = x[t]
    cuda.syncthreads()
    if t >= 1:
        two[t] = one[t] + one[t - 1]  #!
    cuda.syncthreads()
    y[t] = two[t] + two[t - 2] if t >= 2 else two[t]
"""
CAUSES = {
    "all threads go through all elements": (*("grid_stride", "wrong-loop-bound"),
        *("cuda.grid(1), x.shape[0], cuda.gridsize(1)):", "0, x.shape[0], cuda.gridsize(1)):  #!")),
    "both blocks begin at the same elements": (*("grid_stride", "wrong-index"),
        *("cuda.grid(1), x", "cuda.threadIdx.x, x")),
    "a cell that the test keeps from being filled": (*("sums_of_four", "uninitialised-read"),
        *(f"sums = {SUMS_OF_FOUR}", IN_TWO_ARRAYS)),
    "half of the cells are filled": (*("padded_scores", "uninitialised-read"),
        *("x]\n    sK[y + 16, x] = K[first + y + 16, x]\n", "x]  #!\n")),
    "an array for one buffer of two": (
        *("two_buffers", "out-of-bounds-write"),
        *("sB = cuda.shared.array(512, float32, alignment=16)",
          "sB = cuda.shared.array(256, float32, alignment=16)  #!"),
    ),
    "pieces of four that begin one apart": (*("copy_by_fours", "wrong-index"),
        *("i = 4 * cuda.grid(1)", "i = cuda.grid(1)  #!")),
    "copies that belong to no group": (
        *("async_buffers", "race-read-after-write"),
        *("A, 32 * after + 4 * t)\n            cp_async16(sB, 256 - now + 4 * t, B, 32 * after + 4 "
          "* t)\n            cp_async_commit()",
          "A, 32 * after + 4 * t)  #!\n            cp_async16(sB, 256 - now + 4 * t, B, 32 * after "
          "+ 4 * t)"),
    ),
    "a barrier in front of the wait": (
        *("async_buffers", "race-read-after-write"),
        *("cp_async_wait(0)\n        cuda.syncthreads()",
          "cuda.syncthreads()\n        cp_async_wait(0)  #!"),
    ),
    "a barrier in a branch": (*("block_sums", "barrier-divergence"),
        *("cuda.syncthreads()\n    if t == 0:", "if t == 0:\n        cuda.syncthreads()  #!")),
    "a barrier of the warp only": (*("block_sums", "race-read-after-write"),
        *("cuda.syncthreads()\n    if", "cuda.syncwarp()  #!\n    if")),
    "a function returns what another line works out": (*("sectors", "wrong-formula"),
        *("touched.add((offset + lane * stride) // 8)", "touched.add(lane * stride // 8)")),
    "a parameter that nothing reads": (*("requested_bytes", "wrong-formula"),
        *("return M * N * K * 2 * 4", "threads = M * K  #!\n    return threads * K * 2 * 4")),
    "an index that only one access has": (
        *("load_tile", "wrong-formula"),
        *("    if top + ty < M.shape[0] and left + tx < M.shape[1]:\n        tile[ty, tx] = M[top "
          "+ ty, left + tx]",
          "    column, row = cuda.grid(2)  #!\n    if row < M.shape[0] and column < M.shape[1]:\n"
          "        tile[ty, tx] = M[row, column]"),
    ),
    "a fragment at an index of its own": (
        *("mix_values", "wrong-formula"),
        *("b0, b1, b2, b3 = ldmatrix_x4_trans(sV, piece_at(16 * k + lane % 16, j + lane // 16))",
          "at = piece_at(lane % 16, j + lane // 16)  #!\n"
          "            b0, b1, b2, b3 = ldmatrix_x4_trans(sV, at)"),
    ),
    "a loop that begins elsewhere": (*("running_totals", "wrong-index"),
        *("range(start, start + 4):", "range(start // 4, start // 4 + 4):")),
    "a store that the loop has no part in": (*("running_totals", "out-of-bounds-write"),
        *("totals[start // 4] = total", "totals[start] = total")),
    "another name on a line that is given": (
        *("grid_stride", "wrong-index"),
        *("    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):\n        y[i] = 2 "
          "* x[i]",
          "    i = cuda.grid(1)\n    for k in range(i, x.shape[0], cuda.gridsize(1)):\n"
          "        y[i] = 2 * x[i]  #!"),
    ),
    "two tests joined without brackets": (
        *("load_tile", "wrong-bounds-check"),
        *("M.shape[0] and left", "M.shape[0] & left"),
    ),
    "an edge that is left out of a halo": (*("convolve", "wrong-bounds-check"),
        *("0 <= r < A.shape[0] and 0 <= c", "0 < r < A.shape[0] and 0 < c")),
    "numbers with one end of two": (*("histogram", "wrong-formula"),
        *("    if i < x.shape[0]:\n        b = int(x[i])\n        cuda.atomic",
          "    for b in range(counts.shape[0] if i < x.shape[0] else 0):\n"
          "        if x[i] < b + 1:  #!\n            cuda.atomic")),
    "lanes that go down a column": (*("stage_tile", "uncoalesced-load"),
        *("number // 8, number % 8", "number % 16, number // 16")),
    "a number in place of a size": (*("add_ten_everywhere", "wrong-bounds-check"),
        *("a.shape[0]:", "10:")),
    "an index that leaves the array": (*("mirror_rows", "out-of-bounds-read"),
        *("    if row < A.shape[0] and column < A.shape[1]:\n        B[row, column] = A[row, "
          "A.shape[1] - 1 - column]",
          "    source = cuda.blockIdx.x * 16 + 15 - cuda.threadIdx.x  #!\n"
          "    if row < A.shape[0] and column < A.shape[1]:\n"
          "        B[row, column] = A[row, source]")),
    "both indices of one axis": (*("repair_copy", "wrong-index"),
        *("blockIdx.y * 16 + cuda.threadIdx.y", "blockIdx.y * 16 + cuda.threadIdx.x")),
    "a row too many": (*("pad_tile", "bank-conflict"), *("(32, 33)", "(33, 32)")),
    "a shuffle in one direction": (*("softmax_warps", "accumulator-error"),
        *("top = max(top, cuda.shfl_xor_sync(", "top = max(top, cuda.shfl_down_sync(")),
}  # fmt: skip


def first_error(text: str, task: str) -> Finding:
    return examine_source(task, text).errors[0]


@every_case("cause", CAUSES)
def test_the_cause_is_told_at_its_line(cause: str) -> None:
    task, code, old, new = CAUSES[cause]
    answer = TASKS[task].answer
    assert old in answer
    text = HEAD + answer.replace(old, new)
    found = first_error(text, task)
    marked = [n for n, line in enumerate(text.splitlines(), 1) if "#!" in line]
    where = marked or [n for n, line in enumerate(text.splitlines(), 1) if new in line]
    assert (found.code, [found.line]) == (code, where), str(found)


def test_a_store_that_the_next_one_overwrites_is_warned_of() -> None:
    answer = TASKS["naive_by_rows"].answer
    text = HEAD + answer.replace(
        "        C[row, column] = total", "            C[row, column] = total"
    )
    report = examine_source("naive_by_rows", text)
    assert report.passed and [each.code for each in report.findings] == ["excess-global-traffic"]
    assert "only the last value counts" in report.findings[0].message


def test_what_is_said_of_this_test_stands_at_a_test() -> None:
    answer = TASKS["load_tile"].answer
    text = HEAD + answer.replace(
        "top + ty < M.shape[0] and left + tx <", "ty < M.shape[0] and tx <"
    )
    found = first_error(text, "load_tile")
    line = text.splitlines()[(found.line or 1) - 1]
    assert "if" in line or "this test" not in found.message.casefold(), str(found)
