"""How many bytes each lane moves with one access, line by line."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Literal, NamedTuple

from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.memory import Access


class AccessSite(NamedTuple):
    """Where an array is accessed."""

    space: str
    array: str
    verb: Literal["load", "store"]
    line: int


class Widths(Observer):
    """Counts, for each place, the lanes that access an array there, and the bytes that they move.

    What shared memory gets by asynchronous copies is theirs, and no store of a thread.
    """

    spaces: ClassVar = ("global", "shared")

    def __init__(self) -> None:
        self.lanes: Counter[AccessSite] = Counter()
        self.bytes: Counter[AccessSite] = Counter()

    def access(self, access: Access) -> None:
        if access.kind not in ("load", "store"):
            return
        place = AccessSite(access.allocation.space, access.array, access.kind, access.line)  # type: ignore[arg-type]
        self.lanes[place] += access.mask.lanes
        self.bytes[place] += access.mask.lanes * access.width

    def narrowest(self, space: str, array: str, verb: str, width: int) -> AccessSite | None:
        """Where most lanes move fewer bytes at once than `width`; "" stands for all arrays."""
        narrow = [
            place
            for place, lanes in self.lanes.items()
            if (place.space, place.verb) == (space, verb)
            and place.array == (array or place.array)
            and self.bytes[place] < width * lanes
        ]
        return max(narrow, key=lambda place: (self.lanes[place], place.line), default=None)
