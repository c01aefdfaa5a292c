"""The fp32 rungs multiply rightly on every shape, in the emulator, and refuse with the mend."""

from __future__ import annotations

import numpy as np
import pytest

import course_lib
from course_lib.kernels import RUNG_KERNELS, InputsRefused

RUNGS = [
    name for name, rung in RUNG_KERNELS.items() if rung.dtype == "float32" and rung.tile[2] < 33
]
FP32 = [name for name in RUNGS if "tensor_core" not in name]
# M, N, K: whole tiles; edges on every side and K shorter than a tile; K with a rest.
SHAPES = ((128, 256, 16), (133, 260, 4), (129, 268, 28))


def matrices(M: int, N: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((M, K), dtype=np.float32)
    B = rng.standard_normal((K, N), dtype=np.float32)
    return A, B, np.full((M, N), np.nan, np.float32)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FP32)
def test_right_and_without_findings(name, shape):
    rung = RUNG_KERNELS[name]
    A, B, C = matrices(*shape)
    grid, block = rung.grid_and_block(*shape)
    profile = course_lib.emulate(rung.kernel)[grid, block](A, B, C)
    exact = A.astype(np.float64) @ B.astype(np.float64)
    assert np.linalg.norm(C - exact) <= 1e-6 * np.linalg.norm(exact)
    assert not [each for each in profile.findings if each.severity == "error"]


@pytest.mark.parametrize("name", ("naive", "coalesced_while", "tiled", "tiled_while"))
def test_tiny_odd_shapes(name):
    rung = RUNG_KERNELS[name]
    A, B, C = matrices(5, 3, 7)
    grid, block = rung.grid_and_block(5, 3, 7)
    course_lib.emulate(rung.kernel)[grid, block](A, B, C)
    assert np.allclose(C, A @ B, atol=1e-5)


def test_infinities_at_the_edges_stay_where_they_belong():
    """A tile that slid back, and the rest of K, must not let 0 * inf into other sums."""
    for name in ("register_2d", "vectorised", "double_buffered", "cp_async"):
        rung = RUNG_KERNELS[name]
        A, B, C = matrices(130, 260, 12)
        B[11, 259] = np.inf
        grid, block = rung.grid_and_block(130, 260, 12)
        course_lib.emulate(rung.kernel)[grid, block](A, B, C)
        assert np.isfinite(C[:, :259]).all() and np.isinf(C[:, 259]).all(), name


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        ("vectorised", (128, 128, 30), "K = 30 is no multiple of 4: pad A's columns and B's rows"),
        ("vectorised", (128, 130, 32), "N = 130 is no multiple of 4: pad B's columns"),
        ("register_2d", (100, 128, 32), "M = 100 is less than a tile's 128: pad A's rows"),
        ("cp_async", (128, 128, 32), "N = 128 is less than a tile's 256: pad B's columns"),
    ],
)
def test_sizes_are_refused_with_the_mend(name, shape, reason):
    with pytest.raises(InputsRefused, match=reason):
        RUNG_KERNELS[name].check_inputs(*matrices(*shape))


def test_what_is_no_such_matrix_is_refused():
    check = RUNG_KERNELS["tiled"].check_inputs
    A, B, C = matrices(64, 64, 64)
    with pytest.raises(InputsRefused, match="A is float64: convert it"):
        check(A.astype(np.float64), B, C)
    with pytest.raises(InputsRefused, match="B is not contiguous: copy it"):
        check(A, B.T, C)
    with pytest.raises(InputsRefused, match="a matrix has two"):
        check(A, B[0], C)
    with pytest.raises(InputsRefused, match=r"are not \(M, K\), \(K, N\) and \(M, N\)"):
        check(A, B, C[:32])
    with pytest.raises(InputsRefused, match="empty"):
        check(A[:0], B, C[:0])
    check(A, B, C)
