"""Split tiles: every step of every tile is somebody's work, once; pieces add up to tiles."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from course_lib import emulate
from course_lib.kernels.split_tiles import next_piece, share_of_work


@cuda.jit
def note_work(done, pieces, tiles, split, steps):
    """One thread a worker notes each step it does, and the number of each piece in pieces."""
    begin, end, number, workers = share_of_work(split, steps, 1)
    while begin < end or number < tiles:
        tile, first, stop, begin, number = next_piece(begin, end, number, workers, steps)
        for k in range(first, stop):
            done[tile, k] += 1
        if stop - first < steps:
            pieces[tile + cuda.blockIdx.x] += 1


@settings(max_examples=40, deadline=None)
@given(
    workers=st.integers(1, 9),
    tiles=st.integers(1, 20),
    steps=st.integers(1, 7),
    share=st.floats(0, 1),
)
def test_every_step_is_done_once(workers: int, tiles: int, steps: int, share: float) -> None:
    split = round(share * min(tiles, workers))
    done = np.zeros((tiles, steps), np.int32)
    pieces = np.zeros(workers + split + 1, np.int32)
    profile = emulate(note_work)[workers, 1](
        done, pieces, np.uint32(tiles), np.uint32(split), np.uint32(steps)
    )
    assert not [each for each in profile.findings if each.severity == "error"]
    assert (done == 1).all()
    assert pieces.max() <= 1  # no two pieces share a place in the workspace
