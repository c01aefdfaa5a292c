"""Attention on tensor cores: 64 columns, and weights in bfloat16; what its lanes get wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from course_lib.problems.attention import Attention
from course_lib.problems.attention_ideas import (
    FORMULA,
    INDEX,
    LARGEST,
    MASK,
    RESCALE,
    SUM,
    TOTAL,
    WEIGHING,
    Array,
    Ideas,
    ideas_with,
    scores_of,
    softmax,
)
from course_lib.problems.problem import Shape
from course_lib.registry.exercise import WrongIdea

TILE = 32  # keys
IN_BFLOAT16 = 1 / 256  # how far a weight may be off, rounded or cut off
# A query's column holds the first of a pair, or its negative, a key's the second: the products of
# the four pairs sum to 4 ln 2. Then two scores of a query differ by a whole multiple of ln 2, up to
# a millionth of it.
PAIRS = (
    (132 / 128, 224 / 256), (135 / 128, 186 / 256), (149 / 128, 147 / 256), (233 / 512, 245 / 256),
)  # fmt: skip
WHOLE = 1e-3  # up to here a weight is rounded to a power of two
MASKED, FACTOR = ("mask",), ("exponential", "other")
EXCHANGES = (  # with which lanes of its four a lane exchanges numbers
    ((), "only its own columns"),
    ((1,), "only its own columns and those of lane ^ 1"),
    ((2,), "only its own columns and those of lane ^ 2"),
)


class MmaAttention(Attention):
    """O = softmax(Q Kᵀ / 8) V by blocks of 64 queries.

    The weights are rounded to bfloat16. Where all are powers of two nothing is lost by that, so
    right and wrong are as far apart as in float32.
    """

    width = 64
    rows = 64
    schedules = ("warps", "lockstep")

    def operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        """Where scores are not large, weights that are powers of two."""
        Q, K, V = super().operands(shape, rng)
        if shape[2] > 1:
            return Q, K, V
        columns = rng.permutation(self.width)
        for matrix, factors in zip((Q, K), zip(*PAIRS, strict=True), strict=True):
            signs = rng.choice(np.array([-1, 1], np.float32), (len(matrix), self.width // 4))
            matrix[:, columns] = np.hstack([signs * np.float32(factor) for factor in factors])
        return Q, K, V

    def off(self, scores: Array) -> Array:
        powers = (scores - scores.max(axis=1, keepdims=True)) / np.log(2)
        apart = np.abs(powers - np.rint(powers)).max(axis=1, keepdims=True)
        return np.where(apart < WHOLE, 2 * np.log(2) * apart, IN_BFLOAT16)

    def wrong_ideas(self) -> Iterable[WrongIdea]:
        of_lanes = (*_quads(), *_tiles(), *_masks())
        instead = {WEIGHING: FACTOR, TOTAL: FACTOR}
        return ideas_with(of_lanes, self.width, self.rows, IN_BFLOAT16, MASKED, instead)


def _quads() -> Ideas:
    """A row of scores lies in four lanes, which have to exchange what they found."""
    hint = (
        "Which other lanes hold columns of the same row? How can a lane get their maximum or their "
        "sum?"
    )
    for masks, who in EXCHANGES:
        says = f"each lane divides by a sum that contains the weights of {who}"
        yield SUM, partial(_by_parts, masks), says, hint, ("division",)
    for masks, who in EXCHANGES:
        says = f"each lane takes the maximum of {who}, so the lanes of a row use different maxima"
        yield FORMULA, partial(_own_maxima, masks), says, hint, LARGEST


def _tiles() -> Ideas:
    """Tiles that hold other rows than they should."""
    hint = "Which rows of which array should this tile hold, and which rows does it get?"
    of_keys, of_values = (("call", "start_copy", "with", tile) for tile in ("sK", "sV"))
    says = "the weights are applied to the rows of K instead of those of V"
    yield INDEX, _mixes_keys, says, hint, of_values
    says = "the kernel uses the first tile of keys in every step"
    yield INDEX, lambda Q, K, V: _mixed(Q, K[np.arange(len(K)) % TILE], V), says, hint, of_keys
    says = "the kernel uses the first tile of values in every step"
    yield INDEX, lambda Q, K, V: _mixed(Q, K, V[np.arange(len(V)) % TILE]), says, hint, of_values

    says = "only the last tile of keys counts, because the results of earlier tiles are lost"
    hint = "What happens to the sums if the old maximum in exp(old - new) is always -inf?"
    yield RESCALE, _last_tile_alone, says, hint, FACTOR
    says = "each lane has two neighbouring columns, but stores them four columns apart"
    hint = "In the figure of lesson 10, which two columns of C does lane 1 hold?"
    yield INDEX, _columns_apart, says, hint, ("store",)


def _last_tile_alone(Q: Array, K: Array, V: Array) -> Array:
    first = (len(K) - 1) // TILE * TILE
    return _mixed(Q, K[first:], V[first:])


def _columns_apart(Q: Array, K: Array, V: Array) -> Array:
    right = _mixed(Q, K, V)
    return np.asarray(right.reshape(len(Q), -1, 4, 2).swapaxes(2, 3).reshape(right.shape))


def _mixes_keys(Q: Array, K: Array, V: Array) -> Array:
    return _mixed(Q, K, K)


def _mixed(Q: Array, K: Array, V: Array) -> Array:
    result: Array = softmax(scores_of(Q, K)) @ V
    return result


def _masks() -> Ideas:
    """A mask that takes a lane's numbers for those of other keys."""
    hint = (
        "Each number of a lane belongs to a matrix of 16 x 8 scores. In which row and in which "
        "column of this matrix is the number?"
    )
    for says, of_key in (
        (
            "each lane masks its keys as if it were the first of the four lanes that share a row",
            _as_in_first_lane,
        ),
        ("it counts one column for each lane, but a lane has two", _as_one_apart),
        ("it leaves out the last two keys of rows g + 8", _as_if_rows_were_columns),
    ):
        says = f"the mask hides the wrong keys, because {says}"
        yield MASK, partial(_hides, of_key), says, hint, MASKED


def _as_in_first_lane(row: Any, key: Any) -> Any:
    return key // 8 * 8 + key % 2


def _as_one_apart(row: Any, key: Any) -> Any:
    return key // 8 * 8 + key % 8 // 2 + key % 2


def _as_if_rows_were_columns(row: Any, key: Any) -> Any:
    return key + 2 * (row % 16 >= 8)


def _hides(of_key: Callable[[Any, Any], Any], Q: Array, K: Array, V: Array) -> Array:
    """A score counts if the key that it is taken for exists, and is 0 where its own does not."""
    past = -len(K) % TILE
    scores, values = np.pad(scores_of(Q, K), ((0, 0), (0, past))), np.pad(V, ((0, past), (0, 0)))
    row, key = np.indices(scores.shape)
    result: Array = softmax(np.where(of_key(row, key) < len(K), scores, -np.inf)) @ values
    return result


def _lanes(columns: int) -> Array:
    """Which of the four lanes holds a column."""
    return np.arange(columns) % 8 // 2


def _of_quad(numbers: Array, masks: Sequence[int], combine: np.ufunc) -> Array:
    """What each of the four lanes (the last axis) has after these exchanges."""
    for mask in masks:
        numbers = combine(numbers, numbers[..., np.arange(4) ^ mask])
    return numbers


def _by_parts(masks: Sequence[int], Q: Array, K: Array, V: Array) -> Array:
    """Each lane divides its columns by the sum that it has."""
    scores = scores_of(Q, K)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    parts = np.stack([weights[:, _lanes(len(K)) == t].sum(axis=1) for t in range(4)], axis=-1)
    sums = _of_quad(parts, masks, np.add)[:, _lanes(V.shape[1])]
    result: Array = weights @ V / sums
    return result


def _own_maxima(masks: Sequence[int], Q: Array, K: Array, V: Array) -> Array:
    """Each lane weighs its keys, and rescales its columns, by the maximum that it has."""
    scores, key_lanes, lanes = scores_of(Q, K), _lanes(len(K)), _lanes(V.shape[1])
    top = np.full((len(Q), 4), -np.inf)
    total, mixed = np.zeros((len(Q), 4)), np.zeros((len(Q), V.shape[1]))
    for first in range(0, len(K), TILE):
        part, held = scores[:, first : first + TILE], key_lanes[first : first + TILE]
        own = [part[:, held == t].max(axis=1, initial=-np.inf) for t in range(4)]
        new = np.maximum(top, _of_quad(np.stack(own, axis=-1), masks, np.maximum))
        weights = np.exp(part - new[:, held])
        factor = np.exp(top - new)
        sums = [weights[:, held == t].sum(axis=1) for t in range(4)]
        total = total * factor + np.stack(sums, axis=-1)
        mixed = mixed * factor[:, lanes] + weights @ V[first : first + TILE]
        top = new
    result: Array = mixed / total.sum(axis=1, keepdims=True)
    return result
