"""Right answers to exercises that the course does not have, judged by their entries alone."""

import numpy as np
import pytest
from sampling import few

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.registry.exercise import Exercise, Task

Array = np.ndarray


def counts_of(x: Array) -> Array:
    """How many numbers fall into each of 16 bins, an eighth wide, around 0."""
    bins = np.clip(np.floor(8 * x) + 8, 0, 15).astype(int)
    return np.bincount(bins, minlength=16).astype(float)


def without_neighbours(A: Array) -> Array:
    """Each element minus the mean of its four neighbours; 0 lies outside."""
    padded = np.pad(A, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return A - around / 4


COUNTS = """\
import math

from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    counts = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    if t < 16:
        counts[t] = float32(0)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        b = int(math.floor(x[i] * float32(8))) + 8
        b = min(max(b, 0), 15)
        cuda.atomic.add(counts, b, float32(1))
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, counts[t])
"""
HISTOGRAM = Task(
    id="histogram", title="Counts in 16 bins", lesson="07", parameters=("x", "out"), output="out",
    grid=(4,), block=(64,), shapes=("N", "16"), reference=counts_of, before=0.0,
    asks=("bounds", "shared-memory", "race-free", "float32"),
    formula="out[b] = how many numbers fall into bin b",
    hints=("Each block counts by itself first.",),
    given='@cuda.jit\ndef histogram(x, out):\n    """Count."""\n    ...\n', answer=COUNTS, par=11,
)  # fmt: skip
STENCIL = Exercise(
    id="stencil5", title="Each element minus the mean of its four neighbours", lesson="07",
    parameters=("A", "B"), output="B", block=(16, 16), shapes=("M,N", "M,N"),
    reference=without_neighbours,
    points={"right": 4, "bounds": 1, "shared-memory": 2, "race-free": 2, "float32": 1},
    formula="B = A minus the mean of its neighbours",
)  # fmt: skip
EDGES_FETCH_THE_HALO = """\
from numba import cuda, float32

P = 18  # cells in a row of the tile


@cuda.jit
def stencil5(A, B):
    s = cuda.shared.array(324, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    m, n = A.shape
    at = (y + 1) * P + x + 1
    s[at] = A[i, j] if i < m and j < n else float32(0)
    if y == 0:
        s[at - P] = A[i - 1, j] if 0 < i and j < n else float32(0)
    if y == 15:
        s[at + P] = A[i + 1, j] if i < m - 1 and j < n else float32(0)
    if x == 0:
        s[at - 1] = A[i, j - 1] if i < m and 0 < j else float32(0)
    if x == 15:
        s[at + 1] = A[i, j + 1] if i < m and j < n - 1 else float32(0)
    cuda.syncthreads()
    if i >= m or j >= n:
        return
    quarter = float32(0.25)
    B[i, j] = s[at] - quarter * (s[at - P] + s[at - 1] + s[at + 1] + s[at + P])
"""


@pytest.mark.parametrize("seed", [0, 1, 2, 23])
def test_what_the_output_holds_before_is_the_same_in_every_launch(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far beyond the usual sizes as well, with this seed and that."""
    monkeypatch.setitem(TASKS, HISTOGRAM.id, HISTOGRAM)
    report = examine_source(HISTOGRAM.id, COUNTS, seed=seed)
    assert report.passed, report


@pytest.mark.parametrize("seed", few(range(3)))
def test_an_element_of_ones_own_may_count_for_more_than_what_is_read_of_others(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXERCISES, STENCIL.id, STENCIL)
    report = examine_source(STENCIL.id, EDGES_FETCH_THE_HALO, seed=seed)
    assert report.passed, report


@pytest.mark.parametrize(("old", "new", "code"), [
    ("cuda.gridsize(1)", "cuda.blockDim.x", "wrong-loop-bound"),
    ("int(math.floor(x[i] * float32(8)))", "int(x[i] * float32(8))", "wrong-index"),
])  # fmt: skip
def test_what_goes_wrong_with_counts_is_told_at_its_line(
    old: str, new: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TASKS, HISTOGRAM.id, HISTOGRAM)
    text = COUNTS.replace(old, new)
    found = examine_source(HISTOGRAM.id, text).errors[0]
    line = next(n for n, line in enumerate(text.splitlines(), 1) if new in line)
    assert (found.code, found.line) == (code, line), str(found)
