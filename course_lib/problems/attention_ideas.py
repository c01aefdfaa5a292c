"""What wrong attention computes: by other formulas, other lanes, or other steps of the softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib.registry.exercise import WrongIdea

Array = np.ndarray
LANES = 32  # of a warp
WIDTH, ROWS = 32, 16  # columns of all arrays, queries of a block
FORMULA, SUM, RESCALE = "wrong-formula", "accumulator-error", "missing-rescale"
OVERFLOW, MASK, INDEX = "numerical-overflow", "missing-mask", "wrong-index"
TILES = (32, 16, 64, 8, 4, 1)  # keys of a tile that are thought of
FINITE = (-10.0, -100.0, -1e3, -1e4, -1e5)  # scores that are taken for -inf
DISTANCES = (16, 8, 4, 2, 1)  # over which the lanes of a warp exchange numbers
ROOM = 3e-4  # of a row's largest number: a wrong formula may round worse than the right one
LEAST_SHARE = 0.1  # of the weights, which all keys but the best must have so that they count
SCALE, EXPONENTIAL, STORE = ("named", "sqrt", "scale"), ("exponential", "K"), ("store",)
TOTAL, WEIGHING, FACTOR = ("divisor",), ("product", "V"), ("exponential", "other")
LARGEST, FIRST_LARGEST = ("largest",), ("largest", "first")
Computes = Callable[[Array, Array, Array], Array]
Place = tuple[str, ...]
Idea = tuple[str, Computes, str, str, Place]  # code, what, its sentence, hint, place
Ideas = Iterator[Idea]


def scores_of(Q: Array, K: Array) -> Array:
    """How well each query fits each key, in float64."""
    result: Array = Q.astype(np.float64) @ K.astype(np.float64).T / np.sqrt(Q.shape[1])
    return result


def softmax(scores: Array, axis: int = 1) -> Array:
    """Weights that sum to 1 along an axis."""
    weights = np.exp(scores - scores.max(axis, keepdims=True))
    result: Array = weights / weights.sum(axis, keepdims=True)
    return result


def ideas_with(
    of_lanes: Iterable[Idea],
    width: int,
    rows: int,
    formula_room: float = ROOM,
    unscaled: Place = SCALE,
    instead: Mapping[Place, Place] = MappingProxyType({}),
) -> Iterator[WrongIdea]:
    """The wrong ideas of a kind of attention: those of lanes, and those that do not depend on
    lanes.

    Args:
        of_lanes: ideas of what a lane has, or has not, from others.
        width: columns of all arrays.
        rows: queries of a block.
        formula_room: of a row's largest number, where weights by a wrong formula round worse.
        unscaled: the place where scores lack their scale.
        instead: by place: the one to look at where a kernel is made otherwise.
    """
    formulas = (*_overflows(), *_ties(), *_scales(width, rows, unscaled), *_softmaxes(rows))
    steps = (*of_lanes, *_ghosts(), *_online())
    for ideas, room in ((formulas, formula_room), (steps, ROOM)):
        for code, computes, says, hint, place in ideas:
            yield WrongIdea(computes, says, hint, instead.get(place, place), code, room)


def _overflows() -> Ideas:
    """Exponentials that leave float32, where scores are large."""
    hint = "Which number can be subtracted from all scores of a query without changing a weight?"
    says = (
        "if the scores are large, an exponential overflows, or all exponentials of a query "
        "underflow to zero"
    )
    yield OVERFLOW, partial(_subtracting, _nothing), says, hint, EXPONENTIAL
    says = (
        "if all scores of a query are far below zero, the kernel subtracts a maximum "
        "that is larger than all of them, and then every exponential and their sum "
        "underflow to zero"
    )
    hint = (
        "What value does the running maximum start with, and is every score larger than that value?"
    )
    for start in (0.0, -1.0, -10.0, 1e-30):
        yield OVERFLOW, partial(_subtracting, partial(_at_least, start)), says, hint, FIRST_LARGEST
    says = (
        "the kernel takes the maximum of only some of the scores, so the exponential "
        "of a much larger score overflows"
    )
    hint = (
        "Which scores does the kernel compare to find the maximum, and which ones does "
        "it leave out?"
    )
    for count in (1, 4, 8, 16, 32, 64):
        yield OVERFLOW, partial(_subtracting, partial(_of_first, count)), says, hint, LARGEST


def _nothing(scores: Array) -> Array:
    return np.zeros((len(scores), 1))


def _at_least(start: float, scores: Array) -> Array:
    result: Array = np.maximum(scores.max(1, keepdims=True), start)
    return result


def _of_first(count: int, scores: Array) -> Array:
    result: Array = scores[:, :count].max(1, keepdims=True)
    return result


def _subtracting(largest: Callable[[Array], Array], Q: Array, K: Array, V: Array) -> Array:
    """Attention in float32 that subtracts this from the scores of a query."""
    scores = scores_of(Q, K)
    weights = np.exp((scores - largest(scores)).astype(np.float32))
    result: Array = (weights @ V.astype(np.float32)) / weights.sum(1, keepdims=True)
    return result.astype(np.float64)


def _ties() -> Ideas:
    says = "a key is left out if its score equals the largest score before it"
    hint = "Which branch does the kernel take for a key whose score equals the maximum?"
    yield FORMULA, _without_ties, says, hint, ("chosen",)


def _without_ties(Q: Array, K: Array, V: Array) -> Array:
    """Keys are lost because another one before them has the same score."""
    group = np.unique(K, axis=0, return_inverse=True)[1].reshape(-1)
    first = np.unique(group, return_index=True)[1]
    scores = scores_of(Q, K)[:, first][:, group]  # equal to the last bit
    equals = np.zeros(scores.shape, bool)
    equals[:, 1:] = scores[:, 1:] == np.maximum.accumulate(scores, axis=1)[:, :-1]
    result: Array = softmax(np.where(equals, -np.inf, scores)) @ V
    return result


def _scales(width: int, rows: int, unscaled: Place) -> Ideas:
    """Scores that are multiplied by something else than 1/√d, where d is the width."""
    root = np.sqrt(width)
    hint = "What does the formula divide a score by, and what does the kernel divide it by?"
    for scale, says, place in (
        (1.0, f"the scores are never divided by √{width}", unscaled),
        (1 / width, f"the scores are divided by {width} instead of its square root", SCALE),
        (root, f"the scores are multiplied by √{width} instead of divided by it", SCALE),
        (width, f"the scores are multiplied by {width}", SCALE),
        (
            1 / np.sqrt(rows),
            f"the scores are divided by √{rows}, as if d were the number of rows of a block",
            SCALE,
        ),
        (
            1 / (root // 1),
            f"the scores are divided by {root // 1:g}, which is √{width} rounded down",
            SCALE,
        ),
        (-1 / root, "the scores have the wrong sign", SCALE),
        (np.log(2) / root, "the weights are powers of 2 instead of powers of e", EXPONENTIAL),
        (1 / np.log(2) / root, "the exponent is too large by a factor of 1 / ln 2", EXPONENTIAL),
    ):
        if scale * root != 1:  # √64 has no fraction
            yield FORMULA, partial(_scaled, scale), says, hint, place


def _scaled(scale: float, Q: Array, K: Array, V: Array) -> Array:
    result: Array = softmax(Q @ K.T * scale) @ V
    return result


def _softmaxes(rows: int) -> Ideas:
    """Weights that are no softmax over the keys."""
    sums = "For one query, over which keys do the weights have to sum to 1?"
    between = "Which step of attention belongs between the two products?"
    best = "What weight should the key with the second-largest score have?"
    mean = "the weights are divided by the number of keys instead of their sum"
    shares = "the weights are the scores divided by their sum, without an exponential"
    largest = (
        "only the key with the largest score counts, so the kernel computes a maximum and "
        "not a softmax"
    )
    for weights, says, hint, place in (
        (
            partial(softmax, axis=0),
            "the softmax runs over the queries instead of the keys",
            sums,
            TOTAL,
        ),
        (
            partial(_over_rows, rows),
            f"the softmax runs over the {rows} queries of a block, not the keys",
            sums,
            TOTAL,
        ),
        (_shifted, "the weights are never divided by their sum", sums, STORE),
        (np.exp, "the weights are never divided by their sum", sums, STORE),
        (_as_a_mean, mean, sums, STORE),
        (_themselves, "the scores are used as weights, without a softmax", between, WEIGHING),
        (_shares, shares, between, WEIGHING),
        (_equal, "every key has the same weight, so O holds the mean of V", between, EXPONENTIAL),
        (_largest_alone, largest, best, EXPONENTIAL),
    ):
        yield FORMULA, partial(_weighed, weights), says, hint, place


def _weighed(weights: Callable[[Array], Array], Q: Array, K: Array, V: Array) -> Array:
    result: Array = weights(scores_of(Q, K)) @ V
    return result


def _over_rows(rows: int, scores: Array) -> Array:
    parts = range(0, len(scores), rows)
    return np.concatenate([softmax(scores[start : start + rows], 0) for start in parts])


def _shifted(scores: Array) -> Array:
    result: Array = np.exp(scores - scores.max(1, keepdims=True))
    return result


def _as_a_mean(scores: Array) -> Array:
    return np.asarray(_shifted(scores) / scores.shape[1])


def _themselves(scores: Array) -> Array:
    return scores


def _shares(scores: Array) -> Array:
    result: Array = scores / scores.sum(1, keepdims=True)
    return result


def _equal(scores: Array) -> Array:
    return np.full(scores.shape, 1 / scores.shape[1])


def _largest_alone(scores: Array) -> Array:
    best = np.isclose(scores, scores.max(1, keepdims=True))
    if np.where(best, 0, softmax(scores)).sum(1).max() <= LEAST_SHARE:
        return np.full(scores.shape, np.nan)  # the others are lost in a right answer as well
    first: Array = np.arange(scores.shape[1]) == scores.argmax(1)[:, None]
    return np.asarray(first, np.float64)


def _ghosts() -> Ideas:
    """Keys past the end take part, with a score of zero or with another finite one."""
    hint = "What weight should a key past the end have, and which score gives it that weight?"
    says = "keys past the end have a score of 0, and a score of 0 still gives a key some weight"
    for tile in TILES[:4]:
        yield MASK, partial(_with_ghosts, tile, 0.0), says, hint, ("mask",)
    hint = "Which score is so low that no real key can have a lower one?"
    says = (
        "keys past the end get a finite score, and if all real scores are lower, these "
        "keys get all the weight"
    )
    for tile in TILES[:4]:
        for score in FINITE:
            yield MASK, partial(_with_ghosts, tile, score), says, hint, ("mask",)


def _with_ghosts(tile: int, score: float, Q: Array, K: Array, V: Array) -> Array:
    ghosts = -len(K) % tile
    scores = np.pad(scores_of(Q, K), ((0, 0), (0, ghosts)), constant_values=score)
    result: Array = softmax(scores) @ np.pad(V, ((0, ghosts), (0, 0)))
    return result


# --- The running maximum -----------------------------------------------------------------------

SHRINK = (
    "Some weights were computed with the old maximum. By what factor do these weights have to "
    "shrink?"
)
OFTEN = "How many times should the output be divided by the sum?"
NEW = "Which numbers were computed with the old maximum, and which with the new one?"
ANEW = (
    "On which line does the {what} get its first value, and how often does a thread execute "
    "that line?"
)


def _online() -> Ideas:
    """What happens, or does not, when a tile raises the maximum."""
    for tile in TILES:
        of = f"tile of {tile} keys" if tile > 1 else "key"
        for code, says, hint, place, slip in (*_rescaled(of), *_kept(of), *_divided(of)):
            yield code, partial(online, tile, **slip), says, hint, place


Slips = Iterator[tuple[str, str, str, tuple[str, ...], dict[str, Any]]]


def _rescaled(of: str) -> Slips:
    """The sum, the output or both shrink by another factor, or by none."""
    when, inverse = f"when a {of} raises the maximum,", "rescaled by the inverse factor"
    alone = (
        f"each {of} has its own maximum, and the kernel never rescales the weights to a common "
        "maximum"
    )
    for says, place, slip in (
        (f"{when} the output collected so far is not rescaled", WEIGHING, {"out": 0}),
        (f"{when} the sum of the weights is not rescaled", TOTAL, {"total": 0}),
        (f"{when} neither the output nor the sum is rescaled", FACTOR, {"total": 0, "out": 0}),
        (f"{when} the output and the sum are {inverse}", FACTOR, {"total": -1, "out": -1}),
        (f"{when} the output is {inverse}", FACTOR, {"out": -1}),
        (f"{when} the sum is {inverse}", FACTOR, {"total": -1}),
        (alone, WEIGHING, {"total": 0, "out": 0, "resets": True}),
    ):
        yield RESCALE, says, SHRINK, place, slip
    says = (
        f"{when} the output is rescaled by the factor of another query, because the column is used "
        "as the index of the factor"
    )
    hint = (
        "Which query of the block does this thread work on, and where is the factor of that query?"
    )
    yield INDEX, says, hint, WEIGHING, {"others": True}


def _kept(of: str) -> Slips:
    """What was collected is lost, or what the tile itself brings is rescaled as well."""
    for what, forgets, place in (
        ("sum of the weights", "total", TOTAL),
        ("output", "out", WEIGHING),
    ):
        says = f"the {what} starts again with each {of}"
        yield SUM, says, ANEW.format(what=what), place, {"forgets": forgets}
    for where, place, slip in (
        ("", FACTOR, {"late_total": True, "late_out": True}),
        (" to the sum", TOTAL, {"late_total": True}),
        (" to the output", WEIGHING, {"late_out": True}),
    ):
        says = (
            f"what a {of} adds{where} is rescaled as well, although it was already computed with "
            "the new maximum"
        )
        yield FORMULA, says, NEW, place, slip


def _divided(of: str) -> Slips:
    """Each tile is divided by a sum, not all of them at the end."""
    after = f"the output is divided by the sum after each {of}"
    yield FORMULA, after, OFTEN, ("division",), {"divides_each": True}
    again = f"{after}, and again at the end"
    yield FORMULA, again, OFTEN, ("division",), {"divides_each": True, "again": True}
    says = f"the kernel computes a separate softmax for each {of} and adds up the results"
    hint = (
        "A tile with higher scores should have a larger share of the output. How can your kernel "
        "know which tiles these are?"
    )
    yield RESCALE, says, hint, WEIGHING, {"apart": True}


def online(
    tile: int,
    Q: Array,
    K: Array,
    V: Array,
    *,
    total: int = 1,
    out: int = 1,
    resets: bool = False,
    forgets: str = "",
    late_total: bool = False,
    late_out: bool = False,
    divides_each: bool = False,
    again: bool = False,
    apart: bool = False,
    others: bool = False,
) -> Array:
    """Attention tile by tile, with a slip in what happens when the maximum grows.

    Args:
        tile: keys of a tile.
        total, out: how the sum and the output are rescaled: 1 as they should be, 0 not at all, -1
            by the inverse factor.
        resets: the maximum starts anew with each tile.
        forgets: "total" or "out": the one that starts anew with each tile.
        late_total, late_out: what the tile adds there is rescaled as well.
        divides_each: the output is divided by the sum after each tile; `again`: at the end, too.
        apart: each tile has a softmax of its own, and their outputs are added.
        others: a column gets the factor of the query of its block that has the column's number.
    """
    scores = scores_of(Q, K)
    starts = range(0, len(V), tile)
    if apart:
        parts = [softmax(scores[:, s : s + tile]) @ V[s : s + tile] for s in starts]
        return np.asarray(np.sum(parts, axis=0))
    row = np.arange(len(Q))[:, None]
    query = np.minimum(row // ROWS * ROWS + np.arange(V.shape[1]) % ROWS, len(Q) - 1)
    top = np.full((len(scores), 1), -np.inf)
    summed, collected = np.zeros_like(top), np.zeros((len(scores), V.shape[1]))
    for start in starts:
        part = scores[:, start : start + tile]
        best = part.max(1, keepdims=True)
        new = best if resets else np.maximum(top, best)
        step = np.where(np.isinf(top), 0, new - np.where(np.isinf(top), 0, top))
        factor = np.exp(-step * out)
        share = np.where(np.isinf(top), 0, np.exp(-step))
        weights = np.exp(part - new)
        summed = summed * (0 if forgets == "total" else np.exp(-step * total))
        collected = collected * (0 if forgets == "out" else factor[query, 0] if others else factor)
        summed = summed + weights.sum(1, keepdims=True) * (share if late_total else 1)
        collected = collected + weights @ V[start : start + tile] * (share if late_out else 1)
        collected = collected / summed if divides_each else collected
        top = new
    return collected if divides_each and not again else collected / summed
