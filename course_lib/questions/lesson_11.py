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
        asks="Take 4096 tokens with d = 32, in float32. Each of the three kernels reads its inputs "
        "once and writes its output once. How many bytes do the three kernels move, as a multiple "
        "of the size of Q, K, V and O together?",
        value=times_the_bytes,
        unit="times",
        within=0.03,
        slips=(
            Trap(
                lambda: 1 + 2 * scores_mib() / narrow_mib(),
                "That would be right if S and P were moved once each. Which kernel writes them, "
                "and which one reads them?",
            ),
            Trap(
                lambda: scores_mib() / narrow_mib(),
                "That would be right for a single matrix, moved once.",
            ),
        ),
        reveal="{answer}: Q, K, V and O take up {narrow} MiB together. S takes up {scores} MiB, "
        "and so does P, and each of them is written once and read once. The ratio is 1 + N / d, "
        "so it grows with the length of the text.",
        facts=byte_facts,
        spoilers=(re.compile(r"\b129 times"), "1 + N / d", re.compile(r"\b258 MiB")),
    ),
    Number(
        id="11-factor",
        asks="So far `top` is 2, and `total`, the sum of exp(s − 2), is 3. The next score is 4. By "
        "what factor must `total` be multiplied before the new term is added?",
        value=factor,
        unit="",
        within=0.02,
        slips=(
            Trap(lambda: 1 / factor(), "The other way round: all older terms get smaller."),
            Trap(lambda: 0.5, "You divided 2 by 4, but the scores are exponents."),
            Trap(lambda: 1, "The older terms are exp(s − 2). What should they be now?"),
            Trap(lambda: math.exp(-4), "In the old terms, a maximum of 2 is already subtracted."),
        ),
        reveal="{answer}, which is exp(2 − 4). Each old term is exp(s − 2), but it should be exp(s "
        "− 4) = exp(s − 2) · exp(2 − 4). This factor is the same for all of them.",
        spoilers=(re.compile(r"exp\((old|top) [-−] new\)"), re.compile(r"\b0\.135")),
    ),
    Choose(
        id="11-lucky",
        asks="Somebody rescales `total`, but forgets to rescale the mixture. Which rows of the "
        "output are still right?",
        choices=(
            Choice("None.", "Is there a row whose factors are all 1?"),
            Choice(
                "The rows whose largest score is in the first tile.",
                "In these rows, `top` never grows after the first tile.",
                right=True,
            ),
            Choice(
                "The rows whose largest score is in the last tile.",
                "In those rows, everything before the last tile keeps a weight that is far too "
                "large.",
            ),
        ),
        reveal="In {right} of {rows} random rows of four tiles, the largest score is in the first "
        "tile. With a single tile, every row would be right, so test such a kernel with several "
        "tiles.",
        facts=lucky_facts,
        spoilers=("largest score is in the first tile",),
    ),
    Choose(
        id="11-missing",
        asks="There are 70 keys, in tiles of 32. In K and in V, somebody pads the third tile with "
        "26 rows of zeros. What happens to the output?",
        choices=(
            Choice(
                "Nothing: zeros add nothing.",
                "Rows of zeros add nothing to the mixture. What do they add to the sum of the "
                "weights?",
            ),
            Choice(
                "Its numbers are too close to 0.",
                "The mixture is right, but it is divided by a sum that is too large.",
                right=True,
            ),
            Choice(
                "It becomes NaN.",
                "All numbers are finite here. What is the score of a row of zeros?",
            ),
        ),
        reveal="A key of zeros has the score 0, so its weight is exp(0 − top), which is not 0. "
        "Zero is neutral in a sum, but the neutral score of a softmax is −∞, since exp(−∞) = 0.",
        spoilers=("neutral in a sum",),
    ),
    Choose(
        id="11-waits",
        asks="A kernel like yours may wait five times for each tile: until the tile has been "
        "loaded, until the scores are written, until all lanes have read them, until the weights "
        "are written, and until no thread needs the tile any more. At which of these waits must a "
        "thread wait for the whole block?",
        choices=(
            Choice("All five.", "Which threads write a row of scores, and which threads read it?"),
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
                "There are half as many steps, but each is twice as large. The block still fetches "
                "all of K and V once.",
            ),
            Choice(
                "More queries for each block.",
                "Each block fetches all of K and V, and with more queries per block there are "
                "fewer blocks.",
                right=True,
            ),
            Choice(
                "Scores kept in global memory.",
                "That would save bytes only if a score were "
                "needed again. Here each score is needed once.",
            ),
        ),
        reveal="Each block loads all of K and V, whatever the size of its tiles. Twice as many "
        "queries per block make half as many blocks. In a matrix product, a taller tile has the "
        "same effect. Fast kernels take more queries per block, and keep the scores and the "
        "mixture in registers.",
        spoilers=("make half as many blocks",),
    ),
)
