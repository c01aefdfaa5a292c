"""Who owns what: the picture shows what each thread wrote in a run, right or wrong."""

import numpy as np
import pytest
from kernels_to_watch import EMPTY, PLAIN, TILED, flat, kernel

from course_lib.figures import who_owns_what
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch import NothingToDraw

IN_ONE_ROW = (
    "col, row = cuda.grid(2)",
    "row, col = cuda.grid(1) // C.shape[1], cuda.grid(1) % C.shape[1]",
)


def owned(figure: Interactive, block: int, thread: int) -> object:
    return figure.state(block=block, thread=thread)["mine"]["text"]


def test_each_thread_of_a_ragged_grid() -> None:
    figure = who_owns_what((20, 20), (8, 8))
    for block, (bx, by) in enumerate((x, y) for y in range(3) for x in range(3)):
        for thread in (0, 9, 63):
            row, column = by * 8 + thread // 8, bx * 8 + thread % 8
            inside = row < 20 and column < 20
            assert owned(figure, block, thread) == (
                f"owns C[{row}, {column}]" if inside else "writes nothing"
            )
    assert figure.state(block=8)["seat63"]["class"] == "hatch"
    assert "lane 31 of warp 0" in figure.sentence(thread=31)
    assert "176 write nothing" in figure.html()
    assert figure.size_bytes < 100_000


def test_a_block_of_a_tiled_kernel_shares_the_loading() -> None:
    figure = who_owns_what((16, 16), tile=8, kernel=kernel())
    assert owned(figure, 0, 10) == "owns C[1, 2]"
    assert "loads 2 elements of A and 2 of B itself, of the 16" in figure.sentence()


def test_one_dimensional_blocks() -> None:
    figure = who_owns_what((6, 20), 64, kernel=kernel(PLAIN, IN_ONE_ROW), grid=2)
    assert owned(figure, 1, 1) == "owns C[3, 5]"
    assert "not the mapping of cuda.grid(2)" in figure.sentence()
    with_tiles = who_owns_what((16, 16), block=64, kernel=flat(), grid=(2, 2))
    assert with_tiles.controls[1].values[-1] == "ty 0, tx 63"


def test_a_wrong_mapping_and_its_wrong_values() -> None:
    twice = kernel(PLAIN, ("C[row, col] = total", "C[row // 2, col] = total"))
    figure = who_owns_what((8, 8), (4, 4), kernel=twice)
    assert owned(figure, 0, 8) == "owns C[1, 0]"
    assert "Its value is wrong" in figure.sentence(block=0, thread=8)
    assert "⚠ 32 elements have several writers" in figure.html()
    assert "32 by nobody" in figure.still.alt


def test_what_is_not_missing_is_not_counted() -> None:
    whole = who_owns_what((8, 8), (4, 4), kernel=kernel(PLAIN))
    assert "every thread writes · every element is written" in whole.html()
    # Another mapping, so that the still is the map of who wrote what.
    rows = who_owns_what((8, 8), block=16, kernel=kernel(PLAIN, IN_ONE_ROW), grid=(4, 1))
    assert "no element is left out" in rows.still.alt
    for figure in (whole, rows):
        assert "0 element" not in figure.html() and "0 by" not in figure.still.alt


def test_a_thread_may_own_several_elements() -> None:
    pairs = kernel(PLAIN, ("        C[row, col] = total", "        C[row, col] = C[0, 0] = total"))
    figure = who_owns_what((4, 4), (2, 2), kernel=pairs)
    assert "2 elements" in figure.sentence(block=3, thread=3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kernel": kernel(EMPTY)}, "still empty"), ({"shape": (64, 64)}, "too many to click"),
        ({"shape": (4,)}, "shape is"), ({"block": (64, 32)}, "2048 threads"),
        ({"block": (2, 2, 2)}, "one or two"), ({"grid": 0}, "one or two"),
        ({"tile": 0}, "no block"),
        ({"kernel": kernel(TILED, ("(A, B, C)", "(A, B, C, D)")), "tile": 8}, "4 arguments"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_a_sentence(given: dict, words: str) -> None:
    with pytest.raises(NothingToDraw, match=words):
        who_owns_what(**given)


def test_the_largest_that_is_allowed_stays_small_enough() -> None:
    assert who_owns_what((32, 32), (32, 32)).size_bytes < 300_000
    assert np.prod((32, 48)) <= 1600 and who_owns_what((32, 48), (16, 16)).size_bytes < 200_000
