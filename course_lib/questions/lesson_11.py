"""Predictions of lesson 11: bytes of attention, what a new maximum changes, who waits for whom."""

from __future__ import annotations

import math
import re

from course_lib.questions.kinds import Choice, Choose, Number, Trap

TOKENS, WIDTH, FLOAT = 4096, 32, 4
MIB = 2**20


def scores_mib() -> float:
    """A float32 matrix of tokens x tokens."""
    return FLOAT * TOKENS**2 / MIB


def narrow_mib() -> float:
    """Q, K, V and O."""
    return FLOAT * 4 * TOKENS * WIDTH / MIB


def times_the_bytes() -> float:
    """S written, S read, P written, P read, and the narrow arrays, against these alone."""
    return (4 * scores_mib() + narrow_mib()) / narrow_mib()


def byte_facts() -> dict[str, object]:
    return {"scores": f"{scores_mib():g}", "narrow": f"{narrow_mib():g}"}


def factor() -> float:
    return math.exp(2.0 - 4.0)


def lucky_facts() -> dict[str, object]:
    """Random rows of four tiles, mixed without a rescale: how many come out right?"""
    import numpy as np

    scores = np.random.default_rng(11).normal(size=(256, 4, 32))
    tops = np.maximum.accumulate(scores.max(axis=2), axis=1)
    right = (tops[:, 0] == tops[:, -1]).sum()
    return {"right": right, "rows": len(scores)}


QUESTIONS = (
    Number(
        id="11-bytes",
        asks="There are 4096 tokens, d = 32, in float32. Each of the three kernels reads its "
        "inputs once and writes its output once. How many times as many bytes do they move as Q, "
        "K, V and O take up together?",
        value=times_the_bytes,
        unit="times",
        within=0.03,
        slips=(
            Trap(
                lambda: 1 + 2 * scores_mib() / narrow_mib(),
                "That is S and P once each. Who writes them, and who reads them?",
            ),
            Trap(lambda: scores_mib() / narrow_mib(), "That is one matrix, moved once."),
        ),
        reveal="{answer}: Q, K, V and O have {narrow} MiB together. S has {scores} MiB, and so has "
        "P; each is written once and read once. The ratio is 1 + N / d, and it grows with the "
        "length of the text.",
        facts=byte_facts,
        spoilers=(re.compile(r"\b129 times"), "1 + N / d", re.compile(r"\b258 MiB")),
    ),
    Number(
        id="11-factor",
        asks="So far `top` is 2, and `total`, the sum of exp(s − 2), is 3. The next score is 4. "
        "By which factor must `total` be multiplied before the new term is added?",
        value=factor,
        unit="",
        within=0.02,
        slips=(
            Trap(lambda: 1 / factor(), "Upside down: all older terms get smaller."),
            Trap(lambda: 0.5, "2 / 4? The scores are in exponents."),
            Trap(lambda: 1, "The older terms are exp(s − 2). What should they be now?"),
            Trap(lambda: math.exp(-4), "The old terms already have a maximum, 2, subtracted."),
        ),
        reveal="{answer}, which is exp(2 − 4). Each old term is exp(s − 2) and should be "
        "exp(s − 4) = exp(s − 2) · exp(2 − 4): one factor for all of them.",
        spoilers=(re.compile(r"exp\((old|top) [-−] new\)"), re.compile(r"\b0\.135")),
    ),
    Choose(
        id="11-lucky",
        asks="Somebody rescales `total`, but forgets to rescale the mixture. Which rows of the "
        "output are still right?",
        choices=(
            Choice("None.", "Is there a row whose factors are all 1?"),
            Choice(
                "Those whose largest score is in the first tile.",
                "From then on, top never grows again.",
                right=True,
            ),
            Choice(
                "Those whose largest score is in the last tile.",
                "In those rows, everything before the last tile keeps a weight that is far too "
                "large.",
            ),
        ),
        reveal="In {right} of {rows} random rows of four tiles the first one holds the largest "
        "score. With a single tile, every row would be right, so test such a kernel with several "
        "tiles.",
        facts=lucky_facts,
        spoilers=("largest score is in the first tile",),
    ),
    Choose(
        id="11-missing",
        asks="There are 70 keys, in tiles of 32. In K and in V, the third tile is padded with 26 "
        "rows of zeros. What happens to the output?",
        choices=(
            Choice(
                "Nothing: zeros add nothing.",
                "They add nothing to the mixture. What do they add to the sum?",
            ),
            Choice(
                "Its numbers are too close to 0.",
                "The mixture is right, and the sum that divides it is too large.",
                right=True,
            ),
            Choice(
                "It becomes NaN.",
                "All numbers are finite here. What is the score of a row of zeros?",
            ),
        ),
        reveal="A key of zeros has the score 0, and so the weight exp(0 − top), which is not 0. "
        "Zero is neutral in a sum, but the neutral score of a softmax is −∞, since exp(−∞) = 0.",
        spoilers=("neutral in a sum",),
    ),
    Choose(
        id="11-waits",
        asks="A kernel like yours may wait five times for each tile: until the tile has been "
        "loaded, until the scores are written, until all lanes have read them, until the weights "
        "are written, and until no thread needs the tile any more. Which of these waits must be "
        "for the whole block?",
        choices=(
            Choice("All five.", "Who writes a row of scores, and who reads it?"),
            Choice(
                "The first and the last.",
                "Only the tiles of K and V are filled and read by several warps.",
                right=True,
            ),
            Choice(
                "The three in between.",
                "Each warp has its own query. Does any other warp read its scores?",
            ),
        ),
        reveal="A row of scores, and later of weights, is written and read by the 32 lanes of one "
        "warp, so `cuda.syncwarp()` is enough, as in `own_tiles`. Look at your own kernel again.",
        spoilers=("The first and the last",),
    ),
    Choose(
        id="11-queries",
        asks="What makes your kernel request fewer bytes from global memory?",
        choices=(
            Choice(
                "Tiles of 64 keys instead of 32.",
                "Half the steps, each twice as large: the block still fetches all of K and V once.",
            ),
            Choice(
                "More queries for each block.",
                "Each block fetches all of K and V, and now there are fewer blocks.",
                right=True,
            ),
            Choice("Scores kept in global memory.", "Nothing is computed twice here."),
        ),
        reveal="Each block loads all of K and V, whatever the size of its tiles. Twice as many "
        "queries per block make half as many blocks. In terms of a matrix product, more queries "
        "are a taller tile. Fast kernels have more queries per block, and keep scores and mixture "
        "in registers.",
        spoilers=("make half as many blocks",),
    ),
)
