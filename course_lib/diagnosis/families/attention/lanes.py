"""Attention whose lanes know different maxima, sums or products."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from course_lib.diagnosis.families.hypotheses import Hypothesis
from course_lib.diagnosis.problems.attention import WIDTH, Array, scores_of, softmax
from course_lib.sentences import say

DISTANCES = (16, 8, 4, 2, 1)  # over which the lanes of a warp exchange numbers
OTHER_LANES = "Which threads know the other scores of this query, and how does this one learn them?"


def by_lanes(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """A thread knows its own key, and forgets to ask the 31 others of its row."""
    scores = scores_of(Q, K)
    if len(K) % WIDTH:
        return
    lanes = scores.reshape(len(Q), -1, WIDTH)
    own = np.exp(lanes - scores.max(1)[:, None, None]).sum(1)
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    yield from _own_sums(own, shifted, V)
    yield from _own_maxima(lanes, V)
    yield from _shuffled_one_way(lanes, own, shifted, V)
    yield from _weights_of_the_lane(lanes, shifted, V)
    yield from _scores_go_on(lanes, V)


def _own_sums(own: Array, shifted: Array, V: Array) -> Iterator[Hypothesis]:
    """Weights that are divided by the sum over some of the lanes."""
    yield Hypothesis(
        shifted @ V / own,
        "accumulator-error",
        "Each thread sums the weights of its own keys alone: those of the other lanes are missing.",
        OTHER_LANES,
        ("attention", "total"),
    )
    for distances, kind in _some_distances():
        some = _exchanged(own, distances, np.add)
        yield Hypothesis(
            shifted @ V / some,
            "accumulator-error",
            say(
                "The sum of the weights is found among {lanes} lanes each, and not among all 32.",
                lanes=1 << len(distances),
            ),
            "With how many other lanes has a lane put its sum together in the end?",
            ("attention", f"total reduction{kind}"),
        )


def _own_maxima(lanes: Array, V: Array) -> Iterator[Hypothesis]:
    """Weights that are worked out with the maximum over some of the lanes."""
    for at_the_end in (False, True):
        yield Hypothesis(
            _own_maximum(lanes, lanes, V, at_the_end),
            "wrong-formula",
            "Each thread subtracts the maximum of its own keys: the weights of a query have "
            "different maxima.",
            OTHER_LANES,
            ("attention", "max"),
        )
    for (distances, kind), at_the_end in itertools.product(_some_distances(), (False, True)):
        some = _exchanged(lanes, distances, np.maximum)
        yield Hypothesis(
            _own_maximum(lanes, some, V, at_the_end),
            "wrong-formula",
            say(
                "The maximum is found among {lanes} lanes each, and not among all 32: the weights "
                "of a query have different maxima.",
                lanes=1 << len(distances),
            ),
            "With how many other lanes has a lane compared its maximum in the end?",
            ("attention", f"reduction{kind}"),
        )


def _some_distances() -> Iterator[tuple[tuple[int, ...], str]]:
    """Too few distances: the larger ones are missing, or the smaller ones (" end")."""
    for count in range(1, len(DISTANCES)):
        yield DISTANCES[-count:], ""
        yield DISTANCES[:count], " end"


def _exchanged(numbers: Array, distances: Sequence[int], combine: np.ufunc) -> Array:
    """What each lane (the last axis) has after exchanges with the lanes at these distances."""
    lane = np.arange(WIDTH)
    for distance in distances:
        numbers = combine(numbers, numbers[..., lane ^ distance])
    return numbers


def _shuffled_one_way(lanes: Array, own: Array, shifted: Array, V: Array) -> Iterator[Hypothesis]:
    """Shuffles down, or up, where every lane needs the whole: beyond the warp, each asks itself."""
    lane = np.arange(WIDTH)
    hint = "What does a shuffle by 16 bring to lane 0, and what to lane 31?"
    orders = (DISTANCES, DISTANCES[::-1])
    for (way, whole), order in itertools.product((("down", 0), ("up", 31)), orders):
        sums, maxima = own, lanes
        for distance in order:
            other = lane + (distance if way == "down" else -distance)
            other = np.where((other >= 0) & (other < WIDTH), other, lane)
            sums, maxima = sums + sums[:, other], np.maximum(maxima, maxima[..., other])
        yield Hypothesis(
            shifted @ V / sums,
            "accumulator-error",
            say(
                "Only lane {whole} gets the sum of all weights: a shuffle {way} brings the others "
                "some weights more than once and others never, and yet each divides by its own "
                "sum.",
                whole=whole,
                way=way,
            ),
            hint,
            ("attention", "total shuffle"),
        )
        for at_the_end in (False, True):
            yield Hypothesis(
                _own_maximum(lanes, maxima, V, at_the_end),
                "wrong-formula",
                say(
                    "Only lane {whole} gets the maximum of all lanes by shuffles {way}: the "
                    "weights of a query have different maxima.",
                    whole=whole,
                    way=way,
                ),
                hint,
                ("attention", "max shuffle"),
            )


def _weights_of_the_lane(lanes: Array, shifted: Array, V: Array) -> Iterator[Hypothesis]:
    """All values of a tile get the one weight that the thread itself has worked out."""
    weights = shifted.reshape(lanes.shape)
    out = (weights * V.reshape(-1, WIDTH, V.shape[1]).sum(1)).sum(1)
    for total in (shifted.sum(1, keepdims=True), WIDTH * weights.sum(1)):
        yield Hypothesis(
            out / total,
            "wrong-formula",
            "Each thread multiplies all values of a tile by one and the same weight: that of the "
            "key for which it has worked out the score itself.",
            "Which weight belongs to which value, and which thread has worked it out?",
            ("attention", "weigh"),
        )


def _scores_go_on(lanes: Array, V: Array) -> Iterator[Hypothesis]:
    """A score that begins with what the same lane had in the tile before."""
    for factor in (1 / np.sqrt(WIDTH), 1.0):  # it is scaled again, or never
        going_on = lanes.copy()
        for tile in range(1, lanes.shape[1]):
            going_on[:, tile] += factor * going_on[:, tile - 1]
        yield Hypothesis(
            softmax(going_on.reshape(len(lanes), -1)) @ V,
            "accumulator-error",
            "The score of a key begins with the score that the thread had in the tile before, and "
            "not with zero.",
            "Where is the score set to zero, and how often does a thread pass that line?",
            ("attention", "keys"),
        )


def _own_maximum(lanes: Array, found: Array, V: Array, at_the_end: bool = False) -> Array:
    """Attention in which lanes have found different maxima in a tile; axes: query, tile, lane.

    `at_the_end`: each lane sums the weights of its own keys, and the sums meet behind the tiles.
    """
    top = np.maximum.accumulate(found, axis=1)
    weights = np.exp(lanes - top)
    total, out = np.zeros((len(lanes), WIDTH)), np.zeros((len(lanes), WIDTH))
    for tile in range(lanes.shape[1]):
        factor = np.exp(top[:, max(tile - 1, 0)] - top[:, tile])
        own = weights[:, tile] if at_the_end else weights[:, tile].sum(1, keepdims=True)
        total = total * factor + own
        out = out * factor + weights[:, tile] @ V[tile * WIDTH : (tile + 1) * WIDTH]
    return out / (total.sum(1, keepdims=True) if at_the_end else total)


def among_lanes(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Scores for which each lane has one element of the query, or one product."""
    distances = (16, 8, 4, 2, 1)
    for count in range(1, len(distances)):
        for chosen in (distances[:count], distances[-count:]):
            apart = ", ".join(map(str, chosen))
            yield Hypothesis(
                _partly_reduced(Q, K, V, chosen),
                "wrong-loop-bound",
                say(
                    "In each lane, a score sums only {lanes} of the 32 products: those that the "
                    "distances {apart} bring together.",
                    lanes=1 << count,
                    apart=apart,
                ),
                "Over which distances must shuffles go so that each lane gets all 32 products?",
                ("attention", "sum reduction"),
            )
    lane = np.arange(len(K)) % WIDTH
    yield Hypothesis(
        softmax(Q[:, lane] * K.sum(1) / np.sqrt(WIDTH)) @ V,
        "wrong-index",
        "All elements of a key are multiplied by one and the same element of the query: the one "
        "that the lane holds.",
        "In which lane is the element of the query that belongs to this step?",
        ("attention", "keys"),
    )


def _partly_reduced(Q: Array, K: Array, V: Array, distances: Sequence[int]) -> Array:
    """Attention in which each column has scores of its own: sums over some distances of lanes."""
    scores = Q[:, None] * K[None] / np.sqrt(WIDTH)
    lane = np.arange(WIDTH)
    for distance in distances:
        scores = scores + scores[:, :, lane ^ distance]
    result: Array = (softmax(scores) * V[None]).sum(1)
    return result
