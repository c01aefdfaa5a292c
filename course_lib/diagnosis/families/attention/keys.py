"""Attention to other keys: some that are missing, some that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.diagnosis.families.hypotheses import Hypothesis
from course_lib.diagnosis.problems.attention import TILES, Array, scores_of, softmax
from course_lib.sentences import Sentence, say
from course_lib.words import counted

FEW_ROWS = 4  # of the output, enough to tell how many keys took part


def other_keys(Q: Array, K: Array, V: Array, got: Array) -> Iterator[Hypothesis]:
    """The right attention to some of the keys."""
    keys = len(K)
    if len(Q) < keys:
        yield Hypothesis(
            softmax(scores_of(Q, K[: len(Q)])) @ V[: len(Q)],
            "wrong-bounds-check",
            say("Only as many keys take part as there are queries, {queries}.", queries=len(Q)),
            "Which array has a row for each key, and whose size does this line go by?",
            ("attention", "size"),
        )
    hint = "Which keys does the first tile hold, and which the last one?"
    for text, chosen, code, kind in _some_keys(keys, _first_keys(Q, K, V, got)):
        if chosen.any() and not chosen.all():
            yield Hypothesis(
                softmax(scores_of(Q, K[chosen])) @ V[chosen],
                code,
                text,
                hint,
                ("attention", kind),
            )


def overlapping_tiles(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Tiles that begin before the one before has ended, so that its last keys count again."""
    number = np.arange(len(K))
    scores = scores_of(Q, K)
    for tile in TILES[:4]:
        for step in (tile // 2, tile // 4):
            first = np.maximum(number - tile, -step) // step + 1  # the first tile with this key
            times = number // step - first + 1
            weights = np.exp(scores - scores.max(1, keepdims=True)) * times
            yield Hypothesis(
                weights / weights.sum(1, keepdims=True) @ V,
                "wrong-loop-bound",
                say(
                    "Keys count more than once: a tile has {tile} of them, and the next one begins "
                    "{step} keys further on.",
                    tile=tile,
                    step=step,
                ),
                "Which keys does the first tile hold, and with which one should the second begin?",
                ("attention", "loop"),
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


def ties(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Keys that are lost because another one before them has the same score."""
    _, group = np.unique(K, axis=0, return_inverse=True)
    group = group.reshape(-1)
    if len(set(group)) == len(K):
        return
    scores = scores_of(Q, K)[:, np.unique(group, return_index=True)[1]][:, group]
    before = np.maximum.accumulate(scores, axis=1)
    equals = np.zeros(scores.shape, bool)
    equals[:, 1:] = scores[:, 1:] == before[:, :-1]
    yield Hypothesis(
        softmax(np.where(equals, -np.inf, scores)) @ V,
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


def without_mask(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """Keys past the end that take part, with a score of zero."""
    keys = len(K)
    hint = "What weight does a key have that does not exist, and which score gives that weight?"
    counts = {-keys % tile: "missing-mask" for tile in TILES[:4]}
    if 1 in counts:  # all that a tile lacks is one key: other sizes tell which of the two it is
        counts = {}
    for ghosts, code in {**counts, 1: "wrong-bounds-check"}.items() if counts else ():
        if not ghosts:
            continue
        message = say(
            "{keys} past the end {take} part: a score of 0 is a score "
            "like any other, and gives a weight.",
            keys=counted(ghosts, "key"),
            take="takes" if ghosts == 1 else "take",
        )
        yield Hypothesis(
            (
                softmax(np.pad(scores_of(Q, K), ((0, 0), (0, ghosts))))
                @ np.pad(V, ((0, ghosts), (0, 0)))
            ),
            code,
            message,
            hint,
            ("attention", "mask value" if code == "missing-mask" else "mask"),
        )
