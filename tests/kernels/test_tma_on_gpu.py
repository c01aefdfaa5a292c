"""Rung 12 on a Hopper GPU: right at ragged shapes, again and again, and nowhere beside C."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS
from course_lib.kernels.accuracy import bits_of_bf16, from_bf16
from course_lib.kernels.tile_plan import WIDTHS, TilePlan


def is_hopper() -> bool:
    """Whether this machine has a GPU of compute capability 9.0."""
    if not runtime.on_gpu():
        return False
    from numba import cuda

    return tuple(cuda.get_current_device().compute_capability) == (9, 0)


pytestmark = pytest.mark.skipif(not is_hopper(), reason="needs a Hopper GPU")

# One element, less than a tile, edges on all sides, one thin side each, more tiles than SMs.
SHAPES = (
    (1, 8, 8), (33, 72, 24), (130, 264, 80), (257, 136, 520), (127, 248, 72), (1000, 8, 4096),
    (8, 16_384, 64), (2000, 3000, 1000), (4104, 4104, 520),
)  # fmt: skip
BESIDE = 4096  # elements behind C, which must stay as they were
REPEATS = 3
# What suits the product; every cluster and width, with whole tiles and with one split; turned ones,
# of which the lowest box of results begins anywhere.
PLANS = [
    None,
    *(
        TilePlan(cluster, columns, split=split)
        for cluster in (1, 2)
        for columns in WIDTHS
        for split in (0, 1)
    ),
    *(
        TilePlan(cluster, columns, rows)
        for cluster in (1, 2)
        for columns, rows in ((192, 64), (192, 152), (192, 176), (192, 192), (128, 72), (128, 256))
    ),
    # Two panels for each consumer, four stages or three; blocks side by side, whose halves of A
    # begin within eight rows.
    TilePlan(1, 256, 152),
    TilePlan(1, 256, 184),
    *(
        TilePlan(2, columns, rows, beside=True)
        for columns, rows in ((256, 152), (256, 184), (192, 176), (128, 256))
    ),
]


@pytest.mark.parametrize("name", ["tma", "tma_bf16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("plan", PLANS, ids=str)  # the outermost: each is a kernel to compile
def test_right(name: str, plan: TilePlan | None, shape: tuple[int, int, int]) -> None:
    from numba import cuda

    rung, (M, N, K) = replace(RUNG_KERNELS[name], plan=plan), shape
    generator = np.random.default_rng(1)
    A, B = (
        bits_of_bf16(generator.uniform(-1, 1, each).astype(np.float32)) for each in ((M, K), (K, N))
    )
    exact = from_bf16(A).astype(np.float64) @ from_bf16(B).astype(np.float64)
    scale = np.sqrt(np.mean(exact**2))
    rounded = rung.result == "uint16"
    poison = np.full(M * N + BESIDE, 0x7FC0 if rounded else np.nan, rung.result)
    poison[M * N :] = 7
    a, b, memory = (cuda.to_device(each) for each in (A, B, poison))
    bits: set[bytes] = set()
    for _ in range(REPEATS):
        memory.copy_to_device(poison)
        rung.launch(a, b, memory[: M * N].reshape(M, N))
        found = memory.copy_to_host()
        assert (found[M * N :] == 7).all()
        bits.add(found.tobytes())
        C = found[: M * N].reshape(M, N)
        C = from_bf16(C) if rounded else C
        assert np.abs(C - exact).max() < (2e-2 if rounded else 1e-3) * scale  # NaN is not, either
    assert len(bits) == 1  # though some rows may be computed twice
