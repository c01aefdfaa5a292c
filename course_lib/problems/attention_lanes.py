"""What lanes of a warp compute in a wrong attention where each has one key and one column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from course_lib.problems.attention_ideas import (
    DISTANCES,
    FORMULA,
    INDEX,
    LANES,
    LARGEST,
    ROWS,
    SUM,
    TOTAL,
    WEIGHING,
    WIDTH,
    Array,
    Ideas,
    ideas_with,
    scores_of,
    softmax,
)
from course_lib.registry.exercise import WrongIdea


def attention_ideas() -> Iterator[WrongIdea]:
    """In float32, a lane for each key of a tile and each column."""
    return ideas_with((*_lanes(), *_sums_of_lanes()), WIDTH, ROWS)


def _orders() -> Iterator[tuple[Callable[..., Array], tuple[int, ...], str, str]]:
    """From which lane each one takes a number, over which distances; what that comes to, and what
    part of the loop over the distances shows it."""
    yield _across, (), "by each lane on its own", ""
    for count in range(1, len(DISTANCES)):
        among = f"within groups of {1 << count} lanes instead of all 32"
        yield _across, DISTANCES[-count:], among, "start"
        yield _across, DISTANCES[:count], among, "end"
    for order in (DISTANCES, DISTANCES[::-1]):
        yield _down, order, "with `shfl_down_sync`, so only lane 0 gets it", "read"
        yield _up, order, "with `shfl_up_sync`, so only lane 31 gets it", "read"


def _across(distance: Array) -> Array:
    return np.asarray(np.arange(LANES) ^ distance)


def _down(distance: Array) -> Array:
    lane = np.arange(LANES)
    return np.where(lane + distance < LANES, lane + distance, lane)


def _up(distance: Array) -> Array:
    lane = np.arange(LANES)
    return np.where(lane >= distance, lane - distance, lane)


def _exchanged(
    numbers: Array, other: Callable[..., Array], distances: Sequence[int], combine: np.ufunc
) -> Array:
    """What each lane (the last axis) has after exchanges over these distances."""
    for distance in distances:
        numbers = combine(numbers, numbers[..., other(distance)])
    return numbers


def _in_lanes(Q: Array, K: Array) -> Array:
    """The scores: query, tile, lane; all not-a-number where the last tile is not full."""
    if len(K) % LANES:
        return np.full((len(Q), -(-len(K) // LANES), LANES), np.nan)
    return scores_of(Q, K).reshape(len(Q), -1, LANES)


def _sums_of_lanes() -> Ideas:
    hint = "After the last exchange, which keys have their weights in the sum of one lane?"
    for other, distances, how, part in _orders():
        says = f"the sum of the weights is computed {how}"
        place = ("exchange", "sum", part) if part else TOTAL
        yield SUM, partial(_divided_by_own, other, distances), says, hint, place


def _divided_by_own(
    other: Callable[..., Array], distances: Sequence[int], Q: Array, K: Array, V: Array
) -> Array:
    """Each lane divides by the sum that it has; it owns one column."""
    lanes = _in_lanes(Q, K)
    weights = np.exp(lanes - lanes.max((1, 2), keepdims=True))
    own = _exchanged(weights.sum(1), other, distances, np.add)
    result: Array = _all_keys(weights, V) / own
    return result


def _all_keys(weights: Array, V: Array) -> Array:
    flat = weights.reshape(len(weights), -1)[:, : len(V)]
    result: Array = flat @ V
    return result


def _lanes() -> Ideas:
    """Lanes that know different maxima, or take one weight for all."""
    hint = "After the last exchange, with which lanes' scores has a lane compared its own score?"
    for other, distances, how, part in _orders():
        says = f"the maximum is computed {how}, and the weights of a query use different maxima"
        place = ("exchange", "largest", part) if part else LARGEST
        for at_the_end in (False, True):
            computes = partial(_own_maxima, other, distances, at_the_end)
            yield FORMULA, computes, says, hint, place
    says = (
        "each thread multiplies all values of a tile by a single weight, that of the "
        "key whose score it computed itself"
    )
    hint = "By which weight should each value be multiplied, and which thread computed this weight?"
    for all_lanes in (True, False):
        yield FORMULA, partial(_one_weight, all_lanes), says, hint, WEIGHING
    says = "the score of a key starts from the thread's score in the previous tile, not from zero"
    hint = "Where is the score set to zero, and how often does a thread execute that line?"
    for factor in (1 / np.sqrt(WIDTH), 1.0):  # it is scaled again, or never
        yield SUM, partial(_scores_go_on, factor), says, hint, ("product", "K")
    says = (
        "each lane uses only the one element of the query that it holds itself, and multiplies "
        "every element of the key by it"
    )
    hint = (
        "In each step of the sum, which lane holds the element of the query that the other "
        "lanes need?"
    )
    yield INDEX, _own_element, says, hint, ("product", "K")
    hint = "Which shuffle distances does it take for each lane to get all 32 products?"
    for other, distances, how, part in _orders():
        if other is _across and distances:
            says = f"the sum of a score's products is computed {how}"
            computes = partial(_partly_reduced, distances)
            yield "wrong-loop-bound", computes, says, hint, ("exchange", part)


def _own_maxima(
    other: Callable[..., Array],
    distances: Sequence[int],
    at_the_end: bool,
    Q: Array,
    K: Array,
    V: Array,
) -> Array:
    """Lanes have found different maxima in a tile; the sum is put together in each tile, or
    `at_the_end`."""
    lanes = _in_lanes(Q, K)
    top = np.maximum.accumulate(_exchanged(lanes, other, distances, np.maximum), axis=1)
    weights = np.exp(lanes - top)
    total, out = np.zeros((len(lanes), LANES)), np.zeros((len(lanes), LANES))
    for tile in range(lanes.shape[1]):
        factor = np.exp(top[:, max(tile - 1, 0)] - top[:, tile])
        own = weights[:, tile] if at_the_end else weights[:, tile].sum(1, keepdims=True)
        total = total * factor + own
        out = out * factor + _all_keys(weights[:, tile : tile + 1], V[tile * LANES :][:LANES])
    return out / (total.sum(1, keepdims=True) if at_the_end else total)


def _one_weight(all_lanes: bool, Q: Array, K: Array, V: Array) -> Array:
    lanes = _in_lanes(Q, K)
    weights = np.exp(lanes - lanes.max((1, 2), keepdims=True))
    tiles = np.add.reduceat(V, np.arange(0, len(V), LANES))
    total = weights.sum((1, 2))[:, None] if all_lanes else LANES * weights.sum(1)
    result: Array = (weights * tiles).sum(1) / total
    return result


def _scores_go_on(factor: float, Q: Array, K: Array, V: Array) -> Array:
    lanes = _in_lanes(Q, K).copy()
    for tile in range(1, lanes.shape[1]):
        lanes[:, tile] += factor * lanes[:, tile - 1]
    return _all_keys(softmax(lanes.reshape(len(Q), -1)), V)


def _own_element(Q: Array, K: Array, V: Array) -> Array:
    lane = np.arange(len(K)) % LANES
    result: Array = softmax(Q[:, lane] * K.sum(1) / np.sqrt(WIDTH)) @ V
    return result


def _partly_reduced(distances: Sequence[int], Q: Array, K: Array, V: Array) -> Array:
    """Each column has scores of its own: sums over some distances of lanes."""
    scores = _exchanged(Q[:, None] * K[None] / np.sqrt(WIDTH), _across, distances, np.add)
    result: Array = (softmax(scores) * V[None]).sum(1)
    return result
