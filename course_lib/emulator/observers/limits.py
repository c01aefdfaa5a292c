"""Notes where a number may act as a limit on the sizes, and whether any launch has met it.

A kernel can be right up to a size and no further: a loop that makes 512 turns, a test against 64,
`min(K, 100)`, a shared array that holds one whole row. However such a number is spelled, somewhere
two values meet: what grows with a size, and the limit. At each such site this module keeps, launch
by launch, how close the two came. A site is closed, and costs no more, once some launch has met the
limit: the test came out both ways, `%` did wrap, the loop's last turn still had new work.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.emulator.machine.events import Kind, MetValues, Observer, Path
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import Access, ArrayView

Range = tuple[float, float]  # least and greatest

# When a test came out both ways: from the least and the greatest left - right.
_BOTH_WAYS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: lambda low, high: low < 0 <= high,
    ast.GtE: lambda low, high: low < 0 <= high,
    ast.LtE: lambda low, high: low <= 0 < high,
    ast.Gt: lambda low, high: low <= 0 < high,
    ast.Eq: lambda low, high: low <= 0 <= high and low < high,
    ast.NotEq: lambda low, high: low <= 0 <= high and low < high,
}
# Where a launch that comes just as far as the limit need not have gone beyond it: it needed the
# last turn, element or lane, and nothing says that a larger size may have one more.
_UP_TO: tuple[Kind, ...] = ("test", "loop", "axis", "lanes")
# The same test with its sides exchanged.
_EXCHANGED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


@dataclass(frozen=True)
class Seen:
    """What one launch showed at a site: the ranges of left - right, of left and of right."""

    gap: Range
    left: Range
    right: Range

    def joined(self, other: Seen) -> Seen:
        return Seen(
            _joined(self.gap, other.gap),
            _joined(self.left, other.left),
            _joined(self.right, other.right),
        )


@dataclass(eq=False)
class Site:
    """One place in the kernel, by one way of calls, where two values meet."""

    # a test; min or max ("choice"); a test, min or max of as many indices as there are lanes
    # ("lanes"), with how many are asked for on the left and how many there are on the right; %, //,
    # & or >> ("wrap"); a loop, with the turns that had work of their own on the left and all its
    # turns on the right; the axis of a shared or local array, with one more than the index on the
    # left; a cast to 8 or 16 bits
    kind: Kind
    line: int  # where
    node: ast.AST | None = None  # the expression, or the loop; None for an axis
    operator: type[ast.cmpop] = ast.Lt  # of a test
    seen: dict[int, Seen] = field(default_factory=dict)  # by number of the launch
    met_in: int | None = None  # the launch that met the limit, if one did
    is_open: bool = True  # whether it is still of interest

    def note(self, launch: int, seen: Seen) -> None:
        known = self.seen.get(launch)
        self.seen[launch] = known.joined(seen) if known else seen
        if self._is_met():
            self.met_in = launch if self.met_in is None else self.met_in
            self.is_open = self.kind in _UP_TO and self._comes_up_to_it_once()

    def _comes_up_to_it_once(self) -> bool:
        """Has a single launch come as far as the limit, and none beyond?"""
        from_below = [sides.gap[1] for sides in self.seen.values()]
        from_above = [-sides.gap[0] for sides in self.seen.values()]
        return any([far for far in side if far >= 0] == [0] for side in (from_below, from_above))

    def _is_met(self) -> bool:
        low = min(sides.gap[0] for sides in self.seen.values())
        high = max(sides.gap[1] for sides in self.seen.values())
        if self.kind == "test":
            return bool(_BOTH_WAYS[self.operator](low, high))
        return low < 0 < high if self.kind == "choice" else high >= 0

    def close_if_no_side_is_fixed(self) -> None:
        """A limit that differs between launches follows from a size."""
        if len(self.seen) > 1 and self.number is None:
            self.is_open = False

    @property
    def number(self) -> float | None:
        """The side that is the same in every launch, if one is: where it differs between lanes,
        the end that the other side comes to first."""
        below = all(sides.gap[1] <= 0 for sides in self.seen.values())
        right = {sides.right for sides in self.seen.values()}
        if len(right) == 1:
            low, high = right.pop()
            return low if below else high
        left = {sides.left for sides in self.seen.values()}
        if len(left) == 1:
            low, high = left.pop()
            return high if below else low
        return None


@dataclass
class _OpenLoop:
    """A loop that is running: what its turns touched in global memory, access by access."""

    site: Site
    in_this_turn: dict[tuple[int, str], Range] = field(default_factory=dict)
    in_turns: dict[tuple[int, str], set[Range]] = field(default_factory=dict)

    def end_turn(self) -> None:
        for access, cells in self.in_this_turn.items():
            self.in_turns.setdefault(access, set()).add(cells)
        self.in_this_turn = {}


class LimitNotes(Observer):
    """The sites of one kernel, over several launches in lockstep.

    Attributes:
        sites: in the order in which they were first met with.
        launch: the number of the latest launch, from 0 on.
    """

    spaces = ("global",)

    def __init__(self) -> None:
        self.launch = -1
        self._sites: dict[tuple[Any, ...], Site] = {}
        self._loops: list[_OpenLoop] = []
        # Of each line and array, the shape of which all axes are closed.
        self._closed_axes: dict[tuple[int, str], tuple[Value, ...]] = {}

    @property
    def sites(self) -> Sequence[Site]:
        return tuple(self._sites.values())

    def next_launch(self) -> None:
        """A new launch begins."""
        self.launch += 1
        self._loops = []
        for site in self._sites.values():
            if site.is_open:
                site.close_if_no_side_is_fixed()

    def limit(self, met: MetValues, path: Path, mask: Mask) -> None:
        """Two values meet at an expression, in the lanes of a mask."""
        kind, node, left, right, operator = met
        site = self._sites.get((kind, node, path))
        if site is None:
            site = self._sites[kind, node, path] = Site(kind, node.lineno, node, operator)
        if site.is_open:
            self._note(site, left, right, mask)
        if kind == "choice" or (kind == "test" and operator in _EXCHANGED):
            if np.ndim(left) == 0 < np.ndim(right):
                met = MetValues(kind, node, right, left, _EXCHANGED.get(operator, operator))
            self._meet_lanes(met, path, mask)

    def _meet_lanes(self, met: MetValues, path: Path, mask: Mask) -> None:
        """An index that may differ between lanes meets a size: are there lanes enough for it?"""
        kind, node, index, size, operator = met
        if index.dtype.kind not in "iu" or np.ndim(index) == 0:
            return
        site = self._sites.get(("lanes", node, path))
        if site is None:
            site = self._sites["lanes", node, path] = Site("lanes", node.lineno, node)
        if site.is_open:
            (first, last), sizes = _extremes(index, mask), _extremes(size, mask)
            if first != last and sizes[0] == sizes[1]:
                # As many lanes as the size says, or one more where that is asked for, too.
                more = kind == "choice" or operator in (ast.LtE, ast.Gt)
                asked, lanes = sizes[0] + more, last + 1
                site.note(self.launch, _seen((asked, asked), (lanes, lanes)))

    def index(self, view: ArrayView, indices: Sequence[Value], mask: Mask, line: int) -> None:
        """An element of a shared or local array is about to be accessed."""
        if self._closed_axes.get((line, view.name)) is view.shape:
            return
        is_open = len(indices) < len(view.shape)
        for axis, (index, length) in enumerate(zip(indices, view.shape, strict=False)):
            if length.ndim:
                is_open = True
                continue
            key = (line, view.name, axis, length)  # a part has the name of its array
            site = self._sites.get(key)
            if site is None:
                site = self._sites[key] = Site("axis", line)
            if site.is_open and not (index.ndim == 0 and self._is_known(site, int(index) + 1)):
                # One more than the index, computed so that no narrow type overflows.
                self._note(site, index, length, mask, more=1)
            is_open |= site.is_open
        if not is_open:
            self._closed_axes[line, view.name] = view.shape

    def enter_loop(self, node: ast.For | ast.While, path: Path) -> None:
        key = ("loop", node, path)
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = Site("loop", node.lineno, node)
        self._loops.append(_OpenLoop(site))

    def end_turn(self) -> None:
        """The innermost loop has made a turn."""
        if self._loops[-1].site.is_open:
            self._loops[-1].end_turn()

    def leave_loop(self, turns: int) -> None:
        """The innermost loop ends; it would have made so many turns if no lane had left it."""
        loop = self._loops.pop()
        if loop.site.is_open and loop.in_turns:
            used = max(map(len, loop.in_turns.values()))
            loop.site.note(self.launch, _seen((used, used), (turns, turns)))

    def access(self, access: Access) -> None:
        """An access to memory has been made."""
        if not self._loops or access.allocation.space != "global" or access.mask.empty:
            return
        cells: Range | None = None
        for loop in self._loops:
            if loop.site.is_open:
                cells = cells or _extremes(access.cell, access.mask)
                place = (access.line, access.array)
                known = loop.in_this_turn.get(place)
                loop.in_this_turn[place] = _joined(known, cells) if known else cells

    def _is_known(self, site: Site, number: int) -> bool:
        """Has this launch shown a number at a site that lies between others of its?"""
        seen = site.seen.get(self.launch)
        return seen is not None and seen.left[0] <= number <= seen.left[1]

    def _note(self, site: Site, left: Value, right: Value, mask: Mask, more: int = 0) -> None:
        one, other = _extremes(left, mask), _extremes(right, mask)
        if not all(map(math.isfinite, (*one, *other))):
            site.is_open = False  # data, and no size
            return
        one = (one[0] + more, one[1] + more)
        seen = _seen(one, other)
        if one[0] != one[1] and other[0] != other[1]:
            gap = _extremes(np.subtract(left, right, dtype=np.float64), mask)
            seen = Seen((gap[0] + more, gap[1] + more), one, other)
        site.note(self.launch, seen)


def _seen(left: Range, right: Range) -> Seen:
    """What was seen where one side at least is the same in all lanes."""
    return Seen((left[0] - right[1], left[1] - right[0]), left, right)


def _joined(one: Range, other: Range) -> Range:
    return min(one[0], other[0]), max(one[1], other[1])


def _extremes(value: Value, mask: Mask) -> Range:
    """The least and the greatest value in the lanes of a mask that is not empty."""
    array = np.asarray(value)
    if array.ndim == 0:
        return array.item(), array.item()
    if mask.array is not None:
        lanes = mask.array
        if lanes.shape != array.shape:
            lanes, array = np.broadcast_arrays(lanes, array)
        array = array[lanes]
    return array.min().item(), array.max().item()
