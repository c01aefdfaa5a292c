"""A rung on the emulator, beside the exact product of what it was given."""

from typing import Any

import numpy as np

from course_lib.emulator import Profile
from course_lib.host import runtime
from course_lib.kernels import accuracy

FORMAT_OF = {made.rung: made for made in accuracy.FORMATS.values()}


def rung_product(rung: Any, M: int, N: int, K: int) -> Profile:
    """Multiply random matrices; the result has to be right, and no error may be found."""
    bf16 = rung.dtype == "uint16"
    made = accuracy.FORMATS["bfloat16"] if bf16 else FORMAT_OF.get(rung.name)
    random = np.random.default_rng(3)
    A, B = (random.standard_normal(shape, dtype=np.float32) for shape in ((M, K), (K, N)))
    if made:
        A, B = made.encode(A), made.encode(B)
    C = np.full((M, N), np.nan, np.float32)
    rung.check_inputs(A, B, C)
    grid, block = rung.grid_and_block(M, N, K)
    emulated = runtime.emulate(rung.kernel, max_dynamic_shared=max(rung.dynamic_shared, 49_152))
    profile = emulated[grid, block, 0, rung.dynamic_shared](A, B, C)
    assert profile.errors == []
    left, right = (made.value(each) if made else each for each in (A, B))
    exact = left.astype(np.float64) @ right.astype(np.float64)
    assert np.abs(C - exact).max() < 1e-5 * np.abs(exact).max()
    return profile
