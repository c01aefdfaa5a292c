"""One launch of an answer, what came of it, and what that says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.diagnosis.codes import OUTSIDE, RACES, array_of
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.emulator import Profile
from course_lib.problems.problem import Case
from course_lib.wording.findings import Finding

COUNTED = (
    *("flops", "global_load_bytes", "global_load_sectors", "global_store_bytes"),
    *("global_store_sectors", "shared_load_wavefronts", "shared_store_wavefronts", "barriers"),
)


def counts_of(profile: Profile) -> dict[str, int]:
    """The counters of a launch that a student compares."""
    return {name: int(getattr(profile, name)) for name in COUNTED}


@dataclass(frozen=True)
class Trial:
    """One launch and what came of it."""

    case: Case
    outcome: Outcome
    profile: Profile
    inputs_kept: bool

    @property
    def right(self) -> bool:
        return bool(self.outcome.right.all())

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.profile.findings if finding.severity == "error"]


def right_but_for_races(trial: Trial) -> bool:
    """Right, or wrong in a launch whose order of warps shows what a reported race does."""
    races = any(error.code.startswith(RACES) for error in trial.errors)
    return trial.right or (races and trial.case.schedule != "lockstep")


def telling(trial: Trial) -> tuple[bool, int]:
    """Sorts the launches that say most about a slip to the front."""
    size = math.prod(max(length, 1) for length in trial.case.shape)
    return bool(np.isnan(trial.case.poison)), -size


def is_hopeless(trial: Trial) -> bool:
    """Would more launches only cost time?

    So it is with a loop without end and, where a launch is long, with wrong numbers from outside a
    tile.
    """
    beside = trial.case.exact and not _alone(trial) and not trial.right and _leaves_tiles(trial)
    return runs_out(trial) or beside


def runs_out(trial: Trial) -> bool:
    """Did the launch need more steps than it had?"""
    return any(error.code == "timeout" for error in trial.errors)


def all_meet(trial: Trial) -> bool:
    """Do all threads write the one element that there is?"""
    codes = {error.code for error in trial.errors}
    return _alone(trial) and "race-write-after-write" in codes and trial.outcome.got.size == 1


def _alone(trial: Trial) -> bool:
    """Does a thread compute one element only?"""
    return trial.outcome.sizes.thread_rows * trial.outcome.sizes.thread_columns == 1


def leaves_arrays(trial: Trial) -> bool:
    return any(error.code in OUTSIDE for error in trial.errors)


def _leaves_tiles(trial: Trial) -> bool:
    """Does a thread leave an array that the kernel itself has made?"""
    made = {array.name for array in trial.profile.shared_arrays}
    return any(error.code in OUTSIDE and array_of(error.cell) in made for error in trial.errors)


def exact_of(trials: Sequence[Trial]) -> Trial | None:
    return next((trial for trial in trials if trial.case.exact), None)


def right_in_block_0_alone(trial: Trial) -> bool:
    """Of a list with one element for each thread: are those of the first block right, only?"""
    right, threads = trial.outcome.right, math.prod(trial.profile.block)
    blocks = math.prod(trial.profile.grid)
    if right.ndim != 1 or blocks < 2 or not (blocks - 1) * threads < right.size <= blocks * threads:
        return False
    return bool(right[:threads].all() and not right[threads:].any())
