"""Tells that a `while` loop never ends, when what its end depends on is as it was before.

Whether a loop ends follows from some variables and arrays (`language/loop_exits.py`) and from the
lanes in it. If these are as they were, and no other thread can change the arrays, it goes on for
ever, whatever else grows meanwhile. Where the text does not tell so much, all variables and all of
memory count.
"""

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from course_lib.emulator.language.loop_exits import LoopExits, exits_of
from course_lib.emulator.machine.events import RunningLoop
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.memory import ArrayView

FIRST = 1024  # iterations before the state is looked at
LONGEST = 8  # iterations after which a state may come again


class Repetition:
    """Whether one running loop has come back to an earlier state."""

    def __init__(self, machine: Machine, loop: RunningLoop) -> None:
        self.machine, self.loop = machine, loop
        self.since = 0  # the iterations before this state was noted
        self.state: Any = None
        self.counts = (0, 0)
        self.exits: LoopExits | None = None

    def is_found(self, has_paused: bool) -> bool:
        """Whether the iteration that has ended will repeat forever; `has_paused`: others ran."""
        turns, unit = self.loop.turns, self.machine.unit
        if turns < FIRST:
            return False
        if turns == FIRST:
            self.exits = self._known_exits()
        may_differ = self.exits is None or (self.exits.read and not self.machine.is_alone)
        if has_paused and may_differ:
            self.since = 0
            return False
        if turns & (turns - 1) == 0:
            self.since, self.state, self.counts = turns, self._now(), (unit.reads, unit.writes)
            return False
        if not self.since or turns - self.since > LONGEST:
            return False
        reads, writes = self.counts  # what is written and never read again does not matter
        may_count = self.exits is not None or unit.reads == reads or unit.writes == writes
        return may_count and self._now() == self.state

    def _known_exits(self) -> LoopExits | None:
        """What the loop's end depends on, if all that changes it has one of these names."""
        assert not isinstance(self.loop.node, ast.For)
        exits = exits_of(self.loop.node, self.machine.typing)
        if exits is None or not exits.read:
            return exits
        if exits.stored is None:
            return None
        read, others = self._storage(exits.read), self._storage(exits.stored - exits.read)
        if any(each is None for each in (*read, *others)):
            return None
        pairs = ((one, other) for one in read for other in others)
        return None if any(np.may_share_memory(*pair) for pair in pairs) else exits

    def _storage(self, names: Iterable[str]) -> list[Any]:
        """Where the elements of these arrays lie; None for what is no array here."""
        arrays = (self.machine.frame.variables.get(name) for name in names)
        return [each.allocation.storage if isinstance(each, ArrayView) else None for each in arrays]

    def _now(self) -> Any:
        variables = self.machine.frame.variables
        contents: list[Any] = []
        if self.exits is not None:
            variables = {name: variables.get(name) for name in self.exits.names}
            contents = self._storage(self.exits.read & (self.exits.stored or frozenset()))
        parts = (self.machine.active.full_array, *variables.items(), *contents)
        return _as_bytes(parts)


def _as_bytes(value: Any) -> Any:
    """Something that is equal only for the same bits."""
    match value:
        case np.ndarray() | np.generic():
            return value.dtype.str, value.shape, value.tobytes()
        case tuple():
            return tuple(map(_as_bytes, value))
        case str():
            return value
    return _Same(value)


class _Same:
    """Equal only for the very same object, which it keeps alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value
