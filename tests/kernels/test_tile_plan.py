"""Which tiles rung 12 takes, and that a plan's tiles are all of the product."""

from __future__ import annotations

from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from course_lib.kernels.tile_plan import (
    ROWS,
    WORTH_IT,
    TilePlan,
    plan_for,
    steps_of,
    ways_to_compute,
)

SMS = 132


@every_case(
    ("shape", "plan"),
    {
        (4096, 4096, 4096): TilePlan(),  # a last turn of 116 tiles for 132 SMs
        (8192, 8192, 8192): TilePlan(),  # what splitting gains is lost at the power limit
        (1024, 1024, 1024): TilePlan(columns=192),  # 48 of 16 steps: too few to share
        (3072, 3072, 3072): TilePlan(columns=192),  # three turns of narrow tiles
        (4352, 4352, 4352): TilePlan(columns=192),
        (5120, 5120, 5120): TilePlan(split=8),  # six turns, and 8 tiles
        (5000, 5000, 5000): TilePlan(2, 256, 4),  # rows of B begin anywhere
        (4600, 4600, 4600): TilePlan(2),
        (4104, 4104, 4104): TilePlan(2, 192),
        (512, 512, 32_768): TilePlan(1, 256, 8),  # all of it
        (8, 1 << 16, 64): TilePlan(),  # no tile has another one below it
    }.items(),
)
def test_the_plan_of_an_h200(shape: tuple[int, int, int], plan: TilePlan) -> None:
    """What `benchmarks/split_tiles.py` measured to be the fastest way there, or nearly."""
    assert plan_for(*shape, SMS) == plan


@given(
    M=st.integers(1, 20_000),
    N=st.integers(1, 2_500).map(lambda n: 8 * n),
    K=st.integers(8, 20_000),
    sms=st.integers(2, 200),
)
def test_a_plan_covers_the_product_and_is_nearly_the_shortest(
    M: int, N: int, K: int, sms: int
) -> None:
    plan = plan_for(M, N, K, sms)
    down, across = plan.tiles(M, N)
    assert down * ROWS * plan.cluster >= M > (down - 1) * ROWS * plan.cluster
    assert across * plan.columns >= N > (across - 1) * plan.columns
    assert 0 <= plan.split < sms // plan.cluster and plan.split <= down * across
    shape, others = (M, N, K), ways_to_compute(M, N, sms)
    assert steps_of(plan, shape, sms) <= WORTH_IT * min(steps_of(w, shape, sms) for w in others)
