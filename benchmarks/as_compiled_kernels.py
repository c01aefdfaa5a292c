"""Kernels in many styles, for benchmarks/as_compiled.py: how one writes shared memory elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda, float32, float64, int16, int32, uint8

T = 16
W = 32
RADIUS = 3
THREADS = 128
# Numba takes a name or a number for the size of an array, no sum.
LINE, TAPS, HALO, PADDED = THREADS + 2 * RADIUS, 2 * RADIUS + 1, T + 2, T + 1
WARPS, TWICE, WINDOW = THREADS // W, 2 * THREADS, THREADS + 4
WHOLE, SQUARE = W * W, T * T


@cuda.jit
def convolution_1d(x, weights, out):
    """A line with a halo on both sides; weights in shared memory, too."""
    line = cuda.shared.array(LINE, float32)
    taps = cuda.shared.array(TAPS, float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    if tx < 2 * RADIUS + 1:
        taps[tx] = weights[tx]
    line[tx + RADIUS] = x[i] if i < x.shape[0] else float32(0)
    if tx < RADIUS:
        line[tx] = x[i - RADIUS] if i >= RADIUS else float32(0)
        last = i + THREADS
        line[tx + THREADS + RADIUS] = x[last] if last < x.shape[0] else float32(0)
    cuda.syncthreads()
    if i < x.shape[0]:
        total = float32(0)
        for k in range(2 * RADIUS + 1):
            total += taps[k] * line[tx + k]
        out[i] = total


@cuda.jit
def stencil_rolled(a, out):
    """Five points of a tile, indices in a loop over offsets."""
    tile = cuda.shared.array((HALO, HALO), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for y in range(ty, T + 2, T):
        for x in range(tx, T + 2, T):
            row = cuda.blockIdx.y * T + y - 1
            column = cuda.blockIdx.x * T + x - 1
            if 0 <= row < a.shape[0] and 0 <= column < a.shape[1]:
                tile[y, x] = a[row, column]
            else:
                tile[y, x] = float32(0)
    cuda.syncthreads()
    row, column = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx
    total = float32(0)
    for dy in range(3):
        for dx in range(3):
            total += tile[ty + dy, tx + dx]
    if row < a.shape[0] and column < a.shape[1]:
        out[row, column] = total


@cuda.jit
def sum_strided(x, sums):
    """The tree that doubles its stride: neighbours diverge, banks collide."""
    part = cuda.shared.array(THREADS, float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    part[tx] = x[i]
    cuda.syncthreads()
    stride = 1
    while stride < THREADS:
        at = 2 * stride * tx
        if at < THREADS:
            part[at] += part[at + stride]
        cuda.syncthreads()
        stride *= 2
    if tx == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def sum_with_shuffles(x, sums):
    """A warp adds up by shuffles; one number of each warp goes through shared memory."""
    part = cuda.shared.array(WARPS, float32)
    tx = cuda.threadIdx.x
    value = float32(0)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        value += x[i]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if tx % W == 0:
        part[tx // W] = value
    cuda.syncthreads()
    if tx == 0:
        total = float32(0)
        for w in range(THREADS // W):
            total += part[w]
        sums[cuda.blockIdx.x] = total


@cuda.jit
def sum_of_float64(x, sums):
    """Eight bytes a lane."""
    part = cuda.shared.array(THREADS, float64)
    tx = cuda.threadIdx.x
    part[tx] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = THREADS // 2
    while half:
        if tx < half:
            part[tx] = part[tx] + part[tx + half]
        cuda.syncthreads()
        half >>= 1
    if tx == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def scan_blelloch(x, y):
    """Up the tree and down again, in place."""
    data = cuda.shared.array(TWICE, float32)
    tx = cuda.threadIdx.x
    first = 2 * THREADS * cuda.blockIdx.x
    data[2 * tx] = x[first + 2 * tx]
    data[2 * tx + 1] = x[first + 2 * tx + 1]
    offset = 1
    d = THREADS
    while d > 0:
        cuda.syncthreads()
        if tx < d:
            data[offset * (2 * tx + 2) - 1] += data[offset * (2 * tx + 1) - 1]
        offset *= 2
        d >>= 1
    if tx == 0:
        data[2 * THREADS - 1] = float32(0)
    d = 1
    while d < 2 * THREADS:
        offset >>= 1
        cuda.syncthreads()
        if tx < d:
            low, high = offset * (2 * tx + 1) - 1, offset * (2 * tx + 2) - 1
            kept = data[low]
            data[low] = data[high]
            data[high] += kept
        d *= 2
    cuda.syncthreads()
    y[first + 2 * tx] = data[2 * tx]
    y[first + 2 * tx + 1] = data[2 * tx + 1]


@cuda.jit
def histogram_by_threads(x, counts):
    """Each thread has a column of bins of its own, one byte each; then the block adds them up."""
    bins = cuda.shared.array((64, THREADS), uint8)
    tx = cuda.threadIdx.x
    for b in range(64):
        bins[b, tx] = 0
    cuda.syncthreads()
    start = cuda.blockIdx.x * THREADS * 8
    for k in range(8):
        bins[x[start + k * THREADS + tx] % 64, tx] += 1
    cuda.syncthreads()
    if tx < 64:
        total = int32(0)
        for t in range(THREADS):
            total += bins[tx, (t + tx) % THREADS]
        cuda.atomic.add(counts, tx, total)


@cuda.jit
def transpose_float64(A, B):
    """Tiles of eight-byte numbers, padded."""
    tile = cuda.shared.array((T, PADDED), float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = A[cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx]
    cuda.syncthreads()
    B[cuda.blockIdx.x * T + ty, cuda.blockIdx.y * T + tx] = tile[tx, ty]


@cuda.jit
def transpose_flat(A, B, n):
    """The same with flat indices, into a tile with an exclusive-or."""
    tile = cuda.shared.array(WHOLE, float32)
    tx = cuda.threadIdx.x
    for r in range(cuda.threadIdx.y, W, cuda.blockDim.y):
        tile[r * W + (tx ^ r)] = A[(cuda.blockIdx.y * W + r) * n + cuda.blockIdx.x * W + tx]
    cuda.syncthreads()
    for r in range(cuda.threadIdx.y, W, cuda.blockDim.y):
        B[(cuda.blockIdx.x * W + r) * n + cuda.blockIdx.y * W + tx] = tile[tx * W + (r ^ tx)]


@cuda.jit
def matmul_double_buffered(A, B, C):
    """Two tiles in turn, one barrier for each step."""
    sA = cuda.shared.array((2, T, T), float32)
    sB = cuda.shared.array((2, T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * T + tx, cuda.blockIdx.y * T + ty
    sA[0, ty, tx] = A[y, tx]
    sB[0, ty, tx] = B[ty, x]
    cuda.syncthreads()
    total = float32(0)
    steps = A.shape[1] // T
    for t in range(steps):
        now, then = t % 2, (t + 1) % 2
        if t + 1 < steps:
            sA[then, ty, tx] = A[y, (t + 1) * T + tx]
            sB[then, ty, tx] = B[(t + 1) * T + ty, x]
        for k in range(T):
            total += sA[now, ty, k] * sB[now, k, tx]
        cuda.syncthreads()
    C[y, x] = total


@cuda.jit
def matmul_padded(A, B, C):
    """Rows of 17."""
    sA = cuda.shared.array((T, PADDED), float32)
    sB = cuda.shared.array((T, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * T + tx, cuda.blockIdx.y * T + ty
    total = float32(0)
    for t in range(0, A.shape[1], T):
        sA[ty, tx] = A[y, t + tx]
        sB[ty, tx] = B[t + ty, x]
        cuda.syncthreads()
        for k in range(T):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    C[y, x] = total


@cuda.jit
def matmul_a_transposed(A, B, C):
    """A's tile turned as it is stored, so that threads read down a column."""
    sA = cuda.shared.array((T, T), float32)
    sB = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * T + tx, cuda.blockIdx.y * T + ty
    total = float32(0)
    for t in range(A.shape[1] // T):
        sA[tx, ty] = A[y, t * T + tx]
        sB[ty, tx] = B[t * T + ty, x]
        cuda.syncthreads()
        for k in range(T):
            total += sA[k, ty] * sB[k, tx]
        cuda.syncthreads()
    C[y, x] = total


@cuda.jit
def matmul_one_dimensional(A, B, C, n):
    """Flat arrays, flat tiles, 256 threads in a row."""
    sA = cuda.shared.array(SQUARE, float32)
    sB = cuda.shared.array(SQUARE, float32)
    tid = cuda.threadIdx.x
    tx, ty = tid % T, tid // T
    x, y = cuda.blockIdx.x * T + tx, cuda.blockIdx.y * T + ty
    total = float32(0)
    for t in range(0, n, T):
        sA[tid] = A[y * n + t + tx]
        sB[tid] = B[(t + ty) * n + x]
        cuda.syncthreads()
        for k in range(T):
            total += sA[ty * T + k] * sB[k * T + tx]
        cuda.syncthreads()
    C[y * n + x] = total


@cuda.jit
def matmul_float64(A, B, C):
    """The tiled product in double precision."""
    sA = cuda.shared.array((T, T), float64)
    sB = cuda.shared.array((T, T), float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * T + tx, cuda.blockIdx.y * T + ty
    total = 0.0
    for t in range(A.shape[1] // T):
        sA[ty, tx] = A[y, t * T + tx]
        sB[ty, tx] = B[t * T + ty, x]
        cuda.syncthreads()
        for k in range(T):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    C[y, x] = total


@cuda.jit
def matmul_four_rows(A, B, C):
    """Four rows of C for each thread, sums in a local array."""
    sA = cuda.shared.array((32, 8), float32)
    sB = cuda.shared.array((8, 32), float32)
    sums = cuda.local.array(4, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tid = ty * 32 + tx
    x, y = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty * 4
    for i in range(4):
        sums[i] = float32(0)
    for t in range(0, A.shape[1], 8):
        sA[tid // 8, tid % 8] = A[cuda.blockIdx.y * 32 + tid // 8, t + tid % 8]
        sB[ty, tx] = B[t + ty, x]
        cuda.syncthreads()
        for k in range(8):
            b = sB[k, tx]
            for i in range(4):
                sums[i] += sA[ty * 4 + i, k] * b
        cuda.syncthreads()
    for i in range(4):
        C[y + i, x] = sums[i]


@cuda.jit
def nbody(points, forces):
    """Tiles of bodies: every thread reads the same one."""
    tile = cuda.shared.array((THREADS, 4), float32)
    i, tx = cuda.grid(1), cuda.threadIdx.x
    x, y, z = points[i, 0], points[i, 1], points[i, 2]
    ax = ay = az = float32(0)
    for start in range(0, points.shape[0], THREADS):
        for c in range(4):
            tile[tx, c] = points[start + tx, c]
        cuda.syncthreads()
        for j in range(THREADS):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            d = dx * dx + dy * dy + dz * dz + float32(0.01)
            f = tile[j, 3] / (d * math.sqrt(d))
            ax += f * dx
            ay += f * dy
            az += f * dz
        cuda.syncthreads()
    forces[i, 0], forces[i, 1], forces[i, 2] = ax, ay, az


@cuda.jit
def bitonic_sort(x):
    """Sorts a block's 256 numbers in shared memory."""
    data = cuda.shared.array(256, float32)
    tx = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256
    data[tx] = x[first + tx]
    cuda.syncthreads()
    k = 2
    while k <= 256:
        j = k >> 1
        while j > 0:
            other = tx ^ j
            if other > tx:
                a, b = data[tx], data[other]
                if (a > b) == ((tx & k) == 0):
                    data[tx] = b
                    data[other] = a
            cuda.syncthreads()
            j >>= 1
        k <<= 1
    x[first + tx] = data[tx]


@cuda.jit
def row_norms(x, out):
    """Mean and variance of each row, twice through the same shared row."""
    row = cuda.shared.array(256, float32)
    part = cuda.shared.array(2, float32)
    tx = cuda.threadIdx.x
    r = cuda.blockIdx.x
    row[tx] = x[r, tx]
    cuda.syncthreads()
    if tx == 0:
        mean = float32(0)
        for k in range(256):
            mean += row[k]
        mean /= float32(256)
        spread = float32(0)
        for k in range(256):
            spread += (row[k] - mean) * (row[k] - mean)
        part[0] = mean
        part[1] = math.sqrt(spread / float32(256))
    cuda.syncthreads()
    out[r, tx] = (row[tx] - part[0]) / part[1]


@cuda.jit
def box_filter_int16(image, out):
    """Two-byte pixels, a window of five in a row."""
    row = cuda.shared.array(WINDOW, int16)
    tx, y = cuda.threadIdx.x, cuda.blockIdx.y
    x = cuda.blockIdx.x * THREADS + tx
    row[tx + 2] = image[y, x]
    if tx < 2:
        row[tx] = image[y, x - 2] if x >= 2 else 0
    if tx >= THREADS - 2:
        row[tx + 4] = image[y, x + 2] if x + 2 < image.shape[1] else 0
    cuda.syncthreads()
    out[y, x] = row[tx] + row[tx + 1] + row[tx + 2] + row[tx + 3] + row[tx + 4]


@cuda.jit
def longest_common_prefix(a, b, lengths):
    """Bytes compared in shared memory until they differ: lanes leave one by one."""
    left = cuda.shared.array((32, 64), uint8)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    for k in range(64):
        left[tx, k] = a[i, k]
    cuda.syncthreads()
    count = 0
    while count < 64 and left[tx, count] == b[i, count]:
        count += 1
    lengths[i] = count


@cuda.jit
def table_lookup(keys, table, out):
    """A table in shared memory, read where the data says."""
    held = cuda.shared.array(256, float32)
    tx = cuda.threadIdx.x
    for k in range(tx, 256, cuda.blockDim.x):
        held[k] = table[k]
    cuda.syncthreads()
    i = cuda.grid(1)
    out[i] = held[keys[i] & 255] * held[(keys[i] >> 8) & 255]


@cuda.jit
def dynamic_reverse(x, out):
    """Dynamic shared memory, two arrays of eight bytes in a thread's view."""
    held = cuda.shared.array(0, float32)
    tx = cuda.threadIdx.x
    first = cuda.blockIdx.x * cuda.blockDim.x
    held[tx] = x[first + tx]
    cuda.syncthreads()
    out[first + tx] = held[cuda.blockDim.x - 1 - tx]


@cuda.jit
def binary_search(keys, table, found):
    """Each lane looks for its own number in a sorted table: all make the same number of turns."""
    held = cuda.shared.array(256, int32)
    tx = cuda.threadIdx.x
    held[tx] = table[tx]
    cuda.syncthreads()
    key = keys[cuda.grid(1)]
    low, high = 0, 256
    while low < high:
        middle = (low + high) // 2
        if held[middle] < key:
            low = middle + 1
        else:
            high = middle
    found[cuda.grid(1)] = low


@cuda.jit
def first_larger(limits, table, found):
    """Lanes leave a loop over shared memory one by one, with a break."""
    held = cuda.shared.array(256, int32)
    tx = cuda.threadIdx.x
    held[tx] = table[tx]
    cuda.syncthreads()
    at = 256
    for k in range(256):
        if held[k] > limits[cuda.grid(1)]:
            at = k
            break
    found[cuda.grid(1)] = at


@cuda.jit
def two_ways(kinds, values, out):
    """Odd and even lanes read shared memory in branches of their own, then meet."""
    held = cuda.shared.array(THREADS, float32)
    tx, i = cuda.threadIdx.x, cuda.grid(1)
    held[tx] = values[i]
    cuda.syncthreads()
    total = float32(0)
    if kinds[i] % 3 == 0:
        for k in range(tx % 8):
            total += held[(tx + 5 * k) % THREADS]
    elif kinds[i] % 3 == 1:
        total = held[THREADS - 1 - tx] * held[tx // 2]
    cuda.syncthreads()
    held[tx] = total
    cuda.syncthreads()
    out[i] = held[tx] + held[(tx + 1) % THREADS]


@cuda.jit(device=True)
def _smoothed(row, at):
    return (row[at - 1] + row[at] + row[at + 1]) * float32(0.25)


@cuda.jit
def with_a_function(x, out):
    """Loads within a device function that is called twice."""
    row = cuda.shared.array(WINDOW, float32)
    tx, i = cuda.threadIdx.x, cuda.grid(1)
    row[tx + 2] = x[i]
    if tx < 2:
        row[tx] = x[i]
        row[tx + THREADS + 2] = x[i]
    cuda.syncthreads()
    out[i] = _smoothed(row, tx + 1) - _smoothed(row, tx + 3)


@cuda.jit(fastmath=True)
def softmax_fast(x, out):
    """A row for each warp, fast mathematics, exchanges by shuffles, a row kept in shared memory."""
    rows = cuda.shared.array((4, 64), float32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    r = cuda.blockIdx.x * 4 + warp
    rows[warp, lane] = x[r, lane]
    rows[warp, lane + 32] = x[r, lane + 32]
    cuda.syncwarp()
    largest = max(rows[warp, lane], rows[warp, lane + 32])
    for step in (16, 8, 4, 2, 1):
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
    first = math.exp(rows[warp, lane] - largest)
    second = math.exp(rows[warp, lane + 32] - largest)
    total = first + second
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    out[r, lane] = first / total
    out[r, lane + 32] = second / total


@cuda.jit
def places(keys, out):
    """Atomics whose result is used: each thread takes a place in its bin."""
    counts = cuda.shared.array(16, int32)
    tx, i = cuda.threadIdx.x, cuda.grid(1)
    if tx < 16:
        counts[tx] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, keys[i] % 16, 1)
    cuda.syncthreads()
    out[i] = counts[keys[i] % 16]


Launch = tuple[Any, Any, Any, list[Any], int]


def launches() -> dict[str, Launch]:
    """By name: kernel, grid, block, arguments and bytes of dynamic shared memory."""
    rng = np.random.default_rng(17)

    def floats(*shape: int, dtype: Any = np.float32) -> Any:
        return rng.random(shape).astype(dtype)

    n = 128
    flat = n * n
    ints = rng.integers(0, 1 << 16, 8192).astype(np.int32)
    letters = rng.integers(0, 2, (2, 256, 64)).astype(np.uint8)
    table = np.sort(rng.integers(0, 1 << 16, 256).astype(np.int32))
    tiles, tile = (n // T, n // T), (T, T)

    def abc(dtype: Any = np.float32) -> list[Any]:
        return [floats(n, n, dtype=dtype), floats(n, n, dtype=dtype), np.zeros((n, n), dtype)]

    return {
        "convolution 1-D": (
            convolution_1d, 32, THREADS, [floats(4096), floats(7), np.zeros(4096, np.float32)], 0),
        "stencil, rolled": (stencil_rolled, tiles, tile, abc()[1:], 0),
        "sum, strided": (sum_strided, 32, THREADS, [floats(4096), np.zeros(32, np.float32)], 0),
        "sum, shuffles": (
            sum_with_shuffles, 8, THREADS, [floats(4096), np.zeros(8, np.float32)], 0),
        "sum, float64": (
            sum_of_float64, 32, THREADS, [floats(4096, dtype=np.float64), np.zeros(32)], 0),
        "scan, Blelloch": (
            scan_blelloch, 16, THREADS, [floats(4096), np.zeros(4096, np.float32)], 0),
        "histogram by threads": (
            histogram_by_threads, 8, THREADS, [ints.copy(), np.zeros(64, np.int32)], 0),
        "transpose, float64": (transpose_float64, tiles, tile, abc(np.float64)[1:], 0),
        "transpose, flat": (
            transpose_flat, (n // W, n // W), (W, 8),
            [floats(flat), np.zeros(flat, np.float32), n], 0),
        "matmul, two buffers": (matmul_double_buffered, tiles, tile, abc(), 0),
        "matmul, padded": (matmul_padded, tiles, tile, abc(), 0),
        "matmul, A turned": (matmul_a_transposed, tiles, tile, abc(), 0),
        "matmul, flat": (
            matmul_one_dimensional, tiles, T * T,
            [floats(flat), floats(flat), np.zeros(flat, np.float32), n], 0),
        "matmul, float64": (matmul_float64, tiles, tile, abc(np.float64), 0),
        "matmul, four rows": (matmul_four_rows, (n // 32, n // 32), (32, 8), abc(), 0),
        "n-body": (nbody, 4, THREADS, [floats(512, 4), np.zeros((512, 3), np.float32)], 0),
        "bitonic sort": (bitonic_sort, 16, 256, [floats(4096)], 0),
        "row norms": (row_norms, 64, 256, [floats(64, 256), np.zeros((64, 256), np.float32)], 0),
        "box filter, int16": (
            box_filter_int16, (2, 64), THREADS,
            [rng.integers(0, 255, (64, 256)).astype(np.int16), np.zeros((64, 256), np.int16)], 0),
        "common prefix, uint8": (
            longest_common_prefix, 8, 32, [*letters.copy(), np.zeros(256, np.int32)], 0),
        "table lookup": (
            table_lookup, 32, 256, [ints.copy(), floats(256), np.zeros(8192, np.float32)], 0),
        "dynamic reverse": (
            dynamic_reverse, 16, 256, [floats(4096), np.zeros(4096, np.float32)], 1024),
        "binary search": (
            binary_search, 8, 256, [ints[:2048].copy(), table.copy(), np.zeros(2048, np.int64)], 0),
        "first larger": (
            first_larger, 8, 256, [ints[:2048].copy(), table.copy(), np.zeros(2048, np.int64)], 0),
        "two ways": (
            two_ways, 16, THREADS,
            [ints[:2048].copy(), floats(2048), np.zeros(2048, np.float32)], 0),
        "with a function": (
            with_a_function, 16, THREADS, [floats(2048), np.zeros(2048, np.float32)], 0),
        "softmax, fast": (
            softmax_fast, 16, (32, 4), [floats(64, 64), np.zeros((64, 64), np.float32)], 0),
        "places": (places, 16, 256, [ints[:4096].copy(), np.zeros(4096, np.int64)], 0),
    }  # fmt: skip
