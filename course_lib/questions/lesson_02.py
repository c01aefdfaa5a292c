"""Quick checks of lesson 02: who needs a number, FLOP per requested byte, requested is not DRAM."""

from __future__ import annotations

import numpy as np

from course_lib.questions.kinds import Choice, Choose, Number, Slip, Suspect, WhichLine
from course_lib.questions.runs import line_examined, ones, run

NAIVE = """\
@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        k = 0
        while k < A.shape[1]:
            total += A[row, k] * B[k, col]
            k += 1
        C[row, col] = total
"""

WRONG_LINE = NAIVE.replace("while k < A.shape[1]", "while k < A.shape[0]")


def loads_of_each(array: str) -> float:
    """How often each element is loaded when A is 50 x 20 and B is 20 x 30."""
    profile = run(NAIVE, (2, 4), (16, 16), ones(50, 20), ones(20, 30), ones(50, 30))
    traffic = profile.arrays[array]
    return traffic.loaded_elements / traffic.distinct_elements_loaded


def intensity(kind: str) -> float:
    """FLOP per requested byte with numbers of this type."""
    arrays = [np.ones((16, 16), kind) for _ in range(3)]
    profile = run(NAIVE.replace("float32", kind), 1, (16, 16), *arrays)
    return profile.flops / profile.global_load_bytes


QUESTIONS = (
    Number(
        id="02-uses",
        asks="A is 50 × 20, B is 20 × 30. How many outputs of C need the number `A[3, 7]`?",
        value=lambda: loads_of_each("A"),
        unit="outputs",
        why="All of row 3 of C: one output for each column of B, {answer} in all.",
        slips=(
            Slip(
                lambda: loads_of_each("B"),
                "That is how many outputs need a number of B: a column of C has 50.",
            ),
            Slip(lambda: 20, "That is K, the length of the sum of one output."),
            Slip(lambda: 50 * 30, "These are all outputs. Does row 4 of C use row 3 of A?"),
        ),
        other="In which row of C do the outputs stand that use row 3 of A? How long is it?",
        hint="The sum for `C[i, j]` walks along row i of A and down column j of B.",
    ),
    Number(
        id="02-float64",
        asks="The same kernel with float64 matrices, 8 bytes a number. How many FLOP per requested "
        "byte, counting loads only?",
        value=lambda: intensity("float64"),
        unit="FLOP per byte",
        within=0.005,
        why="A multiply-add is 2 FLOP and loads two numbers of 8 bytes: 2 / 16 = {answer}.",
        slips=(
            Slip(lambda: intensity("float32"), "That is float32. Here a number has 8 bytes."),
            Slip(
                lambda: 1 / intensity("float64"),
                "That is bytes per FLOP, the other way round.",
            ),
            Slip(lambda: 1 / 16, "A multiply-add is two FLOP: one times, one plus."),
        ),
        other="Take one step of the loop over k: how many FLOP, how many numbers, how many bytes?",
        hint="One step loads one number of A and one of B.",
    ),
    Choose(
        id="02-article",
        asks="An article says: the naive float32 kernel does about 1 FLOP per byte. You count "
        "requested bytes. What do you answer?",
        choices=(
            Choice(
                "Right, once the matrices are large.",
                "Size changes nothing: FLOP and requested bytes grow alike, both with M·N·K.",
            ),
            Choice(
                "Too low, because a multiply-add is two FLOP.",
                "It is two FLOP, but for how many bytes? Count both loads.",
            ),
            Choice(
                "Too high by a factor of four.",
                "Each multiply-add loads two numbers of 4 bytes for 2 FLOP, whatever the size.",
                right=True,
            ),
            Choice(
                "It depends on the mapping: down a column or along a row.",
                "The mapping changes sectors. FLOP and requested bytes agree to the last digit.",
            ),
        ),
    ),
    WhichLine(
        id="02-wrong-line",
        asks="With square matrices this kernel passes every test. With A of 33 × 37 it is wrong. "
        "Which line is it?",
        code=WRONG_LINE,
        line="while k < A.shape[0]",
        why="The sum runs over the shared dimension K, and that is `A.shape[1]`. `A.shape[0]` is "
        "M; on square matrices nobody can tell them apart.",
        innocent="This line is as it should be. Which lengths must agree for a product to exist?",
        suspects=(
            Suspect(
                "if row <", "The guard is right: row and col are compared with the sides of C."
            ),
            Suspect("total += A", "Right: along row `row` of A, down column `col` of B."),
            Suspect("cuda.grid(2)", "Right: x comes first, and here x is the column."),
        ),
        hint="Each sum has K terms. Which of M, N and K are equal for a square matrix?",
        proof=lambda: line_examined("matmul_naive", WRONG_LINE, "wrong-loop-bound"),
    ),
    Choose(
        id="02-counters",
        asks="Published, the mapping along a row is 6.4 times as fast as the one down a column. "
        "Which counter can explain that?",
        choices=(
            Choice("FLOP", "Both kernels do the same 2·M·N·K."),
            Choice("requested bytes", "Both request the same bytes, to the last digit."),
            Choice("load requests", "Both make one request per warp and load instruction."),
            Choice(
                "sectors",
                "The only one that differs: down a column each request touches many more boxes.",
                right=True,
            ),
        ),
    ),
    Choose(
        id="02-friend",
        asks="A friend says: 0.25 FLOP per byte, so DRAM is what limits the naive kernel. What do "
        "you answer?",
        choices=(
            Choice(
                "Which bytes do you mean?",
                "0.25 is per requested byte. Of those, little more than one in a hundred reached "
                "DRAM on an A6000; per DRAM byte it was about 20.",
                right=True,
            ),
            Choice(
                "True: 0.25 lies left of every ridge.",
                "It does. But those are requested bytes, and the slanted roof is about DRAM bytes.",
            ),
            Choice(
                "Wrong: DRAM traffic is exactly 8·M·N·K bytes.",
                "That is what the threads request. At 4096 it would take longer than the whole "
                "kernel took.",
            ),
            Choice(
                "Wrong: the arithmetic units are the limit.",
                "Arithmetic alone would take 3.6 of 445 milliseconds at the card's peak.",
            ),
        ),
    ),
)
