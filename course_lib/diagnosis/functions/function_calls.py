"""Calls a plain function, by the interpreter, and says whether the number is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.emulator import Budget, Kernel, KernelRejected
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.registry.exercise import Task
from course_lib.wording.findings import Finding

STEPS_PER_CALL = 20_000
CLOSE = 1e-9  # of the right number: how far a fraction may be off


@dataclass(frozen=True)
class Call:
    """One call: its arguments, what is right, and what came of it."""

    arguments: tuple[object, ...]
    wanted: float
    whole: bool  # does the task ask for whole numbers?
    value: object = None
    stopped: Finding | None = None

    @property
    def number(self) -> float | None:
        """The value, if it is a number."""
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        return self.value if is_number else None  # type: ignore[return-value]

    @property
    def right(self) -> bool:
        return self.is_number(self.value)

    def is_number(self, value: object) -> bool:
        """Is this the right number, and whole where only whole ones are asked for?"""
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return False
        if self.whole and not isinstance(value, int):
            return False
        if self.whole:  # however large: a bit of 64 is no fraction of the number
            return bool(value == self.wanted)
        return bool(abs(value - self.wanted) <= CLOSE * abs(self.wanted))


def call(task: Task, function: Kernel, arguments: tuple[object, ...]) -> Call:
    """What a function returns for these arguments, beside what is right."""
    assert task.reference is not None
    wanted = task.reference(*arguments)
    whole = all(isinstance(task.reference(*each), int) for each in task.arguments)
    try:
        value = Interpreter(Budget(steps=STEPS_PER_CALL)).run(function, list(arguments))
    except KernelRejected as stop:
        return Call(arguments, wanted, whole, stopped=stop.findings[0])
    return Call(arguments, wanted, whole, value)


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
