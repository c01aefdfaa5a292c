"""What a warp owns: the shape that the picture tells, from kernels whose mapping is known."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import figures
from course_lib.emulator import emulate
from course_lib.figures.lanes import piece_of
from course_lib.intrinsics import store4


def wide_pieces(C):
    """One warp: lanes 8 x 4, each owns four neighbours of each of two rows, 16 rows apart."""
    lane = cuda.threadIdx.x
    row, column = lane // 4, lane % 4 * 4
    four = (float32(1), float32(1), float32(1), float32(1))
    store4(C, row * 16 + column, four)
    store4(C, (row + 16) * 16 + column, four)


def test_it_says_what_is_missing(rows):
    with pytest.raises(ValueError, match="stores nothing in D"):
        figures.warp_pieces({"rows": rows}, "D")
    with pytest.raises(ValueError, match="not 4"):
        figures.warp_pieces(dict.fromkeys("abcd", rows))


def test_the_map_names_the_lane_of_each_output():
    profile = emulate(wide_pieces, trace=True)[1, 64](np.zeros((48, 16), np.float32))
    assert "16 × 16 = 256 outputs" in figures.warp_pieces({"wide": profile}).alt
    piece = piece_of("wide", profile, "C")
    assert piece.map.shape == (24, 16) and piece.map[0, :8].tolist() == [0] * 4 + [1] * 4
    assert "lane 1 shares a row with lane 0" in figures.warp_pieces({"wide": profile}).alt
