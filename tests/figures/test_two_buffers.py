"""Tiles in time: the model's schedules, and what the figure says of them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from course_lib.figures.explore.two_buffers import _PLANS, _WAYS, explore_double_buffer


def test_more_buffers_finish_earlier():
    # By hand: 4 * (3 + 2); 3 + 3 * 3 + 2; 3 + 4 * 2.
    assert [max(job.end for job in _PLANS[way]) for way in _WAYS] == [20, 14, 11]


@pytest.mark.parametrize("way", _WAYS)
def test_a_buffer_holds_one_tile_at_a_time_and_lanes_multiply_one(way):
    jobs = _PLANS[way]
    by_buffer = {job.buffer: [j for j in jobs if j.buffer == job.buffer] for job in jobs}
    multiplied = [job for job in jobs if job.verb == "multiply"]
    for one_after_the_other in (*by_buffer.values(), multiplied):
        in_time = sorted(one_after_the_other, key=lambda job: job.begin)
        assert all(first.end <= second.begin for first, second in pairwise(in_time))


def test_the_sentence_names_what_happens_beside_each_other():
    figure = explore_double_buffer()
    assert "tile 0 is multiplied; tile 1 is on its way" in figure.sentence(way=1, tick=4)
    assert "nothing is multiplied" in figure.sentence(way=0, tick=6)
    assert "all is done" in figure.sentence(way=2, tick=11)
