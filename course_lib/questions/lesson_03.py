"""Quick checks of lesson 03: which lane, how many sectors, which index belongs to x."""

from __future__ import annotations

import numpy as np

from course_lib.questions.kinds import (
    Choice,
    Choose,
    FillIn,
    Misread,
    Number,
    Slip,
    Suspect,
    WhichLine,
)
from course_lib.questions.runs import ones, run

WHO_AM_I = """\
@cuda.jit
def who_am_i(lane):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    lane[y, x] = (y * cuda.blockDim.x + x) % 32
"""

READ = """\
@cuda.jit
def read(x, y):
    lane = cuda.threadIdx.x
    y[lane] = x[lane]
"""

NORMALISE = """\
@cuda.jit
def normalise(A, mean, weight, C):
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        value = A[y, x]
        value -= mean[x]
        value *= weight[y]
        C[x, y] = value
"""

COLUMN_MAJOR = """\
@cuda.jit
def matmul(A, B, C):
    ________ = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        k = 0
        while k < A.shape[1]:
            total += A[row, k] * B[k, col]
            k += 1
        C[row, col] = total
"""


def lane_of(x: int, y: int) -> int:
    """The lane of a thread in a block of 16 x 16."""
    lane = np.zeros((16, 16), dtype=np.int32)
    run(WHO_AM_I, 1, (16, 16), lane)
    return int(lane[y, x])


def sectors_of(text: str, kind: str = "float32") -> int:
    """Sectors of one warp that reads 32 numbers of this type."""
    profile = run(text, 1, 32, np.ones(32, kind), np.ones(32, kind))
    return profile.arrays["x"].load_sectors


def most_sectors() -> int:
    """The line whose requests touch the most sectors."""
    matrices, vectors = (ones(64, 64), ones(64, 64)), (ones(64), ones(64))
    profile = run(NORMALISE, (2, 2), (32, 32), matrices[0], *vectors, matrices[1])
    per_request = {
        line: (each.global_load_sectors + each.global_store_sectors)
        / (each.global_load_requests + each.global_store_requests or 1)
        for line, each in profile.lines.items()
    }
    return max(per_request, key=per_request.__getitem__) - 1


QUESTIONS = (
    Number(
        id="03-lane",
        asks="A block has 16 × 16 threads. Which lane of its warp is the thread with "
        "`threadIdx.x = 3` and `threadIdx.y = 5`?",
        value=lambda: lane_of(x=3, y=5),
        unit="",
        why="x runs fastest: number 5 · 16 + 3 = 83 of its block is lane {answer} of warp 2.",
        slips=(
            Slip(
                lambda: 5 * 16 + 3,
                "That is its number in the block. Warps take 32 of these each.",
            ),
            Slip(lambda: (5 * 16 + 3) // 32, "That is its warp. Which place has it there?"),
            Slip(
                lambda: (3 * 16 + 5) % 32,
                "Here y runs fastest. Threads are numbered along x first.",
            ),
            Slip(lambda: 3, "Two rows of 16 threads share a warp, so x alone does not tell."),
        ),
        other="Number the threads of the block, x fastest. Then cut the row into pieces of 32.",
        hint="Five whole rows of 16 threads stand before its own.",
    ),
    Number(
        id="03-reversed",
        asks="The lanes of a warp read `x[31 - lane]`, in float32. How many sectors does the "
        "request touch? (x begins at a sector.)",
        value=lambda: sectors_of(READ.replace("x[lane]", "x[31 - lane]")),
        unit="sectors",
        why="The same 32 neighbours, from right to left: {answer} boxes. The order of the lanes "
        "does not matter.",
        slips=(
            Slip(lambda: 32, "That would be a box for each lane. Do two lanes share one?"),
            Slip(lambda: 1, "That would be a broadcast: one number for all. Here they are 32."),
            Slip(lambda: 5, "Five boxes need a start in the middle of one. Where does this start?"),
        ),
        other="Write down the addresses of a few lanes. Which of them lie in the same 32 bytes?",
        hint="A box holds eight neighbouring floats, whoever asks for them.",
    ),
    Number(
        id="03-float64",
        asks="The lanes of a warp read 32 neighbours again, `x[lane]`, but x holds float64. How "
        "many sectors?",
        value=lambda: sectors_of(READ, "float64"),
        unit="sectors",
        why="32 numbers of 8 bytes are 256 bytes, {answer} boxes. Every byte is used: this is "
        "coalesced, there is only twice as much to bring.",
        slips=(
            Slip(lambda: sectors_of(READ), "That is float32. A float64 has 8 bytes."),
            Slip(lambda: 256, "These are the bytes. How many boxes of 32 do they fill?"),
            Slip(lambda: 32, "Neighbours share boxes: four float64 lie in one."),
        ),
        other="How many bytes do 32 such numbers take, and how many boxes of 32 bytes is that?",
        hint="Nothing is skipped here, so count bytes.",
    ),
    FillIn(
        id="03-left-side",
        asks="This time A, B and C are stored column-major, as Fortran does: the elements of a "
        "column are neighbours in memory. What belongs in the gap, so that a warp writes C side "
        "by side?",
        code=COLUMN_MAJOR,
        accepts=("row, col", "(row, col)", "row,col"),
        why="x comes first, and x is what runs from lane to lane. It belongs to the index that is "
        "contiguous in memory, here the row.",
        misread=(
            Misread(
                ("col, row", "(col, row)"),
                "That is right for row-major matrices. Where do the neighbours lie in this one?",
            ),
            Misread(
                ("x, y", "y, x"),
                "These names are not used below. Which of `row` and `col` gets x?",
            ),
        ),
        other="Write the two names that the next lines use, in the right order, with a comma.",
        hint="`cuda.grid(2)` gives x first. Lanes follow x. Which index should run with the lanes?",
    ),
    WhichLine(
        id="03-wrong-line",
        asks="A kernel that takes the mean from each column, scales each row and stores the result "
        "transposed. It is right, but one line touches 32 sectors with each request. Which?",
        code=NORMALISE,
        line="C[x, y] = value",
        why="Here x is the row of C, so the lanes write down a column: 32 boxes, an eighth of each "
        "used. (Lesson 07 turns the data round in shared memory first.)",
        innocent="This line makes no request that goes wrong. Follow x: it is what differs between "
        "the lanes of a warp.",
        suspects=(
            Suspect(
                "weight[y]",
                "All lanes of a warp have the same y: a broadcast, one sector.",
            ),
            Suspect("mean[x]", "Neighbouring lanes, neighbouring numbers: four sectors."),
            Suspect("A[y, x]", "x is the last index, so the lanes read along a row: four sectors."),
        ),
        hint="In which line does x stand as the index of the row?",
        proof=most_sectors,
    ),
    Choose(
        id="03-what-fell",
        asks="The coalesced kernel is 6.4 times as fast on an A6000. Which of these fell by about "
        "as much?",
        choices=(
            Choice(
                "the bytes that the threads request",
                "Both kernels request the same bytes: two numbers for each multiply-add.",
            ),
            Choice(
                "the bytes that come from DRAM",
                "Published, both drew about the same from memory: 6.7 and 7.6 GB. The caches "
                "answer nearly everything in both.",
            ),
            Choice(
                "the sectors of each request",
                "From 33 to 5 in each step of k: 6.6 times fewer boxes pass through L1.",
                right=True,
            ),
            Choice("the FLOP", "The same sums: 2·M·N·K."),
        ),
    ),
)
