"""Rung 12 without a Hopper GPU: on stand-ins its source is right, and usual slips are caught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hopper_memory import TensorMap, Wrong
from hopper_on_threads import Stuck, load, run

from course_lib import emulate
from course_lib.kernels import RUNG_KERNELS, pieces, rung_12_tma, split_tiles
from course_lib.kernels.accuracy import bits_of_bf16, from_bf16
from course_lib.kernels.tile_plan import PAIR, TilePlan

SOURCE = Path(rung_12_tma.__file__).read_text(encoding="utf-8")
SPLIT = Path(split_tiles.__file__).read_text(encoding="utf-8")
PIECES = Path(pieces.__file__).read_text(encoding="utf-8")
# Every size ends inside a tile, a box or 64 steps of k; the ring of four stages is run through
# more than once, by blocks that compute several tiles.
RAGGED = (257, 264, 136)


def worst_error(
    source: str,
    shape: tuple[int, int, int],
    result: str,
    blocks: int,
    plan: TilePlan,
    eager: bool,
    split_source: str = SPLIT,
) -> float:
    """The largest error as a share of the root mean square; NaN if an element was not written."""
    module = load(source, split_tiles=split_source, pieces=PIECES)
    M, N, K = shape
    cluster, room = plan.cluster, module.room_for(plan.columns, plan.rows)
    generator = np.random.default_rng(1)
    A, B = (
        bits_of_bf16(generator.uniform(-1, 1, each).astype(np.float32)) for each in ((M, K), (K, N))
    )
    high = room.box // 128  # rows of a box of results; turned float32 has two side by side
    store, C, box = {
        "float32": (
            module.make_float32_store,
            np.full((M, N), np.nan, np.float32),
            (high // 2 if room.turned else high, 32),
        ),
        "bfloat16": (module.make_bf16_store, np.full((M, N), 0x7FC0, np.uint16), (high, 64)),
    }[result]
    maps = (
        TensorMap(A, (plan.rows // plan.share_a, 64)),
        TensorMap(B, (64 // plan.share_b, 64)),
        TensorMap(C, box),
    )
    lists, parts = module.helpers["pieces"], room.consumers * cluster
    work = lists.pieces_of(plan, shape, blocks // cluster, 64 * room.steps)
    table, shared = lists.table_of(work), lists.shared_tiles(work)
    partial = np.full((len(work) * parts * 64, 256), np.nan, np.float32)
    arguments = (*maps, TensorMap(partial, (64, 32)), table, table.shape[1])
    kernel = module.make_kernel(store, cluster, plan.columns, plan.rows, plan.beside)
    run(module, kernel, arguments, len(work) * cluster, cluster, eager, room.consumers)
    if len(shared):
        rung = RUNG_KERNELS["tma" if result == "float32" else "tma_bf16"]
        sizes = parts, plan.columns
        profile = emulate(rung.adding)[(32, len(shared) * parts), 128](partial, C, shared, *sizes)
        assert not [each for each in profile.findings if each.severity == "error"]
    found = C if result == "float32" else from_bf16(C)
    exact = from_bf16(A).astype(np.float64) @ from_bf16(B).astype(np.float64)
    return float(np.abs(found - exact).max() / np.sqrt(np.mean(exact**2)))


CASES = [
    ((1, 8, 8), "float32", 1, TilePlan()),
    ((33, 72, 24), "bfloat16", 1, TilePlan(columns=192)),
    ((33, 72, 136), "bfloat16", 2, TilePlan(split=1)),
    (RAGGED, "float32", 2, TilePlan(2)),
    (RAGGED, "bfloat16", 2, TilePlan()),
    # 3 x 2 tiles for 4 blocks; 2 x 2 for 2 pairs.
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
]
# The same parts put together otherwise.
MORE_CASES = [
    (RAGGED, "bfloat16", 2, TilePlan(2, 192)),
    (RAGGED, "float32", 4, TilePlan(1, 192, split=2)),
    (RAGGED, "float32", 2, TilePlan(2, 64)),
    (RAGGED, "bfloat16", 1, TilePlan(1, 192, 192)),
    (RAGGED, "float32", 2, TilePlan(2, 192, 160)),
    (RAGGED, "float32", 2, TilePlan(2, 128, 72)),
]


def _with_both_kinds_of_copies() -> Iterator[object]:
    """Copies that land at once, and as late as they may; of a slow case one kind is for `long`."""
    for number, case in enumerate(CASES):
        for eager in (True, False):
            slow = pytest.mark.slow if number % 2 == eager else pytest.mark.long
            yield pytest.param(*case, eager, marks=slow if case[0] == RAGGED else ())
    for case in MORE_CASES:
        yield from (pytest.param(*case, eager, marks=pytest.mark.long) for eager in (True, False))


@pytest.mark.parametrize(
    ("shape", "result", "blocks", "plan", "eager"), list(_with_both_kinds_of_copies())
)
def test_right(
    shape: tuple[int, int, int], result: str, blocks: int, plan: TilePlan, eager: bool
) -> None:
    # bfloat16's result is rounded: half a last place of the largest elements.
    most = 1e-6 if result == "float32" else 2e-2
    assert worst_error(SOURCE, shape, result, blocks, plan, eager) < most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("release(base, before", "release(base, stage", id="released too early"),
        pytest.param("stage, lap ^ 1)", "stage, lap)", id="the producer waits for the wrong phase"),
        pytest.param(
            "mbarrier_wait(base + FULL + 8 * stage, lap)", "pass", id="no wait for the tile"
        ),
        pytest.param("(full, room.stage_bytes)", "(full, BOX)", id="bytes miscounted"),
        pytest.param("group * (RESULTS * room.box)", "group * room.box", id="boxes overlap"),
        pytest.param("for p in range(room.panels)", "for p in range(3)", id="panels"),
        pytest.param("room.consumers * cluster)", "cluster)", id="arrivals miscounted"),
        pytest.param("        fence_async()\n", "", id="no fence before the copy"),
        pytest.param("tma_store_wait(1)", "pass", id="results overwritten before they are read"),
        pytest.param("tma_store_wait(0)", "pass", id="gone before results are read"),
        pytest.param("        grid_dependency_sync()", "        pass", id="no wait for launches"),
        pytest.param("(2 * q + lane // 16) ^ (lane % 8)", "2 * q + lane // 16", id="no swizzle"),
    ],
)
def test_slips_are_caught(right: str, wrong: str) -> None:
    assert right in SOURCE
    source = SOURCE.replace(right, wrong)

    def caught(eager: bool) -> bool:
        try:
            return not worst_error(source, RAGGED, "bfloat16", 2, TilePlan(), eager) < 2e-2
        except (Stuck, Wrong, AssertionError):
            return True

    assert caught(eager=True) or caught(eager=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("(share + 1) * steps", "share * steps", id="empty parts"),
        pytest.param(
            "first, stop = share * steps // shares", "first, stop = 0", id="all begin with step 0"
        ),
    ],
)
def test_slips_in_splitting_are_caught(right: str, wrong: str) -> None:
    assert SPLIT.count(right) == 1
    wrong_source = SPLIT.replace(right, wrong)
    shape = (33, 264, 136)  # 2 tiles of 3 steps for 2 blocks
    try:
        error = worst_error(SOURCE, shape, "float32", 2, TilePlan(split=1), True, wrong_source)
    except (Stuck, Wrong, AssertionError, IndexError):
        return
    assert not error < 1e-6
