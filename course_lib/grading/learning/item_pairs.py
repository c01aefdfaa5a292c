"""The items of the tests before and after: nine pairs, each of one idea asked twice.

The two items of a pair differ in their numbers or in the kernel around the same fault, so that
neither form is harder by intent and nobody can answer the second one from memory. None asks for a
name or a definition: each has a count to predict, a fault to find, or one of four statements to
choose, each with its reason. Numbers are counted by the emulator or computed, and a faulty line is
the one that it names, or whose change leaves nothing to name.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from course_lib.questions.kinds import Choice, Choose, Number, Question, WhichLine
from course_lib.questions.runs import line_of, ones, run

BEFORE, AFTER = "before", "after"  # the two ends of a pair


@dataclass(frozen=True)
class ItemPair:
    """One idea, asked in each form."""

    idea: str  # a phrase, for the table of statistics
    before: Question
    after: Question


def _number(asks: str, code: str, value: Callable[[], float], unit: str = "") -> Number:
    return Number(id="", asks=asks, code=code, value=cache(value), unit=unit)


def _choose(asks: str, code: str, right: str, *wrong: str, place: int) -> Choose:
    """A question whose right answer is the choice at `place`; nobody is told a reason."""
    choices = [Choice(words, "") for words in wrong]
    choices.insert(place, Choice(right, "", right=True))
    return Choose(id="", asks=asks, code=code, choices=tuple(choices))


def _line(asks: str, code: str, line: str, proof: Callable[[], int]) -> WhichLine:
    return WhichLine(id="", asks=asks, code=code, line=line, why="", innocent="", proof=proof)


# --- Which thread computes which element ----------------------------------------------------------

WHO = """\
@cuda.jit
def who(y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < y.shape[0]:
        y[i] = cuda.threadIdx.x
"""


def _who(grid: int, block: int, at: int) -> Number:
    size = grid * block - 20

    def value() -> float:
        y = ones(size)
        run(WHO, grid, block, y)
        return float(y[at])

    return _number(
        f"`who` is launched with {grid} blocks of {block} threads on an array y of {size} numbers. "
        f"Which number is in `y[{at}]` afterwards?",
        WHO,
        value,
    )


# --- The edge of a matrix -------------------------------------------------------------------------

TWICE = """\
@cuda.jit
def twice(A, C):
    column, row = cuda.grid(2)
    rows, columns = C.shape
    if row < columns and column < rows:
        C[row, column] = 2 * A[row, column]
"""
FLIP = """\
@cuda.jit
def flip(A, C):
    x, y = cuda.grid(2)
    height, width = C.shape
    if x < height and y < width:
        last = width - 1 - x
        C[y, x] = A[y, last]
"""


def _edge(code: str, does: str, wrong: str, right: str, shape: tuple[int, int]) -> WhichLine:
    def proof() -> int:
        """The line whose change leaves nothing to be found."""
        mended = code.replace(wrong, right)
        found = [run(text, (3, 3), (16, 16), ones(*shape), ones(*shape)) for text in (code, mended)]
        assert found[0].findings and not found[1].findings
        changed = zip(code.splitlines(), mended.splitlines(), strict=True)
        return next(number for number, (was, now) in enumerate(changed, 1) if was != now)

    return _line(
        f"The kernel {does}. Blocks of 16 × 16 threads cover C. On square matrices it is right, "
        f"but on one of {shape[0]} rows and {shape[1]} columns it is not. Which line has to be "
        "changed?",
        code,
        wrong,
        proof,
    )


# --- What a warp fetches --------------------------------------------------------------------------

STRIDE = """\
@cuda.jit
def every(x, y):
    i = cuda.grid(1)
    y[i] = x[{stride} * i]
"""


def _sectors(stride: int) -> Number:
    code = STRIDE.format(stride=stride)

    def value() -> float:
        return run(code, 1, 32, ones(32 * stride), ones(32)).global_load_sectors

    return _number(
        "x and y hold float32 numbers, 4 bytes each. Memory is fetched in pieces of 32 bytes that "
        "begin at multiples of 32, and x begins at one. How many such pieces of x does one warp, "
        "threads 0 to 31, fetch?",
        code,
        value,
        "pieces",
    )


COPY = """\
@cuda.jit
def copy(A, C):
    {first} = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = A[row, column]
"""


def _order(first: str, lies: str, change: str, block: str, place: int) -> Choose:
    return _choose(
        f"The copy is right, and yet far slower than the memory of the GPU allows. {lies} Blocks "
        "have 32 × 8 threads, `cuda.grid(2)` gives x and then y, and the threads of a warp follow "
        "each other in x. Which change helps most, and why?",
        COPY.format(first=first),
        f"`{change} = cuda.grid(2)`: then neighbouring threads of a warp ask for neighbouring "
        "elements.",
        "Stage the elements in shared memory: it is faster than global memory.",
        f"Blocks of {block} threads in a row: then each thread has less to do.",
        "Leave out the bounds check: the threads of a warp no longer take different branches.",
        place=place,
    )


# --- Barriers and races ---------------------------------------------------------------------------

MIRROR = """\
@cuda.jit
def mirror(x, y):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    other = 127 - t
    y[t] = part[other]
"""
STEPS = """\
@cuda.jit
def steps(x, y):
    kept = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    mine = x[t]
    kept[t] = mine
    left = max(t - 1, 0)
    y[t] = mine - kept[left]
"""


def _race(code: str, name: str, what: str) -> WhichLine:
    def proof() -> int:
        return line_of(run(code, 1, 128, ones(128), ones(128)), "race-read-after-write")

    return _line(
        f"One block of 128 threads runs `{name}`, which {what}. The kernel contains no barrier, "
        "and its result changes from run to run. All threads have to wait for each other "
        "somewhere. Which line is the last one before which they can do so?",
        code,
        "y[t] =",
        proof,
    )


SUM = """\
@cuda.jit
def sums(A, x, y):
    part = cuda.shared.array(64, float32)
    t, row = cuda.threadIdx.x, cuda.grid(1)
    total = float32(0)
    for start in range(0, x.shape[0], 64):
        {first}
        part[t] = x[start + t]
        {second}
        for k in range(64):
            total += A[row, start + k] * part[k]
    y[row] = total
"""


def _barrier(first: str, second: str, right: str, opposite: str, place: int) -> Choose:
    return _choose(
        "y = A @ x in blocks of 64 threads; all sizes are multiples of 64. There is one barrier "
        "in the loop. What can go wrong?",
        "\n".join(filter(str.strip, SUM.format(first=first, second=second).splitlines())),
        right,
        "Nothing: all threads meet at a barrier once in each iteration, and that is enough.",
        opposite,
        "The last of the 64 products may be missing, as threads leave the inner loop at "
        "different times.",
        place=place,
    )


NO_BARRIER = ""
EARLY = (
    "A thread may read a number of `part` that its owner has yet to store in this iteration, "
    "because nothing stands between storing and reading."
)
OVERTAKEN = (
    "A fast warp may store the next 64 numbers into `part` while a slow one is still adding up "
    "these, because nothing stands between reading and storing."
)

# --- Reuse ----------------------------------------------------------------------------------------


def _loads(n: int, tile: int) -> Number:
    return _number(
        f"Two {n} × {n} matrices are multiplied in tiles of {tile} × {tile}: a block stages one "
        "tile of A and one of B in shared memory, uses them, and goes on to the next two. How "
        "many elements do all blocks together load from global memory?",
        "",
        lambda: 2 * n**3 / tile,
        "elements",
    )


BANKS = """\
@cuda.jit
def apart(x, y):
    part = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        y[t] = part[{at}]
"""


def _banks(at: str) -> Number:
    code = BANKS.format(at=at)

    def value() -> float:
        return run(code, 1, 1024, ones(1024), ones(32)).shared_load_wavefronts

    return _number(
        "Shared memory has 32 banks, and number n of `part` lies in bank n % 32. A bank hands out "
        "one number in a pass; all banks work at the same time. How many passes does the last "
        "line take for the warp?",
        code,
        value,
        "passes",
    )


def _bound(bytes_: int, flop: int, bandwidth: int, tflops: int, place: int) -> Choose:
    return _choose(
        f"For each element, a kernel moves {bytes_} bytes and does {flop} additions and "
        f"multiplications. The GPU moves {bandwidth} GB a second and does {tflops} × 10¹² such "
        "operations a second. The kernel is right, and takes as long as the slower of the two. "
        "Which change makes it faster, and why?",
        "",
        "Keep a value that several steps need in a register instead of reading it again: moving "
        "the bytes takes longer than the arithmetic.",
        "Replace divisions by multiplications: arithmetic is what a GPU spends its time on.",
        "Launch twice as many blocks: more of the GPU is used.",
        "Give half of each element's arithmetic to a second thread: both halves then run at "
        "the same time.",
        place=place,
    )


ROWS, COLUMNS = "Rows lie one after the other.", 'Columns lie one after the other (`order="F"`).'
SQUARE = ("row < columns and column < rows", "row < rows and column < columns")
TURNED = ("x < height and y < width", "x < width and y < height")

PAIRS = (
    ItemPair("index", _who(4, 32, 70), _who(3, 64, 150)),
    ItemPair(
        "bounds",
        _edge(TWICE, "doubles each element", *SQUARE, (40, 24)),
        _edge(FLIP, "turns each row around", *TURNED, (24, 40)),
    ),
    ItemPair("fetched", _sectors(2), _sectors(4)),
    ItemPair(
        "coalescing",
        _order("row, column", ROWS, "column, row", "256", 1),
        _order("column, row", COLUMNS, "row, column", "512", 3),
    ),
    ItemPair(
        "race",
        _race(MIRROR, "mirror", "turns 128 numbers around"),
        _race(STEPS, "steps", "subtracts from each number the one before it"),
    ),
    ItemPair(
        "barrier",
        _barrier(NO_BARRIER, "cuda.syncthreads()", OVERTAKEN, EARLY, 2),
        _barrier("cuda.syncthreads()", NO_BARRIER, EARLY, OVERTAKEN, 0),
    ),
    ItemPair("reuse", _loads(64, 16), _loads(96, 32)),
    ItemPair("banks", _banks("8 * t"), _banks("4 * t")),
    ItemPair("bottleneck", _bound(12, 2, 1000, 10, 2), _bound(16, 4, 2000, 30, 1)),
)


def items(form: str, end: str) -> tuple[Question, ...]:
    """The items of a form, which takes one `end` of each pair, called "pretest-1" and so on."""
    return tuple(
        replace(pair.before if end == BEFORE else pair.after, id=f"{form}-{number}")
        for number, pair in enumerate(PAIRS, 1)
    )
