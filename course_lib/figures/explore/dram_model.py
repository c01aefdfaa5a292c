"""Keep what the cache model says of a matmul's DRAM bytes: worked out once, looked up ever after.

The model (`course_lib.memory_levels`) takes up to 13 seconds for one matrix of 8192, so a figure
that offers many of them reads a table. Write it anew, in about three minutes, with
`python -m course_lib.figures.explore.dram_model`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from course_lib.devices import DEVICES
from course_lib.emulator.profile.cache import CacheSizes, matmul_traffic
from course_lib.memory_levels import cache_sizes

TABLE = Path(__file__).with_name("dram_model.json")
SIZES = (512, 1024, 2048, 4096, 8192)
ONE_OUTPUT = (8, 16, 32)  # tiles of T x T threads, one output each
SEVERAL_OUTPUTS = (64, 128)  # tiles that need several outputs for each thread
TILES = (*ONE_OUTPUT, *SEVERAL_OUTPUTS)
UNTILED = 0  # stands for a kernel without tiles, in blocks of 32 x 32

ASSUMED = (
    "Tiles of 64 and 128: blocks of 256 threads, shared tiles 8 deep, one block per SM at a time."
)


def sizes_for(gpu: str, tile: int) -> CacheSizes:
    """The caches of a GPU that runs blocks with tiles of this side, or without tiles."""
    if tile == UNTILED:
        return cache_sizes(gpu, 32 * 32)
    if tile in ONE_OUTPUT:
        return cache_sizes(gpu, tile * tile, 2 * 4 * tile * tile)
    return cache_sizes(gpu, 256, 2 * 4 * tile * 8, resident_blocks=1)


def worked_out(gpu: str, tile: int, size: int) -> int:
    """DRAM bytes that the loads of a float32 matmul of size³ cause, by the model."""
    side = tile or 32
    traffic = matmul_traffic((size, size, size), (side, side), sizes_for(gpu, tile))
    return traffic.dram_bytes


@cache
def _table() -> dict[str, dict[str, list[int]]]:
    result: dict[str, dict[str, list[int]]] = json.loads(TABLE.read_text(encoding="utf-8"))["bytes"]
    return result


def dram_bytes(gpu: str, tile: int, size: int) -> int:
    """The same, from the table."""
    return _table()[gpu][str(tile)][SIZES.index(size)]


def write_table() -> None:
    """Work out every number of the table."""
    found = {
        gpu: {
            str(tile): [worked_out(gpu, tile, size) for size in SIZES] for tile in (UNTILED, *TILES)
        }
        for gpu in DEVICES
    }
    words = {
        "what": "DRAM bytes loaded by a float32 matmul of N x N, by the model "
        "in course_lib/emulator/profile/cache.py; made by "
        "python -m course_lib.figures.explore.dram_model",
        "sizes": SIZES,
        "tile": "side of a block's tile of C; 0: no tiles, blocks of 32 x 32",
        "assumed": ASSUMED,
        "bytes": found,
    }
    TABLE.write_text(json.dumps(words, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_table()
