"""Who is told what happens in a launch: an observer overrides the events that it wants to hear of.

The machine and its memory say what they do and know nothing of who listens: the meter counts,
race detectors collect, a camera films. In all events `mask` holds the lanes concerned and `line`
is the line of the kernel's text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    import numpy as np

    from course_lib.emulator.machine.frames import Frame, Path
    from course_lib.emulator.state.indices import Fault
    from course_lib.emulator.state.lanes import LaneSpace, Mask, Value
    from course_lib.emulator.state.memory import Access, Allocation, ArrayView, Memory


SPACES = ("global", "shared", "local", "constant")
Kind = Literal["test", "choice", "lanes", "wrap", "loop", "axis", "cast"]  # of limits


class Observer:
    """Hears of every event and does nothing about it.

    `spaces`: the kinds of memory of whose accesses it wants to hear. `hears`: the events that its
    class overrides.
    """

    spaces: ClassVar[Sequence[str]] = SPACES
    hears: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        overridden = (e for e in EVENTS if getattr(cls, e) is not getattr(Observer, e))
        cls.hears = frozenset(overridden)

    def begin(self, space: LaneSpace, memory: Memory) -> None:
        """The next blocks of the launch begin: those in `space`, with shared memory of theirs."""

    def end(self) -> None:
        """These blocks have ended."""

    # -- the course of the kernel -------------------------------------------------------------

    def statement(self, line: int, mask: Mask, frame: Frame) -> None:
        """A statement begins; `frame` holds the variables of the function that is running."""

    def branch(self, line: int, condition: Value, mask: Mask) -> None:
        """Lanes part: those where `condition` holds, and the others."""

    def flops(self, line: int, mask: Mask, count: int, is_float64: bool, is_data: bool) -> None:
        """Floating-point operations, `count` in all; not `is_data` where integers were divided."""

    def multiplied(self, a: np.ndarray, b: np.ndarray) -> None:
        """Warps multiply fragments: the lanes' words of A and of B, shape (words, warps, 32)."""

    def printed(self, texts: Sequence[str], more: int) -> None:
        """Lanes print a line each; of `more` lanes the lines are not made, as nobody keeps them."""

    def enter_loop(self, node: ast.For | ast.While, path: Path) -> None:
        """A loop begins; `path` are the lines of the calls that led there."""

    def end_turn(self) -> None:
        """The innermost loop has made a turn."""

    def leave_loop(self, turns: int) -> None:
        """The innermost loop ends; it would have made so many turns if no lane had left it."""

    def limit(
        self,
        kind: Kind,
        node: ast.expr | ast.AugAssign,
        path: Path,
        left: Value,
        right: Value,
        mask: Mask,
        operator: type[ast.cmpop],
    ) -> None:
        """Two values meet, one of which may be a limit for the other; see limits.py."""

    # -- waiting ------------------------------------------------------------------------------

    def arrived(self, line: int, mask: Mask) -> None:
        """Lanes come to a barrier."""

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """The lanes that have arrived at a barrier may pass; `live` have not ended yet."""

    def passed(self, line: int, mask: Mask) -> None:
        """Lanes go on behind a barrier."""

    def syncwarp(self, mask: Mask) -> None:
        """Lanes pass a `syncwarp`."""

    # -- memory -------------------------------------------------------------------------------

    def access(self, access: Access) -> None:
        """A load, a store or an atomic operation took place; told through `accesses`."""

    def index(self, view: ArrayView, indices: Sequence[Value], mask: Mask, line: int) -> None:
        """An element of a shared or local array is about to be accessed."""

    def landed(self, access: Access) -> None:
        """The store of an asynchronous copy takes place now at the latest."""

    # -- what should not happen ---------------------------------------------------------------

    def fault(self, fault: Fault, allocation: Allocation, kind: str, line: int) -> None:
        """An index outside its array, or one that is refused for another reason."""

    def uninitialised(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        """The lanes in `bad` read cells that nobody has written."""

    def stale(self, allocation: Allocation, cell: Value, bad: Mask, line: int) -> None:
        """The lanes in `bad` read cells that were not written since the round before."""

    def too_early(
        self,
        kind: str,
        allocation: Allocation,
        cell: Value,
        bad: Mask,
        line: int,
        started: Value,
        elements: int,
    ) -> None:
        """The lanes in `bad` touch cells into which copies are under way, begun at `started`."""

    def undefined(self, name: str, bad: Mask, line: int) -> None:
        """The lanes in `bad` use a variable that they have not set."""

    def broken_warp(self, name: str, mask: Mask, line: int) -> None:
        """Some lanes of a warp carry out what whole warps do together."""

    def left_out(self, name: str, active: np.ndarray, absent: np.ndarray, line: int) -> None:
        """Lanes call what lanes of their warp should call as well; both as rows of warps."""

    def no_such_lane(
        self, name: str, lanes: np.ndarray, wanted: np.ndarray, active: np.ndarray, line: int
    ) -> None:
        """Lanes ask those in `wanted` for values, and these give them none; all as rows of warps.

        `active` take part; a lane that does and that the mask does not name gives no value either.
        """

    def unnamed(self, name: str, lanes: np.ndarray, line: int) -> None:
        """Lanes, as rows of warps, are not named by the mask that they pass."""

    def raised(self, what: str, mask: Mask, line: int) -> None:
        """Lanes end with an exception."""

    def no_such_item(self, name: str, index: Value, items: int, bad: Mask, line: int) -> None:
        """The lanes in `bad` use an index that a tuple does not have."""

    def not_below(self, tuples: str, passed: Mask, line: int) -> None:
        """Lanes pass a comparison of tuples of which not every item holds."""


EVENTS = tuple(
    name for name, kind in vars(Observer).items() if callable(kind) and not name.startswith("_")
)


class Observers(Observer):
    """Tells several observers; each hears only of the events that it overrides.

    `accesses` holds, for each kind of memory, those who hear of accesses to it; `heard` the events
    of which anybody hears.
    """

    def __init__(self, observers: Iterable[Observer]) -> None:
        everyone = tuple(observers)
        self.heard = {event for each in everyone for event in each.hears}
        for event in EVENTS:
            hearing = [getattr(each, event) for each in everyone if event in each.hears]
            # One listener is called directly: that is the usual case, and events are many.
            direct = [*hearing, _unheard][0] if len(hearing) < 2 else partial(_tell, hearing)
            setattr(self, event, direct)
        self.accesses = {
            space: tuple(
                each.access for each in everyone if "access" in each.hears and space in each.spaces
            )
            for space in SPACES
        }


def _unheard(*event: Any) -> None:
    pass


def _tell(hearing: Iterable[Callable[..., None]], *event: Any) -> None:
    for hear in hearing:
        hear(*event)
