"""The online softmax with a slip: what happens when the maximum grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


def of_another_query(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """A column takes what belongs to a query from another one of the block."""
    if len(Q) % ROWS:
        return
    scores, row = scores_of(Q, K), np.arange(len(Q))
    other = row[:, None] // ROWS * ROWS + np.arange(WIDTH) % ROWS
    hint = "Which query of the block does this thread work on, and at which index is its number?"
    text = "of the query that has the number of the column (modulo 16), and not of its own"
    for tile in TILES[:4]:
        yield Hypothesis(
            Online(tile, others=other).of(scores, V),
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
    yield Hypothesis(
        weights @ V / weights.sum(1)[other],
        "wrong-index",
        say("The output is divided by the sum {text}.", text=text),
        hint,
        ("attention", "store"),
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


def without_rescale(Q: Array, K: Array, V: Array) -> Iterator[Hypothesis]:
    """What was collected so far keeps weights that belong to an older maximum."""
    scores = scores_of(Q, K)
    for tile in TILES:
        yield from _rescaled_otherwise(tile, scores, V)
        yield from _anew_or_too_much(tile, scores, V)
        yield from _each_tile_by_itself(tile, scores, V)


def _rescaled_otherwise(tile: int, scores: Array, V: Array) -> Iterator[Hypothesis]:
    """The sum, the output or both shrink by another factor, or by none."""
    hint = "By how much do all weights shrink that were found with the old maximum?"
    slips = (  # how the sum and the output are rescaled
        (1, 0, "the output collected so far is not rescaled", "rescale"),
        (0, 1, "the sum of the weights is not rescaled", "total"),
        (0, 0, "neither the output nor the sum of the weights shrinks", "rescale"),
        (-1, -1, "both are rescaled by the inverse factor", "factor"),
        (1, -1, "the output is rescaled by the inverse factor", "factor"),
        (-1, 1, "the sum of the weights is rescaled by the inverse factor", "factor"),
    )
    for total, out, text, kind in slips:
        yield Hypothesis(
            Online(tile, total, out).of(scores, V),
            "missing-rescale",
            say("When {tile} raises the maximum, {text}.", tile=_a_tile_of(tile), text=text),
            hint,
            ("attention", kind),
        )
    yield Hypothesis(
        Online(tile, 0, 0, resets=True).of(scores, V),
        "missing-rescale",
        say(
            "Every tile of {tile} keys is weighed with a maximum of its own, and nothing "
            "brings the tiles to one scale.",
            tile=tile,
        ),
        hint,
        ("attention", "out"),
    )


def _anew_or_too_much(tile: int, scores: Array, V: Array) -> Iterator[Hypothesis]:
    """What was collected is lost, or what the tile itself brings is rescaled as well."""
    for forgets, text in (
        ("total", "The sum of the weights"),
        ("out", "The output"),
    ):
        yield Hypothesis(
            Online(tile, forgets=forgets).of(scores, V),
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
        yield Hypothesis(
            Online(tile, late=late).of(scores, V),
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


def _each_tile_by_itself(tile: int, scores: Array, V: Array) -> Iterator[Hypothesis]:
    """Each tile is divided by a sum, not all of them at the end."""
    yield Hypothesis(
        Online(tile, divides_each=True).of(scores, V),
        "wrong-formula",
        say("The output is divided by the sum after every tile of {tile} keys.", tile=tile),
        "How often may the output be divided by the sum?",
        ("attention", "divide"),
    )
    yield Hypothesis(
        Online(tile, divides_each=True, again=True).of(scores, V),
        "wrong-formula",
        say(
            "The output is divided by the sum after every tile of {tile} keys, and again at "
            "the end.",
            tile=tile,
        ),
        "How often may the output be divided by the sum?",
        ("attention", "divide"),
    )
    yield Hypothesis(
        sum(
            softmax(scores[:, start : start + tile]) @ V[start : start + tile]
            for start in range(0, len(V), tile)
        ),
        "missing-rescale",
        say(
            "Each tile of {tile} keys has a softmax of its own, and their outputs are added.",
            tile=tile,
        ),
        "Which tile has a larger share in the output, and how does the kernel know?",
        ("attention", "out"),
    )
