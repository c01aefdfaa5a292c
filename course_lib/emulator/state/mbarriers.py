"""mbarriers: barriers in shared memory that count arrivals and bytes, phase after phase.

A phase is complete when as many threads have arrived as were said beforehand, and all bytes that
were announced have come; then the next one begins by itself (PTX ISA, "mbarrier"). Barriers of
whole warps (`group_sync`) and of a cluster are counted in the same way, without bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# What tells a barrier apart from others: a block, by its number in the space, and its address
# there, or a name and a number of another kind of barrier.
Key = tuple[int | str, ...]
Onlooker = Literal["copies", "blocks"]  # other than threads of the same block


@dataclass
class Phases:
    """A barrier."""

    expected: int  # how many arrivals complete a phase
    line: int  # of the kernel, where it was made
    missing: int = 0  # how many of the phase that is under way have still to come
    # how many bytes were announced in this phase, and have not come yet; copies that come before
    # they are announced make it negative
    bytes: int = 0
    phase: int = 0  # how many phases are complete
    is_awaited: bool = False  # whether anybody has waited for one
    maker: int | None = None  # the lane that made it, where one did
    # who can see that it is there, by what that lane has called since
    fenced_for: set[Onlooker] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.missing = self.expected

    def arrive(self, count: int = 1, announced: int = 0) -> None:
        """So many threads arrive, and announce so many bytes."""
        self.missing -= count
        self.bytes += announced
        self._go_on()

    def come(self, count: int) -> None:
        """So many bytes have come."""
        self.bytes -= count
        self._go_on()

    def _go_on(self) -> None:
        if self.missing == 0 and self.bytes == 0:
            self.phase += 1
            self.missing = self.expected

    def has_passed(self, parity: int) -> bool:
        """Whether the phase before the one that is under way has this parity."""
        return self.phase % 2 != parity % 2
