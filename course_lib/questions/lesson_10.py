"""Quick checks of lesson 10: the other roof, fragments, ldmatrix, what binds, formats."""

from __future__ import annotations

import numpy as np

from course_lib.devices import WARP_SIZE, device
from course_lib.emulator.tensor_cores import c_matrices
from course_lib.questions.kinds import Choice, Choose, Number, Slip, Suspect, WhichLine
from course_lib.questions.runs import line_of, run

# The guard that every kernel of lesson 02 needs stands where it must not.
GUARDED = """\
from course_lib.intrinsics import ldmatrix_x4

@cuda.jit
def first_words(A, out):
    tile = cuda.shared.array((16, 24), np.uint16, alignment=16)
    t = np.uint32(cuda.threadIdx.x)
    for i in range(t, 256, 32):
        tile[i // 16, i % 16] = A[i // 16, i % 16]
    cuda.syncthreads()
    if t < out.shape[0]:
        words = ldmatrix_x4(tile, t % 16 * 24 + t // 16 * 8)
        out[t] = words[0]
"""

_MMA_ROWS, _MMA_COLUMNS, _MMA_K = 16, 8, 16


def lane_of_result(row: int, column: int) -> int:
    """The lane that holds an element of the result, from the emulator's layout."""
    lanes = np.tile(np.arange(WARP_SIZE), (4, 1)).reshape(4, 1, WARP_SIZE)
    return int(c_matrices(lanes)[0][row, column])


def wavefronts_per_mma(rows: int, columns: int) -> float:
    """Passes of 128 bytes to fetch a warp's 16-bit fragments, for each m16n8k16."""
    fetched = (rows + columns) * _MMA_K * 2 / 128
    return fetched / (rows // _MMA_ROWS * (columns // _MMA_COLUMNS))


def line_that_splits_the_warp() -> int:
    """The line at which only a part of the warp takes part."""
    profile = run(GUARDED, 1, 32, np.zeros((16, 16), np.uint16), np.zeros(20, np.uint32))
    return line_of(profile, "barrier-divergence")


QUESTIONS = (
    Number(
        id="10-other-roof",
        asks="An L4 does 121 TFLOP/s in float16 on its tensor cores (dense), 30.3 in float32 on "
        "its CUDA cores, and its DRAM gives 300 GB/s. How many FLOP must a float16 kernel do with "
        "each byte from DRAM, so that DRAM does not bind?",
        value=lambda: device("L4").ridge_fp16,
        unit="FLOP per byte",
        within=0.02,
        why="121,000 GFLOP/s over 300 GB/s: {answer}. A roof four times as high on the same DRAM "
        "moves the ridge four times as far to the right.",
        slips=(
            Slip(lambda: device("L4").ridge_fp32, "That is the ridge of the CUDA cores."),
            Slip(
                lambda: 2 * device("L4").ridge_fp16,
                "That is a sparse figure: data sheets often print it, twice the dense one.",
            ),
            Slip(lambda: 300 / 121, "The other way round, and in other units."),
        ),
        other="The ridge: the roof in FLOP per second, over the bytes per second.",
        hint="121 TFLOP/s are 121,000 GFLOP/s.",
    ),
    Number(
        id="10-which-lane",
        asks="In m16n8k16, which lane holds the sum of row 11, column 6 of the 16 × 8 result?",
        value=lambda: lane_of_result(11, 6),
        unit="lane",
        why="Row 11 is row g + 8 with g = 3; columns 6 and 7 are 2t and 2t + 1 with t = 3. Lane "
        "4g + t is {answer}.",
        slips=(
            Slip(
                lambda: 4 * 11 + 3,
                "There are 32 lanes. Each of them holds sums in two rows, eight apart.",
            ),
            Slip(
                lambda: 4 * 3 + 6,
                "The group is right. Within it a lane holds two neighbouring columns.",
            ),
            Slip(lambda: 11, "That is the row. Four lanes share a row."),
        ),
        other="Take the row modulo 8: that is g. Two columns for each lane: half the column is t.",
        hint="The lane is 4g + t, with g = 11 - 8.",
    ),
    Choose(
        id="10-ldmatrix",
        asks="Lane 5 needs two neighbours of row 1 of an 8 × 8 matrix. With `ldmatrix`, whose "
        "address leads to them?",
        hint="Eight lanes give the addresses of eight rows. Which of them points at row 1?",
        choices=(
            Choice(
                "lane 5's own, as with every other load",
                "Lane 5 points at row 5. What it gets is its share of another row.",
            ),
            Choice(
                "lane 1's: it points at the whole row, and four lanes get a word of it each",
                "Lane l gives the address of row l; row r goes to lanes 4r to 4r + 3. The exchange "
                "between lanes is part of the load, so no shuffle follows.",
                right=True,
            ),
            Choice(
                "nobody's: `ldmatrix` takes one address for the warp",
                "Each row has an address of its own. That is what lets rows be padded.",
            ),
        ),
    ),
    WhichLine(
        id="10-whole-warp",
        asks="One warp fetches the fragment of a 16 × 16 matrix and stores the first word of "
        "every lane, as far as `out` reaches: it has 20 elements. On a GPU this hangs, or gives "
        "nonsense. Which line does what it must not do there?",
        code=GUARDED,
        line="words = ldmatrix_x4",
        why="The 32 lanes of a warp carry out `ldmatrix` and `mma` together. Behind the guard only "
        "20 are left, so nobody points at some of the rows. The load must stand before the guard; "
        "the guard belongs to the store alone.",
        innocent="Look for what a whole warp does together, and for who is still there.",
        suspects=(
            Suspect(
                "if t <",
                "A guard as such is fine, and `out` needs it. What stands behind it that needs "
                "everyone?",
            ),
            Suspect("cuda.syncthreads", "All 32 threads meet here, in front of the guard."),
            Suspect("out[t] =", "A store asks nothing of the other lanes."),
            Suspect("tile[i // 16", "32 threads, 256 elements, in turns: all of the tile."),
        ),
        proof=line_that_splits_the_warp,
        hint="20 of 32 lanes pass the guard.",
    ),
    Number(
        id="10-warp-tile",
        asks="A warp computes 32 × 64 results with m16n8k16: 2 × 8 instructions for 16 steps of k. "
        "Its fragments of A and B, 16-bit numbers, come from shared memory, 128 bytes in a "
        "wavefront. How many wavefronts for each `mma`?",
        value=lambda: wavefronts_per_mma(32, 64),
        unit="wavefronts",
        within=0.01,
        why="(32 + 64) · 16 numbers of 2 bytes are 3,072 bytes, 24 wavefronts, for 16 "
        "instructions: {answer}. A perimeter over an area once more: 64 × 64 needs 1.",
        slips=(
            Slip(lambda: 24, "So many for all of them. How many instructions do they serve?"),
            Slip(lambda: wavefronts_per_mma(64, 64), "That is a warp with 64 × 64 results."),
            Slip(lambda: 3.0, "That would be float32, 4 bytes a number."),
            Slip(
                lambda: wavefronts_per_mma(16, 8), "So many if each fragment served a single `mma`."
            ),
        ),
        other="Bytes of 32 rows of A and 64 columns of B, 16 deep; over 128; over 16.",
        hint="32 · 16 · 2 bytes of A are 8 wavefronts, 64 · 16 · 2 bytes of B are 16.",
    ),
    Choose(
        id="10-format",
        asks="Inputs reach 1,000,000, and the product may be wrong by 0.1 % (in the norm, as "
        "measured above). Your GPU is an A100. Which format is the fastest that will do?",
        hint="Rule out one format by its range, another one by its error.",
        choices=(
            Choice(
                "float16, with sums in float32",
                "Its largest number is 65,504: the inputs become infinite before anything is "
                "summed.",
            ),
            Choice(
                "bfloat16, with sums in float32",
                "The range is there, float32's own. But with 7 bits of fraction the error measured "
                "about 0.21 %.",
            ),
            Choice(
                "TF32, with sums in float32",
                "8 bits of exponent for the range, 10 of fraction for the error; half the rate of "
                "the 16-bit formats, still 8 times float32 on that GPU.",
                right=True,
            ),
            Choice(
                "float32, on the CUDA cores",
                "It would do, and far better than asked. One of the others is fast enough and "
                "good enough.",
            ),
        ),
    ),
)
