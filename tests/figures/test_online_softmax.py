"""An online softmax, step by step: what is shown is what the kernels have kept."""

import math

import numpy as np
import pytest

from course_lib.figures import watch_online_softmax

SCORES = np.array([1, 3, 2, 5, 0, 4], np.float32)  # in three tiles of two
VALUES = np.array([10, 20, 30, 40, 50, 60], np.float32)


def kept_and_mixed():
    """By hand: after each score, and after each tile, with the largest score so far."""
    kept, mixed = np.zeros((6, 2), np.float32), np.zeros((3, 4), np.float32)
    for last in range(6):
        seen = slice(0, last + 1)
        top = SCORES[seen].max()
        weights = np.exp(SCORES[seen] - top)
        kept[last] = weights.sum(), top
        mixed[last // 2] = weights @ VALUES[seen]
    return kept, mixed


def test_old_weights_shrink_before_new_ones_are_added():
    kept, mixed = kept_and_mixed()
    figure = watch_online_softmax(SCORES, kept, mixed)
    tile_1 = [figure.state(at=at) for at in (3, 4, 5)]
    heights = [state["weight 0"]["height"] for state in tile_1]
    assert heights[0] > heights[1] == heights[2]
    assert heights[1] / heights[0] == pytest.approx(math.exp(3 - 5), rel=0.1)  # tenths of a pixel
    assert [state["weight 3"]["display"] for state in tile_1] == ["none", "none", None]
    totals = [float(state["total"]["text"]) for state in tile_1]
    expected = [1 + math.exp(-2), (1 + math.exp(-2)) * math.exp(-2), float(kept[3, 0])]
    assert totals == pytest.approx(expected, abs=6e-4)
    assert "shrinks by exp(3.000 − 5.000) = 0.135" in figure.sentence(at=4)
    assert "top stays 5.000" in figure.sentence(at=6)


def test_the_still_tells_every_tile():
    kept, mixed = kept_and_mixed()
    alt = watch_online_softmax(SCORES, kept, mixed).still.alt
    assert alt.count("factor ") >= 3 and "tile 1: top 5.000, factor 0.135" in alt


@pytest.mark.parametrize("tiles", [0, 4, 9])
def test_arrays_that_do_not_belong_together_are_refused(tiles):
    kept, _ = kept_and_mixed()
    with pytest.raises(ValueError, match="do not make up"):
        watch_online_softmax(SCORES, kept, np.zeros((tiles, 4)))
