"""Which tiles rung 12 takes."""

from __future__ import annotations

from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from course_lib.kernels.tile_plan import (
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
        (1024, 1024, 1024): TilePlan(cut_columns=4),  # 128 strips, nearly one for each SM
        (3072, 3072, 3072): TilePlan(columns=192),  # three turns of narrow tiles
        (4352, 4352, 4352): TilePlan(columns=192),
        (2560, 2560, 2560): TilePlan(columns=192, cut_columns=1),
        (5120, 5120, 5120): TilePlan(cut_rows=1),  # strips of 20 tiles beside those of six turns
        (5000, 5000, 5000): TilePlan(2, 256, 4),  # rows of B begin anywhere
        (4600, 4600, 4600): TilePlan(2),
        (4104, 4104, 4104): TilePlan(2, cut_rows=1, cut_columns=1),
        (4096, 4104, 4096): TilePlan(2, cut_columns=1),  # one column of strips in the last turn
        (4160, 4160, 4160): TilePlan(cut_columns=1),
        (512, 512, 32_768): TilePlan(2, 256, 4),  # all of it is split
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
def test_a_plan_is_nearly_the_shortest(M: int, N: int, K: int, sms: int) -> None:
    plan = plan_for(M, N, K, sms)
    workers = sms // plan.cluster
    down, across = plan.tiles(M, N)
    assert down >= 0 and across >= 0
    assert 0 <= 2 * plan.split <= workers and plan.split <= down * across
    shape, others = (M, N, K), ways_to_compute(M, N, sms)
    assert steps_of(plan, shape, sms) <= WORTH_IT * min(steps_of(w, shape, sms) for w in others)
