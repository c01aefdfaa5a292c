"""Six kernels in which a block's threads put together one result: sums, scans, counts, rows."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda, float32, int32

from public_kernels.case import Case

LINE = 128
BINS = 64
RUN = 64
PAIR = 2 * RUN


def sum_by_blocks(x, partial):
    """Interleaved addresses, one partial sum for each block."""
    part = cuda.shared.array(LINE, float32)
    tx = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tx
    part[tx] = x[i] if i < x.shape[0] else 0.0
    cuda.syncthreads()
    s = 1
    while s < cuda.blockDim.x:
        if tx % (2 * s) == 0:
            part[tx] += part[tx + s]
        cuda.syncthreads()
        s *= 2
    if tx == 0:
        partial[cuda.blockIdx.x] = part[0]


def dot_product(a, b, result):
    """A grid-stride loop, a tree in shared memory, an atomic for each block."""
    part = cuda.shared.array(LINE, float32)
    tx = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        total += a[i] * b[i]
    part[tx] = total
    cuda.syncthreads()
    half = LINE // 2
    while half > 0:
        if tx < half:
            part[tx] += part[tx + half]
        cuda.syncthreads()
        half //= 2
    if tx == 0:
        cuda.atomic.add(result, 0, part[0])


def prefix_sums(x, out):
    """Blelloch's work-efficient scan of each block's run, two elements for each thread."""
    part = cuda.shared.array(PAIR, float32)
    tx = cuda.threadIdx.x
    base = cuda.blockIdx.x * 2 * RUN
    part[2 * tx] = x[base + 2 * tx]
    part[2 * tx + 1] = x[base + 2 * tx + 1]
    offset = 1
    d = RUN
    while d > 0:
        cuda.syncthreads()
        if tx < d:
            left = offset * (2 * tx + 1) - 1
            right = offset * (2 * tx + 2) - 1
            part[right] += part[left]
        offset *= 2
        d //= 2
    if tx == 0:
        part[2 * RUN - 1] = 0.0
    d = 1
    while d < 2 * RUN:
        offset //= 2
        cuda.syncthreads()
        if tx < d:
            left = offset * (2 * tx + 1) - 1
            right = offset * (2 * tx + 2) - 1
            swapped = part[left]
            part[left] = part[right]
            part[right] += swapped
        d *= 2
    cuda.syncthreads()
    out[base + 2 * tx] = part[2 * tx]
    out[base + 2 * tx + 1] = part[2 * tx + 1]


def histogram(data, counts):
    """Bins of the block in shared memory, a grid-stride loop, then one sum for all."""
    bins = cuda.shared.array(BINS, int32)
    tx = cuda.threadIdx.x
    for b in range(tx, BINS, cuda.blockDim.x):
        bins[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, data[i] % BINS, 1)
    cuda.syncthreads()
    for b in range(tx, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, b, bins[b])


def softmax(x, out):
    """A block for each row."""
    part = cuda.shared.array(RUN, float32)
    row = cuda.blockIdx.x
    tx = cuda.threadIdx.x
    largest = -math.inf
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
    total = 0.0
    for k in range(tx, x.shape[1], RUN):
        power = math.exp(x[row, k] - largest)
        out[row, k] = power
        total += power
    part[tx] = total
    cuda.syncthreads()
    half = RUN // 2
    while half > 0:
        if tx < half:
            part[tx] += part[tx + half]
        cuda.syncthreads()
        half //= 2
    for k in range(tx, x.shape[1], RUN):
        out[row, k] /= part[0]


def layer_norm(x, gamma, beta, out, epsilon):
    """A block for each row: mean and variance in one go, then the row."""
    sums = cuda.shared.array(RUN, float32)
    squares = cuda.shared.array(RUN, float32)
    row = cuda.blockIdx.x
    tx = cuda.threadIdx.x
    n = x.shape[1]
    s = float32(0)
    q = float32(0)
    for k in range(tx, n, RUN):
        v = x[row, k]
        s += v
        q += v * v
    sums[tx] = s
    squares[tx] = q
    cuda.syncthreads()
    stride = RUN // 2
    while stride > 0:
        if tx < stride:
            sums[tx] += sums[tx + stride]
            squares[tx] += squares[tx + stride]
        cuda.syncthreads()
        stride >>= 1
    mean = sums[0] / n
    deviation = math.sqrt(squares[0] / n - mean * mean + epsilon)
    for k in range(tx, n, RUN):
        out[row, k] = (x[row, k] - mean) / deviation * gamma[k] + beta[k]


def _vectors(count: int, length: int) -> list[np.ndarray]:
    random = np.random.default_rng(length)
    return [random.random(length, dtype=np.float32) for _ in range(count)]


def _histogram() -> tuple[object, ...]:
    data = np.random.default_rng(8).integers(0, 1000, 32768, dtype=np.int32)
    return data, np.zeros(BINS, np.int32)


def _rows(*, scaled: bool) -> tuple[object, ...]:
    x = np.random.default_rng(9).standard_normal((32, 256), dtype=np.float32)
    more = (*_vectors(2, 256),) if scaled else ()
    return (x, *more, np.zeros_like(x), *((1e-5,) if scaled else ()))


CASES = {
    "sum by blocks": Case(
        sum_by_blocks, (32, LINE), lambda: (*_vectors(1, 4096), np.zeros(32, np.float32))
    ),
    "dot product": Case(
        dot_product, (32, LINE), lambda: (*_vectors(2, 32768), np.zeros(1, np.float32))
    ),
    "prefix sums (Blelloch)": Case(
        prefix_sums, (32, RUN), lambda: (*_vectors(1, 4096), np.zeros(4096, np.float32))
    ),
    "shared histogram": Case(histogram, (32, 256), _histogram),
    "softmax of rows": Case(softmax, (32, RUN), lambda: _rows(scaled=False)),
    "layer norm": Case(layer_norm, (32, RUN), lambda: _rows(scaled=True)),
}
