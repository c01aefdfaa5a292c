"""Wrong numbers are explained by the slip that made them.

Each wrong output here is computed by plain NumPy, in another way than diagnosis does it.
"""

from __future__ import annotations

import numpy as np
import pytest
from every_case import every_case

from course_lib.diagnosis.families.addition import diagnose_add
from course_lib.diagnosis.families.product.formula import diagnose_matmul
from course_lib.diagnosis.launches.outcome import Geometry, Outcome, by_how_much, where

POISON = -7.25e3
T = 16


def matrices(M: int, N: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (
        rng.uniform(-2, 2, (M, K)).astype(np.float32),
        rng.uniform(-2, 2, (K, N)).astype(np.float32),
    )


def outcome(A, B, got, tiled=True, poison=POISON, tile=T) -> Outcome:
    expected = A.astype(np.float64) @ B.astype(np.float64)
    tolerance = (A.shape[1] + 2) * 6e-8 * (abs(A).astype(np.float64) @ abs(B)) + 1e-30
    sizes = Geometry(*expected.shape, A.shape[1], tile, tile, tile if tiled else None)
    return Outcome((A, B), expected, np.asarray(got, np.float32), tolerance, sizes, poison)


def blocks(n: int) -> np.ndarray:
    return np.arange(n) // T


def within(n: int) -> np.ndarray:
    return np.arange(n) % T


def tile_transposed(X: np.ndarray) -> np.ndarray:
    """Every T x T tile transposed in place."""
    out = X.copy()
    for top in range(0, X.shape[0], T):
        for left in range(0, X.shape[1], T):
            out[top : top + T, left : left + T] = X[top : top + T, left : left + T].T
    return out


def cumulative_int(A, B):
    total = np.zeros((A.shape[0], B.shape[1]), np.int64)
    for k in range(A.shape[1]):
        total = (total + A[:, k : k + 1] * B[k]).astype(np.int64)
    return total


def only_block_0(A, B):
    C = np.full((A.shape[0], B.shape[1]), POISON, np.float32)
    C[:T, :T] = (A @ B)[:T, :T]
    return C


SQUARE = {  # on 64 x 64 x 64: name -> (wrong output, code, part of the message, place)
    "exchanged A": (lambda A, B: A.T @ B, "wrong-index", "A.T @ B", ("load", "A")),
    "exchanged B": (lambda A, B: A @ B.T, "wrong-index", "A @ B.T", ("load", "B")),
    "exchanged C": (lambda A, B: (A @ B).T, "wrong-index", "transposed", ("store",)),
    "other order": (lambda A, B: B @ A, "wrong-index", "B @ A", ("load", "A")),
    "row without block": (lambda A, B: A[within(64)] @ B, "wrong-index", "row of A", ("load", "A")),
    "column without block": (
        lambda A, B: A @ B[:, within(64)],
        "wrong-index",
        "column of B",
        ("load", "B"),
    ),
    "both without block": (
        lambda A, B: A[within(64)] @ B[:, within(64)],
        "wrong-index",
        "Every block holds the numbers of block (0, 0)",
        ("load",),
    ),
    "no tile offset in A": (
        lambda A, B: A[:, within(64)] @ B,
        "wrong-index",
        "column of A is the step within the tile",
        ("load", "A"),
    ),
    "no tile offset in B": (
        lambda A, B: A @ B[within(64)],
        "wrong-index",
        "row of B is the step within the tile",
        ("load", "B"),
    ),
    "first tile always": (
        lambda A, B: A[:, within(64)] @ B[within(64)],
        "wrong-index",
        "offset of the tile is missing",
        ("load", "A"),
    ),
    "tile number times one": (
        lambda A, B: A[:, blocks(64) + within(64)] @ B,
        "wrong-index",
        "factor of the tile's size",
        ("load", "A"),
    ),
    "tiles of A transposed": (
        lambda A, B: tile_transposed(A) @ B,
        "wrong-index",
        "Each tile of A",
        ("shared", "A"),
    ),
    "tiles of B transposed": (
        lambda A, B: A @ tile_transposed(B),
        "wrong-index",
        "Each tile of B",
        ("shared", "B"),
    ),
    "shifted step": (
        lambda A, B: np.roll(A, -1, axis=1) @ B - np.outer(A[:, 0], B[-1]),
        "wrong-index",
        "one step too far",
        ("load", "A"),
    ),
    "shifted column": (
        lambda A, B: np.pad((A @ B)[:, 1:], ((0, 0), (0, 1))),
        "wrong-index",
        "column of B is one too large",
        ("load", "B"),
    ),
    "shifted store": (
        lambda A, B: np.pad((A @ B)[:, :-1], ((0, 0), (1, 0)), constant_values=POISON),
        "wrong-index",
        "wrong places: the column is one too small",
        ("store",),
    ),
    "only last product": (
        lambda A, B: np.outer(A[:, -1], B[-1]),
        "accumulator-error",
        "Only the last product",
        ("sum",),
    ),
    "reset each tile": (
        lambda A, B: A[:, -T:] @ B[-T:],
        "accumulator-error",
        "Only the last tile",
        ("start",),
    ),
    "last of each tile": (
        lambda A, B: A[:, T - 1 :: T] @ B[T - 1 :: T],
        "accumulator-error",
        "only the last product",
        ("sum",),
    ),
    "inner loop short": (
        lambda A, B: A[:, within(64) < T - 1] @ B[within(64) < T - 1],
        "wrong-loop-bound",
        "the last step of every tile",
        ("steps", "inner"),
    ),
    "inner loop late": (
        lambda A, B: A[:, within(64) > 0] @ B[within(64) > 0],
        "wrong-loop-bound",
        "the first step of every tile",
        ("steps", "inner"),
    ),
    "last tile out": (
        lambda A, B: A[:, :-T] @ B[:-T],
        "wrong-loop-bound",
        "the last 16 steps of k: the last tile",
        ("steps", "tiles"),
    ),
    "first tile out": (
        lambda A, B: A[:, T:] @ B[T:],
        "wrong-loop-bound",
        "the first 16 steps of k",
        ("steps", "tiles"),
    ),
    "last step out": (
        lambda A, B: A[:, :-1] @ B[:-1],
        "wrong-loop-bound",
        "Right except the last step of k, which is left out",
        ("steps",),
    ),
    "first step out": (
        lambda A, B: A[:, 1:] @ B[1:],
        "wrong-loop-bound",
        "the first step of k",
        ("steps",),
    ),
    "every second step": (
        lambda A, B: A[:, ::2] @ B[::2],
        "wrong-loop-bound",
        "every second step",
        ("steps", "inner"),
    ),
    "twice": (lambda A, B: 2 * (A @ B), "accumulator-error", "2 times", ("scale", "sum")),
    "running total added": (
        lambda A, B: sum(
            (4 - t) * A[:, t * T : t * T + T] @ B[t * T : t * T + T] for t in range(4)
        ),
        "accumulator-error",
        "tiles count differently",
        ("sum",),
    ),
    "start at one": (
        lambda A, B: A @ B + 1,
        "accumulator-error",
        "not start at zero. It is 1.",
        ("start",),
    ),
    "added to old": (
        lambda A, B: A @ B + POISON,
        "uninitialised-read",
        "old contents",
        ("load", "C"),
    ),
    "nothing written": (
        lambda A, B: np.full_like(A, POISON),
        "incomplete-output",
        "never written",
        ("store",),
    ),
    "one block written": (only_block_0, "incomplete-output", "every block but (0, 0)", ("store",)),
    "whole result": (
        lambda A, B: np.trunc(A @ B),
        "integer-arithmetic",
        "in the result",
        ("integer",),
    ),
    "whole inputs": (
        lambda A, B: A.astype(int) @ B.astype(int),
        "integer-arithmetic",
        "in A and B",
        ("integer",),
    ),
    "whole sum": (cumulative_int, "integer-arithmetic", "running sum", ("integer",)),
    "element by element": (lambda A, B: A * B, "wrong-formula", "element by element", ("sum",)),
    "sum of sums": (
        lambda A, B: A.sum(1)[:, None] + B.sum(0),
        "wrong-formula",
        "A + B instead of",
        ("sum",),
    ),
    "positive products": (
        lambda A, B: np.maximum(A[:, :, None] * B[None], 0).sum(1),
        "wrong-formula",
        "the positive products alone",
        ("sum", "chosen"),
    ),
    "negative": (lambda A, B: -(A @ B), "wrong-formula", "has the wrong sign", ("scale",)),
    "zero": (lambda A, B: 0 * A, "accumulator-error", "nothing was added", ("sum",)),
    "A squared": (lambda A, B: A @ A, "wrong-formula", "A @ A", ("load", "A")),
}


@pytest.mark.parametrize("name", SQUARE)
def test_a_wrong_square_product_is_told_its_slip(name: str) -> None:
    wrong, code, words, place = SQUARE[name]
    A, B = matrices(64, 64, 64)
    slip = diagnose_matmul(outcome(A, B, wrong(A, B)))
    assert slip is not None
    assert slip.code == code, slip
    assert words in f"{slip.message} {slip.values}"
    assert slip.place[: len(place)] == place


def zero_rows(X, first):
    X = X.copy()
    X[first:] = 0
    return X


RAGGED = {  # on M = 33, N = 19, K = 37
    "padded with ones": (
        lambda A, B: A @ B + 11,
        "missing-mask",
        "should add nothing. Each of them adds 1, together 11.",
    ),
    "edge repeated": (
        lambda A, B: A @ B + 11 * np.outer(A[:, -1], B[-1]),
        "missing-mask",
        "The last step of k counts 12 times",
    ),
    "stale tile": (
        lambda A, B: A @ B + A[:, 21:32] @ B[21:32],
        "stale-shared-read",
        "Steps 21 to 31 of k count twice",
    ),
    "infinite": (lambda A, B: np.full((33, 19), np.inf), "numerical-overflow", "C[0, 0] is inf"),
    "partial tile out": (
        lambda A, B: A[:, :32] @ B[:32],
        "wrong-loop-bound",
        "Right except the last 5 steps of k: the partial tile is left out",
    ),
    "K read as M": (lambda A, B: A[:, :33] @ B[:33], "wrong-loop-bound", "the last 4 steps"),
    "rows of A cut": (lambda A, B: zero_rows(A, 19) @ B, "wrong-bounds-check", "14 rows of A"),
    "last column of B cut": (
        lambda A, B: A @ zero_rows(B.T, 18).T,
        "wrong-bounds-check",
        "the last column of B",
    ),
    "last row of C": (
        lambda A, B: np.vstack([(A @ B)[:-1], np.full((1, 19), POISON)]),
        "incomplete-output",
        "the last row",
    ),
}


@every_case("name", RAGGED)
def test_a_wrong_edge_is_told_its_slip(name: str) -> None:
    wrong, code, words = RAGGED[name]
    A, B = matrices(33, 19, 37)
    slip = diagnose_matmul(outcome(A, B, wrong(A, B)))
    assert slip is not None
    assert slip.code == code, slip
    assert words in f"{slip.message} {slip.values}"


def test_a_right_product_has_no_slip() -> None:
    A, B = matrices(33, 19, 37)
    assert diagnose_matmul(outcome(A, B, A @ B)) is None


def test_noise_is_not_explained() -> None:
    A, B = matrices(64, 64, 64)
    noise = np.random.default_rng(3).uniform(-9, 9, (64, 64))
    assert diagnose_matmul(outcome(A, B, noise)) is None


def test_not_a_number_is_never_right() -> None:
    A, B = matrices(4, 4, 4)
    got = A @ B
    got[2, 3] = np.nan
    assert not outcome(A, B, got).right[2, 3]


ADD = {
    "minus": (lambda A, B: A - B, "wrong-formula", "A - B"),
    "times": (lambda A, B: A * B, "wrong-formula", "A * B"),
    "only A": (lambda A, B: A, "wrong-formula", "A alone"),
    "B transposed": (lambda A, B: A + B.T, "wrong-index", "B takes part transposed"),
    "both transposed": (lambda A, B: (A + B).T, "wrong-index", "transposed"),
    "block offset": (lambda A, B: A[within(48)] + B, "wrong-index", "row within the block"),
    "whole": (lambda A, B: np.trunc(A + B), "integer-arithmetic", "in the result"),
    "whole A": (lambda A, B: np.trunc(A) + B, "integer-arithmetic", "in A"),
    "plus one": (lambda A, B: A + B + 1, "wrong-formula", "off by the same amount. It is 1."),
    "neighbour": (lambda A, B: A + np.roll(B, -1, 1), "wrong-index", "one too large"),
    "old": (lambda A, B: A + B + POISON, "uninitialised-read", "old contents"),
}


@every_case("name", ADD)
def test_a_wrong_sum_is_told_its_slip(name: str) -> None:
    wrong, code, words = ADD[name]
    A, B = matrices(48, 48, 48)
    expected = A.astype(np.float64) + B
    tolerance = 2e-7 * (abs(A) + abs(B)).astype(np.float64)
    got = wrong(A, B).astype(np.float32)
    slip = diagnose_add(
        Outcome((A, B), expected, got, tolerance, Geometry(48, 48, 0, T, T), POISON)
    )
    assert slip is not None
    assert slip.code == code, slip
    assert words in f"{slip.message} {slip.values}"


@every_case(
    ("chosen", "words"),
    [
        (np.s_[:, :], "every element"),
        (np.s_[2, 3], "element [2, 3]"),
        (np.s_[-1, :], "the last row"),
        (np.s_[:, 30:], "the last 10 columns"),
        (np.s_[4:7, :], "rows 4 to 6"),
        (np.s_[::2, :], "every second row"),
        (np.s_[16:32, 16:32], "block (1, 1)"),
        (np.s_[3:5, 7:9], "rows 3 to 4 of columns 7 to 8"),
    ],
)
def test_a_place_is_named(chosen: object, words: str) -> None:
    mask = np.zeros((35, 40), bool)
    mask[chosen] = True
    assert str(where(mask, Geometry(35, 40, 8, 16, 16))) == words


def test_all_but_one_block_is_named() -> None:
    mask = np.ones((35, 40), bool)
    mask[:16, :16] = False
    assert str(where(mask, Geometry(35, 40, 8, 16, 16))) == "every block but (0, 0)"


def test_all_but_one_are_named() -> None:
    sizes = Geometry(35, 40, 8, 16, 16)
    mask = np.ones((35, 40), bool)
    mask[4, 12] = False
    assert str(where(mask, sizes)) == "every element but [4, 12]"
    mask[4] = False
    assert str(where(mask, sizes)) == "every row but row 4"


def test_the_edges_are_named_together() -> None:
    mask = np.zeros((35, 40), bool)
    mask[-1] = mask[:, -2:] = True
    assert str(where(mask, Geometry(35, 40, 8, 16, 16))) == "the last row and the last 2 columns"


def test_an_example_shows_both_numbers() -> None:
    A, B = np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)
    assert by_how_much(outcome(A, B, A * 7)) == "C[0, 0] is 7 and should be 2"
