"""A weighted sum of rows whose weights shrink with every new maximum, tile by tile."""

import math
from typing import Any

from course_lib.registry.exercise import Task, WrongIdea

TILE = 8


def _mixed(
    s: Any,
    V: Any,
    rescale: Any = None,
    anew: bool = False,
    row: Any = None,
    score: Any = None,
    least: Any = None,
    late: bool = False,
    begins: float = -math.inf,
) -> Any:
    """What is kept after each tile, as a wrong answer might: with another factor, with tiles that
    forget the others, with other rows of V or scores for the weights, with a maximum that begins at
    `least` in each, with a factor that comes too late, or with a first maximum that `begins` too
    high."""
    import numpy as np  # the registry is read without it, too

    top, mixed, kept = begins, np.zeros(V.shape[1]), []
    for first in range(0, len(s), TILE):
        rows = np.arange(first, first + TILE)
        known = top if least is None else least
        new = max(-np.inf if anew else known, s[rows].max())
        factor = np.exp(top - new) if rescale is None else rescale(top, new)
        values = V[rows] if row is None else V[row(rows)]
        weights = np.exp((s[rows] if score is None else s[score(rows)]) - new)
        if late:
            mixed = (mixed + weights @ values) * factor
        else:
            mixed = (0 if anew else mixed * factor) + weights @ values
        top = new
        kept.append(mixed)
    return np.array(kept)


def _exp(x: float) -> Any:
    import numpy as np

    return np.exp(x)


def _without_maximum(s: Any, V: Any) -> Any:
    import numpy as np

    terms = np.exp(s)[:, None] * V
    return terms.cumsum(axis=0)[TILE - 1 :: TILE]


def _rescaled_without_maximum(s: Any, V: Any) -> Any:
    import numpy as np

    top, mixed, kept = -np.inf, np.zeros(V.shape[1]), []
    for first in range(0, len(s), TILE):
        rows = slice(first, first + TILE)
        new = max(top, s[rows].max())
        mixed = mixed * np.exp(top - new) + np.exp(s[rows]) @ V[rows]
        top = new
        kept.append(mixed)
    return np.array(kept)


def _first_tile_again(s: Any, V: Any) -> Any:
    """Whatever the tile, its eight scores and rows are added."""
    import numpy as np

    first = np.exp(s[:TILE] - s[:TILE].max()) @ V[:TILE]
    return np.arange(1, len(s) // TILE + 1)[:, None] * first


def _shrunk_key_by_key(s: Any, V: Any) -> Any:
    """As if the factor of the tile stood in the loop over its keys."""
    import numpy as np

    top, mixed, kept = -np.inf, np.zeros(V.shape[1]), []
    for first in range(0, len(s), TILE):
        new = max(top, s[first : first + TILE].max())
        for j in range(first, first + TILE):
            mixed = mixed * np.exp(top - new) + np.exp(s[j] - new) * V[j]
        top = new
        kept.append(mixed)
    return np.array(kept)


def _divided(s: Any, V: Any) -> Any:
    import numpy as np

    return _mixed(s, V) / _mixed(s, np.ones_like(V))


def _divided_tile_by_tile(s: Any, V: Any) -> Any:
    """The mixture is divided by the weights of each tile, and goes on like that."""
    import numpy as np

    top, mixed, kept = -np.inf, np.zeros(V.shape[1]), []
    for first in range(0, len(s), TILE):
        rows = slice(first, first + TILE)
        new = max(top, s[rows].max())
        weights = np.exp(s[rows] - new)
        mixed = (mixed * np.exp(top - new) + weights @ V[rows]) / weights.sum()
        top = new
        kept.append(mixed)
    return np.array(kept)


def _without_last_keys(s: Any, V: Any) -> Any:
    """As if a tile had seven keys, for the maximum too."""
    import numpy as np

    hidden = np.arange(len(s)) % TILE == TILE - 1
    return _mixed(np.where(hidden, -np.inf, s), V)


TASK = Task(
    id="mix_tiles",
    title="Mix rows, tile by tile",
    lesson="11",
    position=3,
    parameters=("s", "V", "out"),
    output="out",
    grid=(1, 1),
    block=(32, 1),
    shapes=("40", "40,32", "5,32"),
    other_sizes=({"40": 56, "5": 7},),
    reference=_mixed,
    falls={"s": 50_000},  # so that no finite number does for -inf
    rises={"s": 12},  # the first scores lie below 0
    wrong_ideas=(
        WrongIdea(
            lambda s, V: _mixed(s, V, lambda top, new: _exp(new - top)),
            "before the first tile `top` is -inf, so exp(… - top) is infinite",
            "An exponent becomes infinite if -inf is subtracted in it. In which exponent does your "
            "kernel subtract the old maximum?",
            place=("exponential", "s"),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, lambda top, new: 1.0),
            "when the maximum grows, your kernel does not rescale the rows that it has already "
            "mixed",
            "In `one_pass`, you multiplied `total` by a factor when the maximum grew. By which "
            "factor do you have to multiply `mixed`?",
            place=("sum",),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, anew=True),
            "your kernel starts again with each tile and forgets the maximum and the rows of the "
            "earlier tiles",
            "Which results of the earlier tiles does a thread still need when the next "
            "tile begins?",
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, begins=0.0),
            "`top` is 0 if all scores so far are below 0",
            "`top` has to start with a value below every possible score. Which float is below all "
            "others?",
            place=("largest", "first"),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, least=0.0),
            "each tile has a maximum of its own that ignores the earlier tiles",
            "When a tile begins, a thread already knows the maximum of the earlier tiles. Where "
            "does your kernel use this maximum?",
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, least=-math.inf),
            "each tile has a maximum of its own that ignores the earlier tiles",
            "When a tile begins, a thread already knows the maximum of the earlier tiles. Where "
            "does your kernel use this maximum?",
        ),
        WrongIdea(
            _rescaled_without_maximum,
            "your kernel rescales the old mixture, but it subtracts no maximum in the new weights",
            "Which number has to be subtracted from s[j] in the exponent?",
            place=("exponential",),
        ),
        WrongIdea(
            _without_maximum,
            "your kernel never subtracts the maximum",
            "Which number has to be subtracted from s[j] in the exponent?",
            place=("sum",),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, late=True),
            "your kernel rescales the new terms of a tile together with the old mixture",
            "The new weights are already computed with the new maximum. Rescale `mixed` before you "
            "add them.",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, row=lambda rows: rows % TILE, score=lambda rows: rows % TILE),
            "every tile uses the scores and the rows of the first tile",
            "Which values of j belong to the tile that begins at `first`?",
            place=("load", "V"),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, row=lambda rows: rows - rows % TILE),
            "your kernel multiplies every weight of a tile by the first row of V in that tile",
            "By which row of V should the weight of key j be multiplied?",
            place=("load", "V"),
        ),
        WrongIdea(
            _first_tile_again,
            "your kernel uses the first tile again in every iteration",
            "Which values of j belong to the tile that begins at `first`?",
            place=("load", "s"),
        ),
        WrongIdea(
            _shrunk_key_by_key,
            "your kernel rescales everything once for each key, even the newest terms",
            "`top` has to change only once per tile. How many times per tile does your kernel run "
            "the line that rescales `mixed`?",
            place=("exponential", "other"),
        ),
        WrongIdea(
            _divided,
            "your kernel already divides by the sum of the weights, but this task does not",
            "Attention divides only once, after the last tile, and this task does not include "
            "that division.",
        ),
        WrongIdea(
            _divided_tile_by_tile,
            "after each tile, your kernel divides the mixture by the sum of that tile's weights",
            "Attention divides only once, after the last tile, and this task does not include "
            "that division.",
        ),
        WrongIdea(
            _without_last_keys,
            "your loop leaves out the last key of each tile",
            "A tile has eight keys. Which values does j take in your loop?",
            place=("sum",),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, row=lambda rows: rows % TILE),
            "in every tile, your kernel uses the rows of V that belong to the first tile",
            "Which row of V belongs to key j?",
            place=("load", "V"),
        ),
        WrongIdea(
            lambda s, V: _mixed(s, V, lambda top, new: 0.0),
            "only the last tile counts, because the mixture starts again with each tile",
            "Which results of the earlier tiles does a thread still need when the next "
            "tile begins?",
        ),
    ),
    formula="out[t] = sum of exp(s[j] - top) * V[j], tiles 0 … t",
    hints=(
        "First find the new maximum, in one loop over the 8 keys of the tile. The new maximum is "
        "the largest of the old maximum and the 8 scores of the tile.",
        "When the maximum grows, by what factor do all old weights shrink? The whole mixture "
        "shrinks by the same factor.",
        "Multiply `mixed` by the factor once per tile. Then add the eight numbers of column x, "
        "each multiplied by its weight. Compute the weights with the new maximum.",
    ),
    given='''\
import math


@cuda.jit
def mix_tiles(s, V, out):
    """out[t] = the sum of exp(s[j] - top) * V[j] over all keys j of tiles 0 to t, where top is the
    largest of their scores s[j]. A tile has 8 keys. Thread x computes column x."""
    x = cuda.threadIdx.x
    top, mixed = float32(-math.inf), float32(0)
    for first in range(0, s.shape[0], 8):
        ...
        out[first // 8, x] = mixed
''',
    answer='''\
import math


@cuda.jit
def mix_tiles(s, V, out):
    """out[t] = the sum of exp(s[j] - top) * V[j] over all keys j of tiles 0 to t, where top is the
    largest of their scores s[j]. A tile has 8 keys. Thread x computes column x."""
    x = cuda.threadIdx.x
    top, mixed = float32(-math.inf), float32(0)
    for first in range(0, s.shape[0], 8):
        new = top
        for j in range(first, first + 8):
            new = max(new, s[j])
        mixed *= math.exp(top - new)
        for j in range(first, first + 8):
            mixed += math.exp(s[j] - new) * V[j, x]
        top = new
        out[first // 8, x] = mixed
''',
    another='''\
import math


@cuda.jit
def mix_tiles(s, V, out):
    """out[t] = the sum of exp(s[j] - top) * V[j] over all keys j of tiles 0 to t, where top is the
    largest of their scores s[j]. A tile has 8 keys. Thread x computes column x."""
    x = cuda.threadIdx.x
    top, mixed = float32(-math.inf), float32(0)
    for first in range(0, s.shape[0], 8):
        for j in range(first, first + 8):
            if s[j] > top:
                mixed *= math.exp(top - s[j])
                top = s[j]
            mixed += math.exp(s[j] - top) * V[j, x]
        out[first // 8, x] = mixed
''',
    compared="This version goes through the keys in one loop. It rescales whenever it finds a "
    "larger score, instead of once per tile.",
    par=7,
    meaning="You computed only one factor for each tile. Besides `top` and `total`, you keep only "
    "one number per column from tile to tile.",
)
