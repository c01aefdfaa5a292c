"""Quick checks of lesson 11: bytes of attention, rescale, mask, what a longer text costs."""

from __future__ import annotations

import math

from course_lib.questions.kinds import Choice, Choose, Number, Slip, Suspect, WhichLine
from course_lib.questions.runs import line_examined

# Right but for its first line within the second `for k`: a key that does not exist scores 0.
GHOSTS = """\
TILE = 32
SCALE = np.float32(0.17677669)


@cuda.jit
def attention(Q, K, V, O):
    sK = cuda.shared.array((32, 33), float32)
    sV = cuda.shared.array((32, 33), float32)
    scores = cuda.shared.array((16, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + y
    query = row if row < Q.shape[0] else 0
    top, total, out = float32(-1e30), float32(0), float32(0)
    for first in range(0, K.shape[0], TILE):
        for i in range(y, TILE, 16):
            inside = first + i < K.shape[0]
            sK[i, x] = K[first + i, x] if inside else float32(0)
            sV[i, x] = V[first + i, x] if inside else float32(0)
        cuda.syncthreads()
        score = float32(0)
        for k in range(32):
            score += Q[query, k] * sK[x, k]
        scores[y, x] = score * SCALE if first + x < K.shape[0] else float32(0)
        cuda.syncthreads()
        new = top
        for j in range(TILE):
            new = max(new, scores[y, j])
        total *= math.exp(top - new)
        out *= math.exp(top - new)
        for j in range(TILE):
            weight = math.exp(scores[y, j] - new)
            total += weight
            out += weight * sV[j, x]
        top = new
        cuda.syncthreads()
    if row < Q.shape[0]:
        O[row, x] = out / total
"""


def mib_of_scores(tokens: int) -> float:
    """A float32 matrix of tokens x tokens, in MiB."""
    return 4 * tokens**2 / 2**20


def rescaled_sum() -> float:
    """The running sum 1.5 after a tile with the scores 4 and 2, when the maximum was 2."""
    return 1.5 * math.exp(2.0 - 4.0) + math.exp(4.0 - 4.0) + math.exp(2.0 - 4.0)


def line_without_mask() -> int:
    """The line that gives a missing key its score."""
    return line_examined("attention", "import math\n" + GHOSTS, "missing-mask") - 1  # the import


QUESTIONS = (
    Number(
        id="11-bytes",
        asks="A text of 16,384 tokens, float32. How many MiB has one matrix of the scores?",
        value=lambda: mib_of_scores(16_384),
        unit="MiB",
        within=0.03,
        why="{answer} MiB: four bytes for each pair of tokens. Four times the tokens make 16 times "
        "the matrix, and the three kernels move it four times.",
        other="Each token meets each token: how many pairs are there, and how many bytes has one "
        "of them?",
        hint="At 4096 tokens it was 64 MiB. The text is four times as long, and so are both "
        "sides of the matrix.",
        slips=(
            Slip(lambda: 256, "That grows as the text does. But the matrix grows on both sides."),
            Slip(
                lambda: 4 * mib_of_scores(16_384),
                "That is what the three kernels move of it, to and fro. One matrix is asked for.",
            ),
        ),
    ),
    Number(
        id="11-factor",
        asks="So far `top` = 2 and `total` = 1.5. The next tile has two keys, with the scores "
        "4 and 2. What is `total` afterwards?",
        value=rescaled_sum,
        unit="",
        within=0.01,
        why="{answer}: the old 1.5 shrinks to 1.5 · e⁻², and the tile adds e⁰ + e⁻², both with the "
        "new maximum.",
        other="First the new maximum, then the factor for the old sum, then the two new weights.",
        hint="`top` becomes 4. The old sum was found with 2, so it is multiplied by e⁻².",
        slips=(
            Slip(
                lambda: 1.5 + 1 + math.exp(-2),
                "The old sum is added as it was, although its weights belong to the old maximum.",
            ),
            Slip(
                lambda: 1.5 + math.exp(2) + 1,
                "That keeps the old maximum. It gives the right ratio in the end, until a score is "
                "so large that its exponential does not fit into a float32.",
            ),
            Slip(
                lambda: 1.5 * math.exp(2) + 1 + math.exp(-2),
                "The factor is upside down: old weights become smaller when the maximum grows.",
            ),
        ),
    ),
    Choose(
        id="11-queries",
        asks="K and V are fetched once by each block. What makes the kernel request fewer bytes "
        "from global memory?",
        hint="How many blocks are there, and what does each of them fetch whole?",
        choices=(
            Choice(
                "tiles of 64 keys instead of 32",
                "Then a block needs half the steps, each twice as large. It still fetches all of K "
                "and V, once.",
            ),
            Choice(
                "more queries for each block",
                "Every block fetches all of K and V. With twice the queries a block there are half "
                "as many blocks, as with a taller tile in the tiled product.",
                right=True,
            ),
            Choice(
                "keeping the scores in global memory, so that nothing is computed twice",
                "Nothing is computed twice here, and the matrix of scores is exactly what should "
                "not be moved.",
            ),
            Choice(
                "a second pass over the keys",
                "A first pass for maximum and sum, a second one for the output: K would be fetched "
                "twice. The online softmax saves just that.",
            ),
        ),
    ),
    WhichLine(
        id="11-mask-line",
        asks="This attention is right for 32, 64 or 96 keys. For 70 its numbers come out too "
        "small. Which line is it?",
        code=GHOSTS,
        line="scores[y, x] = score * SCALE",
        why="A key past the end gets the score 0, and so the weight e^(0 − top), which is added to "
        "`total`. It needs a score whose weight is 0: −∞, or a very large negative number.",
        hint="Every row of 32 scores is full. Which scores does it hold for keys past the end, and "
        "what weight do they become?",
        innocent="Follow a key that does not exist through the kernel: which numbers does it "
        "leave, and which of them reach `total`?",
        suspects=(
            Suspect(
                "sK[i, x] =",
                "Zeros in the tile are harmless as such. What matters is the score that comes of "
                "them.",
            ),
            Suspect(
                "sV[i, x] =",
                "Zeros are right here: a value that does not exist must add nothing to `out`.",
            ),
            Suspect(
                "query = row",
                "Rows past the end compute something that nobody stores. That is wasteful, and "
                "harmless.",
            ),
            Suspect("top, total, out =", "Small enough to be below every score: a fair start."),
        ),
        proof=line_without_mask,
    ),
    Choose(
        id="11-lengths",
        asks="The text becomes four times as long. How do work and traffic of the one kernel grow, "
        "if a block keeps its 16 queries?",
        hint="Count the blocks, and what each one requests. Then count the pairs of query and key.",
        choices=(
            Choice(
                "Both grow 16 times: FLOPs per requested byte stay the same.",
                "Four times as many blocks request four times as many keys and values, for 16 "
                "times as many pairs. What is gone is the matrix of scores, not the square.",
                right=True,
            ),
            Choice(
                "The work grows 16 times, the requested bytes only 4 times.",
                "So it would be if one block held all queries. Here each of four times as many "
                "blocks requests four times as many keys.",
            ),
            Choice(
                "Both grow 4 times, as the arrays do.",
                "Each query meets each key: that is a square, in one kernel or in three.",
            ),
        ),
    ),
)
