"""Ten kernels in which each thread works out an element of its own, or a few."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda, float32
from numba.cuda.random import xoroshiro128p_dtype, xoroshiro128p_uniform_float32

from public_kernels.case import Case, ceil_div

TILE = 64  # bodies that a block keeps in shared memory
SPHERES = 6


def saxpy(a, x, y, out):
    """A grid-stride loop, as most first examples end up with."""
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        out[i] = a * x[i] + y[i]


@cuda.jit(device=True)
def cnd(d):
    """Cumulative normal distribution by a polynomial."""
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    poly = k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    value = 0.39894228040143267794 * math.exp(-0.5 * d * d) * poly
    if d > 0:
        value = 1.0 - value
    return value


def black_scholes(call, put, price, strike, years, rate, volatility):
    """Call and put prices of European options."""
    i = cuda.grid(1)
    if i >= price.shape[0]:
        return
    s = price[i]
    x = strike[i]
    t = years[i]
    root = math.sqrt(t)
    d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root)
    d2 = d1 - volatility * root
    discount = math.exp(-1.0 * rate * t)
    call[i] = s * cnd(d1) - x * discount * cnd(d2)
    put[i] = x * discount * (1.0 - cnd(d2)) - s * (1.0 - cnd(d1))


@cuda.jit(device=True)
def escape(x, y, limit):
    """How many turns a point of the plane stays near."""
    re = 0.0
    im = 0.0
    for i in range(limit):
        re, im = re * re - im * im + x, 2.0 * re * im + y
        if re * re + im * im >= 4.0:
            return i
    return limit


def mandelbrot(left, right, bottom, top, image, limit):
    """A pixel for each turn of a two-dimensional grid-stride loop."""
    height = image.shape[0]
    width = image.shape[1]
    dx = (right - left) / width
    dy = (top - bottom) / height
    start_x, start_y = cuda.grid(2)
    grid_x = cuda.gridDim.x * cuda.blockDim.x
    grid_y = cuda.gridDim.y * cuda.blockDim.y
    for x in range(start_x, width, grid_x):
        for y in range(start_y, height, grid_y):
            image[y, x] = escape(left + x * dx, bottom + y * dy, limit)


def monte_carlo_pi(states, iterations, out):
    """Each thread throws its own darts."""
    thread = cuda.grid(1)
    if thread < out.shape[0]:
        inside = 0
        for _ in range(iterations):
            x = xoroshiro128p_uniform_float32(states, thread)
            y = xoroshiro128p_uniform_float32(states, thread)
            if x**2 + y**2 <= 1.0:
                inside += 1
        out[thread] = 4.0 * inside / iterations


def ray_spheres(spheres, image, size):
    """The nearest sphere along each pixel's ray, shaded by its normal."""
    x, y = cuda.grid(2)
    if x >= image.shape[1] or y >= image.shape[0]:
        return
    ox = (x - image.shape[1] / 2) * size
    oy = (y - image.shape[0] / 2) * size
    nearest = -1e30
    shade = 0.0
    for s in range(spheres.shape[0]):
        dx = ox - spheres[s, 0]
        dy = oy - spheres[s, 1]
        radius = spheres[s, 3]
        if dx * dx + dy * dy < radius * radius:
            dz = math.sqrt(radius * radius - dx * dx - dy * dy)
            depth = dz + spheres[s, 2]
            if depth > nearest:
                nearest = depth
                shade = dz / radius
    image[y, x] = shade


def n_body(positions, masses, forces, softening):
    """All pairs, through tiles of bodies in shared memory."""
    tile = cuda.shared.array((TILE, 4), float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    fx = float32(0)
    fy = float32(0)
    fz = float32(0)
    px = positions[i, 0]
    py = positions[i, 1]
    pz = positions[i, 2]
    for first in range(0, positions.shape[0], TILE):
        tile[tx, 0] = positions[first + tx, 0]
        tile[tx, 1] = positions[first + tx, 1]
        tile[tx, 2] = positions[first + tx, 2]
        tile[tx, 3] = masses[first + tx]
        cuda.syncthreads()
        for j in range(TILE):
            dx = tile[j, 0] - px
            dy = tile[j, 1] - py
            dz = tile[j, 2] - pz
            squared = dx * dx + dy * dy + dz * dz + softening
            pull = tile[j, 3] / (squared * math.sqrt(squared))
            fx += pull * dx
            fy += pull * dy
            fz += pull * dz
        cuda.syncthreads()
    forces[i, 0] = fx
    forces[i, 1] = fy
    forces[i, 2] = fz


def distance_matrix(points, out):
    """Euclidean distances of all pairs of rows; the lower half mirrors the upper."""
    i, j = cuda.grid(2)
    n = points.shape[0]
    if i < n and j < n and i <= j:
        total = 0.0
        for k in range(points.shape[1]):
            difference = points[i, k] - points[j, k]
            total += difference * difference
        distance = math.sqrt(total)
        out[i, j] = distance
        out[j, i] = distance


def k_means(points, centres, labels, sums, counts):
    """One round: the nearest centre of each point, and the new centres' sums by atomics."""
    i = cuda.grid(1)
    if i >= points.shape[0]:
        return
    best = 0
    shortest = math.inf
    for c in range(centres.shape[0]):
        distance = 0.0
        for d in range(points.shape[1]):
            step = points[i, d] - centres[c, d]
            distance += step * step
        if distance < shortest:
            shortest = distance
            best = c
    labels[i] = best
    for d in range(points.shape[1]):
        cuda.atomic.add(sums, (best, d), points[i, d])
    cuda.atomic.add(counts, best, 1)


def csr_product(values, columns, starts, x, y):
    """A sparse matrix times a vector, a thread for each row."""
    row = cuda.grid(1)
    if row < y.shape[0]:
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def find_pattern(text, pattern, found):
    """Marks every place at which a pattern begins."""
    i = cuda.grid(1)
    if i <= text.shape[0] - pattern.shape[0]:
        same = True
        for k in range(pattern.shape[0]):
            if text[i + k] != pattern[k]:
                same = False
                break
        if same:
            found[i] = 1
            cuda.atomic.add(found, found.shape[0] - 1, 1)


def _vectors(count: int, length: int) -> list[np.ndarray]:
    random = np.random.default_rng(length)
    return [random.random(length, dtype=np.float32) for _ in range(count)]


def _saxpy() -> tuple[object, ...]:
    x, y = _vectors(2, 131072)
    return np.float32(2.5), x, y, np.zeros_like(x)


def _options() -> tuple[object, ...]:
    price, strike, years = _vectors(3, 32768)
    empty = np.zeros_like(price)
    return empty, empty.copy(), 5 + 25 * price, 1 + 99 * strike, 0.25 + years, 0.02, 0.3


def _darts() -> tuple[object, ...]:
    random = np.random.default_rng(1)
    states = np.zeros(1024, xoroshiro128p_dtype)
    for field in ("s0", "s1"):
        states[field] = random.integers(1, 2**63, len(states), dtype=np.uint64)
    return states, 32, np.zeros(len(states), np.float32)


def _spheres() -> tuple[object, ...]:
    spheres = np.random.default_rng(2).random((SPHERES, 4), dtype=np.float32)
    spheres[:, :2] -= np.float32(0.5)
    return spheres, np.zeros((192, 192), np.float32), np.float32(1 / 192)


def _bodies() -> tuple[object, ...]:
    random = np.random.default_rng(3)
    positions = random.random((512, 3), dtype=np.float32)
    return positions, random.random(512, dtype=np.float32), np.zeros((512, 3), np.float32), 0.01


def _points() -> tuple[object, ...]:
    points = np.random.default_rng(4).random((192, 8))
    return points, np.zeros((192, 192))


def _clusters() -> tuple[object, ...]:
    points = np.random.default_rng(5).random((16384, 2))
    labels, sums = np.zeros(16384, np.int32), np.zeros((8, 2))
    return points, points[:8].copy(), labels, sums, np.zeros(8, np.int32)


def _sparse() -> tuple[object, ...]:
    random = np.random.default_rng(6)
    of_row = random.integers(0, 24, 16384)
    starts = np.concatenate([[0], np.cumsum(of_row)]).astype(np.int32)
    columns = random.integers(0, 16384, starts[-1], dtype=np.int32)
    return random.random(len(columns)), columns, starts, random.random(16384), np.zeros(16384)


def _text() -> tuple[object, ...]:
    letters = np.random.default_rng(7).integers(65, 68, 32768, dtype=np.uint8)
    return letters, letters[100:105].copy(), np.zeros(len(letters) + 1, np.int32)


_plane = (-2.0, 1.0, -1.0, 1.0)
CASES = {
    "saxpy, grid-stride": Case(saxpy, (128, 256), _saxpy),
    "Black-Scholes": Case(black_scholes, (ceil_div(32768, 256), 256), _options),
    "Mandelbrot": Case(
        mandelbrot, ((8, 8), (16, 16)), lambda: (*_plane, np.zeros((256, 256), np.uint8), 50)
    ),
    "Monte Carlo pi": Case(monte_carlo_pi, (16, 64), _darts),
    "rays and spheres": Case(ray_spheres, ((12, 12), (16, 16)), _spheres),
    "n-body, tiled": Case(n_body, (8, TILE), _bodies),
    "distance matrix": Case(distance_matrix, ((12, 12), (16, 16)), _points),
    "k-means": Case(k_means, (64, 256), _clusters),
    "sparse matrix (CSR)": Case(csr_product, (128, 128), _sparse),
    "string matching": Case(find_pattern, (128, 256), _text),
}
