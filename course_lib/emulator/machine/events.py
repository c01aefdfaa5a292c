"""The calls and loops that are running, and the events of a launch that observers listen to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from course_lib.emulator.language.intrinsics import Scope
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.state.hopper import Key, Onlooker
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value
from course_lib.emulator.state.memory import Access, Memory

if TYPE_CHECKING:
    from course_lib.emulator.state.indices import Fault
    from course_lib.emulator.state.memory import Allocation, ArrayView

Path = tuple[int, ...]  # the lines of the calls that led to a place


@dataclass
class RunningLoop:
    """A loop that is running: the lanes that left it, or one round of it; the turns that it has
    made, and those that it would make if no lane left it early, where that is known.
    """

    node: ast.For | ast.While
    broken: list[Mask] = field(default_factory=list)
    continued: list[Mask] = field(default_factory=list)
    turns: int = 0
    count: int = 0


@dataclass
class Frame:
    """One call of a function: its variables and the lanes that have not returned from it.

    `path` are the lines of the calls that led here. `settled` holds the values of those parts of
    the running statement that were worked out before a barrier in the midst of it.
    `depth` says how deeply calls of functions by themselves lie in each other here.
    """

    typing: Typing
    variables: dict[str, Any]
    live: Mask
    parent: Frame | None = None
    result: Any = None
    loops: list[RunningLoop] = field(default_factory=list)
    assigned_under: dict[str, Mask] = field(default_factory=dict)
    defined: dict[str, Mask] = field(default_factory=dict)
    path: Path = ()
    settled: dict[ast.AST, Any] = field(default_factory=dict)
    depth: int = 0


# --- Observers ------------------------------------------------------------------------------------
# The machine and its memory say what they do and know nothing of who listens: the meter counts,
# race detectors collect, a camera films. In all events `mask` holds the lanes concerned and `line`
# is the line of the kernel's text.


SPACES = ("global", "shared", "local", "constant")
Moment = tuple[Key, int]  # a barrier, and one of its phases


@dataclass(frozen=True, eq=False)
class EngineAccess:
    """What a copy or a product reads or writes."""

    agent: int  # which one; negative
    lane: int  # the one that started it, by its number in the space
    kind: str  # "load" or "store"
    allocation: Allocation  # where
    # the first byte of each piece, from the beginning of the allocation; of a block's
    starts: np.ndarray
    block: int  # whose shared memory it is, by its number in the space
    width: int  # bytes of a piece
    line: int  # where it was started


Kind = Literal["test", "choice", "lanes", "wrap", "loop", "axis", "cast"]  # of limits


class MetValues(NamedTuple):
    """Two values that meet at an expression, of which one may be a limit for the other."""

    kind: Kind
    node: ast.expr | ast.AugAssign
    left: Value
    right: Value
    operator: type[ast.cmpop] = ast.Lt


class Observer:
    """Listens to every event and does nothing about it; an observer overrides those that it needs.

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

    def by_tensor_cores(self, line: int, count: int) -> None:
        """This many of the operations reported by `flops` were done by a tensor core."""

    def printed(self, texts: Sequence[str], more: int) -> None:
        """Lanes print a line each; of `more` lanes the lines are not made, as nobody keeps them."""

    def enter_loop(self, node: ast.For | ast.While, path: Path) -> None:
        """A loop begins; `path` holds the lines of the calls that led there."""

    def end_turn(self) -> None:
        """The innermost loop has made a turn."""

    def leave_loop(self, turns: int) -> None:
        """The innermost loop ends; it would have made this many turns if no lane had left it."""

    def limit(self, met: MetValues, path: Path, mask: Mask) -> None:
        """Lanes let two values meet; `path` holds the lines of the calls that led there."""

    # -- waiting ------------------------------------------------------------------------------

    def arrived(self, line: int, mask: Mask) -> None:
        """Lanes arrive at a barrier."""

    def barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """The lanes that have arrived at a barrier may pass; `live` have not ended yet."""

    def grid_barrier(self, line: int, arrived: Mask, live: Mask) -> None:
        """The same for a barrier of the whole grid."""

    def passed(self, line: int, mask: Mask) -> None:
        """Lanes go on behind a barrier."""

    def fence(self, mask: Mask, scope: Scope) -> None:
        """Lanes make what they have done so far visible to their "block", or to the "grid"."""

    def meets(self, mask: Mask) -> None:
        """Lanes come to a function that a warp executes together."""

    def syncwarp(self, mask: Mask) -> None:
        """Lanes pass a `syncwarp`."""

    # -- beside the threads: see machine/engine.py ----------------------------------------------

    def signal(self, at: Moment, who: Sequence[int], gives: bool, line: int) -> None:
        """Lanes or an agent arrive at a barrier in shared memory, or have waited for a phase."""

    def handed_over(self, agent: int, lanes: Sequence[int]) -> None:
        """Lanes start an agent's work: the agent knows what they know."""

    def waited_for(self, agent: int, lanes: Sequence[int]) -> None:
        """Lanes know that an agent is done."""

    def by_agent(self, access: EngineAccess) -> None:
        """An agent reads or writes memory."""

    def never_awaited(self, key: Key, line: int) -> None:
        """A thread or agent has arrived at a barrier, made on this line, and nobody waits there."""

    def too_many_bytes(self, line: int, copied: int) -> None:
        """A copy brings more bytes to a barrier than were announced in this line."""

    def runs_ahead(self, line: int, made: int, expected: int) -> None:
        """Arrivals complete a second phase of a barrier, and nobody has waited for the first."""

    def computes(
        self, agent: int, arrays: Sequence[Allocation], lanes: Sequence[int], line: int
    ) -> None:
        """An agent works on local arrays of lanes until they have waited for it."""

    def registers(
        self, lanes: np.ndarray, count: int, change: Callable[[int, int], int], line: int
    ) -> None:
        """Lanes ask for a number of registers; `change` says how many they get."""

    def not_fenced(self, lane: int, onlooker: Onlooker, made: int, line: int) -> None:
        """A barrier is used that threads beyond its block's own need not see yet."""

    def no_barrier(self, lane: int, address: int, line: int) -> None:
        """A lane uses a barrier in shared memory that nobody has made."""

    def fence_async(self, mask: Mask) -> None:
        """Lanes make what they have written to shared memory visible to agents."""

    # -- memory -------------------------------------------------------------------------------

    def access(self, access: Access) -> None:
        """A load, a store or an atomic operation took place; told through `accesses`."""

    def index(self, view: ArrayView, indices: Sequence[Value], mask: Mask, line: int) -> None:
        """An element of a shared or local array is about to be accessed."""

    def converted(self, view: ArrayView, value: Value, mask: Mask, line: int) -> None:
        """A value is about to be stored, and will take the type of the array's elements."""

    def updates(
        self, allocation: Allocation, place: np.ndarray, update: AtomicUpdate, line: int
    ) -> None:
        """Lanes are about to update cells, those at `place` in the array's storage.

        `update` has the operands of these lanes, in the type of the array's elements.
        """

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
        """Only some lanes of a warp execute what whole warps have to execute together."""

    def left_out(self, name: str, active: np.ndarray, absent: np.ndarray, line: int) -> None:
        """Lanes call a function that other lanes of their warp should call, too; both as rows of
        warps.
        """

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
        """Lanes pass a comparison of tuples although not every item is below."""


EVENTS = tuple(
    name for name, kind in vars(Observer).items() if callable(kind) and not name.startswith("_")
)


class Observers(Observer):
    """Passes events to several observers; each gets only the events that it overrides.

    `accesses` holds, for each kind of memory, those who hear of accesses to it; `heard` the events
    of which anybody hears.
    """

    def __init__(self, observers: Iterable[Observer]) -> None:
        everyone = tuple(observers)
        self.heard = {event for observer in everyone for event in observer.hears}
        for event in EVENTS:
            hearing = [getattr(observer, event) for observer in everyone if event in observer.hears]
            # One listener is called directly: that is the usual case, and events are many.
            direct = [*hearing, _unheard][0] if len(hearing) < 2 else partial(_tell, hearing)
            setattr(self, event, direct)
        self.accesses = {
            space: tuple(
                observer.access
                for observer in everyone
                if "access" in observer.hears and space in observer.spaces
            )
            for space in SPACES
        }


def _unheard(*event: Any) -> None:
    pass


def _tell(hearing: Iterable[Callable[..., None]], *event: Any) -> None:
    for hear in hearing:
        hear(*event)


# --- Atomic updates: as if the lanes made them one after the other --------------------------------


@dataclass(frozen=True, eq=False)
class AtomicUpdate:
    """What an atomic function does to a cell."""

    operands: Sequence[Value]  # its values, one or two
    combine: Callable[[Any, Any], Any]  # from the old value and the operands to the new one
    returns_old: bool  # whether the kernel uses the value that each lane found

    @property
    def one_by_one(self) -> bool:
        """Whether the lanes take turns: NumPy does many at once, but does not return the old
        values.
        """
        return self.returns_old or not isinstance(self.combine, np.ufunc)

    def carry_out(
        self, storage: np.ndarray, place: np.ndarray, operands: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Update cells: the value that each lane found, or zeros if nobody asks; and whether each
        changed it, None if that is not known.
        """
        old = np.zeros(len(place), storage.dtype)
        if isinstance(self.combine, np.ufunc) and not self.returns_old:
            self.combine.at(storage, place, operands[0])
            return old, None
        new = np.zeros_like(old)
        for lane, cell in enumerate(place):
            old[lane] = storage[cell]
            operand = operands[0][lane] if len(operands) == 1 else tuple(v[lane] for v in operands)
            storage[cell] = new[lane] = self.combine(storage[cell], operand)
        return old, old != new
