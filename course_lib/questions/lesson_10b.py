"""Predictions and quick checks of lesson 10b: wgmma, a ring of stages, what each step gains."""

from __future__ import annotations

from course_lib.curriculum import TASKS
from course_lib.measurements.ablation import STEPS, ablation
from course_lib.questions.kinds import Choice, Choose, Number, Trap
from course_lib.questions.lesson_10 import passes_per_mma

COPY, MULTIPLY, TILES = 12, 3, 40  # of the question on stages, in ticks
ROWS, COLUMNS, BLOCKS = 64, 32, 132  # tiles of C at 8192, and how many run at once
TILE_ROWS, TILE_COLUMNS = 128, 256
BANDS = (1, 2, 4, 8, 16, 32, 64)

_STEP_WORDS = {
    "tma": "TMA, two barriers for each stage, and a producer warp",
    "persistent": "blocks that stay, and take tile after tile",
    "tma_store": "results through shared memory, stored by TMA",
    "bf16": "a result in bfloat16, half the bytes",
    "overlap": "launches that overlap: the next blocks come while the last ones end",
    "clusters": "pairs of blocks that share a tile (multicast)",
}


def stages_needed() -> int:
    """The fewest stages with which only the first copy is waited for."""
    end_of = TASKS["ring_end"].reference
    assert end_of is not None
    alone = COPY + TILES * MULTIPLY
    return next(n for n in range(1, TILES) if end_of(TILES, n, COPY, MULTIPLY) == alone)


def strips_of_band(band: int) -> int:
    """Rows of A and columns of B that the tiles of all running blocks need, together."""
    numbers = range(BLOCKS)
    rows = {n // (band * COLUMNS) * band + n % band for n in numbers}
    columns = {n // band % COLUMNS for n in numbers}
    return len(rows) * TILE_ROWS + len(columns) * TILE_COLUMNS


def best_band() -> int:
    return min(BANDS, key=strips_of_band)


def least_gained() -> str:
    """The step that gains least, by its name in the measurement."""
    return min(STEPS[1:], key=ablation(4096).gain)


def _points(name: str, size: int = 4096) -> str:
    return f"{100 * ablation(size).gain(name):+.1f}"


def gain_facts() -> dict[str, object]:
    seen = ablation(4096)
    ends = sum(seen.gain(name) for name in ("persistent", "tma_store", "bf16"))
    return {
        "least": _points(least_gained()),
        "tma": _points("tma"),
        "ends": f"{100 * ends:+.1f}",
        "where": seen.label,
    }


def _step_choice(name: str) -> Choice:
    why = f"{_points(name)} points of cuBLAS's speed at 4096, {_points(name, 8192)} at 8192."
    return Choice(_STEP_WORDS[name], why, right=name == least_gained())


QUESTIONS = (
    Number(
        id="10b-passes",
        asks="Two warpgroups of a block compute 64 × 256 outputs each, and `wgmma` reads both "
        "operands from shared memory. How many wavefronts for the work of one m16n8k16, at least?",
        value=lambda: passes_per_mma(64, 256),
        unit="wavefronts",
        within=0.01,
        slips=(
            Trap(lambda: passes_per_mma(64, 64), "So it was for a warp's 64 × 64 outputs."),
            Trap(lambda: passes_per_mma(128, 256), "Each warpgroup reads B itself."),
            Trap(lambda: passes_per_mma(64, 256) - 1 / 8, "That is B alone. And A?"),
            Trap(lambda: 0, "Nothing goes through registers, but the tensor cores do read."),
            Trap(lambda: 80, "So many for 16 steps of k. How many m16n8k16 would they be?"),
        ),
        reveal="{answer}, where the rung with `mma` needs {before}. The outputs that share a load "
        "are more, since no warp has to hold them all in its own fragments.",
        facts=lambda: {"before": f"{passes_per_mma(64, 64):g}"},
        spoilers=("The outputs that share a load are more",),
    ),
    Choose(
        id="10b-who-waits",
        asks="A consumer releases a stage one product too early. What happens?",
        choices=(
            Choice("The kernel hangs.", "It hangs if a stage is *never* released."),
            Choice(
                "The next tile may land while the last one is still multiplied.",
                "The producer does what the barrier tells it. Nobody else stands in between.",
                right=True,
            ),
            Choice(
                "Nothing: the copy engine waits for `wgmma`.",
                "Neither knows of the other. The two barriers are all that connects them.",
            ),
        ),
        hint="What is the one thing that the producer waits for?",
    ),
    Number(
        id="10b-stages",
        asks=f"A copy takes {COPY} ticks, a product {MULTIPLY}. How many stages must the ring have "
        "so that the tensor cores wait for the first tile only?",
        value=stages_needed,
        unit="stages",
        slips=(
            Trap(lambda: COPY // MULTIPLY, "So many products fit into a copy. One more is in use."),
            Trap(lambda: 2, "Two hide a copy behind a product as long as the copy is shorter."),
        ),
        reveal="{answer}: as many as products fit into a copy, and the one that is in use. More "
        "would change nothing, fewer would leave gaps.",
        spoilers=("as many as products fit into a copy",),
    ),
    Choose(
        id="10b-gain",
        asks="Six steps lead from `wgmma` to `tma`. At 4096 × 4096 × 4096 on an H200 five of them "
        "make it faster. Which does not?",
        choices=tuple(_step_choice(name) for name in STEPS[1:]),
        reveal="Pairs of blocks: {least} points of cuBLAS's speed ({where}). Even TMA and its "
        "producer give only {tma}: rung 11 hides its copies, too. They free the threads for "
        "the next three, {ends} together: how a tile ends.",
        facts=gain_facts,
        spoilers=("rung 11 hides its copies, too",),
    ),
    Number(
        id="10b-band",
        asks=f"At 8192 C has {ROWS} × {COLUMNS} tiles of {TILE_ROWS} × {TILE_COLUMNS}, and "
        f"{BLOCKS} blocks run at once. Of bands of 1, 2, 4, 8, 16, 32 or 64 rows of tiles: with "
        "which do these blocks need the fewest rows of A and columns of B?",
        value=best_band,
        unit="rows of tiles",
        slips=(
            Trap(lambda: 1, "Row after row: a wide strip, which needs every column of B."),
            Trap(lambda: 64, "Column after column: a high strip, which needs every row of A."),
            Trap(lambda: 8, "Nearly. Which of them makes the region of the blocks squarest?"),
        ),
        reveal="{answer}: the region of all blocks is nearly a square then. It is the perimeter "
        "over the area, once more, with all SMs as one large tile.",
        spoilers=("with all SMs as one large tile",),
    ),
)
