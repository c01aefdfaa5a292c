"""What shows at one line and is caused at another one is told there: an answer, and its `#!`."""

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


def test_what_is_said_of_this_test_stands_at_a_test() -> None:
    answer = TASKS["load_tile"].answer
    text = HEAD + answer.replace(
        "top + ty < M.shape[0] and left + tx <", "ty < M.shape[0] and tx <"
    )
    found = first_error(text, "load_tile")
    line = text.splitlines()[(found.line or 1) - 1]
    assert "if" in line or "this test" not in found.message.casefold(), str(found)
