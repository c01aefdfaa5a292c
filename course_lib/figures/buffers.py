"""Draw how tiles pass through the buffers of shared memory: on their way, there, read.

Everything is read from a trace. The axis is the order in which a kernel makes its accesses, and no
clock: what stands above each other happens in the same stretch of the program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.figures.interactive import Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.picture import Picture
from course_lib.figures.requests import traced
from course_lib.wording.words import counted, joined

_MOST = 3
_LEFT, _WIDE = 84.0, 626.0
_ROW, _WAY, _READ = 52.0, 19.0, 23.0


@dataclass
class BufferedTile:
    """One tile, or a pair of them: steps of the trace, from 0 on."""

    number: int  # which steps of k it has, in units of a tile
    ordered: int  # when the first of its numbers was asked for
    here: int = -1  # when all have arrived; of copies: the barrier behind the wait for them
    read: tuple[int, int] = (-1, -1)  # when it was read first, and last
    # the cells of shared memory that hold it, as (array, cell)
    cells: set[tuple[str, int]] = field(default_factory=set)
    waiting: int = 0  # elements that were asked for and are not stored yet


@dataclass(frozen=True)
class Story:
    """The tiles of block (0, 0) in their order, the buffer of each, and the barriers."""

    name: str
    tiles: Sequence[BufferedTile]
    buffers: Sequence[int]
    barriers: Sequence[int]
    length: int

    @property
    def rows(self) -> int:
        return max(self.buffers, default=0) + 1

    def beside(self, tile: BufferedTile) -> list[int]:
        """The tiles that are read while this one is on its way."""
        return [
            other.number
            for other in self.tiles
            if other is not tile and other.read[0] < tile.here and other.read[1] > tile.ordered
        ]


def tiles_in_time(
    profiles: Mapping[str, Any], steps: int, along: Mapping[str, int] | None = None, title: str = ""
) -> Picture:
    """How tiles pass through buffers, from traced launches of kernels with one or more of them.

    Args:
        profiles: name -> a traced launch, `emulate(kernel, trace=True)[...](...)`.
        steps: how many steps of k a tile has.
        along: by operand, the axis along which k runs; usually A is M x K and B is K x N.
        title: another one than the usual.

    Raises:
        ValueError: if there are more than three, or one has no tiles in shared memory.
    """
    if not 1 <= len(profiles) <= _MOST:
        raise ValueError(f"One to {_MOST} kernels fit a picture, not {len(profiles)}.")
    axes_of_k = along or {"A": 1, "B": 0}
    stories = [story_of(name, profile, steps, axes_of_k) for name, profile in profiles.items()]
    scene = Scene(720, sum(38 + _ROW * story.rows for story in stories))
    top = 12.0
    for story in stories:
        _draw(scene, top, story)
        top += 38 + _ROW * story.rows
    return draw_scene(
        scene,
        title or "What is on its way while a tile is read",
        " ".join(map(_words, stories)),
        "A row is a buffer. Hatched: a tile is on its way to it. Filled: it is read there. "
        "Dashed: a barrier",
        "Drawn from a run: accesses from left to right in the kernel's order, no clock.",
    )


def story_of(name: str, profile: Any, steps: int, along: Mapping[str, int]) -> Story:
    """The tiles of block (0, 0), from a trace. Raises ValueError if none is found."""
    reader = _Reader(steps, along)
    for access in traced(profile):
        reader.take(access)
    reader.finish()
    tiles = [tile for tile in reader.tiles.values() if tile.read[0] >= 0 and tile.here >= 0]
    if not tiles:
        raise ValueError(f"{name} has no tiles in shared memory.")
    buffers: list[int] = []
    homes: list[set[tuple[str, int]]] = []
    for tile in tiles:
        home = next((n for n, cells in enumerate(homes) if cells & tile.cells), len(homes))
        if home == len(homes):
            homes.append(set())
        homes[home] |= tile.cells
        buffers.append(home)
    return Story(name, tiles, buffers, reader.barriers, reader.time)


class _Reader:
    """Follows the numbers of each tile through a trace."""

    def __init__(self, steps: int, along: Mapping[str, int]) -> None:
        self.tiles: dict[int, BufferedTile] = {}
        self.barriers: list[int] = []
        self.time = 0
        self._steps, self._along = steps, along
        self._interval = 0
        self._tile_of_cell: dict[tuple[str, int], BufferedTile] = {}
        self._copied: set[int] = set()  # the tiles that come as asynchronous copies
        self._last: BufferedTile | None = (
            None  # whose numbers the last load from global memory brought
        )

    def take(self, access: Any) -> None:
        """The next access, if it is one of block (0, 0) to global or shared memory."""
        mine = (access.threads[:, :3] == 0).all(axis=1)
        if not mine.any() or access.space == "local":
            return
        if access.interval != self._interval:
            self._interval = access.interval
            self.barriers.append(self.time)
        count = int(mine.sum()) * access.elements
        if access.space == "global" and access.kind == "load" and access.array in self._along:
            number = int(access.indices[mine, self._along[access.array]].min()) // self._steps
            tile = self.tiles.setdefault(number, BufferedTile(number, self.time))
            tile.waiting += count
            self._last = tile
        elif access.space == "shared" and access.kind == "copy":
            self._copy(access, mine, count)
        elif access.space == "shared" and access.kind == "store":
            self._store(access, mine, count)
        elif access.space == "shared" and access.kind == "load":
            self._read(access, mine)
        self.time += 1

    def _copy(self, access: Any, mine: np.ndarray, count: int) -> None:
        if self._last is None:  # zeros, behind the end of K
            for cell in _cells(access, mine):
                self._tile_of_cell.pop(cell, None)
            return
        self._copied.add(self._last.number)
        self._fill(self._last, access, mine, count)
        self._last = None

    def _store(self, access: Any, mine: np.ndarray, count: int) -> None:
        """What was asked for first is stored first."""
        tile = next((tile for tile in self.tiles.values() if tile.waiting > 0), None)
        if tile is not None:
            self._fill(tile, access, mine, count)
            tile.here = self.time + 1

    def _fill(self, tile: BufferedTile, access: Any, mine: np.ndarray, count: int) -> None:
        tile.waiting -= count
        for cell in _cells(access, mine):
            tile.cells.add(cell)
            self._tile_of_cell[cell] = tile

    def _read(self, access: Any, mine: np.ndarray) -> None:
        for cell in _cells(access, mine):
            tile = self._tile_of_cell.get(cell)
            if tile is None:
                continue
            if tile.number in self._copied and tile.here < 0:
                tile.here = self.barriers[-1] if self.barriers else self.time
            first = tile.read[0] if tile.read[0] >= 0 else self.time
            tile.read = first, self.time + 1

    def finish(self) -> None:
        """The tiles in the order of their steps of k."""
        self.tiles = dict(sorted(self.tiles.items()))


def _cells(access: Any, mine: np.ndarray) -> set[tuple[str, int]]:
    """The cells that an access touches; those of one array are told apart by their address."""
    first = np.unique(access.addresses[mine]) // 4
    whole = (first[:, None] + np.arange(access.elements)).reshape(-1)
    return {(access.array, int(cell)) for cell in whole}


def _draw(scene: Scene, top: float, story: Story) -> None:
    scene.text(12, top, story.name, "small mono bold")
    top, unit = top + 14, _WIDE / max(story.length, 1)
    for row in range(story.rows):
        y = top + _ROW * row + _WAY + _READ
        scene.text(12, y - 17, f"buffer {row}", "small")
        scene.line(_LEFT, y, _LEFT + _WIDE, y, "faint")
    for time in story.barriers:
        x = _LEFT + unit * time
        scene.line(x, top - 4, x, top + _ROW * story.rows - 6, "ink dashed")
    for tile, row in zip(story.tiles, story.buffers, strict=True):
        y = top + _ROW * row
        for (begin, end), low, high, css in (
            ((tile.ordered, tile.here), y, _WAY, "hatch-a"),
            (tile.read, y + _WAY, _READ, "c-soft"),
        ):
            wide = max(unit * (end - begin), 3)
            words = f"tile {tile.number}" if wide > 48 else ""
            scene.cell(_LEFT + unit * begin, low, wide, high - 2, words, css, "small halo")


def _words(story: Story) -> str:
    """What the picture shows, in words."""
    told = [f"{story.name}: {counted(story.rows, 'buffer')}."]
    for tile in story.tiles[1:]:
        beside = story.beside(tile)
        if beside:
            others = joined(f"tile {number}" for number in beside)
            verb = "is" if len(beside) == 1 else "are"
            told.append(f"Tile {tile.number} is on its way while {others} {verb} read.")
        else:
            told.append(f"While tile {tile.number} is on its way, nothing is read.")
    told.append(f"{len(story.barriers)} barriers.")
    return " ".join(told)
