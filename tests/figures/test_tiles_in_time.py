"""Tiles in time: what a trace says of buffers, from kernels whose order is known."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.answer_text.context import our_kernel
from course_lib.curriculum import TASKS
from course_lib.emulator import emulate, load_program
from course_lib.figures.buffers import story_of
from course_lib.kernels import RUNG_KERNELS

ALONG = {"A": 0, "B": 0}
HEAD = "from numba import cuda, float32\n"


def run(kernel):
    A, B, C = (np.ones(shape, np.float32) for shape in ((32, 32), (32, 32), (32, 32)))
    return emulate(kernel, trace=True)[1, 64](A, B, C)


@pytest.fixture(scope="module")
def one_buffer():
    text = HEAD + TASKS["two_buffers"].given
    return run(load_program(text).kernel("two_buffers"))


@pytest.mark.parametrize("name", ["two_buffers", "async_buffers"])
def test_with_two_buffers_a_tile_travels_while_the_one_before_is_read(name):
    story = story_of(name, run(our_kernel(TASKS[name])), 8, ALONG)
    assert [tile.number for tile in story.tiles] == [0, 1, 2, 3]
    assert list(story.buffers) == [0, 1, 0, 1]
    assert [story.beside(tile) for tile in story.tiles] == [[], [0], [1], [2]]
    for tile in story.tiles:
        assert tile.ordered < tile.here <= tile.read[0] < tile.read[1] <= story.length
    assert len(story.barriers) in (4, 5)


@pytest.mark.slow
def test_of_cp_async_one_pair_travels_at_a_time():
    rung = RUNG_KERNELS["cp_async"]
    M, N, K = rung.tile[0], rung.tile[1], 32
    A, B, C = (np.ones(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))
    launch = emulate(rung.kernel, trace=True)[rung.grid_and_block(M, N, K)]
    story = story_of("cp_async", launch(A, B, C), 8, {"A": 1, "B": 0})
    assert list(story.buffers) == [0, 1, 2, 0]
    later = story.tiles[2:]
    assert later[0].here <= later[1].ordered
    assert [story.beside(tile) for tile in later] == [[0, 1], [1, 2]]


def test_it_says_what_is_missing(rows, one_buffer):
    with pytest.raises(ValueError, match="rows has no tiles"):
        figures.tiles_in_time({"rows": rows}, 8)
    with pytest.raises(ValueError, match="not 4"):
        figures.tiles_in_time(dict.fromkeys("abcd", one_buffer), 8)
