"""Predictions of lesson 08b: what a profiler shows of a fault, and where its counts differ."""

from __future__ import annotations

import re

from course_lib.measurements.machine_code import counted, global_loads
from course_lib.measurements.memory import levels
from course_lib.measurements.ncu import stored
from course_lib.measurements.what_binds import SHARED, seen
from course_lib.questions.kinds import Choice, Choose, Number, Trap
from course_lib.questions.slow_kernels import source, symptoms

COPY, DIRECT, PADDED, UNPADDED = (
    stored(name).counts
    for name in ("copy", "transpose, no tile", "transpose, padded", "transpose, tile")
)
TWICE = """\
@cuda.jit
def asks_twice(a, y, z):
    i = cuda.grid(1)
    y[i] = a[i] + float32(1)
    z[i] = a[i]
"""


def store_facts() -> dict[str, object]:
    return {
        "direct": f"{DIRECT['global_store_sectors']:,}",
        "copy": f"{COPY['global_store_sectors']:,}",
        "requests": f"{COPY['global_store_sectors'] // 4:,}",
        "each": DIRECT["global_store_sectors"] // (COPY["global_store_sectors"] // 4),
    }


def conflict_facts() -> dict[str, object]:
    loads = PADDED["shared_load_requests"]
    return {
        "padded": f"{PADDED['shared_load_bank_conflicts']:,}",
        "loads": f"{loads:,}",
        "share": f"{PADDED['shared_load_bank_conflicts'] / loads:.1%}",
        "unpadded": f"{UNPADDED['shared_load_bank_conflicts']:,}",
        "each": round(UNPADDED["shared_load_bank_conflicts"] / loads),
    }


def hit_facts() -> dict[str, object]:
    before, after = levels("coalesced"), levels("tiled")
    return {
        "before": f"{1 - before.l2_gb / before.l1_gb:.0%}",
        "after": f"{1 - after.l2_gb / after.l1_gb:.0%}",
        "asked_before": f"{before.l1_gb:.0f}",
        "asked_after": f"{after.l1_gb:.0f}",
        "missed_before": f"{before.l2_gb:.0f}",
        "missed_after": f"{after.l2_gb:.0f}",
    }


def full_facts() -> dict[str, object]:
    return {"share": f"{seen('tiled').busy[SHARED]:.0%}"}


def load_facts() -> dict[str, object]:
    return {"held": global_loads("held"), "where": counted("eight_by_eight").label}


FAR_APART = "The lanes load numbers that are far apart: let neighbouring lanes load neighbours."
QUEUES = "The lanes wait for the same bank: make the rows in shared memory one word longer."
AGAIN = "A block loads the same numbers again and again: stage them in shared memory."
BRANCHES = "The lanes of a warp take different branches: let all lanes of a warp take the same one."
NO_SHARED = "This kernel uses no shared memory."
AS_ONE = "The branch efficiency is 100 %, so no warp ever splits at a branch."


def of_first() -> dict[str, object]:
    return {"sectors": f"{symptoms(1).load_sectors:.3g}"}


def of_second() -> dict[str, object]:
    return {"wavefronts": f"{symptoms(2).wavefronts:.3g}"}


def of_third() -> dict[str, object]:
    seen = symptoms(3)
    return {"times": f"{seen.times_loaded:.3g}", "sectors": f"{seen.load_sectors:.3g}"}


QUESTIONS = (
    Choose(
        id="08b-which-counter",
        asks="The loads of your transpose run along rows of A, and its stores run down columns of "
        "B. Which counter shows that the stores are not coalesced?",
        choices=(
            Choice(
                "The number of store requests.",
                "A request is one store of a warp, wherever its lanes write. A copy has just as "
                "many requests.",
            ),
            Choice(
                "The sectors of the stores.",
                "A request along a row touches 4 sectors, and a request down a column up to 32.",
                right=True,
            ),
            Choice(
                "The bank conflicts of the stores.",
                "Only shared memory has bank conflicts, and this kernel does not use it.",
            ),
            Choice(
                "The bytes that the threads store.",
                "Every element is stored once, as in a copy.",
            ),
        ),
        reveal="With {requests} requests, the kernel writes {direct} sectors, which is {each} per "
        "request. A copy writes only {copy}. The number of requests does not tell you what they "
        "cost; the number of sectors does.",
        facts=store_facts,
        spoilers=(re.compile(r"1,048,576 sectors"), "does not tell you what they cost"),
    ),
    Choose(
        id="08b-noise",
        asks="The padded transpose of lesson 07 has no bank conflict in the emulator. How many "
        "conflicts does the GPU count in 32,768 loads from shared memory?",
        choices=(
            Choice(
                "None, as the emulator says.",
                "Almost none. But other traffic takes wavefronts, too.",
            ),
            Choice(
                "Some: fewer than one in a hundred.",
                "And none of these conflicts comes from the kernel itself.",
                right=True,
            ),
            Choice(
                "As many as there are loads.",
                "Then every load would take two wavefronts. Such conflicts would come from the "
                "access pattern, but the padded pattern has none.",
            ),
        ),
        reveal="The GPU counts {padded} conflicts in {loads} loads, or {share}. These are "
        "wavefronts that were lost to other traffic in the same memory. If an access pattern has "
        "conflicts, there are several per load: without padding, the GPU counts {unpadded}, which "
        "is {each} for each load.",
        facts=conflict_facts,
        spoilers=(
            "wavefronts that were lost to other traffic",
            re.compile(rf"\b{conflict_facts()['padded']}\b"),
        ),
    ),
    Number(
        id="08b-restrict",
        asks="Each thread of this kernel needs one number of `a`, but the source loads it twice. "
        "How many load instructions does the compiler generate?",
        code=TWICE,
        value=lambda: global_loads("between"),
        unit="loads",
        slips=(Trap(lambda: 1, "One load would be enough if the compiler knew that y is not a."),),
        reveal="{answer}. Between the two loads a number is stored to `y`, and for all that the "
        "compiler knows, `y` *is* `a`. If you load `a[i]` into a variable before the first store, "
        "only {held} load is left ({where}).",
        facts=load_facts,
        spoilers=("for all that the compiler knows", "restrict__`. This is a promise"),
    ),
    Choose(
        id="08b-hits",
        asks="L1 answers a share of the requests that reach it: its **hit rate**. `coalesced` "
        "loads every operand through L1, and `tiled` loads only its tiles. Which of these two "
        "kernels has the higher hit rate in L1, for 4096 × 4096 matrices on an H200?",
        choices=(
            Choice(
                "`tiled`, the faster one.",
                "A block of `tiled` asks L1 only once for each number that it needs.",
            ),
            Choice(
                "`coalesced`, the slower one.",
                "Neighbouring warps ask L1 again and again for the same numbers.",
                right=True,
            ),
            Choice(
                "Their hit rates are about equal.",
                "What do the 32 warps of a block ask L1 for in each kernel?",
            ),
        ),
        reveal="The hit rate is {before} for `coalesced` and {after} for `tiled`. A hit rate says "
        "which share of the requested bytes L1 could deliver, but not how many were requested: "
        "{asked_before} GB by `coalesced`, and only {asked_after} GB by `tiled`. What L1 has to "
        "fetch from L2 is nearly the same, {missed_before} and {missed_after} GB.",
        facts=hit_facts,
        spoilers=("which share of the requested bytes", f"{hit_facts()['before']} for"),
    ),
    Choose(
        id="08b-stall",
        asks="When none of a scheduler's warps can issue an instruction, Nsight Compute says what "
        "each of them is waiting for. What do the warps of `tiled` (T = 32) mostly wait for while "
        "they multiply?",
        choices=(
            Choice(
                "Long scoreboard: for numbers that come from global memory.",
                "The warps wait for global memory only once per tile. Between two tiles, a warp "
                "does 32 steps along k.",
            ),
            Choice(
                "MIO throttle: the queue of instructions to shared memory is full.",
                "Each multiply-add sends at least one more load to that queue.",
                right=True,
            ),
            Choice(
                "Barrier: for the other warps of the block.",
                "There are only two barriers per tile, and all warps have the same amount of work.",
            ),
        ),
        reveal="**MIO throttle**, as published for this kernel on an RTX A6000. This fits our "
        "report from the H200, where L1 and shared memory are the busiest unit: they work in "
        "{share} of the clocks. The stall reason and the busiest unit should tell the same story. "
        "If they do not, look again.",
        facts=full_facts,
        spoilers=("should tell the same story",),
    ),
    Choose(
        id="08b-first-unknown",
        asks="What is wrong with the first kernel, and what do you change first?",
        choices=(
            Choice(
                FAR_APART,
                "A request of 32 lanes takes 32 sectors, so no two lanes share a sector.",
                right=True,
            ),
            Choice(QUEUES, NO_SHARED),
            Choice(AGAIN, "Each number is loaded only once, so there is nothing to reuse."),
            Choice(BRANCHES, AS_ONE),
        ),
        reveal="A request takes {sectors} sectors, but only 4 if the lanes read neighbours. Each "
        "thread walks along its own row, so at any moment the lanes of a warp read one column. The "
        "cure is to give a row to a warp, not to a thread.",
        revealed_code=source(1),
        facts=of_first,
        spoilers=(
            "row_totals",
            "give a row to a warp",
        ),
    ),
    Choose(
        id="08b-second-unknown",
        asks="What is wrong with the second kernel, and what do you change first?",
        choices=(
            Choice(
                FAR_APART, "For 32 different numbers, no request can take fewer than 4 sectors."
            ),
            Choice(QUEUES, "Without bank conflicts, a load would take one wavefront.", right=True),
            Choice(
                AGAIN,
                "Each number is loaded from global memory only once, so the numbers are already "
                "staged.",
            ),
            Choice(BRANCHES, AS_ONE),
        ),
        reveal="A load takes {wavefronts} wavefronts. Neighbouring lanes read words that are 16 "
        "words apart, so the words of all lanes are in only two banks. Rows of 17 words would "
        "spread them over all banks.",
        revealed_code=source(2),
        facts=of_second,
        spoilers=(
            "sums_of_sixteen",
            "are in only two banks",
        ),
    ),
    Choose(
        id="08b-third-unknown",
        asks="What is wrong with the third kernel, and what do you change first?",
        choices=(
            Choice(
                FAR_APART,
                "A request takes little more than 4 sectors, so the lanes do load neighbours. But "
                "the first of these neighbours does not always begin a sector.",
            ),
            Choice(QUEUES, NO_SHARED),
            Choice(
                AGAIN,
                "Each request takes few sectors, but there are far too many requests.",
                right=True,
            ),
            Choice(BRANCHES, AS_ONE),
        ),
        reveal="Each number is loaded {times} times, by {times} different threads of one block. A "
        "request takes {sectors} sectors instead of 4 only because most windows begin within a "
        "sector.",
        revealed_code=source(3),
        facts=of_third,
        spoilers=(
            "moving_average",
            "most windows begin within a sector",
        ),
    ),
)
