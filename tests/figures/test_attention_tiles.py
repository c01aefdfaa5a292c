"""The block and the tile stand where their queries and keys are, and meet in the scores."""

import pytest

from course_lib import figures


def parts_of(picture):
    (axes,) = picture.figure.axes
    return {each.get_gid(): each.get_bbox() for each in axes.patches if each.get_gid()}


def test_the_piece_of_the_scores_has_the_blocks_rows_and_the_tiles_columns():
    picture = figures.attention_tiles()
    parts = parts_of(picture)
    scores = parts["scores"]
    assert scores.height / scores.width == pytest.approx(16 / 32)
    for name in ("part of Q", "part of O", "kept"):
        assert parts[name].bounds[1::2] == pytest.approx(scores.bounds[1::2])
    for name in ("part of K", "part of V"):
        assert parts[name].bounds[::2] == pytest.approx(scores.bounds[::2])
    assert "2 tiles before it are forgotten" in picture.alt
    assert "and 1 are still to come" in picture.alt
