"""How many bytes each block of a launch loads from global memory, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import ClassVar, NamedTuple

import numpy as np

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.memory import Access


class BusiestBlock(NamedTuple):
    """The block that loads most: its indices (x first), how many times its even share that is, and
    the line at which it loads most."""

    block: tuple[int, ...]
    times: float
    line: int


class Shares(Observer):
    """Counts the bytes that the lanes of each block load.

    Args:
        grid: the launch's blocks, x first.
    """

    spaces: ClassVar = ("global",)

    def __init__(self, grid: Sequence[int]) -> None:
        self.grid = tuple(grid)
        self.loaded: Counter[tuple[int, int]] = Counter()  # bytes, by block and line

    def access(self, access: Access) -> None:
        if access.kind == "load":
            lanes = access.mask.lanes_by_block
            for block, count in zip(access.mask.space.block_in_grid.flat, lanes, strict=True):
                self.loaded[int(block), access.line] += int(count) * access.width

    def busiest(self) -> BusiestBlock | None:
        """None if nothing is loaded."""
        of_blocks: Counter[int] = Counter()
        for (block, _), count in self.loaded.items():
            of_blocks[block] += count
        if not of_blocks.total():
            return None
        [(busiest, most)] = of_blocks.most_common(1)
        line = max(self.loaded, key=lambda key: (key[0] == busiest, self.loaded[key], key[1]))[1]
        index = map(int, np.unravel_index(busiest, self.grid, "F"))
        return BusiestBlock((*index,), most * prod(self.grid) / of_blocks.total(), line)
