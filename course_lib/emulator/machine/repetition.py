"""Tells that a loop is endless where it comes to a state in which it was before.

What a turn does follows from the variables, the active lanes and memory. If all are the same again,
and no other thread can have stepped in, so is every turn from here on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.emulator.machine.events import RunningLoop
from course_lib.emulator.machine.machine import Machine

FIRST = 1024  # turns before anybody looks
LONGEST = 8  # turns after which the same may come again


class Repetition:
    """Of one loop that is running."""

    def __init__(self, machine: Machine, loop: RunningLoop) -> None:
        self.machine, self.loop = machine, loop
        self.since = 0  # how many turns there had been when this state was noted
        self.state: Any = None
        self.counts = (0, 0)

    def is_found(self, has_paused: bool) -> bool:
        """Whether the turn that has ended leads nowhere; `has_paused`: others ran meanwhile."""
        turns, unit = self.loop.turns, self.machine.unit
        if turns < FIRST or has_paused:
            self.since = 0
            return False
        if turns & (turns - 1) == 0:
            self.since, self.state, self.counts = turns, self._now(), (unit.reads, unit.writes)
            return False
        if not self.since or turns - self.since > LONGEST:
            return False
        reads, writes = self.counts  # what nobody reads again may well have been written
        return (unit.reads == reads or unit.writes == writes) and self._now() == self.state

    def _now(self) -> Any:
        values = tuple(self.machine.frame.variables.items())
        return self.machine.active.full_array.tobytes(), _as_bytes(values)


def _as_bytes(value: Any) -> Any:
    """What is equal for the same bits alone; it keeps the value, so that none takes its place."""
    match value:
        case np.ndarray() | np.generic():
            return value.dtype.str, value.shape, value.tobytes()
        case tuple():
            return tuple(map(_as_bytes, value))
        case str():
            return value
    return _Same(value)


class _Same:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value
