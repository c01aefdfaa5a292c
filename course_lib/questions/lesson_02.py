"""Predictions of lesson 02: who needs a number, how many are loaded, and what reaches DRAM."""

from __future__ import annotations

import re

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.emulator import Profile
from course_lib.measurements.memory import label, levels
from course_lib.questions.kinds import Choice, Choose, Drawn, Number, Trap
from course_lib.questions.runs import ones, run

KERNEL = TASKS["naive_by_rows"].answer
GUARD = "    if row < C.shape[0] and column < C.shape[1]:\n"


def product(M: int, N: int, K: int, text: str = KERNEL) -> Profile:
    """The lesson's product of M × K and K × N, in blocks of 16 × 16, x as the row."""
    grid = (-(-M // 16), -(-N // 16))
    return run(text, grid, (16, 16), ones(M, K), ones(K, N), np.zeros((M, N), np.float32))


def loads_of_each(array: str) -> float:
    """How often each element is loaded when A is 50 × 20 and B is 20 × 30."""
    traffic = product(50, 30, 20).arrays[array]
    return traffic.loaded_elements / traffic.distinct_elements_loaded


def numbers_loaded() -> float:
    return product(64, 96, 32).global_load_bytes / 4


def sharing_picture() -> Drawn:
    from course_lib.figures.attention import sharing  # only this needs matplotlib

    return sharing((4, 4, 4))


def unguarded() -> str:
    """The kernel without its test."""
    head, body = KERNEL.split(GUARD)
    return head + "\n".join(line.removeprefix("    ") for line in body.splitlines()) + "\n"


def told_first() -> str:
    """What the report on 5 × 3 times 3 × 7 without the guard begins with: read or write."""
    return product(5, 7, 3, unguarded()).findings[0].code.rsplit("-", 1)[-1]


def level_facts() -> dict[str, object]:
    seen = levels("naive")
    return {
        "device": label(),
        "requested": f"{seen.requested_gb:,.0f}",
        "L1": f"{seen.l1_gb:,.0f}",
        "L2": f"{seen.l2_gb:,.0f}",
        "share": f"{100 * seen.dram_gb / seen.requested_gb:.1f} %",
    }


QUESTIONS = (
    Number(
        id="02-uses",
        asks="A is 50 × 20, and B is 20 × 30. How many elements of C need the number `A[3, 7]`?",
        value=lambda: loads_of_each("A"),
        unit="elements",
        slips=(
            Trap(
                lambda: loads_of_each("B"),
                "That is how many elements need an element of B, because a column of C has 50 "
                "elements.",
            ),
            Trap(lambda: 1, "`C[3, 0]` needs it, but so does `C[3, 1]`."),
            Trap(lambda: 50 * 30, "That is all of C. Does row 4 of C need a number of row 3 of A?"),
        ),
        reveal="All {answer} elements of row 3 of C need this number, one for each column of B. "
        "In the same way, an element of B serves a whole column of C. Each thread that needs a "
        "number loads it for itself. (The picture shows the same for 4 × 4 matrices.)",
        figure=sharing_picture,
        spoilers=("a whole row of outputs", "serves a whole column"),
    ),
    Number(
        id="02-reads",
        asks="A is 64 × 32, and B is 32 × 96. Together they contain 5,120 numbers. How many "
        "numbers do all threads of your kernel load in total?",
        value=numbers_loaded,
        unit="numbers",
        slips=(
            Trap(
                lambda: 5120,
                "That is how many numbers there are. But does a thread keep a "
                "number for the next thread?",
            ),
            Trap(lambda: 64 * 96, "That is how many threads there are, and each has a loop."),
            Trap(
                lambda: 64 * 96 * 32,
                "That is how many multiply-adds there are. How many numbers "
                "does each of them need?",
            ),
            Trap(lambda: 2 * 32, "One thread loads that many numbers. How many threads are there?"),
        ),
        reveal="Each of the {threads} threads loads two numbers in each of its 32 iterations, "
        "which makes {answer} in all. On average, each number is loaded {again} times.",
        facts=lambda: {"threads": 64 * 96, "again": round(numbers_loaded() / 5120)},
        spoilers=("393,216", "393216", "393 216"),
    ),
    Number(
        id="02-dram",
        asks="Now A, B and C are 4096 × 4096. By your formula, the loads request "
        f"{levels('naive').requested_gb:,.0f} GB, although A and B hold only "
        f"{8 * 4096**2 / 1e9:.2f} GB. How many GB does the DRAM of an H200 deliver while this "
        "kernel runs?",
        value=lambda: levels("naive").dram_gb,
        unit="GB",
        within=0.2,
        slips=(
            Trap(
                lambda: round(levels("naive").requested_gb),
                "That would be true if each load went all the way to DRAM.",
            ),
            Trap(
                lambda: round(8 * 4096**2 / 1e9, 2),
                "That would need a cache that can hold all of A and B.",
            ),
        ),
        reveal="We counted {requested} GB requested, {L1} GB through L1, {L2} GB from L2, and "
        "{answer} GB from DRAM, which is {share} of the requested bytes ({device}, `naive` in "
        "CUDA C++). The caches provided most of the reuse that the kernel itself lacks. So "
        "whenever you say “bytes”, say which bytes you mean.",
        facts=level_facts,
        spoilers=(re.compile(r"\b8\.[45] GB"), "1.5 %", "reached DRAM"),
    ),
    Choose(
        id="02-first-broken",
        asks="Take the guard out of your kernel, and multiply a 5 × 3 matrix by a 3 × 7 matrix "
        "in blocks of 16 × 16. Which error does the report name first?",
        choices=(
            Choice(
                "A read outside an array.",
                "A thread runs its loop before it stores.",
                right=True,
            ),
            Choice(
                "A write outside an array.",
                "This happens, too, but only after the loop.",
            ),
            Choice("Nothing.", "The surplus threads compute with numbers that do not exist."),
        ),
        reveal="The report names a {first} first: the surplus threads load from rows of A and "
        "columns of B that do not exist. A GPU might have said nothing, and loaded "
        "whatever comes after A in memory.",
        facts=lambda: {"first": told_first()},
        spoilers=("surplus threads load", "out-of-bounds-read"),
    ),
)
