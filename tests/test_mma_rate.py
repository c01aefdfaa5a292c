"""The benchmark of `mma` alone does what it says: so many products, so many wavefronts for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from by_path import module_at

import course_lib

pytest.importorskip("numba")

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "mma_rate.py"
TRIPS = 3


@pytest.fixture(scope="module")
def benchmark():
    return module_at(SCRIPT)


@pytest.mark.parametrize(("name", "wavefronts"), [("bfloat16", 1), ("tf32", 0.5), ("float16", 2)])
def test_products_and_wavefronts_are_as_announced(benchmark, name, wavefronts):
    X, C = np.zeros(benchmark.SHARED, np.uint16), np.zeros(benchmark.THREADS, np.float32)
    kernel = course_lib.emulate(benchmark.rate_kernel(name, wavefronts))
    profile = kernel[1, benchmark.THREADS](X, C, TRIPS)
    assert not profile.findings
    warps, k = benchmark.THREADS // 32, benchmark.FORMATS[name][1]
    products = warps * benchmark.SUMS * TRIPS
    sums = benchmark.THREADS * benchmark.SUMS * 4  # each lane adds up its own at the end
    assert profile.flops == products * 2 * 16 * 8 * k + sums
    first_fragments = warps * 2 * 4
    assert profile.shared_load_wavefronts == products * wavefronts + first_fragments
    assert profile.shared_load_bank_conflicts == 0
