"""Where numbers are wrong, and by how much, is named."""

import numpy as np
from every_case import every_case

from course_lib.diagnosis.launches.outcome import Geometry, Outcome, by_how_much, where
from course_lib.diagnosis.number_patterns import equal_in_both


def outcome(got: np.ndarray) -> Outcome:
    """Of a product of two matrices that hold 1 alone."""
    ones = np.ones(got.shape, np.float32)
    sizes = Geometry(16, 16)
    room = np.full(got.shape, 1e-5)
    return Outcome((ones, ones), ones @ ones.astype(np.float64), got, room, sizes, -7.25e3)


def test_not_a_number_is_never_right() -> None:
    got = np.full((4, 4), 4, np.float32)
    got[2, 3] = np.nan
    assert np.argwhere(~outcome(got).right).tolist() == [[2, 3]]


@every_case(("chosen", "words"), [
    (np.s_[:, :], "every element"),
    (np.s_[2, 3], "element [2, 3]"),
    (np.s_[-1, :], "the last row"),
    (np.s_[:, 30:], "the last 10 columns"),
    (np.s_[4:7, :], "rows 4 to 6"),
    (np.s_[::2, :], "every second row"),
    (np.s_[16:32, 16:32], "block (1, 1)"),
    (np.s_[3:5, 7:9], "rows 3 to 4 of columns 7 to 8"),
])  # fmt: skip
def test_a_place_is_named(chosen: object, words: str) -> None:
    mask = np.zeros((35, 40), bool)
    mask[chosen] = True
    assert str(where(mask, Geometry(16, 16))) == words


def test_all_but_one_block_is_named() -> None:
    mask = np.ones((35, 40), bool)
    mask[:16, :16] = False
    assert str(where(mask, Geometry(16, 16))) == "every block but (0, 0)"


def test_all_but_one_are_named() -> None:
    sizes = Geometry(16, 16)
    mask = np.ones((35, 40), bool)
    mask[4, 12] = False
    assert str(where(mask, sizes)) == "every element but [4, 12]"
    mask[4] = False
    assert str(where(mask, sizes)) == "every row but row 4"


def test_the_edges_are_named_together() -> None:
    mask = np.zeros((35, 40), bool)
    mask[-1] = mask[:, -2:] = True
    assert str(where(mask, Geometry(16, 16))) == "the last row and the last 2 columns"


def test_an_example_shows_both_numbers() -> None:
    got = np.full((2, 2), 7, np.float32)
    assert by_how_much(outcome(got)) == "C[0, 0] is 7 and should be 2"


@every_case(("first", "second", "depends"), [
    ([1, 2], [1, 2], False),
    ([1, 2], [1, 3], True),
    ([0, 0], [0, 0], True),
    ([np.nan, 2], [np.nan, 2], True),
    ([-7.25e3, 2], [np.nan, 2], False),
])  # fmt: skip
def test_zeros_and_not_a_number_are_no_hardcoded_answer(first, second, depends) -> None:
    room = np.full(2, 1e-3)
    sizes = Geometry(1, 16)
    one, other = (
        Outcome((), room, np.array(got, np.float32), room, sizes, -7.25e3)
        for got in (first, second)
    )
    assert equal_in_both(one, other) is not depends
