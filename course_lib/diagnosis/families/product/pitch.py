"""Tiles that lie flat in shared memory: filled in rows of one length, read in rows of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.families.index_search import IndexValues, pick_samples, take
from course_lib.diagnosis.launches.outcome import Geometry, Outcome
from course_lib.diagnosis.slip import Slip
from course_lib.sentences import say

Array = np.ndarray


@dataclass(frozen=True)
class Pitch:
    """How long the rows of an operand's tile are, when it is filled and when it is read.

    `turned`: a row of the tile is a column of the operand.
    """

    operand: str
    turned: bool
    filled: int
    read: int

    def indices(self, point: IndexValues) -> tuple[Array, Array]:
        """Row and column of the element of the operand that is read for each step."""
        if self.operand == "A":
            top, left, down, along = point.top, point.start, point.ty, point.kk
        else:
            top, left, down, along = point.start, point.left, point.kk, point.tx
        first, second = (along, down) if self.turned else (down, along)
        row, column = np.divmod(first * self.read + second, self.filled)
        row, column = (column, row) if self.turned else (row, column)
        return top + row, left + column


def pitch_slip(outcome: Outcome) -> Slip | None:
    """The tile of one operand that is filled and read in rows of different lengths, if it is so."""
    sizes = outcome.sizes
    samples = pick_samples(outcome.known, sizes)
    if sizes.tile_steps is None or not samples:
        return None
    few, all_places = np.array(samples).T, np.indices(outcome.got.shape)
    for pitch in _pitches(sizes):
        if _explains(pitch, outcome, few) and _explains(pitch, outcome, all_places):
            return _as_slip(pitch, _width(pitch, sizes))
    return None


def _width(pitch: Pitch, sizes: Geometry) -> int:
    """How long the rows of an operand's tile are."""
    high, wide = sizes.tile_rows, sizes.step_tile
    if pitch.operand == "B":
        high, wide = sizes.step_tile, sizes.tile_columns
    return high if pitch.turned else wide


def _pitches(sizes: Geometry) -> Iterator[Pitch]:
    """Every slip: the filling or the reading takes another of the launch's sizes for the width."""
    lengths = {
        *(sizes.tile_rows, sizes.tile_columns, sizes.step_tile),
        *(sizes.thread_rows, sizes.thread_columns),
    }
    for operand in "AB":
        for turned in (False, True):
            width = _width(Pitch(operand, turned, 0, 0), sizes)
            for other in sorted(lengths - {width}):
                yield Pitch(operand, turned, filled=width, read=other)
                yield Pitch(operand, turned, filled=other, read=width)


def _explains(pitch: Pitch, outcome: Outcome, places: Array) -> bool:
    """Are the numbers at these places (rows, columns) those that the slip gives?"""
    rows, columns = places
    point = IndexValues(rows, columns, outcome.sizes)
    a, b = (point.i, point.k), (point.k, point.j)
    if pitch.operand == "A":
        a = pitch.indices(point)
    else:
        b = pitch.indices(point)
    sums = np.sum(take(outcome.A, *a) * take(outcome.B, *b), axis=-1)
    known = outcome.known[rows, columns]
    close = np.abs(sums - outcome.values[rows, columns]) <= 2 * outcome.tolerance[rows, columns]
    return bool(known.any() and close[known].all())


def _as_slip(pitch: Pitch, width: int) -> Slip:
    wrong = "fill" if pitch.filled != width else "read"
    message = say(
        "The tile of {operand} is filled in rows of {filled} and read in rows of {read}.",
        operand=pitch.operand,
        filled=pitch.filled,
        read=pitch.read,
    )
    hint = say(
        "How long is a row of the tile of {operand}, and which number says so here?",
        operand=pitch.operand,
    )
    return Slip("wrong-index", message, hint, ("pitch", pitch.operand, wrong))
