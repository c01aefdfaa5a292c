"""When the tiles of a kernel travel: does the block do anything else meanwhile?"""

from __future__ import annotations

from typing import ClassVar

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.memory import Access


class Journeys(Observer):
    """Hears whether a tile that was ordered from global memory is waited for at once.

    Between its order (a load, or the start of an asynchronous copy) and its arrival in shared
    memory (a store, or the wait in which the copy lands) the block should read another tile. The
    first tile has no other to travel beside.

    Attributes:
        at_once: lines of the order and of the arrival, of the first later tile that nothing was
            read beside; None if there is none. Of a copy they are one line.
        stored: the last line at which threads themselves store in shared memory.
    """

    spaces: ClassVar = ("global", "shared")

    def __init__(self) -> None:
        self.at_once: tuple[int, int] | None = None
        self.stored: int | None = None
        self._ordered = 0  # the line of the last order that nothing has been read beside
        self._reads = 0
        self._reads_before: dict[tuple[int, ...], int] = {}  # a copy began after so many

    def access(self, access: Access) -> None:
        in_shared = access.allocation.space == "shared"
        if in_shared and access.kind == "load":
            self._ordered, self._reads = 0, self._reads + 1
        elif access.kind == ("copy" if in_shared else "load"):
            self._ordered = access.line
            if in_shared:
                self._reads_before[access.order] = self._reads
        elif in_shared and access.kind == "store":
            self.stored = max(access.line, self.stored or 0)
            self._arrive(access.line)

    def landed(self, access: Access) -> None:
        if self._reads and self._reads_before[access.order] == self._reads:
            self.at_once = self.at_once or (access.line, access.line)

    def _arrive(self, line: int) -> None:
        if self._ordered and self._reads and self.at_once is None:
            self.at_once = self._ordered, line
