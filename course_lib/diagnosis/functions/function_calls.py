"""Calls a plain function, by the interpreter, and says whether the number is right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from course_lib.emulator import Budget, Kernel, KernelRejected
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.problems.call_table import Arguments, CallTable
from course_lib.wording.findings import Finding

# Steps bound the work: of blocks_per_sm, a right answer takes about 100 for a call, and one that
# finds each number by counting up to it 30,000.
STEPS_PER_CALL = 200_000
STEPS = 10_000_000  # of all calls
CLOSE = 1e-9  # of the right number: how far a fraction may be off
NO_ANSWER = ("timeout", "not-allowed", "unsupported")


@dataclass(frozen=True)
class Call:
    """One call: its arguments, what is right, and what came of it."""

    table: CallTable = field(repr=False)
    arguments: Arguments
    wanted: float
    value: object = None
    stopped: Finding | None = None
    steps: int = 0

    @property
    def number(self) -> float | None:
        """The value, if it is a number."""
        match self.value:
            case bool():
                return None
            case int() as whole:  # however large
                return whole
            case float() as number if math.isfinite(number):
                return number
        return None

    @property
    def right(self) -> bool:
        return self.is_number(self.value)

    @property
    def drawn(self) -> bool:
        return self.arguments in self.table.drawn

    @cached_property
    def refused(self) -> tuple[str, str] | None:
        return self.table.refused(*self.arguments)

    def is_number(self, value: object) -> bool:
        """Is this the right number, and whole where only whole ones are asked for?"""
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return False
        if self.table.whole and not isinstance(value, int):
            return False
        if self.table.whole:  # however large: a bit of 64 is no fraction of the number
            return bool(value == self.wanted)
        return bool(abs(value - self.wanted) <= CLOSE * abs(self.wanted))


def all_calls(table: CallTable, function: Kernel) -> Iterator[Call]:
    """Every call of a table, until no steps are left, or one shows that none has an answer."""
    left = STEPS
    for arguments in table.calls:
        made = call(table, function, arguments, min(left, STEPS_PER_CALL))
        left -= made.steps
        yield made
        if ends_all(made):
            return


def ends_all(call: Call) -> bool:
    """Does it stop by something that no other call says more of?"""
    return call.stopped is not None and call.stopped.code in NO_ANSWER


def call(
    table: CallTable, function: Kernel, arguments: Arguments, steps: int = STEPS_PER_CALL
) -> Call:
    """What a function returns for these arguments, beside what is right."""
    wanted = table.reference(*arguments)
    walk = Interpreter(Budget(steps=steps))
    try:
        value, stopped = walk.run(function, list(arguments)), None
    except KernelRejected as stop:
        value, stopped = None, stop.findings[0]
    return Call(table, arguments, wanted, value, stopped, steps - walk.steps.left)


def same_numbers(values: Sequence[float | None], others: Sequence[float]) -> bool:
    """Are these the same numbers, however a fraction was rounded on the way?"""
    return all(
        value is not None and alike(value, other)
        for value, other in zip(values, others, strict=True)
    )


def alike(value: float, other: float) -> bool:
    """Two whole numbers are the same or they are not; a fraction may have been rounded."""
    if isinstance(value, int) and isinstance(other, int):
        return value == other
    return math.isclose(value, other, rel_tol=CLOSE)
