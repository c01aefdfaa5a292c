"""Which tiles rung 12 takes."""

from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from course_lib.kernels.tile_plan import (
    PAIR,
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
        (4096, 4096, 4096): PAIR,  # a last turn of 58 pairs for 66
        (4104, 4096, 4096): TilePlan(),  # four turns, pairs have five
        # At the limit of power, where single tiles of 200 rows would be twenty full turns.
        (8192, 8192, 8192): PAIR,
        (12_288, 12_288, 12_288): PAIR,
        (10_000, 10_000, 10_000): TilePlan(2, 128, 200),
        (1000, 1000, 1000): TilePlan(2, 128, 64),  # rows of A and B begin anywhere
        (1024, 1024, 1024): TilePlan(1, 64),  # 128 tiles, nearly one for each SM
        (1536, 1536, 1536): TilePlan(1, 128, 144),  # 132
        (2048, 2048, 2048): TilePlan(),  # so short that a pair costs more than a hundredth
        (2056, 2056, 2056): TilePlan(2, 192, 176),  # 66 pairs for 66
        (2560, 2560, 2560): TilePlan(1, 128, 200),  # two turns, and not three of narrow tiles
        (3000, 3000, 3000): TilePlan(2, 192, 192),
        (4104, 4104, 4104): TilePlan(2, 192, 176),  # 264 pairs, four turns of 66
        (4104, 4104, 4096): TilePlan(2, 128, 208),
        (4096, 4104, 4096): TilePlan(2, 128, 256),
        (4160, 4160, 4160): TilePlan(1, 128, 208),
        (5000, 5000, 5000): TilePlan(2, 256, 152, beside=True),  # 330 pairs, five turns of 66
        (6000, 6000, 6000): TilePlan(1, 128, 240),  # rows begin with a sector, if within a line
        (5120, 5120, 5120): TilePlan(1, 128, 224),
        (6144, 6144, 6144): TilePlan(1, 256, 112),
        (4600, 4600, 4600): PAIR,
        (512, 512, 32_768): TilePlan(2, 128, split=8),  # all of it is split
    }.items(),
)
def test_the_plan_of_an_h200(shape: tuple[int, int, int], plan: TilePlan) -> None:
    """What `benchmarks/split_tiles.py` measured to be the fastest way there, or nearly."""
    assert plan_for(*shape, SMS) == plan


@given(
    M=st.integers(1, 20_000), N=st.integers(1, 2_500).map(lambda n: 8 * n),
    K=st.integers(8, 20_000), sms=st.integers(2, 200),
)  # fmt: skip
def test_a_plan_is_nearly_the_shortest(M: int, N: int, K: int, sms: int) -> None:
    plan = plan_for(M, N, K, sms)
    workers = sms // plan.cluster
    down, across = plan.tiles(M, N)
    assert down * plan.tall >= M and across * plan.wide >= N
    assert 0 <= 2 * plan.split <= workers and plan.split <= down * across
    shape, others = (M, N, K), ways_to_compute(M, N, sms)
    assert steps_of(plan, shape, sms) <= WORTH_IT * min(steps_of(w, shape, sms) for w in others)
