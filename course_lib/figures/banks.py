"""Lay out how the banks of shared memory serve one request: which lane in which wavefront."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.devices import BANK_WIDTH_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.emulator.profile.counters import paired
from course_lib.figures import style
from course_lib.figures.pen import LIT, Pen
from course_lib.figures.picture import Picture
from course_lib.wording.words import counted

Ints = Sequence[int] | np.ndarray


@dataclass(frozen=True)
class Served:
    """An element that a bank (or several) hands out in one wavefront, to all who asked."""

    lanes: tuple[int, ...]
    bank: int  # the first one
    banks: int  # how many: 2 for 8 bytes, 4 for 16
    word: int  # the first one of shared memory
    turn: int  # 0 for the first wavefront of its phase, 1 for the next, …


@dataclass(frozen=True)
class Phase:
    """The lanes that are served together."""

    first_lane: int
    last_lane: int
    served: tuple[Served, ...]

    @property
    def passes(self) -> int:
        """Wavefronts: the most different words that any bank is asked for."""
        return 1 + max(each.turn for each in self.served)

    def words(self) -> dict[int, list[int]]:
        """By bank the different words that it is asked for."""
        found: dict[int, list[int]] = {}
        for each in self.served:
            for word in range(each.word, each.word + each.banks):
                found.setdefault(word % SHARED_MEMORY_BANKS, []).append(word)
        return found


def phases_of(addresses: Ints, lanes: Ints, width: int) -> tuple[Phase, ...]:
    """How one warp's request is served; phases in which no lane is active are left out.

    The rules are those by which the emulator counts (see emulator/profile/counters.py): one word
    of each bank in a wavefront, half a warp at a time for 8 bytes a lane and a quarter for 16, or
    twice as many lanes where they share addresses in pairs.

    Args:
        addresses: the byte address that each active lane asks for.
        lanes: the active lanes.
        width: bytes per lane.
    """
    at = dict(zip(map(int, lanes), map(int, addresses), strict=True))
    size = WARP_SIZE // phase_count(addresses, lanes, width)
    starts = range(0, WARP_SIZE, size)
    found = [(first, {lane: at[lane] for lane in at if first <= lane < first + size})
             for first in starts]  # fmt: skip
    return tuple(
        Phase(first, first + size - 1, _serve(mine, width)) for first, mine in found if mine
    )


def phase_count(addresses: Ints, lanes: Ints, width: int) -> int:
    """In how many phases a warp is served: 1, or 2 and 4 for wide lanes, or half as many."""
    words = max(1, width // BANK_WIDTH_BYTES)
    if words == 1:
        return 1
    row, active = np.zeros((1, WARP_SIZE), np.int64), np.zeros((1, WARP_SIZE), bool)
    row[0, list(lanes)], active[0, list(lanes)] = list(addresses), True
    return words // 2 if paired(row, active)[0] else words


def _serve(at: dict[int, int], width: int) -> tuple[Served, ...]:
    """Each different element once; those that want the same bank take turns."""
    banks = max(1, width // BANK_WIDTH_BYTES)
    asking: dict[int, list[int]] = {}
    for lane in sorted(at):
        asking.setdefault(at[lane] // BANK_WIDTH_BYTES, []).append(lane)
    turns: dict[int, int] = {}
    served = []
    for word, lanes in asking.items():
        bank = word % SHARED_MEMORY_BANKS
        served.append(Served(tuple(lanes), bank, banks, word, turns.get(bank, 0)))
        turns[bank] = turns.get(bank, 0) + 1
    return tuple(served)


# --- Draw where a function puts the pieces of eight rows, and in which banks they come to lie -----


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
