"""Attention by another formula, or with the elements of other rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.diagnosis.families.hypotheses import Hypothesis
from course_lib.diagnosis.problems.attention import (
    ROWS,
    TILES,
    WIDTH,
    Array,
    scores_of,
    softmax,
)
from course_lib.sentences import say

LEAST_SHARE = 0.1  # of the weights, which all keys but the best must have so that they count


def other_scales(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Scores that are multiplied by something else than 1/sqrt(32)."""
    raw, keys = Q @ K.T, len(K)
    hint = "By what does the formula divide a score, and by what does the kernel?"
    for scale, text, kind in (
        (1.0, "The scores are not scaled: Q Kᵀ is never divided by √32.", "scale"),
        (1 / 32, "The scores are divided by 32, and not by its square root.", "scale"),
        (np.sqrt(32), "The scores are multiplied by √32, and not divided by it.", "scale"),
        (32.0, "The scores are multiplied by 32.", "scale"),
        (
            1 / np.sqrt(16),
            "The scores are divided by √16: the rows of the block, and not d.",
            "scale",
        ),
        (1 / np.sqrt(keys), "The scores are divided by the root of the number of keys.", "scale"),
        (-1 / np.sqrt(32), "The scores have the wrong sign.", "scale"),
        (np.log(2) / np.sqrt(32), "The weights are powers of 2, and not of e.", "exp"),
        (1 / np.log(2) / np.sqrt(32), "The exponent is too large by 1 / ln 2.", "exp"),
    ):
        yield Hypothesis(softmax(raw * scale) @ V, "wrong-formula", text, hint, ("attention", kind))


def other_softmax(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Weights that are no softmax over the keys."""
    scores = scores_of(Q, K)
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    sums = "For one query, over which keys do the weights have to sum to 1?"
    for values, text, hint, kind in (
        (
            softmax(scores, 0) @ V,
            "The softmax runs over the queries: for each key, the weights of all queries sum to 1.",
            sums,
            "total",
        ),
        (
            np.concatenate([softmax(part, 0) @ V for part in _in_rows(scores, ROWS)]),
            "The softmax runs over the 16 queries of a block, and not over the keys.",
            sums,
            "total",
        ),
        (shifted @ V, "The weights are never divided by their sum.", sums, "store"),
        (np.exp(scores) @ V, "The weights are never divided by their sum.", sums, "store"),
        (
            shifted @ V / len(K),
            "The weights are divided by the number of keys, and not by their sum.",
            sums,
            "store",
        ),
        (
            scores @ V,
            "The scores themselves serve as weights: there is no softmax.",
            "What happens between the two products?",
            "weigh",
        ),
        (
            np.repeat(V.mean(0)[None], len(Q), 0),
            "Every key has the same weight: O holds the mean of V.",
            "How does a score reach the weights?",
            "equal weights",
        ),
        (
            (scores / scores.sum(1, keepdims=True)) @ V,
            "The weights are the scores divided by their sum: the exponential is missing.",
            "What happens between the two products?",
            "weigh",
        ),
    ):
        yield Hypothesis(values, "wrong-formula", text, hint, ("attention", kind))
    yield from _largest_alone(scores, V)


def _largest_alone(scores: Array, V: Array) -> Iterator[Hypothesis]:
    """The maximum in place of the softmax."""
    best = np.isclose(scores, scores.max(1, keepdims=True))
    others = np.where(best, 0, softmax(scores)).sum(1)
    if others.max() > LEAST_SHARE:  # else they are lost in a right answer as well
        yield Hypothesis(
            V[scores.argmax(1)],
            "wrong-formula",
            "Only the key with the largest score counts: this is a maximum, and no softmax.",
            "What weight does the second best key have?",
            ("attention", "exp"),
        )


def starts_again(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Rows of K or V that start again from the first one after some number of them."""
    scores = scores_of(Q, K)
    weights = softmax(scores)
    for count in sorted({*range(2, len(K))} - {*TILES}):  # with a tile's, another slip fits as well
        again = np.arange(len(K)) % count
        for name in "KV":
            yield Hypothesis(
                (softmax(scores[:, again]) @ V if name == "K" else weights @ V[again]),
                "wrong-index",
                say(
                    "Row {count} of {name} is taken to be its first row again, and so on from "
                    "there.",
                    count=count,
                    name=name,
                ),
                say(
                    "Which row of {name} does the index give where row {count} is due?",
                    name=name,
                    count=count,
                ),
                ("load", name),
            )


def part_of_the_products(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Scores that lack some of the 32 products."""
    for count in (1, 8, 16, 31):
        for chosen, which in ((slice(count), "first"), (slice(-count, None), "last")):
            yield Hypothesis(
                softmax(scores_of(Q[:, chosen], K[:, chosen])) @ V,
                "wrong-loop-bound",
                say(
                    "A score sums only the {which} {count} of 32 products.",
                    which=which,
                    count=count,
                ),
                "For which k does the loop over the elements of a query run last?",
                ("attention", "products"),
            )


def _in_rows(scores: Array, rows: int) -> list[Array]:
    return [scores[start : start + rows] for start in range(0, len(scores), rows)]


# --- the right steps with the wrong elements ------------------------------------------------------


def other_operands(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """An array taken for another one, or read at the wrong place."""
    row, hint = np.arange(len(Q)), "Which row of which array does this line need?"
    scores = scores_of(Q, K)
    for values, text, place in (
        (softmax(scores) @ K, "K is summed where V should be.", ("load", "K")),
        (
            softmax(scores_of(Q, V)) @ V,
            "The scores are those of Q with V, and not with K.",
            ("load", "V"),
        ),
        (softmax(scores_of(K, K)) @ V, "The scores are those of K with K.", ("load", "K")),
        (
            softmax(scores_of(Q[row % ROWS], K)) @ V,
            "Every block takes the queries of the first one: the offset of the block is missing.",
            ("load", "Q"),
        ),
        (
            softmax(scores_of(Q[row // ROWS * ROWS], K)) @ V,
            "All queries of a block are taken for its first one.",
            ("load", "Q"),
        ),
        (
            softmax(scores_of(np.repeat(Q[:1], len(Q), 0), K)) @ V,
            "Every query is taken for the first one.",
            ("load", "Q"),
        ),
        (
            (softmax(scores) @ V)[
                np.minimum(row // ROWS * ROWS + ROWS - 1 - row % ROWS, len(Q) - 1)
            ],
            "The queries of each block come out in reverse order.",
            ("store",),
        ),
    ):
        yield Hypothesis(values, "wrong-index", text, hint, place)
    yield from _turned(Q, K, V)
    yield from _first_tile_again(Q, K, V)


def _first_tile_again(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """One operand whose load lacks the offset of the tile."""
    scores = scores_of(Q, K)
    hint = "Which part of the row changes from one tile to the next?"
    for tile in TILES[:5]:
        again = np.arange(len(K)) % tile
        # Of two tiles, the second in part, that one may as well still hold the first: no proof.
        if len(K) < 2 * tile:
            continue
        for name in "KV":
            yield Hypothesis(
                (softmax(scores[:, again]) @ V if name == "K" else softmax(scores) @ V[again]),
                "wrong-index",
                say(
                    "Every tile of {name} is the first {tile} rows again: the offset of the tile "
                    "is missing.",
                    name=name,
                    tile=tile,
                ),
                hint,
                ("load", name),
            )


def _turned(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """A tile of K or V, as many keys as a key is wide, that is read along the wrong axis."""
    scores = scores_of(Q, K)
    hint = "Which index of the tile is the key, and which one the element of the key?"
    for name, text in (("K", "the tile of K"), ("V", "the tile of V")):
        yield Hypothesis(
            (
                softmax(scores_of(Q, _turn(K))[:, : _padded(K)])[:, : len(V)] @ V
                if name == "K"
                else softmax(scores) @ _turn(V)[: len(V)]
            ),
            "wrong-index",
            say("Row and column of {text} are exchanged: it is read transposed.", text=text),
            hint,
            ("attention", "keys" if name == "K" else "values"),
        )


def _padded(matrix: Array) -> int:
    return -(-len(matrix) // WIDTH) * WIDTH


def _turn(matrix: Array) -> Array:
    """Each tile of 32 rows transposed; the last one filled up with zeros."""
    full = np.pad(matrix, ((0, _padded(matrix) - len(matrix)), (0, 0)))
    return full.reshape(-1, WIDTH, WIDTH).transpose(0, 2, 1).reshape(-1, WIDTH)


def whole_numbers(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Fractions that are cut off."""
    scores = scores_of(Q, K)
    hint = "Which variable, cast or array has an integer type?"
    for cut in (np.trunc, np.floor, np.rint):
        for values, what in (
            (softmax(cut(scores)) @ V, "the scores"),
            (softmax(scores_of(cut(Q), K)) @ V, "Q"),
            (softmax(scores_of(Q, cut(K))) @ V, "K"),
            (softmax(scores) @ cut(V), "V"),
            (cut(softmax(scores) @ V), "the result"),
        ):
            text = say("The fractions of {what} are lost.", what=what)
            yield Hypothesis(values, "integer-arithmetic", text, hint, ("integer",))
