"""Rung 12 without a Hopper GPU: by every kind of plan it is right and clean; slips are named."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_kernels import changed, is_named

from course_lib.emulator import Profile
from course_lib.emulator.errors import KernelRejected
from course_lib.kernels import RUNG_KERNELS, rung_12_tma
from course_lib.kernels.accuracy import bits_of_bf16
from course_lib.kernels.tile_plan import PAIR, TilePlan
from course_lib.wording.errors import LaunchRefused

# Every size ends inside a tile, a box or 64 steps of k; blocks compute several tiles. With LONG
# a block runs through the ring of stages more than twice within a tile.
RAGGED, LONG = (130, 264, 136), (100, 256, 600)
NAMES = {"float32": "tma", "bfloat16": "tma_bf16"}
SCHEDULES = [("lockstep", 0), ("warps", 0), ("shuffled", 1)]  # late, early, by chance


def multiply(
    shape: tuple[int, int, int],
    result: str,
    blocks: int,
    plan: TilePlan,
    rung: Any = None,
    **options: Any,
) -> tuple[Profile, bool]:
    """What the emulator saw, and whether the product of small whole numbers is exact."""
    (M, N, K), random = shape, np.random.default_rng(1)
    A, B = (random.integers(-4, 5, size).astype(np.float32) for size in ((M, K), (K, N)))
    C = {
        "float32": np.full((M, N), np.nan, np.float32),
        "bfloat16": np.full((M, N), 0x7FC0, np.uint16),
    }[result]
    rung = rung or RUNG_KERNELS[NAMES[result]]
    profile = rung.emulate(bits_of_bf16(A), bits_of_bf16(B), C, plan, blocks, **options)
    wanted = A @ B
    return profile, np.array_equal(C, wanted if result == "float32" else bits_of_bf16(wanted))


CASES = [
    ((1, 8, 8), "float32", 1, TilePlan()),
    ((33, 72, 24), "bfloat16", 1, TilePlan(columns=192)),
    ((33, 72, 136), "bfloat16", 2, TilePlan(split=1)),
    (RAGGED, "float32", 2, TilePlan(2)),
    (RAGGED, "bfloat16", 2, TilePlan()),
    # 2 x 2 tiles for 4 blocks; two for 2 pairs.
    (RAGGED, "float32", 4, TilePlan(split=2)),
    (RAGGED, "bfloat16", 4, TilePlan(2, 256, split=1)),
    # Two steps of k in a stage; turned tiles that end within a box of results, and that do not.
    (RAGGED, "bfloat16", 3, TilePlan(1, 64)),
    (RAGGED, "bfloat16", 2, TilePlan(2, 192, 176)),
    (RAGGED, "float32", 2, TilePlan(1, 192, 72)),
    (RAGGED, "bfloat16", 2, PAIR),
    # Two panels for a consumer; blocks side by side, whose halves of A begin within eight rows.
    (RAGGED, "float32", 1, TilePlan(1, 256, 184)),
    (RAGGED, "bfloat16", 2, TilePlan(2, 256, 152, beside=True)),
    (LONG, "float32", 2, TilePlan(2)),
    (LONG, "float32", 1, TilePlan()),
]


def _cases() -> list[Any]:
    """One schedule for each slow case; the others are for `long`."""
    cases = []
    for number, case in enumerate(CASES):
        for turn, schedule in enumerate(SCHEDULES):
            is_first = number % len(SCHEDULES) == turn and number % 6 == 2
            slow = pytest.mark.slow if is_first or number < 2 else pytest.mark.long
            cases.append(
                pytest.param(*case, schedule, marks=() if number < 2 and number == turn else slow)
            )
    return cases


@pytest.mark.parametrize(("shape", "result", "blocks", "plan", "schedule"), _cases())
def test_right_and_clean(
    shape: tuple[int, int, int],
    result: str,
    blocks: int,
    plan: TilePlan,
    schedule: tuple[str, int],
) -> None:
    profile, is_exact = multiply(
        shape, result, blocks, plan, schedule=schedule[0], seed=schedule[1]
    )
    assert [str(found) for found in profile.errors] == []
    assert is_exact


# Slips of each kind; test_emulator_hopper.py has all that a pipeline can lack.
# What is changed, into what, the code that is named ("": the result is wrong), and parts of lines.
SLIPS = {
    "released too early": (
        "            if done > 0:  # the product before is done\n"
        "                release(base, before, thread, cluster)\n",
        "            release(base, stage, thread, cluster)\n",
        "race-write-after-read", "tma_load(", "start_product(",
    ),
    "boxes overlap": ("group * (RESULTS * room.box)", "group * room.box", "race-", ""),
    "a panel too many": ("for p in range(room.panels)", "for p in range(room.panels + 1)",
        "race-|barrier-", ""),
    "arrivals miscounted": ("room.consumers * cluster)  #", "cluster)  #",
        "race-|barrier-divergence", ""),
    "no swizzle": ("(2 * q + lane // 16) ^ (lane % 8)", "2 * q + lane // 16", "", ""),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if number % 3 else pytest.mark.slow)
        for number, name in enumerate(SLIPS)
    ],
)
def test_slips_are_caught(name: str, tmp_path: Path) -> None:
    old, new, code, *parts = SLIPS[name]
    module = changed(rung_12_tma, old, new, tmp_path)
    kernel = module.ROUNDED.kernel_of(TilePlan())
    seen: list[Any] = []
    for schedule, seed in SCHEDULES:
        options = {"kernel": kernel, "schedule": schedule, "seed": seed}
        try:
            profile, is_exact = multiply(LONG, "bfloat16", 1, TilePlan(), **options)
        except (KernelRejected, LaunchRefused) as refused:
            seen.append(refused)
            continue
        seen += profile.errors
        if is_named(profile.errors, tmp_path, code, parts) or (not code and not is_exact):
            return
    raise AssertionError(seen)
