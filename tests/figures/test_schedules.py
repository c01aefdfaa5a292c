"""Tiles in time, through buffers and through a ring of stages: the plans, and what is said."""

from itertools import pairwise

import pytest

from course_lib import figures
from course_lib.figures.explore.schedules import BUFFERS, RING, state_at


@pytest.mark.parametrize("plan", [*BUFFERS.plans.values(), *RING.plans.values()])
def test_a_row_holds_one_tile_at_a_time_and_products_run_one_after_the_other(plan):
    by_row = {span.row: [each for each in plan if each.row == span.row] for span in plan}
    products = [span for span in plan if span.kind == "multiply"]
    for one_after_the_other in (*by_row.values(), products):
        in_time = sorted(one_after_the_other, key=lambda span: span.begin)
        assert all(first.end <= second.begin for first, second in pairwise(in_time))


def test_the_sentence_names_what_happens_beside_each_other():
    figure = figures.explore_double_buffer()
    assert "tile 0 is multiplied; tile 1 is on its way" in figure.sentence(way=1, tick=4)
    assert "nothing is multiplied" in figure.sentence(way=0, tick=6)
    assert "all is done" in figure.sentence(way=2, tick=11)


def test_the_sentence_says_who_waits_for_what():
    figure = figures.explore_ring()
    said = figure.sentence(stages=1, tick=5)
    assert "wait until stage 0 is full; the producer waits until stage 0 is empty" in said
    said = figure.sentence(stages=1, tick=8)
    assert "the consumers multiply tile 1; the producer waits until stage 1" in said
    assert "all is done" in figure.sentence(stages=3, tick=22)
    assert "34 ticks" in figure.still.alt
    two = RING.plans["2 stages"]
    states = [state_at(two, 1, tick) for tick in (0, 7, 8, 40)]
    assert states == ["filling", "full", "in use", "empty"]
