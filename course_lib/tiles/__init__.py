"""Tile languages without a GPU: cuTile's and Triton's kernels read, carried out and counted.

Owns: the tile machine, what each language's functions mean, what is found wrong, and what stands
for the languages' modules where they are not installed.
May import: `devices`, `emulator` (its errors and its reader), `wording`.
Start with: `launch`, then `machine`.
"""

from typing import Any

from course_lib.tiles.launch import EmulatedTiles, TileProfile, emulate_tiles
from course_lib.tiles.memory import TileCounts
from course_lib.tiles.stand_ins import PACKAGES, module

__all__ = ["EmulatedTiles", "TileCounts", "TileProfile", "emulate_tiles"]

ct: Any
tl: Any
triton: Any


def __getattr__(name: str) -> Any:
    """`from course_lib.tiles import ct, tl, triton`: fetched when they are first asked for."""
    if name in PACKAGES:
        return module(name)
    raise AttributeError(f"module 'course_lib.tiles' has no attribute {name!r}")
