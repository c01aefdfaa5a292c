"""Predictions of lesson 08: loads of a column and of a square, what the compiler makes of them."""

from __future__ import annotations

import functools
import re

from course_lib.curriculum import TASKS
from course_lib.devices import occupancy
from course_lib.measurements import load
from course_lib.measurements.machine_code import counted
from course_lib.questions.kinds import Choice, Choose, Number, Trap, tells_times
from course_lib.questions.runs import ones, run

STEPS, WARP, NUMBER = 24, 32, 4  # steps of k in the tasks' launches, lanes, bytes of a float32
COLUMN = TASKS["four_sums"].answer.replace("(4", "(8")  # eight sums in place of four
SIDE = 8
MANY, FEW = occupancy("H200", 1024, 32, 8192), occupancy("H200", 256, 128, 8192)


def loads_of_a_column() -> float:
    """Numbers that a thread with eight outputs of one column loads in one step of k."""
    profile = run(COLUMN, 1, WARP, ones(8, STEPS), ones(STEPS, WARP), ones(8, WARP))
    return profile.global_load_bytes / NUMBER / WARP / STEPS


@functools.cache
def loads_of_a_square() -> float:
    """Numbers that a thread with 8 x 8 outputs loads from shared memory in one step of k."""
    text = TASKS["eight_by_eight"].answer
    profile = run(text, 1, (16, 16), ones(16, 128), ones(16, 128), ones(128, 128))
    return profile.shared_load_bytes / NUMBER / 256 / 16


def times_faster() -> float:
    gflops = load("H200").speeds(4096, ("float32",)).gflops
    return gflops["register_2d"] / gflops["tiled"]


def speed_facts() -> dict[str, object]:
    found = load("H200").speeds(4096, ("float32",))
    return {
        "where": found.label,
        "sums": SIDE * SIDE,
        "tiled": f"{found.gflops['tiled']:,.0f}",
        "square": f"{found.gflops['register_2d']:,.0f}",
    }


def instruction_facts() -> dict[str, object]:
    names = {"plain": " plain", "unsigned": " unsigned", "unrolled": ""}
    facts = {key: counted(f"eight_by_eight{name}").instructions for key, name in names.items()}
    return {key: f"{fact:.2f}" for key, fact in facts.items()}


def spill_facts() -> dict[str, object]:
    large = counted("sixteen_by_sixteen")
    return {
        "registers": large.registers,
        "bytes": large.spilled_bytes,
        "local": large.kinds["local"],
        "ffma": large.kinds["FFMA"],
    }


EPILOGUE = """\
@cuda.jit
def second_kernel(C, bias):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = max(C[row, column] + bias[column], float32(0))
"""


def trips_of_c() -> float:
    """How often an element of C travels if a second kernel adds the bias, all stores counted."""
    C = ones(8, 32)
    second = run(EPILOGUE, 1, (32, 8), C, ones(32)).arrays["C"]
    return 1 + (second.loaded_elements + second.stored_elements) / C.size


def load_instructions() -> float:
    """Of eight_by_eight in one step of k, as compiled."""
    return counted("eight_by_eight").loads * SIDE * SIDE


QUESTIONS = (
    Number(
        id="08-column",
        asks="Suppose a thread computes 8 outputs of a column instead of 4. How many numbers does "
        "the thread load in one step along k, for its 8 multiply-adds?",
        value=loads_of_a_column,
        unit="loads",
        slips=(
            Trap(lambda: 1, "The element of B is loaded once. How many elements of A are loaded?"),
            Trap(lambda: 8, "Those are the elements of A. What are they multiplied by?"),
            Trap(
                lambda: 16, "The element of B stays in a register and is used for all eight sums."
            ),
        ),
        reveal="{answer}: one element of B, which serves eight sums, and eight elements of A, "
        "which serve one sum each. However long the column is, a multiply-add needs more than one "
        "load.",
        spoilers=("one element of B, which serves eight", re.compile(r"\b(9|nine) loads for 8")),
    ),
    Number(
        id="08-square",
        asks="Now a thread owns a square of 8 × 8 outputs. How many numbers does the thread load "
        "in one step along k, for 64 multiply-adds?",
        value=loads_of_a_square,
        unit="loads",
        slips=(
            Trap(
                lambda: 65,
                "That is the number for a column of 64 outputs. A square shares the "
                "elements of A as well.",
            ),
            Trap(
                lambda: 128, "The thread would load that many if it kept no number in a register."
            ),
            Trap(lambda: 64, "How many *different* numbers do eight rows and eight columns need?"),
            Trap(
                lambda: 8,
                "The thread needs eight elements of A. How many elements of B does it need?",
            ),
        ),
        reveal="{answer}: eight of A and eight of B. Each of the eight numbers of A is multiplied "
        "by each number of B. So one load is enough for four multiply-adds, where the tiled "
        "kernel needs two loads for a single multiply-add.",
        spoilers=("eight of A and eight of B", re.compile(r"\b16 loads for 64")),
    ),
    Number(
        id="08-merged",
        asks="In one step along k, your source loads 16 numbers from the tiles. How many load "
        "instructions does the compiler generate for them?",
        value=load_instructions,
        unit="instructions",
        slips=(
            Trap(
                lambda: 16,
                "It would need 16 loads if the numbers were far apart. But they are neighbours.",
            ),
            Trap(
                lambda: 8,
                "Then each load would fetch two numbers. The widest load fetches 128 bits.",
            ),
            Trap(
                lambda: 2,
                "Then one load would fetch all of a, and one all of b. The widest load fetches 128 "
                "bits.",
            ),
        ),
        reveal="{answer}: an `LDS.128` loads four neighbouring numbers. They are neighbours "
        "because k is the row of both tiles, so a thread's eight numbers lie side by side.",
        spoilers=("lie side by side in both tiles", "k is the row of both tiles"),
    ),
    Choose(
        id="08-which-habit",
        asks="The kernel is right, and its loop is `for k in range(16)`. Which of these changes "
        "saves the most instructions?",
        choices=(
            Choice(
                "`@cuda.jit(fastmath=True)`",
                "This option changes how float32 is rounded. Multiply-adds are fused without it, "
                "too, and the other instructions stay.",
            ),
            Choice(
                "`x = np.uint32(cuda.threadIdx.x)`, and the same for y",
                "It helps: Numba treats `threadIdx` as signed, and since `A[-1]` is the last row "
                "in Python, a signed index has to be tested. But there are few such tests here.",
            ),
            Choice(
                "`for k in unroll(16)`",
                "When the 16 steps are written out, every address is the first one plus a "
                "constant, so the loop counter, its test and the arithmetic for the indices "
                "disappear.",
                right=True,
            ),
        ),
        reveal="We counted the instructions of a whole tile on sm_75. Per multiply-add, the kernel "
        "takes {plain} instructions as it is, {unsigned} with unsigned indices, and {unrolled} "
        "with the loop unrolled.",
        facts=instruction_facts,
        spoilers=("1.55 with unsigned",),
    ),
    Number(
        id="08-faster",
        asks=f"On an H200 an SM holds {FEW.warps} warps of `register_2d`, but {MANY.warps} warps "
        "of `tiled`, which is four times as many. For 4096 × 4096 matrices, by what factor is "
        "`register_2d` faster than `tiled`? Both kernels are written in Numba with `range`.",
        value=times_faster,
        unit="times",
        within=0.2,
        slips=(
            Trap(
                lambda: 1 / 4,
                "A quarter of the warps, a quarter of the speed? Look at what each warp has to do.",
            ),
            Trap(
                lambda: 1,
                "There are fewer loads and also fewer warps, but these two effects do not cancel "
                "out.",
            ),
            Trap(lambda: 2, "Saving loads gains more than that."),
            Trap(
                lambda: 8,
                "The source does have only an eighth of the loads, but then something else becomes "
                "the limit.",
            ),
        ),
        reveal="{answer}: `tiled` reaches {tiled} GFLOP/s, and `register_2d` reaches {square} "
        "({where}, Numba). Each thread has {sums} sums that do not wait for one another: while "
        "one multiply-add is still in progress, the *same* warp issues the next one. So the SM "
        "depends less on other warps.",
        facts=speed_facts,
        spoilers=("64 sums that do not wait", tells_times(times_faster())),
    ),
    Number(
        id="08-epilogue",
        asks="A first kernel stores C = A @ B, and a second one adds the bias to C and sets "
        "negative numbers to zero. How many times does each element of C travel between registers "
        "and memory?",
        value=trips_of_c,
        unit="times",
        slips=(
            Trap(
                lambda: 1,
                "That is the store of the first kernel. Where does the second kernel get C from?",
            ),
            Trap(
                lambda: 2,
                "That counts the store of the product and the load of the second "
                "kernel. Where does the second kernel put its result?",
            ),
            Trap(
                lambda: 4, "The first kernel need not read C, because its sums begin in registers."
            ),
        ),
        reveal="{answer} times: the first kernel stores it, and the second kernel loads it and "
        "stores it once more. An addition and a comparison are not worth these two extra trips.",
        spoilers=("two extra trips", "loads it and stores it once more"),
    ),
    Choose(
        id="08-sixteen",
        asks="With 16 × 16 outputs, a thread needs only 32 loads for 256 multiply-adds, which "
        "is half as many loads per multiply-add as with 8 × 8 outputs. Where does the compiler put "
        "the 256 sums?",
        choices=(
            Choice(
                "The compiler refuses the kernel.",
                "A compiler never gives up for lack of registers. It has another place for the "
                "numbers.",
            ),
            Choice(
                "Some of the sums go to memory and back.",
                "A thread can have 255 registers, and there are 256 sums alone.",
                right=True,
            ),
            Choice(
                "The sums stay in registers, and fewer blocks fit on an SM.",
                "A thread can have 255 registers. How many sums are there?",
            ),
        ),
        reveal="The kernel takes {registers} registers, and {bytes} bytes of each thread **spill** "
        "into local memory. This memory belongs to one thread, but it is no faster than L1. In "
        "each iteration of the hot loop, {local} instructions carry sums to and fro, besides "
        "{ffma} multiply-adds. Check for spills whenever you enlarge a tile.",
        facts=spill_facts,
        spoilers=("carry sums to and fro", re.compile(r"\b256 bytes of each thread")),
    ),
)
