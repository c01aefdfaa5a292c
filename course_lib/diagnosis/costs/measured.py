"""What was counted in one launch, as the requirements look at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from course_lib.curriculum import Exercise
from course_lib.diagnosis.launches.shares import Shares
from course_lib.diagnosis.launches.trail import Journeys
from course_lib.diagnosis.launches.widths import Widths
from course_lib.diagnosis.source.source import Source
from course_lib.wording.findings import Severity

WARP = 32
ROOM = 1.1
# Honest answers need up to 2.7 (matmul_column_major, 4 columns), a warp down a column 4 and more.
ROOM_AT_EDGES = 3.2
ROOM_FOR_SHORT_ROWS = 2.2  # beside the one sector more that each row may take
REPEATED = 4  # times that a lane may touch an element again before it counts as filling


@dataclass(frozen=True)
class Measured:
    """One launch.

    Attributes:
        profile: the emulator's counters.
        shape: the sizes of the problem.
        tile: rows and columns of C that a block computes.
        step_tile: how many steps of k the kernel stages at a time, if the exercise says so.
        names: the kernel's names for the exercise's arrays, in order.
        source: the syntax tree.
        fetched_once: how many elements of each input all blocks load, if each does so once.
        thread_tile: rows and columns of C that one thread computes.
        barriers: how many a block needs; None if that is up to the kernel's design.
        at_most: how many elements of each input all blocks may load where tiles are partial.
        hands_over: whether a thread reads from shared memory what another one has written.
        most_elements: how many elements of the output one thread computes, at most.
        journeys: when tiles travelled, where that was listened to.
        widths: how many bytes lanes moved at once, where the exercise asks for it.
        shares: what each block loads, where the exercise asks that the work is shared.
        hands_on: whether the result is made of what threads read of each other in shared memory;
            where that is still to be found out, a function does, told if a block fetches sparingly.
        contiguous_axis: along which elements of the arrays are neighbours in memory.
    """

    profile: Any
    shape: tuple[int, ...]
    tile: tuple[int, int]
    step_tile: int | None
    names: tuple[str, ...]
    source: Source
    fetched_once: tuple[int, ...]
    barriers: int | None
    thread_tile: tuple[int, int] = (1, 1)
    at_most: tuple[float, ...] = ()
    hands_over: bool = True
    most_elements: int = 0
    journeys: Journeys | None = None
    widths: Widths | None = None
    shares: Shares | None = None
    hands_on: bool | Callable[[bool], bool] = True
    contiguous_axis: int = -1


def traffic_of(profile: Any, name: str) -> Any:
    """The traffic of an array that was passed in, or described by what was; None of a number."""
    return profile.arrays.get(f"{name}.array") or profile.arrays.get(name)


def severity_of(exercise: Exercise, requirement: str) -> Severity:
    return "error" if requirement in exercise.points else "warning"


def first_line(source: Source, array: str, store: bool = False) -> int | None:
    accesses = source.accesses(array, store)
    return accesses[-1].lineno if accesses else None
