"""Slips in attention are told apart by the numbers that they leave."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.diagnosis.attention import Online, diagnose_attention, scores_of, softmax
from course_lib.diagnosis.cases import ATTENTION
from course_lib.diagnosis.outcome import Outcome

SHAPE = (20, 96, 1)
Q, K, V = ATTENTION.operands(SHAPE, np.random.default_rng(5))
SCORES = scores_of(Q, K)


def outcome(got: np.ndarray) -> Outcome:
    expected, tolerance = ATTENTION.answer(Q, K, V)
    sizes = ATTENTION.geometry(SHAPE, (16, 1), None)
    return Outcome((Q, K, V), expected, got.astype(np.float32), tolerance, sizes, -1.0, "O")


def test_an_online_softmax_without_slip_is_the_softmax() -> None:
    for tile in (1, 7, 32, 96):
        assert np.allclose(Online(tile).of(SCORES, V), softmax(SCORES) @ V)


def test_right_numbers_have_no_slip() -> None:
    assert diagnose_attention(outcome(softmax(SCORES) @ V)) is None


def test_float32_stays_within_the_tolerance() -> None:
    for factor in (1, 60):
        shape = (20, 96, factor)
        inputs = ATTENTION.operands(shape, np.random.default_rng(6))
        expected, tolerance = ATTENTION.answer(*inputs)
        scores = (inputs[0] @ inputs[1].T) / np.float32(np.sqrt(32))
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        got = weights @ inputs[2] / weights.sum(axis=1, keepdims=True)
        assert got.dtype == np.float32
        assert (np.abs(got - expected) <= tolerance).all()


@pytest.mark.parametrize(
    ("got", "code", "words"),
    [
        (Online(32, out=0).of(SCORES, V), "missing-rescale", "output collected so far"),
        (Online(16, total=0).of(SCORES, V), "missing-rescale", "sum of the weights"),
        (softmax(SCORES / np.sqrt(32)) @ V, "wrong-formula", "divided by 32"),
        (softmax(SCORES, 0) @ V, "wrong-formula", "over the queries"),
        (softmax(SCORES) @ K, "wrong-index", "K is summed"),
        (softmax(SCORES[:, :64]) @ V[:64], "wrong-loop-bound", "keys from 64 on"),
        (np.exp(SCORES) @ V, "wrong-formula", "never divided"),
        (
            Online(32, divides_each=True, again=True).of(SCORES, V),
            "wrong-formula",
            "again at the end",
        ),
        (np.full(V.shape, np.nan)[:20], "numerical-overflow", "Every element of O is nan"),
    ],
)
def test_the_slip_behind_wrong_numbers(got: np.ndarray, code: str, words: str) -> None:
    slip = diagnose_attention(outcome(got))
    assert slip is not None
    assert slip.code == code
    assert words in slip.message
