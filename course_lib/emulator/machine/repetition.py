"""Tells that a `while` loop never ends, when it is in a state in which it was before.

What an iteration does follows from the variables, the active lanes and memory. If all three are as
they were, and no other thread can have changed anything, every further iteration is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.emulator.machine.events import RunningLoop
from course_lib.emulator.machine.machine import Machine

FIRST = 1024  # iterations before the state is looked at
LONGEST = 8  # iterations after which a state may come again


class Repetition:
    """Whether one running loop has come back to an earlier state."""

    def __init__(self, machine: Machine, loop: RunningLoop) -> None:
        self.machine, self.loop = machine, loop
        self.since = 0  # the iterations before this state was noted
        self.state: Any = None
        self.counts = (0, 0)

    def is_found(self, has_paused: bool) -> bool:
        """Whether the iteration that has ended will repeat forever; `has_paused`: others ran."""
        turns, unit = self.loop.turns, self.machine.unit
        if turns < FIRST or has_paused:
            self.since = 0
            return False
        if turns & (turns - 1) == 0:
            self.since, self.state, self.counts = turns, self._now(), (unit.reads, unit.writes)
            return False
        if not self.since or turns - self.since > LONGEST:
            return False
        reads, writes = self.counts  # what is written and never read again does not matter
        return (unit.reads == reads or unit.writes == writes) and self._now() == self.state

    def _now(self) -> Any:
        values = tuple(self.machine.frame.variables.items())
        return self.machine.active.full_array.tobytes(), _as_bytes(values)


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
