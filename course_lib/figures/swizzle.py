"""Draw where a function puts the pieces of eight rows, and in which banks they come to lie."""

from __future__ import annotations

from collections.abc import Callable

from course_lib.figures import style
from course_lib.figures.pen import LIT, Pen
from course_lib.figures.picture import Picture
from course_lib.words import counted

_ROWS = _PIECES = 8
_NUMBERS = 64  # of 16 bits, in a row of 128 bytes
_OF_A_PIECE = 8
_WIDTH, _HEIGHT = 0.62, 0.27
_LEFT, _TOP = 0.75, 1.22
_PICKED = 2  # the piece that is followed down the rows


@style.drawn
def swizzled_rows(piece_at: Callable[[int, int], int]) -> Picture:
    """Eight rows of eight pieces, each piece where `piece_at` puts it.

    Args:
        piece_at: of a row and a piece the index of its first number, in a tile with rows of 64
            numbers of 16 bits: a plain function, or a device function of Numba.

    Raises:
        ValueError: if two pieces share a place, or one lies outside these eight rows.
    """
    places = places_of(getattr(piece_at, "py_func", piece_at))
    figure = style.card(
        _TOP + _ROWS * _HEIGHT + 0.5,
        "Eight rows of 128 bytes: where each piece lies",
        "Columns: where in the row, and in which banks. Numbers: which piece lies there",
    )
    pen = Pen.on(figure)
    for place in range(_PIECES):
        x = _LEFT + (place + 0.5) * _WIDTH
        pen.write(x, _TOP - 0.3, f"place {place}", ha="center", colour=style.GREY)
        banks = f"{4 * place}–{4 * place + 3}"
        pen.write(x, _TOP - 0.13, banks, ha="center", colour=style.GREY)
    for (_, piece), (at_row, place) in places.items():
        is_picked = piece == _PICKED
        looks = LIT if is_picked else {"face": style.tint(style.SKY, 0.25), "edge": style.PAPER}
        line = 1.2 if is_picked else 0.5
        spot = pen.at(_LEFT + place * _WIDTH, _TOP + at_row * _HEIGHT, 1)
        spot.rectangle(0, 0, _WIDTH - 0.02, _HEIGHT - 0.02, **{**looks, "line": line, "z": 1})
        spot.write(_WIDTH / 2, _HEIGHT / 2, str(piece), ha="center", bold=is_picked)
    for row in range(_ROWS):
        y = _TOP + (row + 0.5) * _HEIGHT
        pen.write(_LEFT - 0.1, y, f"row {row}", ha="right", colour=style.GREY)
    met = {place for (_, piece), (_, place) in places.items() if piece == _PICKED}
    told = f"Piece {_PICKED} of the eight rows lies in {counted(len(met), 'different place')}"
    passes = _ROWS // len(met) if _ROWS % len(met) == 0 else _ROWS
    passes_words = "one wavefront" if passes == 1 else f"{passes} wavefronts"
    words = f"{told}, so `ldmatrix` fetches it in {passes_words}.".replace("`", "")
    pen.write(0.16, _TOP + _ROWS * _HEIGHT + 0.24, words)
    return Picture(figure, f"A grid of eight rows and eight places of 16 bytes. {words}")


def places_of(piece_at: Callable[[int, int], int]) -> dict[tuple[int, int], tuple[int, int]]:
    """Row and place of every (row, piece).

    Raises:
        ValueError: if two pieces share a place, or one lies outside.
    """
    found = {
        (row, piece): divmod(int(piece_at(row, piece)), _NUMBERS)
        for row in range(_ROWS)
        for piece in range(_PIECES)
    }
    places = {key: (row, start // _OF_A_PIECE) for key, (row, start) in found.items()}
    if len(set(places.values())) < len(places):
        raise ValueError("Two pieces share a place.")
    if any(not 0 <= row < _ROWS for row, _ in places.values()):
        raise ValueError("A piece lies outside the eight rows.")
    return places
