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
    """How often a number of C travels if a second kernel adds the bias, the product's store too."""
    C = ones(8, 32)
    second = run(EPILOGUE, 1, (32, 8), C, ones(32)).arrays["C"]
    return 1 + (second.loaded_elements + second.stored_elements) / C.size


def load_instructions() -> float:
    """Of eight_by_eight in one step of k, as compiled."""
    return counted("eight_by_eight").loads * SIDE * SIDE


QUESTIONS = (
    Number(
        id="08-column",
        asks="With 8 outputs of a column instead of 4: how many numbers does the thread load in "
        "one step of k, for its 8 multiply-adds?",
        value=loads_of_a_column,
        unit="loads",
        slips=(
            Trap(lambda: 1, "The number of B is loaded once. And those of A?"),
            Trap(lambda: 8, "That is A's share. What do they meet?"),
            Trap(lambda: 16, "The number of B stays in its register for all eight."),
        ),
        reveal="{answer}: one of B, which serves eight sums, and eight of A, each of which serves "
        "one. However long the column, a multiply-add needs more than one load.",
        spoilers=("one of B, which serves eight", re.compile(r"\b(9|nine) loads for 8")),
    ),
    Number(
        id="08-square",
        asks="Now a thread owns a square of 8 × 8 outputs. How many numbers does it load in one "
        "step of k, for 64 multiply-adds?",
        value=loads_of_a_square,
        unit="loads",
        slips=(
            Trap(lambda: 65, "That is a column of 64. A square shares the numbers of A as well."),
            Trap(lambda: 128, "That is if nothing is kept."),
            Trap(lambda: 64, "How many *different* numbers do eight rows and eight columns need?"),
            Trap(lambda: 8, "Eight of A. And of B?"),
        ),
        reveal="{answer}: eight of A and eight of B, and every pair is multiplied. One load for "
        "four multiply-adds; the tiled kernel has two for one.",
        spoilers=("eight of A and eight of B", re.compile(r"\b16 loads for 64")),
    ),
    Number(
        id="08-merged",
        asks="In one step of k your source loads 16 numbers from the tiles. How many load "
        "instructions does the compiler make of them?",
        value=load_instructions,
        unit="instructions",
        slips=(
            Trap(lambda: 16, "It would be, if they lay anywhere. But they are neighbours."),
            Trap(lambda: 8, "Two at a time? The widest load fetches 128 bits."),
            Trap(lambda: 2, "One for a, one for b? The widest load fetches 128 bits."),
        ),
        reveal="{answer}: an `LDS.128` fetches four neighbours. They are neighbours because k is "
        "the row of both tiles, so a thread's eight numbers lie side by side.",
        spoilers=("lie side by side in both tiles", "k is the row of both tiles"),
    ),
    Choose(
        id="08-which-habit",
        asks="The kernel is right and its loop is `for k in range(16)`. You may change one thing. "
        "Which saves the most instructions?",
        choices=(
            Choice(
                "`@cuda.jit(fastmath=True)`",
                "It changes how float32 is rounded. Multiply-adds are fused without it, and the "
                "other instructions stay.",
            ),
            Choice(
                "`x = np.uint32(cuda.threadIdx.x)`, and y alike",
                "It helps: to Numba `threadIdx` is a signed number, and in Python `A[-1]` is the "
                "last row, so a signed index carries a test. But these tests are few here.",
            ),
            Choice(
                "`for k in unroll(16)`",
                "With the 16 steps written out, every address is a constant away from the first; "
                "counter, test and index arithmetic disappear.",
                right=True,
            ),
        ),
        reveal="Counted for sm_75, over a whole tile: {plain} instructions for each multiply-add "
        "as it stands, {unsigned} with unsigned indices, {unrolled} with the loop written out.",
        facts=instruction_facts,
        spoilers=("1.55 with unsigned", "as it stands, 1.55"),
    ),
    Number(
        id="08-faster",
        asks=f"On an H200 `register_2d` keeps {FEW.warps} warps on an SM, and `tiled` "
        f"{MANY.warps}: "
        "a quarter as many. How many times as fast is it there, 4096 × 4096, both in Numba with "
        "`range`?",
        value=times_faster,
        unit="times",
        within=0.2,
        slips=(
            Trap(
                lambda: 1 / 4,
                "A quarter of the warps, a quarter of the speed? Look at what each warp has to do.",
            ),
            Trap(lambda: 1, "Fewer loads on one side, fewer warps on the other: no draw."),
            Trap(lambda: 2, "Fewer loads are worth more than that."),
            Trap(lambda: 8, "The loads in the source fall to an eighth, and something else binds."),
        ),
        reveal="{answer}: {tiled} and {square} GFLOP/s ({where}, Numba). Each thread has {sums} "
        "sums that do not wait for one another: while one result is on its way, the *same* warp "
        "issues the next multiply-add. Other warps are needed less.",
        facts=speed_facts,
        spoilers=("64 sums that do not wait", tells_times(times_faster())),
    ),
    Number(
        id="08-epilogue",
        asks="A first kernel stores C = A @ B, a second one adds the bias to C and sets what is "
        "negative to zero. How often does each number of C travel between registers and memory?",
        value=trips_of_c,
        unit="times",
        slips=(
            Trap(lambda: 1, "That is the product's store. Where does the second kernel get C?"),
            Trap(lambda: 2, "Out, and in again. And where does the second kernel leave it?"),
            Trap(lambda: 4, "The product need not read C: its sums begin in registers."),
        ),
        reveal="{answer} times: the product stores it, the second kernel loads it and stores it "
        "once more. For an addition and a comparison, C makes two trips too many.",
        spoilers=("two trips too many", "loads it and stores it once more"),
    ),
    Choose(
        id="08-sixteen",
        asks="If 8 × 8 is good, 16 × 16 needs 32 loads for 256 multiply-adds, half as many for "
        "each. What becomes of the 256 sums?",
        choices=(
            Choice(
                "The compiler refuses the kernel.",
                "It never gives up for lack of registers. It has another place for numbers.",
            ),
            Choice(
                "Some of them go to memory and back.",
                "A thread can have 255 registers, and there are 256 sums alone.",
                right=True,
            ),
            Choice(
                "They stay in registers, and fewer blocks fit on an SM.",
                "A thread can have 255 registers. How many sums are there?",
            ),
        ),
        reveal="{registers} registers, and {bytes} bytes of each thread **spill** into local "
        "memory: it belongs to one thread, but it lies in L1 at best. In each iteration of the "
        "hot loop, {local} instructions carry sums to and fro beside {ffma} multiply-adds. Check "
        "the spills whenever you enlarge a tile.",
        facts=spill_facts,
        spoilers=("carry sums to and fro", re.compile(r"\b256 bytes of each thread")),
    ),
)
