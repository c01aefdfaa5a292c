"""Predictions of lesson 13: bytes in a language of tiles, who counts what, what a tile costs."""

from __future__ import annotations

from functools import cache

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.measurements import tile_languages
from course_lib.questions.kinds import Choice, Choose, Number, Trap
from course_lib.tiles import TileCounts, emulate_tiles

SIDE, TILE = 64, 16
HEAD = "import math\nfrom course_lib.tiles import ct, tl, triton\n"
SIZE = "4096 x 4096 x 4096"
SMALL, LARGE = "cuTile, 128 x 128 x 64", "cuTile, 128 x 256 x 64"
SHARED = "cuTile, 128 x 256 x 64, 8 warps"
MOST_REGISTERS = 255  # of a thread: CUDA C++ Programming Guide, compute capabilities


@cache
def product_counts(name: str, tile: int = TILE) -> TileCounts:
    """What the product of two square matrices moves, in the language of a task."""
    A, B = (np.ones((SIDE, SIDE), np.float32) for _ in range(2))
    sizes = (SIDE,) * len(TASKS[name].scalars)
    blocks = SIDE // tile
    launch = emulate_tiles(HEAD + TASKS[name].answer)[blocks, blocks]
    return launch(A, B, np.empty_like(A), *sizes, tile, tile, tile).counts


def bytes_loaded() -> float:
    return product_counts("ct_product").global_load_bytes


def rows_beyond() -> float:
    """Past the edge of 70 rows in tiles of 32."""
    return -70 % 32


def sums_of_a_thread() -> float:
    """Of a tile of 128 x 256, shared by one warpgroup."""
    return 128 * 256 / (tile_languages.USUAL_WARPS * tile_languages.LANES)


def speeds() -> dict[str, object]:
    seen = tile_languages.load("H200")
    shares = {
        "small": SMALL,
        "large": LARGE,
        "shared": SHARED,
    }
    return {
        "label": seen.label,
        **{key: f"{seen.share_of_cublas(name, SIZE):.2f}" for key, name in shares.items()},
        "spilled": f"{seen.rows[LARGE].local_bytes:,}",
        "most": MOST_REGISTERS,
        "sums": f"{sums_of_a_thread():.0f}",
        "halved": f"{sums_of_a_thread() / 2:.0f}",
    }


QUESTIONS = (
    Choose(
        id="13-index",
        asks="With `i = ct.bid(0)`, program 3 calls `ct.load(x, index=(i,), shape=(16,))`. Where "
        "does the tile that it loads begin?",
        choices=(
            Choice("At x[3].", "In cuTile, an index counts tiles, not elements."),
            Choice(
                "At x[48].", "There are three tiles before it, of 16 elements each.", right=True
            ),
            Choice("At x[16].", "That is where the tile of program 1 begins."),
        ),
        reveal="An index counts tiles of the shape that is passed with it. With another shape, the "
        "same index means another place.",
        spoilers=("index counts tiles of the shape",),
    ),
    Number(
        id="13-beyond",
        asks="A matrix has 70 rows, and a tile has 32 rows. How many rows of the last tile are "
        "past the edge?",
        value=rows_beyond,
        unit="rows",
        slips=(Trap(lambda: 6, "That is how many rows of the last tile are inside the matrix."),),
        reveal="{answer}: three tiles have {rows} rows. The rows past the edge have the value "
        "that `padding_mode` gives them in cuTile, or `other` in Triton. Without either, they "
        "have no value that you may use.",
        facts=lambda: {"rows": f"{70 + rows_beyond():.0f}"},
        spoilers=("tiles have 96 rows",),
    ),
    Number(
        id="13-bytes",
        asks="Two float32 matrices of 64 x 64 are multiplied in tiles of 16 x 16 x 16. How many "
        "bytes do the loads of all programs request?",
        value=bytes_loaded,
        unit="bytes",
        slips=(
            Trap(
                lambda: 2 * SIDE * SIDE * 4,
                "That would be right if each element were loaded only once.",
            ),
            Trap(
                lambda: 2 * SIDE**3 * 4,
                "That is the number without tiles, with two loads for each multiply-add.",
            ),
        ),
        reveal="{answer} bytes: {programs} programs take {steps} steps each, and each step loads "
        "two tiles of {bytes} bytes. The threads of your tiled matmul request just as many bytes, "
        "because the number of bytes depends only on the tile, not on the language.",
        facts=lambda: {
            "programs": (SIDE // TILE) ** 2,
            "steps": SIDE // TILE,
            "bytes": f"{4 * TILE * TILE:,}",
        },
        spoilers=("131,072 bytes",),
    ),
    Choose(
        id="13-tile",
        asks="Take a bfloat16 product of 4096³ on an H200. In cuTile, a tile of 128 x 128 x 64 "
        "comes close to cuBLAS. A tile of 128 x 256 x 64 requests a quarter fewer bytes, but by "
        "default the compiler spreads its sums over one warpgroup, 128 threads. How fast is the "
        "larger tile?",
        choices=(
            Choice(
                "A little faster, because it requests fewer bytes.",
                "It would be faster if there were room for its sums. How many sums does each "
                "thread have to keep?",
            ),
            Choice(
                "About as fast, because something else is the limit.",
                "Something else does limit the larger tile, and it costs far more than you think. "
                "Count the registers.",
            ),
            Choice(
                "More than ten times slower.",
                "The sums of a thread would need all registers that a thread can have, and one "
                "more.",
                right=True,
            ),
        ),
        reveal="The larger tile reaches {large} of cuBLAS's speed, and the smaller tile reaches "
        "{small} ({label}). 128 x 256 sums are {sums} for each of 128 threads, but a thread has "
        "only {most} registers for everything. So around each product, {spilled} bytes of sums "
        "per thread are moved to local memory and back. With `num_worker_warps=8` a thread keeps "
        "{halved}, nothing is spilled, and the same tile reaches {shared}.",
        facts=speeds,
        spoilers=("and the same tile reaches",),
    ),
)
