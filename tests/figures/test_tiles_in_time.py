"""Tiles in time and in place: what traces, plans and pictures say of them."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import figures
from course_lib.answer_text.context import our_kernel
from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.emulator import emulate, load_program
from course_lib.figures import watch_online_softmax
from course_lib.figures.accesses import piece_of, places_of
from course_lib.figures.buffers import story_of
from course_lib.figures.explore.schedules import BUFFERS, RING, state_at
from course_lib.intrinsics import store4
from course_lib.kernels import RUNG_KERNELS
from course_lib.shown_answers import ours

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


def test_it_says_what_tiles_and_pieces_are_missing(rows, one_buffer):
    with pytest.raises(ValueError, match="rows has no tiles"):
        figures.tiles_in_time({"rows": rows}, 8)
    with pytest.raises(ValueError, match="not 4"):
        figures.tiles_in_time(dict.fromkeys("abcd", one_buffer), 8)
    with pytest.raises(ValueError, match="stores nothing in D"):
        figures.warp_pieces({"rows": rows}, "D")
    with pytest.raises(ValueError, match="not 4"):
        figures.warp_pieces(dict.fromkeys("abcd", rows))


def parts_of(picture):
    (axes,) = picture.figure.axes
    return {each.get_gid(): each.get_bbox() for each in axes.patches if each.get_gid()}


def test_the_piece_of_the_scores_has_the_blocks_rows_and_the_tiles_columns():
    picture = figures.attention_tiles()
    parts = parts_of(picture)
    scores = parts["scores"]
    assert scores.height / scores.width == pytest.approx(16 / 32, abs=0.01)
    for name in ("part of Q", "part of O", "kept"):
        assert parts[name].bounds[1::2] == pytest.approx(scores.bounds[1::2])
    for name in ("part of K", "part of V"):
        assert parts[name].bounds[::2] == pytest.approx(scores.bounds[::2])
    assert "the 2 tiles before it are discarded" in picture.alt
    assert "and 1 more will follow" in picture.alt


@pytest.mark.parametrize("plan", [*BUFFERS.plans.values(), *RING.plans.values()])
def test_a_row_holds_one_tile_at_a_time_and_products_run_one_after_the_other(plan):
    by_row = {span.row: [each for each in plan if each.row == span.row] for span in plan}
    products = [span for span in plan if span.kind == "multiply"]
    for one_after_the_other in (*by_row.values(), products):
        in_time = sorted(one_after_the_other, key=lambda span: span.begin)
        assert all(first.end <= second.begin for first, second in pairwise(in_time))


def test_the_sentences_name_what_happens_beside_each_other_and_who_waits():
    figure = figures.explore_double_buffer()
    assert "tile 0 is multiplied; tile 1 is on its way" in figure.sentence(way=1, tick=4)
    assert "nothing is multiplied" in figure.sentence(way=0, tick=6)
    assert "all is done" in figure.sentence(way=2, tick=11)
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


def test_pieces_lie_where_the_function_says():
    places = places_of(lambda row, piece: row * 64 + (piece ^ row) * 8)
    assert places[5, 2] == (5, 7) and len(places) == 64
    assert "in 8 different places, so ldmatrix fetches it in one wavefront" in (
        figures.swizzled_rows(ours("piece_at")).alt
    )
    in_order = figures.swizzled_rows(lambda row, piece: row * 64 + piece * 8)
    assert "in 1 different place" in in_order.alt and "8 wavefronts" in in_order.alt
    with pytest.raises(ValueError, match="share a place"):
        figures.swizzled_rows(lambda row, piece: row * 64)
    with pytest.raises(ValueError, match="outside"):
        figures.swizzled_rows(lambda row, piece: (row + 1) * 64 + piece * 8)


def test_a_product_follows_the_reference_and_64_bits_are_told_in_hexadecimal():
    # `mma` carries numbers from lane to lane, so a trace would lead to the wrong elements.
    assert "comes from row 5 of A and column 2 of B" in figures.wanted("one_mma").alt
    alt = figures.own_run("descriptor", ours("descriptor")).alt
    assert "0x4000_0040_0001_0000" in alt and "0x4000_0040_0001_0001" in alt
    assert "(16384, 8192, 1024) should be 0x4000_0040_0200_0400" in figures.wanted("descriptor").alt
    swapped = "def descriptor(address, across, down):\n    return address // 16\n"
    told = str(examine_source("descriptor", swapped))
    assert "returns 0x0, but should return 0x4000_0040_0000_0000" in told


def wide_pieces(C):
    """One warp: lanes 8 x 4, each owns four neighbours of each of two rows, 16 rows apart."""
    lane = cuda.threadIdx.x
    row, column = lane // 4, lane % 4 * 4
    four = (float32(1), float32(1), float32(1), float32(1))
    store4(C, row * 16 + column, four)
    store4(C, (row + 16) * 16 + column, four)


def test_the_map_names_the_lane_of_each_output():
    profile = emulate(wide_pieces, trace=True)[1, 64](np.zeros((48, 16), np.float32))
    assert "16 × 16 = 256 outputs" in figures.warp_pieces({"wide": profile}).alt
    piece = piece_of("wide", profile, "C")
    assert piece.map.shape == (24, 16) and piece.map[0, :8].tolist() == [0] * 4 + [1] * 4
    assert "lane 1 shares a row with lane 0" in figures.warp_pieces({"wide": profile}).alt


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
    alt = figure.still.alt
    assert alt.count("factor ") >= 3 and "tile 1: top 5.000, factor 0.135" in alt
    for tiles in (0, 4, 9):
        with pytest.raises(ValueError, match="do not make up"):
            watch_online_softmax(SCORES, kept, np.zeros((tiles, 4)))
