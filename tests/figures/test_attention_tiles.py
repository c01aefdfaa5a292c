"""The block and the tile stand where their queries and keys are, and meet in the scores."""

from __future__ import annotations

import pytest

from course_lib import figures


def parts_of(picture):
    (axes,) = picture.figure.axes
    return {each.get_gid(): each.get_bbox() for each in axes.patches if each.get_gid()}


@pytest.mark.parametrize(
    ("tokens", "queries", "keys", "block", "tile"),
    [(128, 16, 32, 2, 2), (128, 16, 32, 7, 0), (64, 32, 16, 1, 3)],
)
def test_the_piece_of_the_scores_has_the_blocks_rows_and_the_tiles_columns(
    tokens, queries, keys, block, tile
):
    picture = figures.attention_tiles(tokens, queries=queries, keys=keys, block=block, tile=tile)
    parts = parts_of(picture)
    scores = parts["scores"]
    assert scores.height / scores.width == pytest.approx(queries / keys)
    for name in ("part of Q", "part of O", "kept"):
        assert parts[name].bounds[1::2] == pytest.approx(scores.bounds[1::2])
    for name in ("part of K", "part of V"):
        assert parts[name].bounds[::2] == pytest.approx(scores.bounds[::2])
    assert f"{tile} tiles before it are forgotten" in picture.alt
    assert f"and {tokens // keys - tile - 1} are still to come" in picture.alt


def test_a_tile_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no block 0 of 16 and tile 4"):
        figures.attention_tiles(block=0, tile=4)
