"""Answers that are right at the usual sizes alone, and honest ones that look like them.

Each goes wrong, or costs too much, only far beyond the usual launches, and hides the size in an
expression that no comparison shows. Somebody wrote them who had not read how far an examination
goes. Not found, and so not here: sqrt, log2 or exp of a size, products and numbers of blocks, a
power that vanishes, sizes beyond what an emulator can launch.
"""

from textwrap import indent

HEAD = """import math
import numpy as np
from numba import cuda, float32, float16, int16, int32, uint16
"""
START = """
@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        total = float32(0)
"""
SUM = """for k in range(K):
    total += A[row, k] * B[k, col]
"""
STORE = "C[row, col] = total\n"
KEEP = """
@cuda.jit(device=True)
def keep(size):
    return float32(1) if size * 2 < 7000 else float32(0)
"""


def _product(body: str, above: str = "") -> str:
    return HEAD + above + START + indent(body, " " * 8)


def _where(test: str) -> str:
    return f"if {test}:\n    {STORE}"


# What stands between the sum and its end, or around its store.
AFTER_THE_SUM = {
    "a range from a size of M": "for _ in range(5000, M):\n    total = float32(0)\n" + STORE,
    "a range from a size of N": "for _ in range(3000, N):\n    total += float32(1)\n" + STORE,
    "a range from a size of K": "for _ in range(1500, K):\n    total = float32(0)\n" + STORE,
    "a quotient of M": "C[row, col] = total * float32(int(M / 5000) == 0)",
    "a quotient of K": "total *= float32(1 - int(K / 2000))\n" + STORE,
    "a floor": "total -= float32(math.floor(N / 4000.0))\n" + STORE,
    "a bit": _where("M & 4096 == 0"),
    "a bit, moved": "total *= float32(1 - ((K & 2048) >> 11))\n" + STORE,
    "an exclusive or": _where("(N ^ 4095) >= N - 4095 and (N ^ 4095) <= 4095"),
    "a shift": "total *= float32((M >> 12) == 0)\n" + STORE,
    "a shifted number": _where("M <= (1 << 12)"),
    "a count down from a size": "left = 3500 - M\n" + _where("left > 0"),
    "a size in float16": "h = float16(K) * float16(30)\n" + _where("h < float16(60000)"),
    "a size in int16": "p = int16(M * 8)\n" + _where("p >= 0"),
    "a row in uint16": _where("int32(uint16(row * 16)) == row * 16"),
    "two sizes multiplied": _where("M * N < 9000"),
    "two sizes multiplied and divided": "total *= float32(int(M * N / 9000) == 0)\n" + STORE,
    "two sizes added": _where("M + N < 1500"),
    "all sizes added": "total *= float32(max(0, min(1, 2400 - M - N - K)))\n" + STORE,
    "two sizes subtracted": _where("abs(M - N) < 2100"),
    "rows of blocks": _where("cuda.gridDim.y < 100"),
    "a power": "total *= float32((K / 1200.0) ** 20 < 1.0)\n" + STORE,
    "negative sizes": _where("-M > -2600"),
    "a mask": "total *= float32((N | 0xFFF) == 0xFFF)\n" + STORE,
    "a remainder": _where("M % 3001 == M"),
    "a quotient, displaced": "q = (M + 700) // 2700\ntotal *= float32(q == 0)\n" + STORE,
}
RIGHT_UP_TO_A_SIZE = {name: _product(SUM + text) for name, text in AFTER_THE_SUM.items()} | {
    "a countdown": _product("""left = 1700
for k in range(K):
    if left > 0:
        total += A[row, k] * B[k, col]
    left -= 1
C[row, col] = total
"""),
    "a countdown with while": _product("""left = 2500
k = 0
while left != 0 and k != K:
    total += A[row, k] * B[k, col]
    left -= 1
    k += 1
C[row, col] = total
"""),
    "a number of the module": _product(SUM + _where("M < EDGE * EDGE"), "EDGE = 60\n"),
    "a helper": _product(SUM + "total *= keep(M)\n" + STORE, KEEP),
    "the length of a text": _product(
        SUM + _where("N // (BASE + BASE) < 1"), "BASE = len('abcdefgh') * 256\n"
    ),
}

TILED = (
    HEAD
    + """
TILE = 16

@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    M, K = A.shape
    N = B.shape[1]
    acc = float32(0)
    {first}
    for start in range(0, K, TILE):
        ka, kb = start + tx, start + ty
        sA[ty, tx] = A[row, ka] if row < M and ka < K else float32(0)
        sB[ty, tx] = B[kb, col] if kb < K and col < N else float32(0)
        {filled}
        for k in range(TILE):
            {step}
        {used}
    if row < M and col < N:
        C[row, col] = acc
"""
)
WAIT = "cuda.syncthreads()"
STEP = "acc += sA[ty, k] * sB[k, tx]"


def _tiled(first: str = "", filled: str = WAIT, step: str = STEP, used: str = WAIT) -> str:
    return TILED.format(first=first, filled=filled, step=step, used=used)


def _waits_where(test: str) -> str:
    return f"if {test}:\n            {WAIT}"


def _without_tiles_where(test: str) -> str:
    return f"""if {test}:
        if row < M and col < N:
            for k in range(K):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc
        return"""


ADDED = (
    HEAD
    + """
@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    M, N = A.shape
    {first}
    if row < M and col < N:
        {add}
"""
)
ADD = "C[row, col] = A[row, col] + B[row, col]"
TURNED = (
    HEAD
    + """
@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    M, N = A.shape
    col, row = cuda.blockIdx.x * 32 + x, cuda.blockIdx.y * 32 + y
    if {test}:
        if row < M and col < N:
            B[col, row] = A[row, col]
        return
    if row < M and col < N:
        tile[y, x] = A[row, col]
    cuda.syncthreads()
    turned_row, turned_col = cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x
    if turned_row < N and turned_col < M:
        B[turned_row, turned_col] = tile[x, y]
"""
)
DOWN_THE_COLUMNS = """if N > 1000:
        x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        number = y * cuda.gridDim.x * cuda.blockDim.x + x
        row, col = number % M, number // M"""
WIDE_STEP = """if K < 1000:
                acc += sA[ty, k] * sB[k, tx]
            else:
                wide = np.float64(sA[ty, k]) * np.float64(sB[k, tx])
                acc = float32(np.float64(acc) + wide)"""
WIDE_ADD = """wide = (np.float64(A[row, col]) + np.float64(B[row, col])) * 2.0
        C[row, col] = A[row, col] + B[row, col] if M < 1000 else float32(wide * 0.5)"""
NEXT_ROW = "if N > 1000 and col == N - 1 and row == M - 1:\n    C[row + 1, col] = total\n"

# The exercise, the answer, and the property that it must lose.
COSTLY_BEYOND_A_SIZE = {
    "tile read too early": ("matmul_tiled", _tiled(filled=_waits_where("K < 1000")), "race-free"),
    "tile filled too early": ("matmul_tiled", _tiled(used=_waits_where("K < 1000")), "race-free"),
    "too early with many rows": ("matmul_tiled", _tiled(used=_waits_where("M < 1000")),
        "race-free"),
    "too early with many columns": ("matmul_tiled", _tiled(used=_waits_where("int(N / 1200) == 0")),
        "race-free"),
    "half a warp waits": ("matmul_tiled", _tiled(used=_waits_where("K < 1000 or tx < 8")),
        "race-free"),
    "no tiles for long sums": ("matmul_tiled", _tiled(_without_tiles_where("K > 1000")), "reuse"),
    "no tiles for many rows": ("matmul_tiled", _tiled(_without_tiles_where("M > 1000")), "reuse"),
    "float64 for long sums": ("matmul_tiled", _tiled(step=WIDE_STEP), "float32"),
    "float64 for many rows": ("mat_add", ADDED.format(first="", add=WIDE_ADD), "float32"),
    "down the columns": ("mat_add", ADDED.format(first=DOWN_THE_COLUMNS, add=ADD), "coalesced"),
    "no tile for many rows": ("transpose_tiled", TURNED.format(test="M > 1000"), "coalesced"),
    "no tile for many columns": ("transpose_tiled", TURNED.format(test="N > 1000"), "coalesced"),
    "a row too many": ("matmul_naive", _product(SUM + NEXT_ROW + STORE), "bounds"),
}  # fmt: skip

HONEST = {
    "tiled": ("matmul_tiled", _tiled()),
    "two barriers for one": ("matmul_tiled",
        _tiled(used=f"if K < 1000:\n            {WAIT}\n        else:\n            {WAIT}")),
    "naive": ("matmul_naive", _product(SUM + STORE)),
    "a sum of sums": (
        "matmul_naive",
        _product("""if K > 1000:
    part = float32(0)
    for k in range(K):
        part += A[row, k] * B[k, col]
        if k % 1000 == 999:
            total += part
            part = float32(0)
    total += part
else:
    for k in range(K):
        total += A[row, k] * B[k, col]
C[row, col] = total
"""),
    ),
    "backwards": ("matmul_naive",
        _product(SUM.replace("range(K)", "range(K - 1, -1, -1)") + STORE)),
    "in pairs": (
        "matmul_naive",
        _product("""odd = float32(0)
for k in range(0, K - 1, 2):
    total += A[row, k] * B[k, col]
    odd += A[row, k + 1] * B[k + 1, col]
if K % 2:
    total += A[row, K - 1] * B[K - 1, col]
C[row, col] = total + odd
"""),
    ),
    "transposed": ("transpose_tiled", TURNED.format(test="M < 0")),
    "added": ("mat_add", ADDED.format(first="", add=ADD)),
}  # fmt: skip
