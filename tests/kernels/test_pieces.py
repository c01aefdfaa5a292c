"""Rung 12's lists of pieces: all of C, each step once, and what the GPU reads is what was meant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.kernels.pieces import (
    FIELDS,
    MOST_STEPS,
    WHOLE,
    WorkPiece,
    pieces_of,
    shared_tiles,
    table_of,
)
from course_lib.kernels.tile_plan import TilePlan, ways_to_compute

SHAPES = st.tuples(
    st.integers(1, 1200), st.integers(1, 150).map(lambda n: 8 * n), st.integers(1, 700)
)


@given(shape=SHAPES, workers=st.integers(2, 40), data=st.data())
def test_pieces_are_all_of_the_product(
    shape: tuple[int, int, int], workers: int, data: st.DataObject
) -> None:
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
def test_the_parts_of_a_tile_have_numbers_in_a_row(
    shape: tuple[int, int, int], workers: int
) -> None:
    for plan in ways_to_compute(*shape[:2], workers):
        work = pieces_of(plan, shape, workers // plan.cluster)
        tiles = shared_tiles(work)
        assert len(tiles) == plan.split
        numbers = [first + i for *_, first, count in tiles.tolist() for i in range(count)]
        assert numbers == list(range(len(numbers))) and len(numbers) <= len(work)


def test_the_table_holds_what_the_lists_say() -> None:
    work = [
        [WorkPiece(70_001, 65_600, 3, 65_535, 131), WorkPiece(0, 8, 0, 1, WHOLE)],
        [WorkPiece(128, 192, 0, 7, WHOLE)],
    ]
    table = table_of(work)
    assert table.shape == (2, 3, FIELDS) and table.dtype == np.uint32
    found = [
        [
            WorkPiece(top, left, steps & 0xFFFF, steps >> 16, number)
            for top, left, steps, number in rows
            if steps  # a worker stops at a piece without a step
        ]
        for rows in table.tolist()
    ]
    assert found == work


def test_a_product_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="takes at most 4,194,240"):
        pieces_of(TilePlan(), (8, 8, 64 * MOST_STEPS + 8), 4)
