"""What was counted in one launch, as the requirements look at it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from course_lib.curriculum import Exercise
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import Trial
from course_lib.diagnosis.source.source import Source
from course_lib.wording.findings import Severity

ROOM = 1.1
# Honest answers need up to 2.7 (matmul_column_major, 4 columns), a warp down a column 4 and more.
ROOM_AT_EDGES = 3.2
ROOM_FOR_SHORT_ROWS = 2.2  # beside the one sector more that each row may take
REPEATED = 4  # times that a lane may touch an element again before it counts as filling


class Measured:
    """One launch of an answer: the emulator's counters, and what the exercise makes of them."""

    def __init__(self, launcher: Launcher, trial: Trial) -> None:
        case, problem, tile = trial.case, launcher.problem, launcher.tile
        self.launcher, self.case, self.shape = launcher, case, case.shape
        self.profile: Any = trial.profile
        self.names, self.source = launcher.names, launcher.source
        # How many steps of k are staged at a time; rows and columns of C that a thread computes.
        self.step_tile, self.thread_tile = launcher.step_tile, launcher.thread_tile[::-1]
        # How many elements of each input all blocks load, if each does so once; and how many they
        # may load where tiles are partial.
        self.fetched_once = problem.fetches(case.shape, tile)
        step = self.step_tile or 1
        self.at_most = problem.fetches_at_most(case.shape, tile, step, launcher.thread_tile)
        # How many barriers a block needs; None if that is up to the kernel's design.
        self.barriers = problem.barriers(case.shape, self.step_tile)
        # Along which elements of the arrays are neighbours in memory.
        self.contiguous_axis = -1 if problem.order == "C" else 0
        # What was listened to where the exercise asks for it.
        self.journeys, self.widths = launcher.journeys.get(case), launcher.widths.get(case)
        self.shares = launcher.shares.get(case)

    @cached_property
    def most_elements(self) -> int:
        """How many elements of the output one thread computes, at most."""
        return self.launcher.trail(self.case).most_elements if self.case.exact else 0

    @cached_property
    def _is_trusted(self) -> bool:
        """Is it left open what the threads hand to each other?"""
        return not self.case.exact or self.launcher.reads_for_a_caller

    @cached_property
    def hands_over(self) -> bool:
        """Does a thread read from shared memory what another one has written?"""
        return self._is_trusted or self.launcher.trail(self.case).hands_over

    def hands_on(self, sparing: bool) -> bool:
        """Is the result made of what threads read of each other in shared memory?

        `sparing`: a block fetches little twice.
        """
        return self._is_trusted or self.launcher.hands_on(self.case, sparing)


def traffic_of(profile: Any, name: str) -> Any:
    """The traffic of an array that was passed in, or described by what was; None of a number."""
    return profile.arrays.get(f"{name}.array") or profile.arrays.get(name)


def severity_of(exercise: Exercise, requirement: str) -> Severity:
    return "error" if requirement in exercise.points else "warning"


def first_line(source: Source, array: str, store: bool = False) -> int | None:
    accesses = source.accesses(array, store)
    return accesses[-1].lineno if accesses else None
