"""Quick checks of lesson 00: whose number is whose, how many blocks, how many bytes for a FLOP."""

from __future__ import annotations

import numpy as np

from course_lib.questions.kinds import Choice, Choose, Number, Slip, Suspect, WhichLine
from course_lib.questions.runs import line_of, ones, run

SIGN_IN = """\
@cuda.jit
def sign_in(book):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    book[i] = 100 * cuda.blockIdx.x + cuda.threadIdx.x
"""

SCALE_AND_ADD = """\
@cuda.jit
def scale_and_add(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = float32(3) * x[i] + y[i]
"""

UPSIDE_DOWN = """\
@cuda.jit
def upside_down(A, C):
    x, y = cuda.grid(2)
    rows = A.shape[0]
    columns = A.shape[1]
    if y < rows and x < columns:
        C[y, x] = A[rows - y, x]
"""


def place_of(block: int, thread: int) -> int:
    """Where this thread signs in, in a launch of 5 blocks of 64 threads."""
    book = np.zeros(5 * 64, dtype=np.int32)
    run(SIGN_IN, 5, 64, book)
    return int(np.flatnonzero(book == 100 * block + thread)[0])


def blocks_for(elements: int, threads: int) -> int:
    return -(-elements // threads)


def bytes_per_flop() -> float:
    profile = run(SCALE_AND_ADD, 4, 64, ones(256), ones(256))
    return (profile.global_load_bytes + profile.global_store_bytes) / profile.flops


def line_outside() -> int:
    profile = run(UPSIDE_DOWN, (2, 2), (4, 4), ones(5, 7), ones(5, 7))
    return line_of(profile, "out-of-bounds-read")


QUESTIONS = (
    Number(
        id="00-my-number",
        asks="Now `sign_in[5, 64](book)`: five teams of 64. In which place of `book` does thread "
        "10 of block 3 sign in?",
        value=lambda: place_of(block=3, thread=10),
        unit="",
        why="Blocks 0, 1 and 2 stand before it with 64 threads each, and ten threads of its own "
        "block: 3 · 64 + 10 = {answer}.",
        slips=(
            Slip(lambda: 3 + 10 * 64, "Block and thread are exchanged: this is 10 · 64 + 3."),
            Slip(
                lambda: 3 * 5 + 10,
                "This multiplies by the number of blocks. What matters is how many threads each "
                "block before it has.",
            ),
            Slip(
                lambda: 2 * 64 + 10,
                "This leaves one block out. Counting starts at zero, so three whole blocks stand "
                "before block 3.",
            ),
        ),
        other="Count the threads of all blocks before it, then add its place in its own block.",
        hint="Block 0 is the first one. How many threads do the blocks before block 3 have?",
    ),
    Number(
        id="00-blocks-in-x",
        asks="C has 100 rows and 50 columns, a block is 16 × 16 threads. How many blocks does the "
        "grid need in x?",
        value=lambda: blocks_for(50, 16),
        unit="blocks",
        why="x is the column. 50 columns are three blocks of 16 and two columns more, so "
        "{answer} blocks.",
        slips=(
            Slip(
                lambda: blocks_for(100, 16),
                "That is the number in y: it covers the 100 rows. Which direction are the columns?",
            ),
            Slip(
                lambda: 50 // 16,
                "This rounds down. The last columns would have no thread at all.",
            ),
            Slip(lambda: 50 / 16, "Blocks are always whole. In which direction do you round?"),
            Slip(
                lambda: 100 // 16,
                "This covers rows, and it rounds down. Which direction is x?",
            ),
        ),
        other="Find out whether x runs along the rows or the columns, then divide by 16 and round.",
        hint="x is the column, and a part of a block is a block.",
    ),
    Number(
        id="00-bytes-for-a-flop",
        asks="Each thread computes `y[i] = float32(3) * x[i] + y[i]` in float32. How many bytes "
        "does it ask for per FLOP, reads and writes together?",
        value=bytes_per_flop,
        unit="bytes per FLOP",
        why="Two reads and one write are 12 bytes, for a multiplication and an addition: "
        "{answer} bytes per FLOP. Half of what `add` needs, and still a lot.",
        slips=(
            Slip(
                lambda: 2 * bytes_per_flop(),
                "That is per element. How many floating-point operations does one element take?",
            ),
            Slip(lambda: 8 / 2, "These are the reads alone. The result has to be written, too."),
            Slip(
                lambda: 1 / bytes_per_flop(),
                "That is FLOP per byte, the arithmetic intensity. The question is the other way "
                "round.",
            ),
        ),
        other="Count bytes for one element: what is read, what is written? Then count the FLOP.",
        hint="A multiplication is one FLOP, an addition is another.",
    ),
    WhichLine(
        id="00-wrong-line",
        asks="This kernel should turn a picture upside down: the last row of A becomes the first "
        "row of C. One line is wrong. Which?",
        code=UPSIDE_DOWN,
        line="C[y, x] = A[rows - y, x]",
        why="For y = 0 it reads row `rows`, which does not exist: the last one is `rows - 1`. It "
        "should be `A[rows - 1 - y, x]`. The guard checks where a thread writes; what it reads is "
        "another index.",
        innocent="This line is as it should be. Follow the thread with y = 0 to the end.",
        suspects=(
            Suspect(
                "if y < rows",
                "The guard is right: each index of C is compared with its own length. Is the "
                "index of A the same one?",
            ),
            Suspect("cuda.grid(2)", "This is right: x comes first, and x is the column."),
        ),
        hint="Which row of A does the thread with y = 0 read, if A has 5 rows?",
        proof=line_outside,
    ),
    Choose(
        id="00-staged-add",
        asks="Would `add` be faster if each block first copied its part of `x` and `y` into "
        "shared memory?",
        choices=(
            Choice(
                "Yes, because shared memory is faster than the big memory.",
                "It is faster, but it is empty at first. Every number still has to come from the "
                "big memory once, and then makes one stop more.",
            ),
            Choice(
                "No, the copy only adds work.",
                "Each number is used once. The same bytes come from far away; on top come a "
                "write, a read and a wait.",
                right=True,
            ),
            Choice(
                "Yes, if the block is large enough.",
                "A larger block shares no more than a small one: no two threads need the same "
                "number.",
            ),
        ),
    ),
    Choose(
        id="00-extra-block",
        asks="A friend launches `add` with one block more than needed, so 128 threads have no "
        "element. What happens?",
        choices=(
            Choice(
                "They write behind the end of `z`.",
                "They would, without the bounds check. `if i < z.shape[0]` keeps them out.",
            ),
            Choice(
                "The launch is refused.",
                "No rule ties the grid to the size of an array. A launch does not even know which "
                "array is the output.",
            ),
            Choice(
                "Some elements are added twice.",
                "Every thread has a number of its own, and the surplus ones are all past the end.",
            ),
            Choice(
                "The result is right, and a little time is lost.",
                "The bounds check stops them. Starting threads that do nothing costs a little.",
                right=True,
            ),
        ),
    ),
)
