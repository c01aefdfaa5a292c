"""Split tiles: every step of every tile is somebody's work, once."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from course_lib.kernels.split_tiles import parts


@given(workers=st.integers(1, 200), split=st.integers(0, 200), steps=st.integers(1, 300))
def test_every_step_is_done_once_by_nearly_equal_parts(
    workers: int, split: int, steps: int
) -> None:
    found = list(parts(split, steps, workers))
    done = Counter((tile, k) for tile, first, stop, _ in found for k in range(first, stop))
    assert done == {(tile, k): 1 for tile in range(split) for k in range(steps)}
    assert len(found) <= max(workers, split)
    # The parts of a tile follow each other in the workspace; workers beside each other have the
    # same steps of different tiles.
    assert [number for *_, number in sorted(found)] == list(range(len(found)))
    assert [first for _, first, *_ in found] == sorted(first for _, first, *_ in found)
    if found:
        lengths = [stop - first for _, first, stop, _ in found]
        assert min(lengths) > 0 and max(lengths) - min(lengths) <= 1
        assert len(found) == split * max(1, min(workers // split, steps))
