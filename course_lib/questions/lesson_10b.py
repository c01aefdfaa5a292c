"""Predictions and quick checks of lesson 10b: wgmma, a ring of stages, what each step gains."""

from __future__ import annotations

from course_lib.curriculum import TASKS
from course_lib.measurements.ablation import STEPS, ablation
from course_lib.questions.kinds import Choice, Choose, Number, Trap, shown
from course_lib.questions.lesson_10 import passes_per_mma

COPY, MULTIPLY, TILES = 12, 3, 40  # of the question on stages, in ticks
ROWS, COLUMNS, BLOCKS = 64, 32, 132  # tiles of C at 8192, and how many run at once
TILE_ROWS, TILE_COLUMNS = 128, 256
SIDE, DEPTH, BF16_BYTES = 256, 64, 2  # of the product in which the steps to rung 12 are counted
BANDS = (1, 2, 4, 8, 16, 32, 64)

_STEP_WORDS = {
    "tma": "TMA, two barriers for each stage, and a producer warp",
    "persistent": "blocks that stay, and take tile after tile",
    "tma_store": "results through shared memory, stored by TMA",
    "bf16": "a result in bfloat16, half the bytes",
    "overlap": "launches that overlap: the next blocks start while the last ones end",
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


def asked_by_two_blocks() -> int:
    """Bytes of A and B for two tiles of 128 x 256, which two blocks ask for by themselves."""
    return 2 * (TILE_ROWS + TILE_COLUMNS) * DEPTH * BF16_BYTES


def asked_by_a_pair() -> int:
    """The same for a pair with tiles of 256 x 128 side by side, which share rows of A."""
    return (TILE_COLUMNS + 2 * TILE_ROWS) * DEPTH * BF16_BYTES


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
    points = f"{_points(name)} points of cuBLAS's speed at 4096 and {_points(name, 8192)} at 8192."
    why = f"Its gain is {points}"
    return Choice(_STEP_WORDS[name], why, right=name == least_gained())


QUESTIONS = (
    Number(
        id="10b-passes",
        asks="Each of a block's two warpgroups computes 64 × 256 outputs, and `wgmma` reads both "
        "operands from shared memory. At least how many wavefronts do these reads take for the "
        "work of one m16n8k16?",
        value=lambda: passes_per_mma(64, 256),
        unit="wavefronts",
        within=0.01,
        slips=(
            Trap(
                lambda: passes_per_mma(64, 64),
                "A warp with 64 × 64 outputs needed that many.",
            ),
            Trap(lambda: passes_per_mma(128, 256), "Each warpgroup reads B itself."),
            Trap(
                lambda: passes_per_mma(64, 256) - 1 / 8,
                "That many wavefronts read B alone. How many read A?",
            ),
            Trap(
                lambda: 0,
                "A and B do not go through registers, but the tensor cores still read them.",
            ),
            Trap(lambda: 80, "That is for 16 steps along k. How many m16n8k16 do that work?"),
        ),
        reveal="{answer}. The rung with `mma` needs {before}. With `wgmma`, more outputs share "
        "each load, since no warp has to hold the operands in its own fragments.",
        facts=lambda: {"before": f"{passes_per_mma(64, 64):g}"},
        spoilers=("more outputs share each load",),
    ),
    Choose(
        id="10b-who-waits",
        asks="Suppose a consumer releases a stage one product too early. What happens?",
        choices=(
            Choice("The kernel hangs.", "The kernel hangs only if a stage is *never* released."),
            Choice(
                "The next tile may arrive while the previous one is still being multiplied.",
                "The producer relies on the barrier. Nothing else protects the tile.",
                right=True,
            ),
            Choice(
                "Nothing: the copy engine waits for `wgmma`.",
                "The engine and `wgmma` know nothing about each other. Only the two barriers "
                "connect them.",
            ),
        ),
        hint="Which barrier does the producer wait for before it fills a stage?",
    ),
    Number(
        id="10b-stages",
        asks=f"A copy takes {COPY} ticks, and a product takes {MULTIPLY}. How many stages must the "
        "ring have so that the tensor cores wait only for the first tile?",
        value=stages_needed,
        unit="stages",
        slips=(
            Trap(
                lambda: COPY // MULTIPLY,
                "That many products take as long as one copy. One more stage is in use.",
            ),
            Trap(
                lambda: 2,
                "Two stages hide a copy behind a product only if the copy is shorter.",
            ),
        ),
        reveal="{answer}: as many as products fit into the time of a copy, and one more for the "
        "tile that is in use. More stages would change nothing. With fewer stages, the tensor "
        "cores would have to wait.",
        spoilers=("as many as products fit into the time",),
    ),
    Choose(
        id="10b-fewer",
        asks="With the steps `persistent` and `tma_store`, one number in the table gets smaller. "
        "Which one?",
        choices=(
            Choice("The bytes loaded", "A and B are loaded as before."),
            Choice("The bytes stored", "C has as many bytes as before."),
            Choice(
                "The stores",
                "Now a single request stores a whole box of results. Before, a warp needed one "
                "request for every 8 × 8 results.",
                True,
            ),
            Choice(
                "The blocks",
                "C has only two tiles. There are fewer blocks only if C has more tiles than the "
                "GPU has SMs.",
            ),
        ),
        reveal="The number of stores, because one order to the copy engine stores a whole box of "
        "C. Persistent blocks make a difference only in larger products: at {side}, C has {tiles} "
        "tiles, but an H200 gets only {blocks} blocks.",
        facts=lambda: {
            "side": "4096",
            "tiles": shown((4096 // TILE_ROWS) * (4096 // TILE_COLUMNS)),
            "blocks": shown(BLOCKS),
        },
        spoilers=("one order to the copy engine",),
    ),
    Number(
        id="10b-rounded",
        asks="Now the elements of C are stored as bfloat16. How many bytes are stored for its 256 "
        "× 256 elements?",
        value=lambda: SIDE * SIDE * BF16_BYTES,
        unit="bytes",
        slips=(
            Trap(lambda: SIDE * SIDE * 4, "That many bytes are stored if C is float32."),
            Trap(lambda: SIDE * SIDE, "C has that many numbers. How many bytes does each take?"),
        ),
        reveal="{answer}: there are two bytes for each element of C, half as many as before, and "
        "half the boxes.",
        spoilers=("and half the boxes",),
    ),
    Number(
        id="10b-shared-tile",
        asks="So far, each of two blocks requested 128 rows of A and 256 columns of B. As a pair, "
        "they compute two tiles of 256 × 128 side by side, and the rows of A that both need are "
        "sent only once. How many fewer bytes does the pair load? (K is 64.)",
        value=lambda: asked_by_two_blocks() - asked_by_a_pair(),
        unit="bytes",
        slips=(
            Trap(
                lambda: (asked_by_two_blocks() - asked_by_a_pair()) / 2,
                "That is how many fewer numbers are loaded. How many bytes does each take?",
            ),
            Trap(lambda: asked_by_a_pair(), "That is what the pair still loads."),
            Trap(
                lambda: asked_by_two_blocks() / 2,
                "Only the rows of A that both blocks need are sent once.",
            ),
        ),
        other="How many rows and columns do two separate blocks request, and how many does the "
        "pair? Each has 64 numbers of 2 bytes.",
        reveal="{answer}, a third of what two separate blocks request: instead of {alone} rows and "
        "columns, the pair requests only {together}. Each block fetches half of the shared rows "
        "for both.",
        facts=lambda: {
            "alone": 2 * (TILE_ROWS + TILE_COLUMNS),
            "together": TILE_COLUMNS + 2 * TILE_ROWS,
        },
        spoilers=("fetches half of the shared rows",),
    ),
    Choose(
        id="10b-small-tiles",
        asks="C consists of two tiles, but an H200 has 132 SMs. The last step chooses tiles that "
        "suit the size of the product. What happens to the number of bytes that are loaded?",
        choices=(
            Choice("It falls.", "Smaller tiles reuse less, as in lesson 06."),
            Choice("It stays the same.", "Smaller tiles reuse less, as in lesson 06."),
            Choice("It rises.", "More blocks work, and each of them reuses less.", True),
        ),
        reveal="It rises, because eight blocks work instead of two. Still, smaller tiles are "
        "finished sooner, and this outweighs the additional requests to L2: before, {idle} SMs had "
        "nothing to do.",
        facts=lambda: {"idle": BLOCKS - 2},
        spoilers=("eight blocks work instead of two",),
    ),
    Choose(
        id="10b-gain",
        asks="Six of the seven steps were timed at 4096 × 4096 × 4096 on an H200. Five of them "
        "make the kernel faster. Which step does not?",
        choices=tuple(_step_choice(name) for name in STEPS[1:]),
        reveal="Pairs of blocks: they change the speed by {least} points of cuBLAS's ({where}). "
        "Even TMA and its producer gain only {tma} points, since rung 11 hides its copies, too. "
        "But they free the threads for the next three steps, which work on the end of a tile and "
        "gain {ends} points together.",
        facts=gain_facts,
        spoilers=("rung 11 hides its copies, too",),
    ),
    Number(
        id="10b-band",
        asks=f"At 8192, C has {ROWS} × {COLUMNS} tiles of {TILE_ROWS} × {TILE_COLUMNS}, and "
        f"{BLOCKS} blocks run at once. A band may have 1, 2, 4, 8, 16, 32 or 64 rows of tiles. "
        f"For which of these heights do the {BLOCKS} blocks need the fewest rows of A and "
        "columns of B?",
        value=best_band,
        unit="rows of tiles",
        slips=(
            Trap(
                lambda: 1,
                "With one row per band, the blocks form a wide strip, which needs "
                "every column of B.",
            ),
            Trap(
                lambda: 64,
                "With 64 rows per band, the blocks form a high strip, which needs every row of A.",
            ),
            Trap(
                lambda: 8,
                "Almost. With which height is the region of all running blocks closest "
                "to a square?",
            ),
        ),
        reveal="{answer}: then the region of all running blocks is nearly a square. Once more, "
        "what counts is the perimeter divided by the area, with all SMs as one large tile.",
        spoilers=("with all SMs as one large tile",),
    ),
)
