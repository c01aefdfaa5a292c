"""Forty kernels as users write them, each right and each with one cost, marked at its line.

They were written and marked before anything of them ran, by somebody who had not read the code
that finds costs, and no mark was moved afterwards.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int32

Size = int | tuple[int, ...]


@dataclass(frozen=True)
class Planted:
    kernel: Any
    grid: Size
    block: Size
    arguments: Callable[[], tuple[Any, ...]]


PLANTED: dict[str, Planted] = {}


def plant(grid: Size, block: Size, *arguments: Callable[[], Any] | float) -> Callable[[Any], Any]:
    """Keep a kernel with its launch; what is callable makes its argument anew."""

    def keep(kernel: Any) -> Any:
        def made() -> tuple[Any, ...]:
            return tuple(each() if callable(each) else each for each in arguments)

        PLANTED[kernel.__name__] = Planted(kernel, grid, block, made)
        return kernel

    return keep


def real(*shape: int, kind: str = "f4") -> Callable[[], np.ndarray]:
    return lambda: np.random.default_rng(3).random(shape).astype(kind)


def empty(*shape: int, kind: str = "f4") -> Callable[[], np.ndarray]:
    return lambda: np.zeros(shape, kind)


POINT = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("charge", "i4")])


def points() -> np.ndarray:
    return np.ones(2048, POINT)


def by_columns() -> np.ndarray:
    return np.asfortranarray(np.random.default_rng(4).random((64, 64)).astype("f4"))


def bytes_of_an_image() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, (64, 64)).astype("u1")


def classes() -> np.ndarray:
    return np.random.default_rng(6).integers(0, 4, 4096).astype("i4")


# Loads


@plant(8, 32, real(256, 64), empty(256))
def row_means(A, mean):
    row = cuda.grid(1)
    if row < A.shape[0]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k]  # cost: uncoalesced-load
        mean[row] = total / float32(A.shape[1])


@plant(16, 128, real(2048, 8), empty(2048))
def speeds(particles, out):
    i = cuda.grid(1)
    if i < particles.shape[0]:
        out[i] = abs(particles[i, 3])  # cost: uncoalesced-load


@plant(4, 64, real(4096), empty(256), 16)
def sums_of_chunks(x, out, chunk):
    i = cuda.grid(1)
    total = float32(0)
    for k in range(chunk):
        j = i * chunk + k
        if j < x.size:
            total += x[j]  # cost: uncoalesced-load
    if i < out.size:
        out[i] = total


@plant((4, 4), (16, 16), bytes_of_an_image, empty(64, 64, kind="u1"))
def negative(image, out):
    x, y = cuda.grid(2)
    if x < image.shape[0] and y < image.shape[1]:
        pixel = image[x, y]  # cost: uncoalesced-load
        out[x, y] = 255 - pixel


@plant((2, 4, 4), (8, 8, 4), real(16, 32, 16), empty(16, 32, 16))
def twice_a_field(field, out):
    i, j, k = cuda.grid(3)
    nx, ny, nz = field.shape
    if i < nx and j < ny and k < nz:
        value = field[i, j, k]  # cost: uncoalesced-load
        out[i, j, k] = value + value


@plant((4, 8), (16, 8), real(64, 48), real(64, 48), empty(64, 64))
def product_with_transposed(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            a = A[row, k]
            acc += a * B[col, k]  # cost: uncoalesced-load
        C[row, col] = acc


@plant(8, 256, points, empty(2048))
def heights(cloud, z):
    i = cuda.grid(1)
    if i < cloud.size:
        z[i] = cloud[i].z  # cost: uncoalesced-load


@plant((2, 8), (32, 8), by_columns, empty(64, 64))
def copy_of_columns(A, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = A[row, col]  # cost: uncoalesced-load


# Stores


@plant((2, 8), (32, 8), real(64, 64), empty(64, 64))
def transpose(A, out):
    c = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    r = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if r < A.shape[0] and c < A.shape[1]:
        out[c, r] = A[r, c]  # cost: uncoalesced-store


@plant(16, 128, real(2048), empty(2048, 8))
def into_one_feature(x, features):
    i = cuda.grid(1)
    if i < x.size:
        features[i, 1] = x[i]  # cost: uncoalesced-store


@plant(4, 32, real(128), real(64), empty(128, 64))
def outer_product(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        for j in range(y.size):
            out[i, j] = x[i] * y[j]  # cost: uncoalesced-store


@plant(8, 32, real(64, 256), empty(256, 64))
def running_totals(columns, out):
    c = cuda.grid(1)
    if c < columns.shape[1]:
        total = float32(0)
        for r in range(columns.shape[0]):
            total += columns[r, c]
            out[c, r] = total  # cost: uncoalesced-store


# Banks


@plant((2, 2), (32, 32), real(64, 64), empty(64, 64))
def transpose_by_tiles(A, out):
    tile = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    tile[ty, tx] = A[by + ty, bx + tx]
    cuda.syncthreads()
    out[bx + ty, by + tx] = tile[tx, ty]  # cost: bank-conflict


@plant(4, 256, real(1024), empty(4))
def sums_in_strides(x, out):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    s = 1
    while s < 256:
        at = 2 * s * t
        if at + s < 256:
            part[at] += part[at + s]  # cost: bank-conflict
        cuda.syncthreads()
        s *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@plant(8, 32, real(256, 32), empty(256))
def norms_of_rows(A, out):
    rows = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 32
    for r in range(32):
        rows[r, t] = A[first + r, t]
    cuda.syncthreads()
    total = float32(0)
    for k in range(32):
        v = rows[t, k]  # cost: bank-conflict
        total += v * v
    out[first + t] = math.sqrt(total)


@plant(2, (32, 8), real(64, 32, kind="f8"), empty(32, 64, kind="f8"))
def transpose_doubles(A, out):
    tile = cuda.shared.array((32, 32), float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    first = cuda.blockIdx.x * 32
    for k in range(0, 32, 8):
        tile[ty + k, tx] = A[first + ty + k, tx]
    cuda.syncthreads()
    for k in range(0, 32, 8):
        out[ty + k, first + tx] = tile[tx, ty + k]  # cost: bank-conflict


@plant((4, 4), (16, 16), real(64, 64), real(64, 64), empty(64, 64))
def product_with_turned_tile(A, B, C):
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(0, A.shape[1], 16):
        left[ty, tx] = A[row, k + tx]
        right[tx, ty] = B[k + ty, col]  # cost: bank-conflict
        cuda.syncthreads()
        for j in range(16):
            acc += left[ty, j] * right[tx, j]
        cuda.syncthreads()
    C[row, col] = acc


@plant(4, 128, real(2048), empty(512))
def means_of_four(x, out):
    staged = cuda.shared.array(512, float32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 512
    for k in range(4):
        staged[t + k * 128] = x[first + t + k * 128]
    cuda.syncthreads()
    total = float32(0)
    for k in range(4):
        total += staged[4 * t + k]  # cost: bank-conflict
    out[cuda.grid(1)] = total * float32(0.25)


@plant(1, 128, real(256), empty(256))
def blelloch(x, out):
    temp = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    temp[t] = x[t]
    temp[t + 128] = x[t + 128]
    offset = 1
    d = 128
    while d > 0:
        cuda.syncthreads()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            temp[b] += temp[a]  # cost: bank-conflict
        offset *= 2
        d //= 2
    if t == 0:
        temp[255] = float32(0)
    d = 1
    while d < 256:
        offset //= 2
        cuda.syncthreads()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            kept = temp[a]
            temp[a] = temp[b]
            temp[b] += kept
        d *= 2
    cuda.syncthreads()
    out[t] = temp[t]
    out[t + 128] = temp[t + 128]


@plant(2, 32, classes, empty(2, 32, kind="i4"))
def private_counts(values, counts):
    mine = cuda.shared.array((32, 32), int32)
    t = cuda.threadIdx.x
    for b in range(32):
        mine[t, b] = 0  # cost: bank-conflict
    half = values.size // 2
    for i in range(t, half, 32):
        mine[t, values[cuda.blockIdx.x * half + i]] += 1
    cuda.syncthreads()
    total = 0
    for k in range(32):
        total += mine[k, t]
    counts[cuda.blockIdx.x, t] = total


# Traffic


@plant((4, 4), (16, 16), real(64, 64), real(64, 64), empty(64, 64))
def product(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]  # cost: excess-global-traffic
        C[row, col] = acc


@plant(16, 128, real(2064), empty(2048))
def moving_average(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0)
        for k in range(17):
            total += x[i + k]  # cost: excess-global-traffic
        out[i] = total / float32(17)


@plant((2, 8), (32, 8), real(68, 68), real(5, 5), empty(64, 64))
def convolution(image, weights, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        acc = float32(0)
        for dy in range(5):
            for dx in range(5):
                w = weights[dy, dx]
                acc += w * image[y + dy, x + dx]  # cost: excess-global-traffic
        out[y, x] = acc


@plant(4, 128, real(512), real(512), empty(512))
def forces(position, mass, force):
    i = cuda.grid(1)
    if i < position.size:
        mine = position[i]
        total = float32(0)
        for j in range(position.size):
            d = position[j] - mine  # cost: excess-global-traffic
            total += mass[j] * d / (d * d + float32(0.01))
        force[i] = total


@plant((4, 8), (16, 8), real(64, 32), real(32, 64), empty(64, 64))
def distances(X, Yt, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(X.shape[1]):
            d = X[i, k] - Yt[k, j]  # cost: excess-global-traffic
            total += d * d
        out[i, j] = math.sqrt(total)


@plant(16, 128, real(32, 2048), empty(2048))
def column_sums(A, out):
    c = cuda.grid(1)
    if c < out.size:
        for r in range(A.shape[0]):
            out[c] += A[r, c]  # cost: excess-global-traffic


# Double precision


@plant(8, 128, real(1000), empty(1000))
def tenth(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 0.1  # cost: float64-arithmetic


@plant(8, 128, real(1000), empty(1000))
def lengths(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sqrt(x[i] ** 2 + 1.0)  # cost: float64-arithmetic


@plant(8, 128, real(1000), empty(1000))
def sigmoid(x, out):
    i = cuda.grid(1)
    if i < x.size:
        e = math.exp(-x[i])
        out[i] = 1.0 / (1.0 + e)  # cost: float64-arithmetic


@plant(8, 128, empty(1000))
def ramp(out):
    i = cuda.grid(1)
    n = out.size
    if i < n:
        out[i] = i / n  # cost: float64-arithmetic


@plant(8, 128, real(1000), empty(1000), 0.05)
def slopes(u, out, dx):
    i = cuda.grid(1)
    if i < u.size - 1:
        rise = u[i + 1] - u[i]
        out[i] = rise / dx  # cost: float64-arithmetic
    elif i == u.size - 1:
        out[i] = 0


@plant(8, 128, real(1000), real(1000), real(1000), empty(1000))
def blend(a, b, weight, out):
    i = cuda.grid(1)
    if i < out.size:
        w = weight[i]
        out[i] = (1 - w) * a[i] + w * b[i]  # cost: float64-arithmetic


# Threads that do not work together


@plant(8, 128, real(1000), empty(1))
def sum_by_one(x, out):
    i = cuda.grid(1)
    if i == 0:
        total = float32(0)
        for k in range(x.size):  # cost: serial-work
            total += x[k]
        out[0] = total


@plant(1, 1, real(1000), empty(1000))
def scaled_by_one(x, out):
    for i in range(x.size):  # cost: serial-work
        out[i] = x[i] + x[i]


@plant(512, 1, real(512, 16), empty(512, 16))
def block_for_each_row(A, out):
    row = cuda.blockIdx.x  # cost: serial-work
    for k in range(A.shape[1]):
        out[row, k] = A[row, k] + float32(1)


@plant(8, 128, real(1024), empty(1024))
def odd_and_even(x, out):
    i = cuda.grid(1)
    v = x[i]
    if i % 2 == 0:  # cost: serial-work
        for _ in range(20):
            v = v * v + float32(0.1)
    else:
        for _ in range(20):
            v = math.sqrt(v + float32(0.2))
    out[i] = v


@plant(4, 256, real(1024), empty(4))
def sums_by_remainders(x, out):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    s = 1
    while s < 256:
        if t % (2 * s) == 0:  # cost: serial-work
            part[t] += part[t + s]
        cuda.syncthreads()
        s *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@plant(16, 128, real(2048), empty(1))
def sum_by_atomics(x, total):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(total, 0, x[i])  # cost: serial-work


@plant(32, 128, classes, empty(4, kind="i4"))
def histogram(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i], 1)  # cost: serial-work


@plant(4, 256, real(1024), empty(4))
def largest_of_a_block(x, out):
    seen = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    seen[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t == 0:
        best = seen[0]
        for k in range(1, 256):  # cost: serial-work
            best = max(best, seen[k])
        out[cuda.blockIdx.x] = best
