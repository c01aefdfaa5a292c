"""Wrong attention: what came out instead, and which step of the online softmax that betrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.families.index_search import Slip
from course_lib.diagnosis.families.product import (
    added_to_old,
    first_slip,
    not_finite,
    not_written,
    shifted_or_scaled,
    zero,
)
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.sentences import Sentence, say

Array = np.ndarray
WIDTH = 32  # elements of a query, a key or a value
ROWS = 16  # queries of a block
TILES = (32, 16, 64, 8, 4, 1)  # keys of a tile that are thought of
FEW_ROWS = 4  # of the output, enough to tell how many keys took part
LEAST_SHARE = 0.1  # of the weights, which all keys but the best must have so that they count
LARGE = 80.0  # beyond this, the exponential of a float32 leaves its range before long


def scores_of(Q: Array, K: Array) -> Array:
    """How well each query fits each key, in float64."""
    result: Array = Q.astype(np.float64) @ K.astype(np.float64).T / np.sqrt(WIDTH)
    return result


def softmax(scores: Array, axis: int = 1) -> Array:
    """Weights that sum to 1 along an axis."""
    weights = np.exp(scores - scores.max(axis, keepdims=True))
    result: Array = weights / weights.sum(axis, keepdims=True)
    return result


def diagnose_attention(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong attention, or None."""
    tests = (
        not_written,
        added_to_old,
        zero,
        other_attention,
        shifted_or_scaled,
        never_finite,
        not_finite,
    )
    if outcome.right.all():
        return None
    with np.errstate(all="ignore"):
        return overflow(outcome) or first_slip(tests, outcome)


def overflow(outcome: Outcome) -> Slip | None:
    """Right where the scores are small, and lost where an exponential leaves float32."""
    scores = scores_of(*outcome.inputs[:2])
    bad = ~outcome.right.all(axis=1)
    lost = (~np.isfinite(outcome.got) | (outcome.got == 0)).any(axis=1)
    largest = scores.max(axis=1)
    if not (bad & lost).any() or not (np.abs(largest[bad]) > LARGE / 2).all():
        return None
    row = int(np.flatnonzero(bad & lost)[0])
    lost_at = f"{outcome.output}[{row}, 0] is lost"
    values = (
        f"{outcome.output}[{row}, 0] is {outcome.values[row, 0]:.4g}; the largest score of this "
        f"query is {largest[row]:.4g}."
    )
    below = bool((largest[bad] < 0).all())
    place = "exp"
    hint = "Which number can be subtracted from all scores of a query without changing a weight?"
    if not (~bad & (largest > LARGE)).any():
        why = (
            "all scores of this query lie far below zero, every exponential underflows to zero, "
            "and so does their sum"
            if below
            else "a score of this query lies far above zero, and its exponential overflows"
        )
        message = say("{lost_at}: {why}.", lost_at=lost_at, why=why)
    elif below:
        message = say(
            "{lost_at}: all scores of this query lie far below zero, and the running maximum lies "
            "above them. So every exponential underflows to zero, and so does their sum. Large "
            "positive scores come out right.",
            lost_at=lost_at,
        )
        hint = "With which value does the running maximum begin, and is every score larger?"
        place = "first maximum"
    else:
        message = say(
            "{lost_at}: a score of this query lies far above the maximum that is subtracted, and "
            "its exponential overflows. Other queries with scores as large come out right.",
            lost_at=lost_at,
        )
        hint = "Over which scores does the maximum run, and which ones does it leave out?"
        place = "max"
    return Slip("numerical-overflow", message, hint, ("attention", place), values=values)


def never_finite(outcome: Outcome) -> Slip | None:
    """Not one number, although the scores are small: the first tile of keys spoils it already."""
    if outcome.untouched.any() or np.isfinite(outcome.got).any():
        return None
    if np.abs(scores_of(*outcome.inputs[:2])).max() > LARGE / 2:
        return None
    message = say(
        "Every element of {array} is {value}, although all scores are small: before the first "
        "tile of keys the maximum is −∞, or as good as that, and with it something becomes "
        "infinite.",
        array=outcome.output,
        value=f"{outcome.values[0, 0]:.4g}",
    )
    hint = "What does each exponential give for the first tile? Which maximum should it subtract?"
    return Slip("numerical-overflow", message, hint, ("attention", "old maximum"))


@dataclass(frozen=True)
class Candidate:
    """Something that a wrong kernel may compute."""

    values: Callable[[], Array]
    code: str
    message: str
    hint: str
    place: tuple[str, ...]


def other_attention(outcome: Outcome) -> Slip | None:
    """The first candidate that gives the numbers that came out."""
    Q, K, V = (each.astype(np.float64) for each in outcome.inputs)
    known, got = outcome.known.all(axis=1), outcome.values
    if not known.any():
        return None
    for each in _candidates(Q, K, V, got):
        values = each.values()
        if values.shape != got.shape or not np.isfinite(values[known]).all():
            continue
        room = 3e-4 * np.abs(values).max(axis=1, keepdims=True) + 2 * outcome.tolerance
        fits = (np.abs(values - got) <= room)[known].all()
        differs = (np.abs(values - outcome.expected) > room)[known].any()
        if fits and differs:
            return Slip(each.code, each.message, each.hint, each.place)
    return None


def _candidates(Q: Array, K: Array, V: Array, got: Array) -> Iterator[Candidate]:
    yield from _ties(Q, K, V)
    yield from _other_scales(Q, K, V)
    yield from _other_softmax(Q, K, V)
    yield from _by_lanes(Q, K, V)
    yield from _part_of_the_products(Q, K, V)
    yield from _other_keys(Q, K, V, got)
    yield from _without_mask(Q, K, V)
    yield from _without_rescale(Q, K, V)
    yield from _other_operands(Q, K, V)
    yield from _whole_numbers(Q, K, V)
    yield from _among_lanes(Q, K, V)
    yield from _of_another_query(Q, K, V)
    yield from _starts_again(Q, K, V)


# --- the formula ------------------------------------------------------------------------------


def _other_scales(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
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
        yield Candidate(
            lambda scale=scale: softmax(raw * scale) @ V,  # type: ignore[misc]
            "wrong-formula",
            text,
            hint,
            ("attention", kind),
        )


def _other_softmax(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """Weights that are no softmax over the keys."""
    scores = scores_of(Q, K)
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    sums = "For one query, over which keys do the weights have to sum to 1?"
    for values, text, hint, kind in (
        (
            lambda: softmax(scores, 0) @ V,
            "The softmax runs over the queries: for each key, the weights of all queries sum to 1.",
            sums,
            "total",
        ),
        (
            lambda: np.concatenate([softmax(part, 0) @ V for part in _in_rows(scores, ROWS)]),
            "The softmax runs over the 16 queries of a block, and not over the keys.",
            sums,
            "total",
        ),
        (
            lambda: shifted @ V,
            "The weights are never divided by their sum.",
            sums,
            "store",
        ),
        (
            lambda: np.exp(scores) @ V,
            "The weights are never divided by their sum.",
            sums,
            "store",
        ),
        (
            lambda: shifted @ V / len(K),
            "The weights are divided by the number of keys, and not by their sum.",
            sums,
            "store",
        ),
        (
            lambda: scores @ V,
            "The scores themselves serve as weights: there is no softmax.",
            "What happens between the two products?",
            "weigh",
        ),
        (
            lambda: np.repeat(V.mean(0)[None], len(Q), 0),
            "Every key has the same weight: O holds the mean of V.",
            "How does a score reach the weights?",
            "equal weights",
        ),
        (
            lambda: (scores / scores.sum(1, keepdims=True)) @ V,
            "The weights are the scores divided by their sum: the exponential is missing.",
            "What happens between the two products?",
            "weigh",
        ),
    ):
        yield Candidate(values, "wrong-formula", text, hint, ("attention", kind))
    best = np.isclose(scores, scores.max(1, keepdims=True))
    others = np.where(best, 0, softmax(scores)).sum(1)
    if others.max() > LEAST_SHARE:  # else they are lost in a right answer as well
        yield Candidate(
            lambda: V[scores.argmax(1)],
            "wrong-formula",
            "Only the key with the largest score counts: this is a maximum, and no softmax.",
            "What weight does the second best key have?",
            ("attention", "exp"),
        )


def _by_lanes(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """A thread knows its own key, and forgets to ask the 31 others of its row."""
    scores = scores_of(Q, K)
    if len(K) % WIDTH:
        return
    lanes = scores.reshape(len(Q), -1, WIDTH)
    hint = "Which threads know the other scores of this query, and how does this one learn them?"
    own = np.exp(lanes - scores.max(1)[:, None, None]).sum(1)
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    yield Candidate(
        lambda: shifted @ V / own,
        "accumulator-error",
        "Each thread sums the weights of its own keys alone: those of the other lanes are missing.",
        hint,
        ("attention", "total"),
    )
    for distances, kind in _some_distances():
        some = _exchanged(own, distances, np.add)
        yield Candidate(
            lambda some=some: shifted @ V / some,  # type: ignore[misc]
            "accumulator-error",
            say(
                "The sum of the weights is found among {lanes} lanes each, and not among all 32.",
                lanes=1 << len(distances),
            ),
            "With how many other lanes has a lane put its sum together in the end?",
            ("attention", f"total reduction{kind}"),
        )
    for at_the_end in (False, True):
        yield Candidate(
            lambda at_the_end=at_the_end: _own_maximum(lanes, lanes, V, at_the_end),  # type: ignore[misc]
            "wrong-formula",
            "Each thread subtracts the maximum of its own keys: the weights of a query have "
            "different maxima.",
            hint,
            ("attention", "max"),
        )
    for (distances, kind), at_the_end in itertools.product(_some_distances(), (False, True)):
        some = _exchanged(lanes, distances, np.maximum)
        yield Candidate(
            lambda some=some, at_the_end=at_the_end: _own_maximum(lanes, some, V, at_the_end),  # type: ignore[misc]
            "wrong-formula",
            say(
                "The maximum is found among {lanes} lanes each, and not among all 32: the weights "
                "of a query have different maxima.",
                lanes=1 << len(distances),
            ),
            "With how many other lanes has a lane compared its maximum in the end?",
            ("attention", f"reduction{kind}"),
        )
    yield from _shuffled_one_way(lanes, own, shifted, V)
    yield from _weights_of_the_lane(lanes, shifted, V)
    yield from _scores_go_on(lanes, V)


DISTANCES = (16, 8, 4, 2, 1)  # over which the lanes of a warp exchange numbers


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


def _shuffled_one_way(lanes: Array, own: Array, shifted: Array, V: Array) -> Iterator[Candidate]:
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
        yield Candidate(
            lambda sums=sums: shifted @ V / sums,  # type: ignore[misc]
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
            yield Candidate(
                lambda maxima=maxima, end=at_the_end: _own_maximum(lanes, maxima, V, end),  # type: ignore[misc]
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


def _weights_of_the_lane(lanes: Array, shifted: Array, V: Array) -> Iterator[Candidate]:
    """All values of a tile get the one weight that the thread itself has worked out."""
    weights = shifted.reshape(lanes.shape)
    out = (weights * V.reshape(-1, WIDTH, V.shape[1]).sum(1)).sum(1)
    for total in (shifted.sum(1, keepdims=True), WIDTH * weights.sum(1)):
        yield Candidate(
            lambda total=total: out / total,  # type: ignore[misc]
            "wrong-formula",
            "Each thread multiplies all values of a tile by one and the same weight: that of the "
            "key for which it has worked out the score itself.",
            "Which weight belongs to which value, and which thread has worked it out?",
            ("attention", "weigh"),
        )


def _scores_go_on(lanes: Array, V: Array) -> Iterator[Candidate]:
    """A score that begins with what the same lane had in the tile before."""
    for factor in (1 / np.sqrt(WIDTH), 1.0):  # it is scaled again, or never
        going_on = lanes.copy()
        for tile in range(1, lanes.shape[1]):
            going_on[:, tile] += factor * going_on[:, tile - 1]
        yield Candidate(
            lambda going_on=going_on: softmax(going_on.reshape(len(lanes), -1)) @ V,  # type: ignore[misc]
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


def _among_lanes(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """Scores for which each lane has one element of the query, or one product."""
    distances = (16, 8, 4, 2, 1)
    for count in range(1, len(distances)):
        for chosen in (distances[:count], distances[-count:]):
            apart = ", ".join(map(str, chosen))
            yield Candidate(
                lambda chosen=chosen: _partly_reduced(Q, K, V, chosen),  # type: ignore[misc]
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
    yield Candidate(
        lambda: softmax(Q[:, lane] * K.sum(1) / np.sqrt(WIDTH)) @ V,
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


def _of_another_query(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """A column takes what belongs to a query from another one of the block."""
    if len(Q) % ROWS:
        return
    scores, row = scores_of(Q, K), np.arange(len(Q))
    other = row[:, None] // ROWS * ROWS + np.arange(WIDTH) % ROWS
    hint = "Which query of the block does this thread work on, and at which index is its number?"
    text = "of the query that has the number of the column (modulo 16), and not of its own"
    for tile in TILES[:4]:
        yield Candidate(
            lambda tile=tile: Online(tile, others=other).of(scores, V),  # type: ignore[misc]
            "wrong-index",
            say(
                "When a tile of {tile} keys raises the maximum, the output gets the factor {text}.",
                tile=tile,
                text=text,
            ),
            hint,
            ("attention", "factor use"),
        )
    weights = np.exp(scores - scores.max(1, keepdims=True))
    yield Candidate(
        lambda: weights @ V / weights.sum(1)[other],
        "wrong-index",
        say("The output is divided by the sum {text}.", text=text),
        hint,
        ("attention", "store"),
    )


def _starts_again(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """Rows of K or V that start again from the first one after some number of them."""
    scores = scores_of(Q, K)
    weights = softmax(scores)
    for count in sorted({*range(2, len(K))} - {*TILES}):  # with a tile's, another slip fits as well
        again = np.arange(len(K)) % count
        for name in "KV":
            yield Candidate(
                lambda name=name, again=again: (  # type: ignore[misc]
                    softmax(scores[:, again]) @ V if name == "K" else weights @ V[again]
                ),
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


def _part_of_the_products(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """Scores that lack some of the 32 products."""
    for count in (1, 8, 16, 31):
        for chosen, which in ((slice(count), "first"), (slice(-count, None), "last")):
            yield Candidate(
                lambda chosen=chosen: softmax(scores_of(Q[:, chosen], K[:, chosen])) @ V,  # type: ignore[misc]
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


# --- keys that are missing, and keys that do not exist --------------------------------------------


def _other_keys(Q: Array, K: Array, V: Array, got: Array) -> Iterator[Candidate]:
    """The right attention to some of the keys."""
    keys = len(K)
    if len(Q) < keys:
        yield Candidate(
            lambda: softmax(scores_of(Q, K[: len(Q)])) @ V[: len(Q)],
            "wrong-bounds-check",
            say("Only as many keys take part as there are queries, {queries}.", queries=len(Q)),
            "Which array has a row for each key, and whose size does this line go by?",
            ("attention", "size"),
        )
    hint = "Which keys does the first tile hold, and which the last one?"
    for text, chosen, code, kind in _some_keys(keys, _first_keys(Q, K, V, got)):
        if chosen.any() and not chosen.all():
            yield Candidate(
                lambda chosen=chosen: softmax(scores_of(Q, K[chosen])) @ V[chosen],  # type: ignore[misc]
                code,
                text,
                hint,
                ("attention", kind),
            )


def _some_keys(keys: int, most: int) -> Iterator[tuple[str, Array, str, str]]:
    """What is said, the keys that take part, the code and the place; at last for the first few."""
    number = np.arange(keys)
    for tile in TILES[:4]:
        yield _first(tile), number < tile, "wrong-loop-bound", "loop"
        text = say("The first {count} keys take no part.", count=tile)
        yield text, number >= tile, "wrong-loop-bound", "loop"
        whole, last = keys // tile * tile, (keys - 1) // tile * tile
        text = say("The last tile takes no part: keys from {first} on are missing.", first=whole)
        yield text, number < whole, "wrong-loop-bound", "loop"
        text = say(
            "Only the last tile counts, keys from {first} on: the ones before are forgotten.",
            first=last,
        )
        yield text, number >= last, "accumulator-error", "factor"
        text = say("The keys from {first} on take no part.", first=last)
        yield text, number < last, "wrong-loop-bound", "loop"
        text = say("Only every second tile of {count} keys takes part.", count=tile)
        yield text, number // tile % 2 == 0, "wrong-loop-bound", "loop"
    yield "The last key takes no part.", number < keys - 1, "wrong-bounds-check", "mask"
    yield "The first key takes no part.", number > 0, "wrong-bounds-check", "mask"
    yield _first(most), number < most, "wrong-loop-bound", "loop"


def _first(keys: int) -> Sentence:
    return say("Only the first {count} keys take part.", count=keys)


def _ties(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """Keys that are lost because another one before them has the same score."""
    _, group = np.unique(K, axis=0, return_inverse=True)
    group = group.reshape(-1)
    if len(set(group)) == len(K):
        return
    scores = scores_of(Q, K)[:, np.unique(group, return_index=True)[1]][:, group]
    before = np.maximum.accumulate(scores, axis=1)
    equals = np.zeros(scores.shape, bool)
    equals[:, 1:] = scores[:, 1:] == before[:, :-1]
    yield Candidate(
        lambda: softmax(np.where(equals, -np.inf, scores)) @ V,
        "wrong-formula",
        "A key whose score equals the largest one before it takes no part.",
        "Which of the branches does a key take whose score equals the maximum?",
        ("attention", "tie"),
    )


def _first_keys(Q: Array, K: Array, V: Array, got: Array) -> int:
    """How many of the first keys come nearest to what came out."""
    rows = np.flatnonzero(np.isfinite(got).all(axis=1))[:FEW_ROWS]
    if not len(rows):
        return 0
    scores = scores_of(Q[rows], K)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    sums = np.cumsum(weights[:, :, None] * V[None], axis=1)
    off = np.abs(sums / np.cumsum(weights, 1)[:, :, None] - got[rows, None]).max(axis=(0, 2))
    return int(np.nanargmin(np.where(np.isfinite(off), off, np.inf))) + 1


def _without_mask(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """Keys past the end that take part, with a score of zero."""
    keys = len(K)
    hint = "What weight does a key have that does not exist, and which score gives that weight?"
    counts = {-keys % tile: "missing-mask" for tile in TILES[:4]}
    if 1 in counts:  # all that a tile lacks is one key: other sizes tell which of the two it is
        counts = {}
    for ghosts, code in {**counts, 1: "wrong-bounds-check"}.items() if counts else ():
        if not ghosts:
            continue
        plural = "s" if ghosts > 1 else ""
        message = say(
            "{ghosts} key{plural} past the end take{verb_ending} part: a score of 0 is a score "
            "like any other, and gives a weight.",
            ghosts=ghosts,
            plural=plural,
            verb_ending="" if plural else "s",
        )
        yield Candidate(
            lambda ghosts=ghosts: (
                softmax(np.pad(scores_of(Q, K), ((0, 0), (0, ghosts))))  # type: ignore[misc]
                @ np.pad(V, ((0, ghosts), (0, 0)))
            ),
            code,
            message,
            hint,
            ("attention", "mask value" if code == "missing-mask" else "mask"),
        )


# --- the running maximum --------------------------------------------------------------------------


LATE = ("both", "total", "out")


@dataclass(frozen=True)
class Online:
    """Attention tile by tile, with a slip in what happens when the maximum grows.

    Attributes:
        tile: keys of a tile.
        total, out: how the sum and the output are rescaled: 1 as they should be, 0 not at all,
            -1 by the inverse factor.
        resets: the maximum starts anew with each tile.
        divides_each: the output is divided by the sum after each tile.
        again: and once more at the end.
        late: what the tile itself brings is rescaled as well: to "both", or "total" or "out".
        forgets: "total" or "out": the one that starts anew with each tile.
        others: for each element of the output, the query whose factor it gets; None: its own.
    """

    tile: int
    total: int = 1
    out: int = 1
    resets: bool = False
    divides_each: bool = False
    again: bool = False
    late: str = ""
    forgets: str = ""
    others: Array | None = None

    def of(self, scores: Array, V: Array) -> Array:
        top = np.full((len(scores), 1), -np.inf)
        total, out = np.zeros_like(top), np.zeros((len(scores), V.shape[1]))
        for start in range(0, len(V), self.tile):
            part, values = scores[:, start : start + self.tile], V[start : start + self.tile]
            best = part.max(1, keepdims=True)
            new = best if self.resets else np.maximum(top, best)
            step = np.where(np.isinf(top), 0, new - np.where(np.isinf(top), 0, top))
            weights = np.exp(part - new)
            keep, own = np.exp(-step * self.total), np.exp(-step * self.out)
            if self.others is not None:
                own = own[self.others, 0]
            if self.forgets == "total":
                total = np.zeros_like(total)
            if self.forgets == "out":
                out = np.zeros_like(out)
            share = np.where(np.isinf(top), 0, keep)
            late_total, late_out = (share if self.late in ("both", k) else 1 for k in LATE[1:])
            total = total * keep + weights.sum(1, keepdims=True) * late_total
            out = out * own + weights @ values * late_out
            if self.divides_each:
                out = out / total
            top = new
        return out if self.divides_each and not self.again else out / total


def _a_tile_of(keys: int) -> str:
    return f"a tile of {keys} keys" if keys > 1 else "a key"


def _without_rescale(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """What was collected so far keeps weights that belong to an older maximum."""
    scores = scores_of(Q, K)
    hint = "By how much do all weights shrink that were found with the old maximum?"
    slips = (
        ({"out": 0}, "the output collected so far is not rescaled", "rescale"),
        ({"total": 0}, "the sum of the weights is not rescaled", "total"),
        (
            {"out": 0, "total": 0},
            "neither the output nor the sum of the weights shrinks",
            "rescale",
        ),
        ({"out": -1, "total": -1}, "both are rescaled by the inverse factor", "factor"),
        ({"out": -1}, "the output is rescaled by the inverse factor", "factor"),
        ({"total": -1}, "the sum of the weights is rescaled by the inverse factor", "factor"),
    )
    for tile in TILES:
        for keywords, text, kind in slips:
            yield Candidate(
                lambda tile=tile, keywords=keywords: Online(tile, **keywords).of(scores, V),  # type: ignore[misc]
                "missing-rescale",
                say("When {tile} raises the maximum, {text}.", tile=_a_tile_of(tile), text=text),
                hint,
                ("attention", kind),
            )
        yield Candidate(
            lambda tile=tile: Online(tile, 0, 0, resets=True).of(scores, V),  # type: ignore[misc]
            "missing-rescale",
            say(
                "Every tile of {tile} keys is weighed with a maximum of its own, and nothing "
                "brings the tiles to one scale.",
                tile=tile,
            ),
            hint,
            ("attention", "out"),
        )
        for forgets, text in (
            ("total", "The sum of the weights"),
            ("out", "The output"),
        ):
            yield Candidate(
                lambda tile=tile, forgets=forgets: Online(tile, forgets=forgets).of(scores, V),  # type: ignore[misc]
                "accumulator-error",
                say("{text} starts anew with every tile of {tile} keys.", text=text, tile=tile),
                "Where does it get its first value, and how often does a thread pass that line?",
                ("attention", f"first {forgets}"),
            )
        for late, where, kind in zip(
            LATE,
            ("", " to the sum of the weights", " to the output"),
            ("factor", "total", "factor use"),
            strict=True,
        ):
            yield Candidate(
                lambda tile=tile, late=late: Online(tile, late=late).of(scores, V),  # type: ignore[misc]
                "wrong-formula",
                say(
                    "What {tile} adds{where} is rescaled as well, although its {weights_belong} "
                    "to the new maximum already.",
                    tile=_a_tile_of(tile),
                    where=where,
                    weights_belong="weights belong" if tile > 1 else "weight belongs",
                ),
                "Which numbers were found with the old maximum, and which with the new one?",
                ("attention", kind),
            )
        yield Candidate(
            lambda tile=tile: Online(tile, divides_each=True).of(scores, V),  # type: ignore[misc]
            "wrong-formula",
            say("The output is divided by the sum after every tile of {tile} keys.", tile=tile),
            "How often may the output be divided by the sum?",
            ("attention", "divide"),
        )
        yield Candidate(
            lambda tile=tile: Online(tile, divides_each=True, again=True).of(scores, V),  # type: ignore[misc]
            "wrong-formula",
            say(
                "The output is divided by the sum after every tile of {tile} keys, and again at "
                "the end.",
                tile=tile,
            ),
            "How often may the output be divided by the sum?",
            ("attention", "divide"),
        )
        yield Candidate(
            lambda tile=tile: sum(
                softmax(scores[:, start : start + tile]) @ V[start : start + tile]
                for start in range(0, len(V), tile)
            ),  # type: ignore[misc]
            "missing-rescale",
            say(
                "Each tile of {tile} keys has a softmax of its own, and their outputs are added.",
                tile=tile,
            ),
            "Which tile has a larger share in the output, and how does the kernel know?",
            ("attention", "out"),
        )


# --- the right steps with the wrong elements ------------------------------------------------------


def _other_operands(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """An array taken for another one, or read at the wrong place."""
    row, hint = np.arange(len(Q)), "Which row of which array does this line need?"
    scores = scores_of(Q, K)
    for values, text, place in (
        (
            lambda: softmax(scores) @ K,
            "K is summed where V should be.",
            ("load", "K"),
        ),
        (
            lambda: softmax(scores_of(Q, V)) @ V,
            "The scores are those of Q with V, and not with K.",
            ("load", "V"),
        ),
        (
            lambda: softmax(scores_of(K, K)) @ V,
            "The scores are those of K with K.",
            ("load", "K"),
        ),
        (
            lambda: softmax(scores_of(Q[row % ROWS], K)) @ V,
            "Every block takes the queries of the first one: the offset of the block is missing.",
            ("load", "Q"),
        ),
        (
            lambda: softmax(scores_of(Q[row // ROWS * ROWS], K)) @ V,
            "All queries of a block are taken for its first one.",
            ("load", "Q"),
        ),
        (
            lambda: softmax(scores_of(np.repeat(Q[:1], len(Q), 0), K)) @ V,
            "Every query is taken for the first one.",
            ("load", "Q"),
        ),
        (
            lambda: (softmax(scores) @ V)[
                np.minimum(row // ROWS * ROWS + ROWS - 1 - row % ROWS, len(Q) - 1)
            ],
            "The queries of each block come out in reverse order.",
            ("store",),
        ),
    ):
        yield Candidate(values, "wrong-index", text, hint, place)
    yield from _turned(Q, K, V)
    yield from _first_tile_again(Q, K, V)


def _first_tile_again(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """One operand whose load lacks the offset of the tile."""
    scores = scores_of(Q, K)
    hint = "Which part of the row changes from one tile to the next?"
    for tile in TILES[:5]:
        again = np.arange(len(K)) % tile
        # Of two tiles, the second in part, that one may as well still hold the first: no proof.
        if len(K) < 2 * tile:
            continue
        for name in "KV":
            yield Candidate(
                lambda name=name, again=again: (  # type: ignore[misc]
                    softmax(scores[:, again]) @ V if name == "K" else softmax(scores) @ V[again]
                ),
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


def _turned(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """A tile of K or V, as many keys as a key is wide, that is read along the wrong axis."""
    scores = scores_of(Q, K)
    hint = "Which index of the tile is the key, and which one the element of the key?"
    for name, text in (("K", "the tile of K"), ("V", "the tile of V")):
        yield Candidate(
            lambda name=name: (  # type: ignore[misc]
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


def _whole_numbers(Q: Array, K: Array, V: Array) -> Iterator[Candidate]:
    """Fractions that are cut off."""
    scores = scores_of(Q, K)
    hint = "Which variable, cast or array has an integer type?"
    for cut in (np.trunc, np.floor, np.rint):
        for values, what in (
            (lambda cut=cut: softmax(cut(scores)) @ V, "the scores"),
            (lambda cut=cut: softmax(scores_of(cut(Q), K)) @ V, "Q"),
            (lambda cut=cut: softmax(scores_of(Q, cut(K))) @ V, "K"),
            (lambda cut=cut: softmax(scores) @ cut(V), "V"),
            (lambda cut=cut: cut(softmax(scores) @ V), "the result"),
        ):
            text = say("The fractions of {what} are lost.", what=what)
            yield Candidate(values, "integer-arithmetic", text, hint, ("integer",))
