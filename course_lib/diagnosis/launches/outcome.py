"""What came out of one launch beside what should have, where they differ, and what that says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.emulator import Profile
from course_lib.problems.problem import Case, Geometry
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import facts_of
from course_lib.wording.words import at_end, element, joined, span

Array = np.ndarray


@dataclass(frozen=True)
class Outcome:
    """What came out of one launch, beside what should have.

    Attributes:
        inputs: the input arrays, in the order of the kernel's parameters.
        expected: the right output, in float64.
        got: the output, float32 as the kernel left it.
        tolerance: how far each element may be off because of rounding.
        sizes: of the tiles.
        poison: what the output held before the launch.
        output: the letter that the exercise has for the output.
        letters: those that it has for the inputs, in order.
    """

    inputs: tuple[Array, ...]
    expected: Array
    got: Array
    tolerance: Array
    sizes: Geometry
    poison: float
    output: str = "C"
    letters: tuple[str, ...] = ("A", "B")

    @property
    def operands(self) -> str:
        """The inputs, as a phrase: "A and B"."""
        return joined(self.letters)

    @cached_property
    def right(self) -> Array:
        """Which elements are right; not-a-number never is."""
        with np.errstate(invalid="ignore", over="ignore"):
            result: Array = np.abs(self.got.astype(np.float64) - self.expected) <= self.tolerance
            return result

    @cached_property
    def untouched(self) -> Array:
        """Which elements still hold the poison, to the last bit."""
        if np.isnan(self.poison):
            result: Array = np.isnan(self.got)
            return result
        result = self.got == np.float32(self.poison)
        return result

    @cached_property
    def known(self) -> Array:
        """Which elements can be explained at all: written, and numbers."""
        result: Array = np.isfinite(self.got) & ~self.untouched
        return result

    @cached_property
    def values(self) -> Array:
        return self.got.astype(np.float64)

    def matches(self, values: object) -> bool:
        """Are these the numbers that came out (wherever any came out)?"""
        with np.errstate(invalid="ignore", over="ignore"):
            room = 2 * self.tolerance + 4e-7 * np.abs(self.values)
            close = np.abs(np.asarray(values) - self.values) <= room
        return bool(self.known.any() and close[self.known].all())


def where(mask: Array, sizes: Geometry) -> str:
    """The elements in a mask, as a part of the output that can be named."""
    count = int(mask.sum())
    if count == mask.size:
        return "every element"
    if count == 1:
        return f"element {first_place(mask)}"
    if count == mask.size - 1 and count > 1:
        return f"every element but {first_place(~mask)}"
    if mask.ndim == 1:
        return _run_of(mask, sizes.tile_columns)
    full_rows, full_columns = np.asarray(mask.all(axis=1)), np.asarray(mask.all(axis=0))
    bands = (full_rows[:, None] | full_columns).sum() == count
    if bands and not full_columns.any():
        return _lines(full_rows, "row")
    if bands and not full_rows.any():
        return _lines(full_columns, "column")
    if bands:
        return f"{_lines(full_rows, 'row')} and {_lines(full_columns, 'column')}"
    return _box(mask) or f"{count} of {mask.size} elements, the first at {first_place(mask)}"


def first_place(mask: Array) -> str:
    """The first place in a mask, as an index: "[3, 4]"."""
    return element("", np.argwhere(mask)[0])


def _run_of(mask: Array, run: int) -> str:
    """Some elements of an array with one axis, cut into runs."""
    places = np.flatnonzero(mask)
    within = np.unique(places % run)
    same = len(mask) > run and np.array_equal(mask, np.isin(np.arange(len(mask)) % run, within))
    if same and len(within) < run:
        chosen = np.zeros(run, bool)
        chosen[within] = True
        return f"{_lines(chosen, 'element')} of every run of {run}"
    return _lines(mask, "element")


def _lines(chosen: Array, noun: str) -> str:
    """Some rows, columns or elements."""
    places = np.flatnonzero(chosen)
    first, last, count = int(places[0]), int(places[-1]), len(places)
    if count == last - first + 1:
        if last == len(chosen) - 1 and first > 0:
            return at_end("last", count, noun)
        return span(noun, places.tolist())
    if count == len(chosen) - 1:
        return f"every {noun} but {noun} {int(np.flatnonzero(~chosen)[0])}"
    if np.all(np.diff(places) == 2):
        return f"every second {noun}"
    return f"{count} of the {noun}s, the first of them {noun} {first}"


def _box(mask: Array) -> str:
    """The part if the mask is a rectangle."""
    if mask.sum() != mask.any(axis=1).sum() * mask.any(axis=0).sum():
        return ""
    rows, columns = np.asarray(mask.any(axis=1)), np.asarray(mask.any(axis=0))
    return f"{_lines(rows, 'row')} of {_lines(columns, 'column')}"


def by_how_much(outcome: Outcome) -> str:
    """One example of a wrong element: "C[0, 3] is 1.5 and should be 2.25"."""
    wrong = ~outcome.right
    at = tuple(np.argwhere(wrong)[0])
    name = f"{outcome.output}{first_place(wrong)}"
    got, wanted = float(outcome.values[at]), float(outcome.expected[at])
    digits = next((n for n in (4, 6, 8) if f"{got:.{n}g}" != f"{wanted:.{n}g}"), 10)
    return f"{name} is {got:.{digits}g} and should be {wanted:.{digits}g}"


# --- Groups of codes that conclusions are drawn from ----------------------------------------------


APART = "barrier-divergence"
RACES = ("race-", APART)
OUTSIDE = ("out-of-bounds-read", "out-of-bounds-write")
# What makes every number doubtful: as long as one of these is there, numbers explain nothing.
DISORDER = (
    "barrier-divergence",
    "race-read-after-write",
    "race-write-after-read",
    "race-write-after-write",
    "uninitialised-read",
    "timeout",
)


def array_of(cell: str) -> str:
    """The array of a cell: "A" for "A[3, 40]"."""
    return cell.split("[", 1)[0]


def is_misaligned(finding: Finding) -> bool:
    """Is it a wide access at an odd address? A GPU stops there: no number after it exists."""
    return finding.code == "wrong-index" and "size" in facts_of(finding.message)


# --- One launch of an answer, and what came of it -------------------------------------------------


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

    @property
    def is_fine(self) -> bool:
        return self.right and not self.errors

    @property
    def right_but_for_races(self) -> bool:
        """Right, or wrong in a launch whose order of warps shows what a reported race does."""
        races = any(error.code.startswith(RACES) for error in self.errors)
        return self.right or (races and self.case.schedule != "lockstep")

    @property
    def telling(self) -> tuple[bool, int]:
        """Sorts the launches that say most about a slip to the front."""
        size = math.prod(max(side, 1) for side in self.case.shape)
        return bool(np.isnan(self.case.poison)), -size

    @property
    def runs_out(self) -> bool:
        """Did the launch need more steps than it had?"""
        return any(error.code == "timeout" for error in self.errors)

    @property
    def is_hopeless(self) -> bool:
        """Would more launches only cost time?

        So it is with a loop without end and, where a launch is long, with wrong numbers from
        outside an array that the kernel itself has made.
        """
        made = {array.name for array in self.profile.shared_arrays}
        outside = {array_of(error.cell) for error in self.errors if error.code in OUTSIDE}
        beside = self.case.exact and not self._alone and not self.right and bool(outside & made)
        return self.runs_out or beside

    @property
    def all_meet(self) -> bool:
        """Do all threads write the one element that there is?"""
        meet = any(error.code == "race-write-after-write" for error in self.errors)
        return self._alone and meet and self.outcome.got.size == 1

    @property
    def _alone(self) -> bool:
        """Does a thread compute one element only?"""
        return self.outcome.sizes.thread_rows * self.outcome.sizes.thread_columns == 1

    @property
    def leaves_arrays(self) -> bool:
        return any(error.code in OUTSIDE for error in self.errors)


def exact_of(trials: Sequence[Trial]) -> Trial | None:
    return next((trial for trial in trials if trial.case.exact), None)
