"""Seven kernels on images and grids: a thread for each cell, which looks at its neighbours."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda, float32

from public_kernels.case import Case

RADIUS = 4
LINE = 128
WIDE = LINE + 2 * RADIUS
SIDE = 16
PADDED = SIDE + 1
KERNEL = 5
GAUSS = np.array([[1, 4, 6, 4, 1]], np.float32).T @ np.array([[1, 4, 6, 4, 1]], np.float32) / 256


def life(old, new):
    """A generation of Conway's game on a torus."""
    x, y = cuda.grid(2)
    height, width = old.shape
    if x < width and y < height:
        neighbours = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    neighbours += old[(y + dy + height) % height, (x + dx + width) % width]
        if (old[y, x] == 1 and (neighbours == 2 or neighbours == 3)) or (
            old[y, x] == 0 and neighbours == 3
        ):
            new[y, x] = 1
        else:
            new[y, x] = 0


def heat(old, new, alpha):
    """A time step of the heat equation, five points in global memory."""
    i, j = cuda.grid(2)
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        around = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
        new[i, j] = old[i, j] + alpha * (around - 4 * old[i, j])


def convolution_1d(signal, taps, out):
    """Through shared memory with a halo on both sides."""
    line = cuda.shared.array(WIDE, float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    n = signal.shape[0]
    line[tx + RADIUS] = signal[i] if i < n else 0.0
    if tx < RADIUS:
        line[tx] = signal[i - RADIUS] if i >= RADIUS else 0.0
        line[tx + RADIUS + LINE] = signal[i + LINE] if i + LINE < n else 0.0
    cuda.syncthreads()
    if i < n:
        total = 0.0
        for k in range(-RADIUS, RADIUS + 1):
            total += line[tx + RADIUS + k] * taps[k + RADIUS]
        out[i] = total


def convolution_2d(image, out):
    """A mask in constant memory, zeros beyond the edge."""
    mask = cuda.const.array_like(GAUSS)
    row, column = cuda.grid(2)
    if row >= image.shape[0] or column >= image.shape[1]:
        return
    total = float32(0.0)
    for i in range(KERNEL):
        for j in range(KERNEL):
            y = row - KERNEL // 2 + i
            x = column - KERNEL // 2 + j
            if y >= 0 and y < image.shape[0] and x >= 0 and x < image.shape[1]:
                total += image[y, x] * mask[i, j]
    out[row, column] = total


def sobel(image, out):
    """The gradient of a picture, written out."""
    x, y = cuda.grid(2)
    if x < 1 or y < 1 or x >= image.shape[1] - 1 or y >= image.shape[0] - 1:
        return
    gx = image[y - 1, x + 1] + 2 * image[y, x + 1] + image[y + 1, x + 1]
    gx -= image[y - 1, x - 1] + 2 * image[y, x - 1] + image[y + 1, x - 1]
    gy = image[y + 1, x - 1] + 2 * image[y + 1, x] + image[y + 1, x + 1]
    gy -= image[y - 1, x - 1] + 2 * image[y - 1, x] + image[y - 1, x + 1]
    out[y, x] = min(255.0, math.sqrt(gx * gx + gy * gy))


def bilateral(image, out, radius, near, alike):
    """Weights by distance and by likeness."""
    x, y = cuda.grid(2)
    if x >= image.shape[1] or y >= image.shape[0]:
        return
    centre = image[y, x]
    total = 0.0
    weights = 0.0
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            row = min(max(y + dy, 0), image.shape[0] - 1)
            column = min(max(x + dx, 0), image.shape[1] - 1)
            value = image[row, column]
            apart = (dx * dx + dy * dy) / (2 * near * near)
            unlike = (value - centre) * (value - centre) / (2 * alike * alike)
            weight = math.exp(-apart - unlike)
            total += weight * value
            weights += weight
    out[y, x] = total / weights


def transpose(a, out):
    """A tile with a padded column."""
    tile = cuda.shared.array((SIDE, PADDED), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    if x < a.shape[1] and y < a.shape[0]:
        tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * SIDE + tx
    y = cuda.blockIdx.x * SIDE + ty
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = tile[tx, ty]


def _picture(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(height * width).random((height, width), dtype=np.float32)


def _cells(side: int) -> tuple[object, ...]:
    cells = (_picture(side, side) < 0.3).astype(np.int32)
    return cells, np.zeros_like(cells)


def _plate(side: int) -> tuple[object, ...]:
    plate = _picture(side, side).astype(np.float64)
    return plate, plate.copy(), 0.2


def _signal() -> tuple[object, ...]:
    signal = _picture(1, 8192)[0]
    return signal, np.hanning(2 * RADIUS + 1).astype(np.float32), np.zeros_like(signal)


def _image(side: int, *more: object) -> tuple[object, ...]:
    image = _picture(side, side)
    return (image, np.zeros_like(image), *more)


CASES = {
    "Game of Life": Case(life, ((16, 16), (16, 16)), lambda: _cells(256)),
    "heat equation": Case(heat, ((16, 16), (16, 16)), lambda: _plate(256)),
    "convolution, 1-D": Case(convolution_1d, (64, LINE), _signal),
    "convolution, 2-D": Case(convolution_2d, ((6, 6), (16, 16)), lambda: _image(96)),
    "Sobel": Case(sobel, ((16, 16), (16, 16)), lambda: _image(256)),
    "bilateral filter": Case(bilateral, ((6, 6), (16, 16)), lambda: _image(96, 2, 1.5, 0.2)),
    "transpose": Case(transpose, ((8, 8), (SIDE, SIDE)), lambda: _image(128)),
}
_many = ((50, 50), (32, 32))
# 2,560,000 threads: far beyond what Numba's simulator does in an hour.
LARGE = {
    "Game of Life": Case(life, _many, lambda: _cells(1600)),
    "heat equation": Case(heat, _many, lambda: _plate(1600)),
    "bilateral filter": Case(bilateral, _many, lambda: _image(1600, 2, 1.5, 0.2)),
}
