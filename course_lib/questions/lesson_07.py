"""Ask about banks, strides, and the one line that queues."""

from __future__ import annotations

import numpy as np

from course_lib.emulator.cost import BANKS
from course_lib.questions.kinds import Choice, Choose, Number, Question, Slip, Suspect, WhichLine
from course_lib.questions.runs import ones, run

_COLUMN = """\
@cuda.jit
def down_a_column(y):
    tile = cuda.shared.array((32, 40), float32)
    lane = cuda.threadIdx.x
    tile[lane, 5] = lane
    y[lane] = tile[lane, 5]
"""

_TRANSPOSE = """\
@cuda.jit
def transpose(A, B):
    tile = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
    tile[tx, ty] = A[top + ty, left + tx]
    cuda.syncthreads()
    B[left + ty, top + tx] = tile[ty, tx]
"""


def _passes_at_width_40() -> int:
    return run(_COLUMN, 1, 32, np.zeros(32, np.float32)).shared_load_wavefronts


def _line_that_queues() -> int:
    profile = run(_TRANSPOSE, (2, 2), (32, 32), ones(64, 64), ones(64, 64))
    conflicts = {
        line: counted.shared_store_bank_conflicts + counted.shared_load_bank_conflicts
        for line, counted in profile.lines.items()
    }
    return max(conflicts, key=conflicts.__getitem__) - 1


QUESTIONS: tuple[Question, ...] = (
    Number(
        id="07-banks",
        asks="Fill in: the shared memory of every GPU in this course has … banks, "
        "one for each lane of a warp.",
        value=lambda: BANKS,
        unit="banks",
        why="{answer} banks, each 4 bytes wide. Together they hand out 128 bytes in one pass: "
        "one float for each lane, if every lane wants another bank.",
        other="There is one for each lane of a warp. How many lanes does a warp have?",
        hint="In one pass every lane of a warp can have a word, if each wants another bank.",
        slips=(
            Slip(lambda: 4, "4 is the width of a bank, in bytes."),
            Slip(lambda: 4 * BANKS, "128 is what all banks hand out in one pass, in bytes."),
            Slip(lambda: 8, "A sector of global memory holds 8 floats. Banks are counted apart."),
        ),
    ),
    Number(
        id="07-width-40",
        asks="A tile of float32 is 40 columns wide. The 32 lanes of a warp read 32 rows of one "
        "column. How many passes does that take?",
        value=_passes_at_width_40,
        unit="passes",
        why="{answer}: the greatest common divisor of 40 and 32. The lanes land on only four "
        "different banks, eight lanes on each.",
        other="Neighbouring lanes are 40 words apart. Write down the banks of the first few: "
        "0, 40 mod 32, 80 mod 32, … When does bank 0 come again?",
        hint="Which number divides both 40 and 32, and is the largest that does?",
        slips=(
            Slip(
                lambda: 1,
                "40 is no multiple of 32, but it shares the divisor 8 with it. Only "
                "odd widths are free of conflicts.",
            ),
            Slip(
                lambda: BANKS,
                "That would be a width of 32, 64, 96, … At 40 the lanes do "
                "move on to other banks, 8 further each time.",
            ),
            Slip(
                lambda: 4,
                "4 is the number of banks that are used. How many of the 32 lanes "
                "does each of them have to serve?",
            ),
        ),
    ),
    WhichLine(
        id="07-which-line",
        asks="This transpose is right, and both sides of global memory are coalesced. Yet one "
        "line takes 32 passes where one would do. Which?",
        code=_TRANSPOSE,
        line="tile[tx, ty] = A",
        why="Neighbouring lanes have neighbouring tx, and tx is the row here: 32 rows of one "
        "column, all in one bank. A conflict can sit in a store just as well as in a load.",
        hint="Only two lines touch the tile. In which of them is tx the row?",
        innocent="Nothing queues in this line. Look for an access to `tile` whose first index "
        "changes from lane to lane.",
        proof=_line_that_queues,
        suspects=(
            Suspect(
                "tile[ty, tx]",
                "Here tx is the column: 32 neighbouring words, 32 banks, one "
                "pass. The transposing has been done before.",
            ),
            Suspect(
                "cuda.shared.array",
                "A width of 32 alone does no harm. It takes a line that "
                "walks down a column of it. (The cure may well be put here.)",
            ),
            Suspect(
                "syncthreads",
                "Without this barrier the result would depend on timing. It "
                "waits for warps, not for banks.",
            ),
        ),
    ),
    Choose(
        id="07-transpose-fix",
        asks="A colleague's transpose stages tiles in `cuda.shared.array((32, 32), float32)` and "
        "waits for shared memory most of the time. Which one-line change helps?",
        choices=(
            Choice(
                "`cuda.shared.array((33, 32), float32)`",
                "One row more, but the rows are as wide as before: the cells of a column are "
                "still 32 words apart, all in one bank.",
            ),
            Choice(
                "`cuda.shared.array((32, 33), float32)`",
                "The cells of a column are 33 words apart now, so each lies one bank further: "
                "32 banks, one pass. It costs 3.1 % more shared memory.",
                right=True,
            ),
            Choice(
                "`cuda.shared.array((32, 34), float32)`",
                "34 and 32 share the divisor 2, so every access down a column takes two passes. "
                "Far better than 32, and not yet the best. An odd width does it.",
            ),
            Choice(
                "a second `cuda.syncthreads()`",
                "A barrier orders the warps of a block. The queue is within one access of one "
                "warp, and no barrier shortens it.",
            ),
        ),
    ),
)
