"""Seven kernels that go on step by step: matrices, a sort, alignments, a transform."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda, float32, int32

from public_kernels.case import Case

TILE = 16
SORTED = 256
LENGTH = 32  # of the sequences that are aligned
EDGED = LENGTH + 1
POINTS = 128  # of one transform


def matmul(A, B, C):
    """The tiled product of Numba's own documentation, in shape."""
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0.0)
    for i in range(cuda.gridDim.x):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TILE) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TILE]
        if x < B.shape[1] and (ty + i * TILE) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = total


def bitonic_sort(data):
    """Each block sorts a run of its own in shared memory."""
    part = cuda.shared.array(SORTED, float32)
    tx = cuda.threadIdx.x
    i = cuda.grid(1)
    part[tx] = data[i]
    cuda.syncthreads()
    k = 2
    while k <= SORTED:
        j = k // 2
        while j > 0:
            partner = tx ^ j
            if partner > tx:
                ascending = (tx & k) == 0
                if (part[tx] > part[partner]) == ascending:
                    swapped = part[tx]
                    part[tx] = part[partner]
                    part[partner] = swapped
            cuda.syncthreads()
            j //= 2
        k *= 2
    data[i] = part[tx]


def soft_dtw(D, R, gamma, n, m, diagonals):
    """A block for each pair of sequences, a thread for each row, a barrier for each diagonal."""
    b = cuda.blockIdx.x
    tx = cuda.threadIdx.x
    inverse = 1.0 / gamma
    for p in range(diagonals):
        j = max(0, min(p - tx, m - 1))
        i = tx + 1
        jj = j + 1
        if tx + j == p and (tx < n and j < m):
            r0 = -R[b, i - 1, jj - 1] * inverse
            r1 = -R[b, i - 1, jj] * inverse
            r2 = -R[b, i, jj - 1] * inverse
            largest = max(max(r0, r1), r2)
            total = math.exp(r0 - largest) + math.exp(r1 - largest) + math.exp(r2 - largest)
            softest = -gamma * (math.log(total) + largest)
            R[b, i, jj] = D[b, i - 1, jj - 1] + softest
        cuda.syncthreads()


def needleman_wunsch(first, second, score, match, mismatch, gap):
    """One pair in one block, diagonal by diagonal, in shared memory."""
    table = cuda.shared.array((EDGED, EDGED), int32)
    tx = cuda.threadIdx.x
    table[0, tx + 1] = (tx + 1) * gap
    table[tx + 1, 0] = (tx + 1) * gap
    if tx == 0:
        table[0, 0] = 0
    cuda.syncthreads()
    for diagonal in range(2 * LENGTH - 1):
        row = tx + 1
        column = diagonal - tx + 1
        if 1 <= column <= LENGTH:
            fit = match if first[row - 1] == second[column - 1] else mismatch
            best = table[row - 1, column - 1] + fit
            best = max(best, table[row - 1, column] + gap)
            best = max(best, table[row, column - 1] + gap)
            table[row, column] = best
        cuda.syncthreads()
    for column in range(LENGTH + 1):
        score[tx + 1, column] = table[tx + 1, column]


def floyd_warshall(distances, k):
    """One step; the host goes through k."""
    i, j = cuda.grid(2)
    if i < distances.shape[0] and j < distances.shape[1] and i != k and j != k:
        through = distances[i, k] + distances[k, j]
        if through < distances[i, j]:
            distances[i, j] = through


def eliminate(a, k):
    """One step of Gauss's elimination below row k; the host goes through k."""
    j, i = cuda.grid(2)
    if k < i < a.shape[0] and k < j < a.shape[1]:
        a[i, j] -= a[i, k] / a[k, k] * a[k, j]


def fourier(re, im, out_re, out_im):
    """A transform of each block's points: bits reversed, then butterflies in shared memory."""
    sr = cuda.shared.array(POINTS, float32)
    si = cuda.shared.array(POINTS, float32)
    tx = cuda.threadIdx.x
    base = cuda.blockIdx.x * POINTS
    for t in range(tx, POINTS, POINTS // 2):
        reversed_bits = 0
        rest = t
        size = 1
        while size < POINTS:
            reversed_bits = (reversed_bits << 1) | (rest & 1)
            rest >>= 1
            size <<= 1
        sr[reversed_bits] = re[base + t]
        si[reversed_bits] = im[base + t]
    cuda.syncthreads()
    half = 1
    while half < POINTS:
        place = tx % half
        top = tx // half * 2 * half + place
        bottom = top + half
        angle = -math.pi * place / half
        wr = math.cos(angle)
        wi = math.sin(angle)
        tr = wr * sr[bottom] - wi * si[bottom]
        ti = wr * si[bottom] + wi * sr[bottom]
        sr[bottom] = sr[top] - tr
        si[bottom] = si[top] - ti
        sr[top] += tr
        si[top] += ti
        cuda.syncthreads()
        half *= 2
    for t in range(tx, POINTS, POINTS // 2):
        out_re[base + t] = sr[t]
        out_im[base + t] = si[t]


def _matrices() -> tuple[object, ...]:
    random = np.random.default_rng(10)
    a, b = (random.random((128, 128), dtype=np.float32) for _ in range(2))
    return a, b, np.zeros((128, 128), np.float32)


def _runs() -> tuple[object, ...]:
    return (np.random.default_rng(11).random(4 * SORTED, dtype=np.float32),)


def _sequences() -> tuple[object, ...]:
    batch = 8
    costs = np.random.default_rng(12).random((batch, LENGTH, LENGTH))
    table = np.full((batch, LENGTH + 2, LENGTH + 2), math.inf)
    table[:, 0, 0] = 0
    return costs, table, 1.0, LENGTH, LENGTH, 2 * LENGTH - 1


def _letters() -> tuple[object, ...]:
    first, second = np.random.default_rng(13).integers(0, 4, (2, LENGTH), dtype=np.int8)
    return first, second, np.zeros((LENGTH + 1, LENGTH + 1), np.int32), 1, -1, -2


def _graph() -> tuple[object, ...]:
    return (np.random.default_rng(14).integers(1, 100, (32, 32), dtype=np.int32),)


def _system() -> tuple[object, ...]:
    return (np.random.default_rng(15).random((32, 33)) + 8 * np.eye(32, 33),)


def _waves() -> tuple[object, ...]:
    re, im = np.random.default_rng(16).standard_normal((2, 16 * POINTS)).astype(np.float32)
    return re, im, np.zeros_like(re), np.zeros_like(im)


CASES = {
    "tiled matmul": Case(matmul, ((8, 8), (TILE, TILE)), _matrices),
    "bitonic sort": Case(bitonic_sort, (4, SORTED), _runs),
    "soft-DTW": Case(soft_dtw, (8, LENGTH), _sequences),
    "Needleman-Wunsch": Case(needleman_wunsch, (1, LENGTH), _letters),
    "Floyd-Warshall": Case(floyd_warshall, ((2, 2), (16, 16)), _graph, [(k,) for k in range(32)]),
    "Gauss elimination": Case(eliminate, ((3, 2), (16, 16)), _system, [(k,) for k in range(31)]),
    "Fourier transform": Case(fourier, (16, POINTS // 2), _waves),
}
