"""Bounds on what a kernel may use up, so that no text can hang or exhaust the machine.

Work is counted in steps, not in seconds, so that a verdict is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

# One statement costs one step, plus one for every this many lanes that execute it.
LANES_PER_STEP = 16384

MAX_SOURCE_CHARACTERS = 200_000
MAX_NESTING = 60
MAX_INTEGER_BITS = 256
MAX_TUPLE_ITEMS = 1000


@dataclass(frozen=True)
class Budget:
    """What one launch may use.

    Attributes:
        steps: executed statements (see LANES_PER_STEP).
        bytes: shared and local memory of the blocks that are emulated side by side.
        printed_lines: how many lines of `print` are kept.
        call_depth: how deeply device functions may call each other.
    """

    steps: int = 4_000_000
    bytes: int = 1 << 30
    printed_lines: int = 1000
    call_depth: int = 40


class BudgetExceeded(Exception):
    """The kernel used up its steps; `line` is where."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


class StepCounter:
    """Counts the steps of one launch down to zero."""

    def __init__(self, budget: Budget) -> None:
        self.left = budget.steps

    def spend(self, steps: int, line: int) -> None:
        """Use up `steps`.

        Raises:
            BudgetExceeded: when none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded(line, "steps")
