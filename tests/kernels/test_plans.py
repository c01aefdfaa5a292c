"""Tiles, pieces and steps of the rungs: all of the product, once, in the order that is drawn."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from every_case import every_case
from exact_products import rung_product
from hypothesis import given
from hypothesis import strategies as st
from numba import cuda
from sampling import few

import course_lib
from course_lib.bench import tuner
from course_lib.emulator import Profile
from course_lib.kernels import RUNG_KERNELS, block_order
from course_lib.kernels.accuracy import bits_of_bf16, from_bf16
from course_lib.kernels.block_order import place_of_block
from course_lib.kernels.pieces import (
    FIELDS,
    MOST_STEPS,
    WHOLE,
    WorkPiece,
    pieces_of,
    shared_tiles,
    table_of,
)
from course_lib.kernels.split_tiles import parts
from course_lib.kernels.step_changes import changes, counts, run_of
from course_lib.kernels.tile_plan import (
    PAIR,
    WORTH_IT,
    TilePlan,
    plan_for,
    steps_of,
    ways_to_compute,
)
from course_lib.kernels.tma_steps import STEPS
from course_lib.kernels.variants import TEMPLATES, variant
from course_lib.questions import predictions

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


@given(workers=st.integers(1, 200), split=st.integers(0, 200), steps=st.integers(1, 300))
def test_every_step_is_done_once_by_nearly_equal_parts(workers, split, steps) -> None:
    found = list(parts(split, steps, workers))
    done = Counter((tile, k) for tile, first, stop, _ in found for k in range(first, stop))
    assert done == {(tile, k): 1 for tile in range(split) for k in range(steps)}
    assert len(found) <= max(workers, split)
    # The parts of a tile follow each other in the workspace; workers beside each other have the
    # same steps of different tiles.
    assert [number for *_, number in sorted(found)] == list(range(len(found)))
    assert [first for _, first, *_ in found] == sorted(first for _, first, *_ in found)
    if found:
        lengths = [stop - first for _, first, stop, _ in found]
        assert min(lengths) > 0 and max(lengths) - min(lengths) <= 1
        assert len(found) == split * max(1, min(workers // split, steps))


SHAPES = st.tuples(
    st.integers(1, 1200), st.integers(1, 150).map(lambda n: 8 * n), st.integers(1, 700)
)


@given(shape=SHAPES, workers=st.integers(2, 40), data=st.data())
def test_pieces_are_all_of_the_product(shape, workers, data) -> None:
    M, N, K = shape
    ways = [way for way in ways_to_compute(M, N, workers) if way.cluster <= workers]
    plan = data.draw(st.sampled_from(ways))
    work = pieces_of(plan, shape, workers // plan.cluster)
    assert 0 < len(work) <= workers // plan.cluster and all(work)
    tall, steps = plan.tall, -(-K // 64)
    whole, partial = (np.zeros((M + tall, N + 512), int) for _ in range(2))
    for piece in (piece for pieces in work for piece in pieces):
        assert piece.left < N and 0 <= piece.first < piece.stop <= steps
        assert piece.top < M and (piece.top + tall <= M or piece.top % tall == 0)
        done = piece.stop - piece.first
        area = slice(piece.top, piece.top + tall), slice(piece.left, piece.left + plan.wide)
        if piece.number == WHOLE:
            assert done == steps
            whole[area] += 1
        else:
            partial[area] += done
    whole, partial = whole[:M, :N], partial[:M, :N]
    assert ((whole > 0) | (partial > 0)).all()
    assert np.isin(partial, (0, steps)).all()  # no row of two split tiles, and each step once
    assert not (whole > 1).any() or tall < M  # only what was moved up is computed twice


@given(shape=SHAPES, workers=st.integers(4, 40))
def test_the_parts_of_a_tile_have_numbers_in_a_row(shape, workers) -> None:
    for plan in ways_to_compute(*shape[:2], workers):
        work = pieces_of(plan, shape, workers // plan.cluster)
        tiles = shared_tiles(work)
        assert len(tiles) == plan.split
        numbers = [first + i for *_, first, count in tiles.tolist() for i in range(count)]
        assert numbers == list(range(len(numbers))) and len(numbers) <= len(work)


def test_the_table_holds_what_the_lists_say_and_no_product_is_too_long() -> None:
    work = [
        [WorkPiece(70_001, 65_600, 3, 65_535, 131), WorkPiece(0, 8, 0, 1, WHOLE)],
        [WorkPiece(128, 192, 0, 7, WHOLE)],
    ]
    table = table_of(work)
    assert table.shape == (2, 3, FIELDS) and table.dtype == np.uint32
    for rows, pieces in zip(table.tolist(), work, strict=True):
        kept = [row for row in rows if row[2]]  # a worker stops at a piece without a step
        assert pieces == [WorkPiece(a, b, s & 0xFFFF, s >> 16, number) for a, b, s, number in kept]
    with pytest.raises(ValueError, match="takes at most 4,194,240"):
        pieces_of(TilePlan(), (8, 8, 64 * MOST_STEPS + 8), 4)


def product(name: str, M: int, N: int, K: int) -> tuple[Profile, np.ndarray, np.ndarray]:
    """A step's run with small whole numbers, so that all sums are exact; C, and the true one."""
    step, generator = STEPS[name], np.random.default_rng(0)
    A, B = (generator.integers(-3, 4, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    C: Any = np.zeros((M, N), step.result)
    profile = step.emulate(bits_of_bf16(A), bits_of_bf16(B), C)
    expected = A @ B
    if step.result == "uint16":
        return profile, from_bf16(C), from_bf16(bits_of_bf16(expected))
    return profile, C, expected


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_each_step_is_right_and_clean(name: str) -> None:
    profile, C, expected = product(name, 130, 136, 72)
    assert (expected == C).all()
    assert all(finding.severity != "error" for finding in profile.findings)


MOST_LINES = 45
# Lines that a step's difference holds, with their signs.
HOLD = {
    "persistent": ("persistent: stays = True, was False", "  (no line of the kernel)"),
    "tma_store": ("- store_directly, all of it", "+                 tma_store(map_c, "),
    "bf16": ("bf16: result = bfloat16, was float32", "+                 words = ("),
    "overlap": ("overlap: overlap = True, was False", "  (no line of the kernel)"),
    "clusters": ("  load:", "+         tma_load_multicast(", "-                     stmatrix_x4("),
    "last_turn": ("last_turn: plan = tiles of 128 x 64 in clusters of 1",),
}


@pytest.mark.parametrize("name", few(HOLD))
def test_what_changes_is_told_in_few_lines(name: str) -> None:
    lines = changes(name).splitlines()
    assert len(lines) <= MOST_LINES
    for start in HOLD[name]:
        assert any(line.startswith(start) for line in lines), start
    with pytest.raises(ValueError, match="choose one of persistent, tma_store"):
        changes("tma")  # the first step has none before it


@pytest.mark.slow
def test_every_number_that_is_predicted_comes_out() -> None:
    asked, runs = predictions("10b"), {name: run_of(name) for name in STEPS}
    assert runs["bf16"].stored == asked["10b-rounded"].value()
    assert runs["overlap"].loaded - runs["clusters"].loaded == asked["10b-shared-tile"].value()
    assert runs["tma_store"].stores < runs["persistent"].stores
    same = ("loaded", "stored", "blocks")
    assert all(getattr(runs["tma_store"], n) == getattr(runs["tma"], n) for n in same)
    assert runs["last_turn"].loaded > runs["clusters"].loaded
    assert (runs["clusters"].blocks, runs["last_turn"].blocks) == (2, 8)
    assert f"{runs['bf16'].stored:,}" in counts("bf16")


SOME = {  # of each rung one that differs in every constant
    "cp_async": {"WARPS_DOWN": 2, "WARPS_ACROSS": 2, "A_GROUPS": 1, "B_GROUPS": 2, "BK": 16},
    "tensor_core_bf16": {"WARPS_DOWN": 1, "WARPS_ACROSS": 4, "DOWN": 4, "ACROSS": 4, "STAGES": 4},
}


@pytest.mark.parametrize("name", SOME)
def test_another_tile_is_right_at_the_edges(name):
    rung = variant(name, **SOME[name])
    assert rung.tile[:2] == ((64, 64) if name == "cp_async" else (64, 128))
    rung_product(rung, 70, 136, 64 if rung.dtype == "uint16" else 36)


@pytest.mark.parametrize("name", SOME)
def test_strips_change_the_order_and_nothing_else(name):
    """Three rows of tiles in strips of two: the last strip is lower."""
    rung = variant(name, **SOME[name], STRIP=2)
    rung_product(rung, 3 * rung.tile[0], 2 * rung.tile[1], 32)


@cuda.jit
def numbered(strip, numbers):
    row, column = place_of_block(strip)
    if cuda.threadIdx.x == 0:
        numbers[row, column] = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x


def test_the_order_is_the_one_that_its_page_draws():
    rows = block_order.__doc__.split("strips of 2\n")[1].splitlines()[:3]
    drawn = [[int(number) for number in row.split()[:8]] for row in rows]
    for strip, columns in ((1, slice(0, 4)), (2, slice(4, 8))):
        numbers = np.full((3, 4), -1)
        course_lib.emulate(numbered)[(4, 3), 32](strip, numbers)
        assert numbers.tolist() == [row[columns] for row in drawn]


@pytest.mark.parametrize("name", tuner.CANDIDATES)
def test_every_candidate_can_be_made(name):
    for constants in tuner.CANDIDATES[name]:
        rung = variant(name, **constants)
        assert rung.block[0] <= 1024 and rung.dynamic_shared <= 227 * 1024
    assert variant(name).tile == RUNG_KERNELS[name].tile
    assert vars(TEMPLATES[name])["STRIP"] == 1


def test_what_no_file_has_and_what_cannot_be_shared_is_refused():
    with pytest.raises(KeyError, match="cp_async has no constant BLOCK"):
        variant("cp_async", BLOCK=3)
    with pytest.raises(KeyError):
        variant("tiled", TILE=16)
    with pytest.raises(ValueError, match="256 threads can't share a tile of B: it has 8 rows"):
        variant("cp_async", WARPS_DOWN=4, WARPS_ACROSS=2, A_GROUPS=1, B_GROUPS=1)
    with pytest.raises(ValueError, match="a tile of A: it has 128 rows, and they copy 32 at once"):
        variant("tensor_core_bf16", WARPS_ACROSS=2)
