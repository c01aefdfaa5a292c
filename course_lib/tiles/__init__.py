"""Tile languages without a GPU: cuTile's and Triton's kernels read, carried out and counted.

Owns: the tile machine, what each language's functions mean, and what is found wrong.
May import: `devices`, `emulator` (its errors), `wording`.
Start with: `launch`, then `machine`.
"""

from course_lib.tiles.launch import EmulatedTiles, TileProfile, emulate_tiles
from course_lib.tiles.memory import TileCounts

__all__ = ["EmulatedTiles", "TileCounts", "TileProfile", "emulate_tiles"]
