"""The kernels that benchmarks/emulator.py runs on both emulators, with their data and launches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, float32, int32

TILE = 16
LINE = 256  # threads of a one-dimensional block
RUN = 64  # threads, and elements, of one scan
BINS = 64
SIDE = 32  # of the transpose's tiles, which 32 x 8 threads move
PADDED = SIDE + 1
HALO = TILE + 2


def vector_add(a, b, out):
    """One element for each thread."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


def naive(A, B, C):
    """Each thread a dot product; neighbouring threads stand in neighbouring rows."""
    row, column = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total


def coalesced(A, B, C):
    """The same with neighbouring threads in neighbouring columns."""
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total


def tiled(A, B, C):
    """The tiled matrix multiplication of lesson 05."""
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * TILE + tx
    y = cuda.blockIdx.y * TILE + ty
    total = float32(0)
    for t in range((A.shape[1] + TILE - 1) // TILE):
        sA[ty, tx] = float32(0)
        sB[ty, tx] = float32(0)
        if y < A.shape[0] and t * TILE + tx < A.shape[1]:
            sA[ty, tx] = A[y, t * TILE + tx]
        if t * TILE + ty < B.shape[0] and x < B.shape[1]:
            sB[ty, tx] = B[t * TILE + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = total


def transpose(A, B):
    """Through a padded tile, four rows for each thread."""
    tile = cuda.shared.array((SIDE, PADDED), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    for r in range(ty, SIDE, cuda.blockDim.y):
        y = cuda.blockIdx.y * SIDE + r
        x = cuda.blockIdx.x * SIDE + tx
        if y < A.shape[0] and x < A.shape[1]:
            tile[r, tx] = A[y, x]
    cuda.syncthreads()
    for r in range(ty, SIDE, cuda.blockDim.y):
        y = cuda.blockIdx.x * SIDE + r
        x = cuda.blockIdx.y * SIDE + tx
        if y < B.shape[0] and x < B.shape[1]:
            B[y, x] = tile[tx, r]


def reduction(x, sums):
    """One sum for each block, halving the threads at work."""
    part = cuda.shared.array(LINE, float32)
    i = cuda.grid(1)
    tx = cuda.threadIdx.x
    part[tx] = x[i] if i < x.shape[0] else float32(0)
    cuda.syncthreads()
    half = LINE // 2
    while half > 0:
        if tx < half:
            part[tx] += part[tx + half]
        cuda.syncthreads()
        half //= 2
    if tx == 0:
        sums[cuda.blockIdx.x] = part[0]


def scan(x, y):
    """Inclusive sums within each run of 64 elements, with two buffers."""
    front = cuda.shared.array(RUN, float32)
    back = cuda.shared.array(RUN, float32)
    i = cuda.grid(1)
    tx = cuda.threadIdx.x
    front[tx] = x[i] if i < x.shape[0] else float32(0)
    cuda.syncthreads()
    step = 1
    while step < RUN:
        value = front[tx]
        if tx >= step:
            value += front[tx - step]
        back[tx] = value
        cuda.syncthreads()
        front[tx] = back[tx]
        cuda.syncthreads()
        step *= 2
    if i < x.shape[0]:
        y[i] = front[tx]


def histogram(x, counts):
    """Atomics in shared memory, then one addition for each block and bin."""
    bins = cuda.shared.array(BINS, int32)
    i = cuda.grid(1)
    tx = cuda.threadIdx.x
    if tx < BINS:
        bins[tx] = 0
    cuda.syncthreads()
    if i < x.shape[0]:
        cuda.atomic.add(bins, x[i] % BINS, 1)
    cuda.syncthreads()
    if tx < BINS:
        cuda.atomic.add(counts, tx, bins[tx])


def stencil(a, out):
    """Mean of a cell's four neighbours, from a tile with a halo; the edge is left alone."""
    tile = cuda.shared.array((HALO, HALO), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x + 1
    ty = cuda.threadIdx.y + 1
    inside = x < a.shape[1] and y < a.shape[0]
    if inside:
        tile[ty, tx] = a[y, x]
        if tx == 1 and x > 0:
            tile[ty, 0] = a[y, x - 1]
        if tx == TILE and x + 1 < a.shape[1]:
            tile[ty, TILE + 1] = a[y, x + 1]
        if ty == 1 and y > 0:
            tile[0, tx] = a[y - 1, x]
        if ty == TILE and y + 1 < a.shape[0]:
            tile[TILE + 1, tx] = a[y + 1, x]
    cuda.syncthreads()
    if inside:
        if x > 0 and y > 0 and x + 1 < a.shape[1] and y + 1 < a.shape[0]:
            across = tile[ty, tx - 1] + tile[ty, tx + 1]
            down = tile[ty - 1, tx] + tile[ty + 1, tx]
            out[y, x] = (across + down) * float32(0.25)
        else:
            out[y, x] = tile[ty, tx]


def softmax(x, out):
    """One block for each row: largest element, sum of exponentials, division."""
    part = cuda.shared.array(RUN, float32)
    row = cuda.blockIdx.x
    tx = cuda.threadIdx.x
    largest = float32(-math.inf)
    for k in range(tx, x.shape[1], RUN):
        largest = max(largest, x[row, k])
    part[tx] = largest
    cuda.syncthreads()
    half = RUN // 2
    while half > 0:
        if tx < half:
            part[tx] = max(part[tx], part[tx + half])
        cuda.syncthreads()
        half //= 2
    largest = part[0]
    cuda.syncthreads()
    total = float32(0)
    for k in range(tx, x.shape[1], RUN):
        total += math.exp(x[row, k] - largest)
    part[tx] = total
    cuda.syncthreads()
    half = RUN // 2
    while half > 0:
        if tx < half:
            part[tx] += part[tx + half]
        cuda.syncthreads()
        half //= 2
    for k in range(tx, x.shape[1], RUN):
        out[row, k] = math.exp(x[row, k] - largest) / part[0]


# -- data, launches and what should come out -------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A kernel with its arrays and its launch, for a given size."""

    kernel: Callable[..., None]
    arrays: Callable[[int], tuple[np.ndarray, ...]]  # the last one is the output
    launch: Callable[[int], tuple[Any, Any]]
    expected: Callable[..., np.ndarray]  # from the inputs, in float64
    sizes: tuple[int, ...]
    power: str = ""  # of the size, as a title says it


def square_matrices(size: int) -> tuple[np.ndarray, ...]:
    """A, B and an output full of NaN."""
    random = np.random.default_rng(size)
    a, b = (random.standard_normal((size, size), dtype=np.float32) for _ in "AB")
    return a, b, np.full((size, size), np.nan, np.float32)


def square_matrix(size: int) -> tuple[np.ndarray, ...]:
    """A and an output full of NaN."""
    return square_matrices(size)[1:]


def two_vectors(size: int) -> tuple[np.ndarray, ...]:
    """Two vectors and an output full of NaN."""
    random = np.random.default_rng(size)
    a, b = (random.standard_normal(size, dtype=np.float32) for _ in "ab")
    return a, b, np.full(size, np.nan, np.float32)


def vector(size: int) -> tuple[np.ndarray, ...]:
    """A vector and an output full of NaN."""
    return two_vectors(size)[1:]


def vector_and_sums(size: int) -> tuple[np.ndarray, ...]:
    """A vector and one place for each block."""
    return two_vectors(size)[0], np.full(-(-size // LINE), np.nan, np.float32)


def numbers_and_counts(size: int) -> tuple[np.ndarray, ...]:
    """Whole numbers, and counts of zero."""
    random = np.random.default_rng(size)
    return random.integers(0, 1000, size, dtype=np.int32), np.zeros(BINS, np.int32)


def squares_of(side: int, rows: int | None = None) -> Callable[[int], tuple[Any, Any]]:
    """A launch with blocks of side x rows threads for tiles of side x side elements."""

    def launch(size: int) -> tuple[Any, Any]:
        blocks = -(-size // side)
        return (blocks, blocks), (side, rows or side)

    return launch


def lines_of(threads: int) -> Callable[[int], tuple[Any, Any]]:
    """A launch with one thread for each element of a vector."""
    return lambda size: (-(-size // threads), threads)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a matrix multiplication should give."""
    return a.astype(np.float64) @ b.astype(np.float64)


def block_sums(x: np.ndarray) -> np.ndarray:
    """What the reduction should give."""
    return np.add.reduceat(x.astype(np.float64), np.arange(0, len(x), LINE))


def scans(x: np.ndarray) -> np.ndarray:
    """What the scan should give."""
    runs = np.split(x.astype(np.float64), range(RUN, len(x), RUN))
    return np.concatenate([np.cumsum(run) for run in runs])


def counted(x: np.ndarray) -> np.ndarray:
    """What the histogram should give."""
    return np.bincount(x % BINS, minlength=BINS).astype(np.float64)


def averaged(a: np.ndarray) -> np.ndarray:
    """What the stencil should give."""
    out = a.astype(np.float64)
    wide = out.copy()
    out[1:-1, 1:-1] = (wide[1:-1, :-2] + wide[1:-1, 2:] + wide[:-2, 1:-1] + wide[2:, 1:-1]) / 4
    return out


def softmax_of_rows(x: np.ndarray) -> np.ndarray:
    """What the softmax should give."""
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What the vector addition should give."""
    return a.astype(np.float64) + b


def transposed(a: np.ndarray) -> np.ndarray:
    """What the transpose should give."""
    return a.T.astype(np.float64)


VECTORS = (4096, 16384, 65536)
SIZES = (64, 128, 256)

CASES = {
    "vector add": Case(vector_add, two_vectors, lines_of(LINE), added, VECTORS),
    "naive matmul": Case(naive, square_matrices, squares_of(TILE), product, SIZES, "³"),
    "coalesced matmul": Case(coalesced, square_matrices, squares_of(TILE), product, SIZES, "³"),
    "tiled matmul": Case(tiled, square_matrices, squares_of(TILE), product, (32, 64, 128), "³"),
    "tiled transpose": Case(transpose, square_matrix, squares_of(SIDE, 8), transposed, SIZES, "²"),
    "reduction": Case(reduction, vector_and_sums, lines_of(LINE), block_sums, VECTORS),
    "scan": Case(scan, vector, lines_of(RUN), scans, (1024, 4096, 16384)),
    "histogram": Case(histogram, numbers_and_counts, lines_of(LINE), counted, VECTORS),
    "stencil": Case(stencil, square_matrix, squares_of(TILE), averaged, SIZES, "²"),
    "softmax": Case(softmax, square_matrix, lambda rows: (rows, RUN), softmax_of_rows, SIZES, "²"),
}
