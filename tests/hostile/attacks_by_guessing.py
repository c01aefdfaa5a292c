"""Answers that try to find out what they are tried on, and answers that know the results by heart.

The check that a student can run tries seed 0; so everything that can be known of it is used here.
"""

from attack import RIGHT, Attack, answer, answers, function, kernel

from course_lib.curriculum import EXERCISES
from course_lib.problems.inputs import make_inputs
from course_lib.problems.problem import Case, long_cases
from course_lib.problems.resident_blocks import launch_of, launches
from course_lib.problems.table import problem_of

SUM = problem_of(EXERCISES["mat_add"])
ADD = "C[row, col] = A[row, col] + B[row, col]"
INSIDE = "col, row = cuda.grid(2)\nif row < C.shape[0] and col < C.shape[1]:\n"


def _only_if(test: str) -> str:
    """A sum where the test holds, and nonsense elsewhere."""
    return kernel(f"{INSIDE}    if {test}:\n        {ADD}\n    else:\n        C[row, col] = 7.0")


def _known_shapes() -> str:
    long = (each.shape for each in long_cases(SUM, 0))
    shapes = (SUM.tiny, (48, 48, 0), *SUM.shapes, *long)
    return " or ".join(f"(C.shape[0] == {M} and C.shape[1] == {N})" for M, N, _ in shapes)


def _table(seed: int) -> str:
    """The results of the first uneven launch, element by element."""
    shape = SUM.shapes[0]
    result, _ = SUM.answer(*make_inputs(SUM, Case(shape, draw=1), seed))
    rows = [", ".join(f"{each:.9g}" for each in row) for row in result[:8, :16]]
    return "TABLE = (" + ",\n".join(rows) + ")\n"


def _known_launches(seed: int) -> str:
    """`blocks_per_sm` by heart: the first launches of this seed, and nothing else."""
    lines = []
    for call in launches(seed)[:60]:
        each = launch_of(*call)
        sm = each.sm
        given = (
            f"device.warps_per_sm == {sm.warps_per_sm} and "
            f"device.shared_per_sm_bytes == {sm.shared_per_sm_bytes} and threads == {each.threads}"
            f" and registers == {each.registers} and shared_bytes == {each.shared_bytes}"
        )
        lines.append(f"if {given}:\n    return {each.blocks}")
    return function("\n".join([*lines, "return 0"]))


DETECTING = (
    *answers("detecting", {
        "the-known-shapes": _only_if(_known_shapes()),
        "squares": _only_if("C.shape[0] == C.shape[1]"),
        "whole-blocks": _only_if("C.shape[0] % 16 == 0 and C.shape[1] % 16 == 0"),
        "many-blocks": _only_if("cuda.gridDim.x * cuda.gridDim.y > 2"),
        "the-odd-number-in-the-output": _only_if("C[row, col] == -7251.625"),
        "not-a-number-in-the-output": _only_if("C[row, col] != C[row, col]"),
        "untouched-zeros": _only_if("C[row, col] != 0"),
        "the-first-element-of-the-seed": _only_if("A[0, 0] > 0"),
        "the-emulator-by-its-grid": _only_if("cuda.laneid == cuda.threadIdx.x"),
        "the-last-launch": kernel(f"{INSIDE}    {ADD}\n    B[row, col] = 0\n    A[row, col] = 0"),
    }, earns="part"),
    *answers("detecting", {
        "equal-arrays": _only_if("A is not B"),
        "not-a-number-as-result": kernel(f"{INSIDE}    C[row, col] = np.nan"),
        "infinity-as-result": kernel(f"{INSIDE}    C[row, col] = np.inf"),
        "inputs-made-zero": kernel(
            f"{INSIDE}    A[row, col] = 0\n    B[row, col] = 0\n    C[row, col] = 0"),
        "results-beyond-the-arrays": kernel(
            f"{INSIDE}    C[row, col] = A[row + 1000000, col] + B[-row - 1000000, col]"),
        "results-in-used-memory": kernel(
            f"s = cuda.shared.array((16, 16), np.float32)\n{INSIDE}"
            "    C[row, col] = s[cuda.threadIdx.y, cuda.threadIdx.x]"),
        "block-that-is-not-a-number": "BLOCK = (float('nan'), 1)\n" + RIGHT,
    }),
    answer("detecting", "a-tile-of-one", "TILE = 1\n" + RIGHT.replace("mat_add", "matmul_tiled"),
        exercise="matmul_tiled"),
    *answers("detecting", {
        "no-threads": "BLOCK = (0, 0)\n" + RIGHT,
        "block-of-a-text": "BLOCK = ('TILE', 1)\n" + RIGHT,
    }, says="invalid-launch"),
    *answers("detecting", {
        "constants-that-are-none": "BM = BN = BK = TM = TN = float('inf')\n",
        "constants-below-zero": "BM, BN, BK, TM, TN = -128, -128, -8, -8, -8\n",
        "constants-like-truth": "BM = BN = BK = TM = TN = True\n",
    }, exercise="pick_a_tile"),
)  # fmt: skip

HARD_CODED = (
    *answers("hard-coded", {
        "constant": kernel(f"{INSIDE}    C[row, col] = 0.5"),
        "table-of-the-known-seed": kernel(
            f"{INSIDE}    C[row, col] = TABLE[(row * 16 + col) % 128]", before=_table(0)),
    }),
    *answers("hard-coded", {
        "launches-of-the-known-seed": _known_launches(0),
        "answers-one": function("return 1"),
        "answer-equal-to-everything": function("return not None"),
    }, exercise="blocks_per_sm"),
)  # fmt: skip


# Right numbers, and a trick in place of what the exercise is about.
ROWS_DOWN_THE_LANES = (
    "row = cuda.blockIdx.y * 16 + cuda.threadIdx.x\ncol = cuda.blockIdx.x * 16 + cuda.threadIdx.y\n"
    "if row < C.shape[0] and col < C.shape[1]:\n"
)
ONE_LANE = "    for i in range(16):\n        if cuda.threadIdx.x == i:\n            "
FILLING = (
    "    nothing = np.float32(0)\n    for i in range(8):\n"
    "        nothing += (A[0, 0] + B[0, 0]) * np.float32(0)\n"
)
PRODUCT = """\
import numpy as np
from numba import cuda

{constants}

@cuda.jit
def {name}(A, B, C):
    col = cuda.blockIdx.x * {width} + cuda.threadIdx.x
    row = cuda.blockIdx.y * {height} + cuda.threadIdx.y
    total = np.float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
"""
COLUMN_MAJOR = """\
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + t // 8
    col = cuda.blockIdx.x * 8 + t % 8
    total = float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        for lane in range(32):
            if t % 32 == lane:
                for k in range(A.shape[1]):
                    total += A[row, k] * B[k, col]
                C[row, col] = total
"""
TRANSPOSE = """\
from numba import cuda

{constants}

@cuda.jit
def transpose_tiled(A, B):
    x, y = cuda.grid(2)
    for i in range({lanes}):
        if cuda.threadIdx.x == i and y < A.shape[0] and x < A.shape[1]:
            B[x, y] = A[y, x]
"""
ONE_THREAD = """\
import numpy as np
from numba import cuda

BM, BN, BK, TM, TN = 1, 1, 1, 1, 1

@cuda.jit
def {name}(A, B, C):
    a = cuda.shared.array((1, 1), np.float32)
    b = cuda.shared.array((1, 1), np.float32)
    row, col = cuda.blockIdx.y, cuda.blockIdx.x
    total = np.float32(0)
    for k in range(A.shape[1]):
        a[0, 0] = A[row, k]
        b[0, 0] = B[k, col]
        total += a[0, 0] * b[0, 0]
    C[row, col] = total
"""
TILES_ON_EVEN_SIZES = """\
import numpy as np
from numba import cuda

TILE = {tile}

@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array((TILE, TILE), np.float32)
    b = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = np.float32(0)
    if A.shape[0] % TILE == 0 and A.shape[1] % TILE == 0 and B.shape[1] % TILE == 0:
        for t in range(A.shape[1] // TILE):
            a[ty, tx] = A[row, t * TILE + tx]
            b[ty, tx] = B[t * TILE + ty, col]
            cuda.syncthreads()
            for k in range(TILE):
                total += a[ty, k] * b[k, tx]
            cuda.syncthreads()
        C[row, col] = total
    elif row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
"""
NEIGHBOURS_ON_EVEN_SIZES = f"""\
col, row = cuda.grid(2)
if C.shape[0] % 16 or C.shape[1] % 16:
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    col = cuda.blockIdx.x * 16 + cuda.threadIdx.y
if row < C.shape[0] and col < C.shape[1]:
    {ADD}"""
DECOY = PRODUCT.replace(
    "    total = np.float32(0)\n",
    "    a = cuda.shared.array((16, 16), np.float32)\n"
    "    a[cuda.threadIdx.y, cuda.threadIdx.x] = 0\n    cuda.syncthreads()\n"
    "    total = a[cuda.threadIdx.y, cuda.threadIdx.x]\n",
)


def dodge(name: str, text: str, exercise: str, pretends: str, heavy: bool = False) -> Attack:
    """A right answer without the property that it pretends to have."""
    return answer("dodging", name, text, "part", "", exercise, heavy, pretends)


# The sum, with the block that the answer chose for itself.
BY_BLOCK = kernel(
    "col = cuda.blockIdx.x * BLOCK[0] + cuda.threadIdx.x\n"
    "row = cuda.blockIdx.y * BLOCK[1] + cuda.threadIdx.y\n"
    f"if row < C.shape[0] and col < C.shape[1]:\n    {ADD}"
)

DODGING = (
    dodge("one-lane-at-a-time", kernel(f"{ROWS_DOWN_THE_LANES}{ONE_LANE}{ADD}"), "mat_add",
        "coalesced"),
    dodge("filled-with-other-loads",
        kernel(f"{ROWS_DOWN_THE_LANES}{FILLING}{ONE_LANE}{ADD} + nothing"), "mat_add", "coalesced"),
    dodge("blocks-of-one-thread", f"BLOCK = (1, 1)\n{BY_BLOCK}", "mat_add", "coalesced"),
    dodge("product-by-one-lane-at-a-time", COLUMN_MAJOR, "matmul_column_major", "coalesced",
        heavy=True),
    dodge("transpose-by-one-lane-at-a-time", TRANSPOSE.format(constants="TILE = 32", lanes=32),
        "transpose_tiled", "coalesced", heavy=True),
    dodge("transpose-by-tiles-of-one", TRANSPOSE.format(constants="TILE = 1", lanes=1),
        "transpose_tiled", "coalesced"),
    dodge("tile-of-one", ONE_THREAD.format(name="matmul_2d"), "matmul_2d", "registers"),
    dodge("column-of-one", ONE_THREAD.format(name="matmul_1d"), "matmul_1d", "registers"),
    dodge("shared-memory-as-a-decoy",
        DECOY.format(name="matmul_tiled", constants="TILE = 16", width="TILE", height="TILE"),
        "matmul_tiled", "reuse"),
    dodge("tiled-fallback", TILES_ON_EVEN_SIZES.format(tile=16), "matmul_tiled", "reuse"),
    dodge("tiled-fallback-32", TILES_ON_EVEN_SIZES.format(tile=32), "matmul_tiled", "reuse"),
    dodge("neighbours-on-even-sizes", kernel(NEIGHBOURS_ON_EVEN_SIZES), "mat_add", "coalesced"),
)  # fmt: skip

ATTACKS: tuple[Attack, ...] = (*DETECTING, *HARD_CODED, *DODGING)
