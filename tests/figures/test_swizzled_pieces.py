"""The pieces of eight rows, and fragments: what the pictures say holds."""

import pytest

from course_lib import figures
from course_lib.checking import examine_source
from course_lib.figures.accesses import places_of
from course_lib.shown_answers import ours


def test_pieces_lie_where_the_function_says():
    places = places_of(lambda row, piece: row * 64 + (piece ^ row) * 8)
    assert places[5, 2] == (5, 7) and len(places) == 64
    assert "in 8 different places, so ldmatrix fetches it in one wavefront" in (
        figures.swizzled_rows(ours("piece_at")).alt
    )
    in_order = figures.swizzled_rows(lambda row, piece: row * 64 + piece * 8)
    assert "in 1 different place" in in_order.alt and "8 wavefronts" in in_order.alt


@pytest.mark.parametrize(
    ("piece_at", "said"),
    [
        (lambda row, piece: row * 64, "share a place"),
        (lambda row, piece: (row + 1) * 64 + piece * 8, "outside"),
    ],
)
def test_pieces_that_do_not_fit_are_refused(piece_at, said):
    with pytest.raises(ValueError, match=said):
        figures.swizzled_rows(piece_at)


def test_of_a_product_the_picture_follows_the_reference():
    """`mma` carries numbers from lane to lane, so a trace would lead to the wrong elements."""
    assert "comes from row 5 of A and column 2 of B" in figures.wanted("one_mma").alt


def test_numbers_of_64_bits_are_told_in_hexadecimal():
    alt = figures.own_run("descriptor", ours("descriptor")).alt
    assert "0x4000_0040_0001_0000" in alt and "0x4000_0040_0001_0001" in alt
    assert "(16384, 8192, 1024) should be 0x4000_0040_0200_0400" in figures.wanted("descriptor").alt


def test_what_is_compared_with_64_bits_is_told_in_hexadecimal_too():
    swapped = "def descriptor(address, across, down):\n    return address // 16\n"
    told = str(examine_source("descriptor", swapped))
    assert "returns 0x0, but should return 0x4000_0040_0000_0000" in told
