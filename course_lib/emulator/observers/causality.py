"""What orders threads that no barrier orders, and who has been told of an access by it."""

from dataclasses import dataclass
from typing import Literal

from course_lib.emulator.language.intrinsics import Scope


@dataclass(frozen=True)
class Synchronisation:
    """What threads of a block, or an agent, do at a time that may order them with others."""

    time: int
    who: tuple[int, ...]  # their numbers, or the agent's, and `block`, whose interval they are in
    block: int
    interval: int  # how many barriers the block had passed
    # "fence"; "give" or "take", at the barrier or cell `at`; "both" for an atomic operation that
    # changes its cell; "start" or "join" the agent `agent`
    does: Literal["fence", "give", "take", "both", "start", "join"]
    at: object = None
    phase: int = 0
    line: int = 0  # of an arrival
    agent: int = 0
    scope: Scope = "grid"  # of a fence, whom it lets see what was done


class Knowledge:
    """To whom it has been handed on that one access has happened.

    A thread knows of it by itself, or from a barrier of its block. It hands it on by an atomic
    operation, if it knew it before its last fence, or has it from an atomic operation itself; and
    by an arrival in any case.
    """

    def __init__(self, who: int, interval: int, block_size: int) -> None:
        self.who, self.block = who, who // block_size
        self._size = block_size
        self._all, self._fenced = {who}, set[int]()
        # From which interval of a block on all of its threads know it, and may hand it on.
        self._blocks, self._blocks_fenced = {self.block: interval}, dict[int, int]()
        self._told: dict[object, int] = {}  # from which phase on, at which cells and barriers

    def to(self, who: int, interval: int) -> bool:
        """Does this thread or agent know it, in this interval?"""
        return who in self._all or is_since(self._blocks, who // self._size, interval)

    def let_go(self, who: int, block: int, interval: int) -> None:
        """A thread that knows it is free to hand it on."""
        self._fenced.add(who)
        self._blocks_fenced[block] = min(interval, self._blocks_fenced.get(block, interval))

    def hear(self, event: Synchronisation) -> None:
        """Something takes place that may hand it on."""
        who, block, interval = event.who, event.block, event.interval
        match event.does:
            case "fence":
                for thread in who:
                    if self.to(thread, interval):
                        self.let_go(thread, block, interval)
            case "start" if self._to_any(event):
                self._all.add(event.agent)
            case "join" if event.agent in self._all:
                self._learn(who, block, interval)
            case "give" if self._to_any(event):
                self._told[event.at] = min(event.phase, self._told.get(event.at, event.phase))
            case "take" | "both" if self._told.get(event.at, event.phase + 1) <= event.phase:
                self._learn(who, block, interval)
            case "both" if who[0] in self._fenced or is_since(self._blocks_fenced, block, interval):
                self._told[event.at] = 0

    def _to_any(self, event: Synchronisation) -> bool:
        known = is_since(self._blocks, event.block, event.interval)
        return known or not self._all.isdisjoint(event.who)

    def _learn(self, who: tuple[int, ...], block: int, interval: int) -> None:
        self._all.update(who)
        self._fenced.update(who)
        self._blocks[block] = min(interval, self._blocks.get(block, interval))
        self._blocks_fenced[block] = min(interval, self._blocks_fenced.get(block, interval))


def is_since(intervals: dict[int, int], block: int, interval: int) -> bool:
    """Has the block passed a barrier since the interval that is noted for it?"""
    known = intervals.get(block)
    return known is not None and known < interval
