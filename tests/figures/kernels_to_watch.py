"""Kernels as a student might write them, right and wrong, for the figures that show their runs."""

from course_lib.emulator import Kernel, load_program

_HEAD = "from numba import cuda, float32\nTILE = 16\n"

TILED = """
@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for start in range(0, A.shape[1], TILE):
        sA[ty, tx] = A[row, start + tx]
        sB[ty, tx] = B[start + ty, col]
        cuda.syncthreads()  # first
        for k in range(TILE):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()  # second
    C[row, col] = total
"""

FLAT_HEAD = """    tx, ty = cuda.threadIdx.x % TILE, cuda.threadIdx.x // TILE
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
"""

PLAIN = """
@cuda.jit
def matmul(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
"""


def kernel(text: str = TILED, *changes: tuple[str, str]) -> Kernel:
    """The kernel of a text, with some of its words replaced."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return next(iter(load_program(_HEAD + text).functions.values()))


def flat() -> Kernel:
    """The tiled kernel with one-dimensional blocks."""
    lines = TILED.splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if "cuda.grid" in line)
    return kernel("".join(lines[:at]) + FLAT_HEAD + "".join(lines[at + 2 :]))


EMPTY = '@cuda.jit\ndef empty(A, B, C):\n    """C = A @ B."""\n'
ENDLESS = (
    "@cuda.jit\ndef endless(A, B, C):\n    s = cuda.shared.array(TILE, float32)\n"
    "    k = 0\n    while k < 1:\n        s[0] = A[0, 0]\n"
)
LITERAL = TILED.replace("TILE", "16")
