"""A wrong transpose is told which element of A stands where; computed here by plain NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from every_case import every_case

from course_lib.diagnosis.families.transpose import diagnose_transpose
from course_lib.diagnosis.launches.outcome import Geometry, Outcome

T, SIDE, POISON = 32, 64, -7.25e3
A = np.random.default_rng(0).uniform(-2, 2, (SIDE, SIDE)).astype(np.float32)


def diagnosed(got: np.ndarray) -> tuple[str, str]:
    sizes = Geometry(SIDE, SIDE, 0, T, T)
    expected = A.T.astype(np.float64)
    wrong = np.asarray(got, np.float32)
    slip = diagnose_transpose(
        Outcome((A,), expected, wrong, np.zeros(A.shape), sizes, POISON, "B", "A")
    )
    assert slip is not None
    return slip.code, slip.message


def tiles(X: np.ndarray, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Every tile changed in its place."""
    halves = [np.hstack([change(part) for part in np.hsplit(band, 2)]) for band in np.vsplit(X, 2)]
    return np.vstack(halves)


def without(rows: np.ndarray) -> np.ndarray:
    out = A.T.copy()
    out[rows] = POISON
    return out


WRONG = {
    "copy": (A, "wrong-index", "B equals A"),
    "tiles stay": (tiles(A, np.transpose), "wrong-index", "stays in its place"),
    "only tiles move": (tiles(A.T, np.transpose), "wrong-index", "nothing is transposed"),
    "first tile": (np.tile(A[:T, :T].T, (2, 2)), "wrong-index", "tile (0, 0)"),
    "row offset": (np.tile(A[:T].T, (1, 2)), "wrong-index", "the row of A is the column within"),
    "neighbour": (np.roll(A, -1, 1).T, "wrong-index", "the column of A is one too large"),
    "zero": (0 * A, "wrong-formula", "zero everywhere"),
    "whole": (np.trunc(A.T), "integer-arithmetic", "fractions cut off"),
    "twice": (2 * A.T, "wrong-formula", "2 times"),
    "old": (A.T + POISON, "uninitialised-read", "old contents of B"),
    "8 rows": (without(np.arange(SIDE) % T >= 8), "incomplete-output", "only 8 are written"),
    "last row": (without(np.arange(SIDE) == SIDE - 1), "incomplete-output", "the last row"),
    "edge": (np.where(np.arange(SIDE) == 63, 0, A.T), "wrong-bounds-check", "the last column"),
    "two exchanged": (A.T[[1, 0, *range(2, SIDE)]], "wrong-index", "B[0, 0] holds A[0, 1]"),
    "nonsense": (A.T * A.T, None, None),
}


@every_case("name", WRONG)
def test_a_wrong_transpose_is_told_its_slip(name: str) -> None:
    got, code, words = WRONG[name]
    if code is None:
        with pytest.raises(AssertionError):
            diagnosed(got)
        return
    assert diagnosed(got)[0] == code
    assert words in diagnosed(got)[1]
