"""Numbers that make an answer right only up to a size, and launches that settle each.

A limit that no launch has ever met is a suspicion if some size, grown long, comes closer to it. One
small launch just beyond it tells: the numbers go wrong, or the suspicion was unfounded.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from course_lib.diagnosis.launches.outcome import Outcome, where
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.words import tell
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.observers.limits import LimitNotes, Site
from course_lib.problems.problem import NAN, Case, Problem, Shape
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Capital

TRIES = 3  # launches for one suspicion: how far it is was estimated
MOST_LAUNCHES = 12  # for all suspicions of one answer
MOST_STEPS = 150_000  # of one launch
MOST_ELEMENTS = 1 << 19  # of its arrays together
FARTHEST = 1 << 30  # a limit on a size beyond is none: no array is as long
LEAST = 2  # a limit; sizes of 0 and 1 are kinds of their own, and tried anyway
AXES = (None, 0, 1, 2)  # what goes with a size in a product of two
FLAT = ("test", "choice", "wrap", "cast")  # sites where an index into a whole array may stand
# Of several limits that a launch met first, which one rather explains wrong numbers.
TELLING = ("cast", "loop", "choice", "axis", "test", "wrap", "lanes")


class Limits:
    """What the launches of one answer have shown of the limits in it."""

    def __init__(self) -> None:
        self.notes = LimitNotes()
        self.cases: list[Case] = []  # one for each launch of the notes

    def notes_for(self, case: Case) -> LimitNotes | None:
        """Where a launch is to note what it meets; nowhere, if other launches note the same."""
        if case.schedule != "lockstep":
            return None
        self.cases.append(case)
        return self.notes

    def met_first_in(self, case: Case) -> Site | None:
        """The limit that a launch was the first one to meet."""
        sites = [
            site
            for site in self.notes.sites
            if site.met_in is not None
            and self.cases[site.met_in] == case
            and (site.number or 0) >= LEAST
            and len(site.seen) > 1
        ]
        return min(sites, key=lambda site: TELLING.index(site.kind), default=None)

    def lossy_casts(self) -> list[int]:
        """The lines of casts to 8 or 16 bits that changed some number."""
        sites = self.notes.sites
        return [site.line for site in sites if site.kind == "cast" and site.met_in is not None]

    def suspicions(self) -> Iterator[Suspicion]:
        """Every limit that some size, grown, comes closer to; each once for each such size."""
        long = [case for case in self.cases if case.along is not None]
        for site in self.notes.sites:
            if site.is_open and (site.number or 0) >= LEAST:
                approach = self._approach(site)
                every = (Suspicion(site, case, other, approach) for case in long for other in AXES)
                yield from (suspicion for suspicion in every if suspicion.is_one)

    def _approach(self, site: Site) -> dict[Shape, float]:
        """How far each launch came, by its shape; at 0 the limit is reached."""
        below = all(seen.gap[1] <= 0 for seen in site.seen.values())
        return {
            self.cases[number].shape: seen.gap[1] if below else -seen.gap[0]
            for number, seen in site.seen.items()
        }

    def settle(
        self,
        problem: Problem,
        source: Source,
        spent: Mapping[Case, int],
        tile: int,
        is_right: Callable[[Case], bool],
    ) -> tuple[Site | None, list[Finding]]:
        """Try each suspicion with one small launch just beyond the limit, the nearest ones first.

        Args:
            problem: what is computed.
            source: the answer's.
            spent: the steps of each ordinary launch. All of them were right.
            tile: the longest side of a tile; rounding up to whole tiles can hide a limit that far.
            is_right: launches the answer on a case, and tells whether it is right there.

        Returns:
            The first limit beyond which the answer is wrong, if there is one; warnings of those
            that are too far away to be tried.
        """
        far: dict[Site, Finding] = {}
        tried: set[Case] = set()
        tries: Counter[Site] = Counter()
        while len(tried) < MOST_LAUNCHES:
            waiting: list[tuple[int, Case, Suspicion]] = []
            for suspicion in self.suspicions():
                size = suspicion.first_size_beyond()
                case = suspicion.launch(size, problem, spent[suspicion.long])
                if case is None and size < FARTHEST:
                    label = problem.label(suspicion.long.shape)
                    far[suspicion.site] = not_tried(suspicion.site, source, label)
                elif case is not None and case not in tried and tries[suspicion.site] < TRIES:
                    waiting.append((size, case, suspicion))
            if not waiting:
                break
            size, case, nearest = min(waiting, key=lambda candidate: candidate[0])
            tries[nearest.site] += 1
            farther = nearest.launch(size + tile, problem, spent[nearest.long])
            for tried_now in filter(None, (case, farther)):
                tried.add(tried_now)
                if not is_right(tried_now):
                    return nearest.site, []
        return None, [finding for site, finding in far.items() if site.is_open]


@dataclass(frozen=True)
class Suspicion:
    """A limit, and the size that comes closer to it: one of the shape, or a product of two.

    Attributes:
        site: where the limit is.
        long: the launch that is long in the size to grow.
        other: the place in the shape of a size that goes with it, in a flat index; or None.
        approach: how far each launch came, by its shape; at 0 the limit is reached.
    """

    site: Site
    long: Case
    other: int | None
    approach: Mapping[Shape, float] = field(repr=False)

    @property
    def axis(self) -> int:
        assert self.long.along is not None
        return self.long.along

    def _size(self, shape: Shape) -> int:
        return shape[self.axis] * (1 if self.other is None else shape[self.other])

    @property
    def _points(self) -> dict[int, float]:
        """By size, the farthest that a launch came."""
        points: dict[int, float] = {}
        for shape, reached in self.approach.items():
            size = self._size(shape)
            points[size] = max(reached, points.get(size, reached))
        return points

    @property
    def is_one(self) -> bool:
        """Is the limit approached as the size grows, the largest coming closest?"""
        if self.other is not None and not (
            self.other < len(self.long.shape) and self.other != self.axis and self.site.kind in FLAT
        ):
            return False
        *smaller, largest = sorted(self._points.items())
        return len(smaller) > 0 and all(reached < largest[1] for _, reached in smaller)

    def first_size_beyond(self) -> int:
        """The smallest size along the axis that should pass the limit."""
        points = self._points
        (first, near), (last, far) = min(points.items()), max(points.items())
        size = last + math.ceil((1 - far) * (last - first) / (far - near))
        return size if self.other is None else -(-size // self.long.shape[self.other])

    def launch(self, size: int, problem: Problem, spent: int) -> Case | None:
        """A launch of this size along the axis; None if it cannot be run here.

        `spent`: the steps of the long launch.
        """
        shape = tuple(
            size if axis == self.axis else other for axis, other in enumerate(self.long.shape)
        )
        shape = problem.fitted(shape)
        if sum(map(math.prod, problem.operand_shapes(shape))) > MOST_ELEMENTS:
            return None
        steps = spent * size // self.long.shape[self.axis]
        if steps > MOST_STEPS:
            return None
        allowed = 4 * steps + 5000
        return Case(shape, poison=NAN, draw=70 + self.axis, counted=True, allowed=allowed)


def limit_finding(site: Site, source: Source, label: object, outcome: Outcome) -> Finding:
    """The finding for an answer that is right only up to a limit; `label` names the sizes."""
    place = where(~outcome.right, outcome.sizes)
    return tell.again("wrong beyond", _told(site, source), label=label, place=place)


def room_finding(site: Site, source: Source, outside: Finding) -> Finding:
    """The same where an array of the kernel's own is too small: the access that leaves it."""
    what = _told(site, source).message
    return tell.again("no room", outside, what=what, seen=Capital(outside.message))


def not_tried(site: Site, source: Source, label: str) -> Finding:
    """The warning of a limit that is too far away to be tried; `label` names the longest tried."""
    return tell.again("not tried", _told(site, source), label=label)


def _told(site: Site, source: Source) -> Finding:
    """What the number does that is a limit."""
    assert site.number is not None
    number = f"{site.number:g}" if site.number % 1 else str(int(site.number))
    kind: str = "test" if site.kind == "choice" else site.kind
    if kind == "test" and site.node and source.heads_a_loop(site.node):
        kind = "test of a loop"
    noun = "iteration" if site.number == 1 else "iterations"
    return tell(kind, site.line, number=number, noun=noun)


# --- Launches far beyond the usual ones -----------------------------------------------------------
# For answers that were right in all of those. Here only the numbers of the source are looked at:
# each is tried just beyond itself, in each direction. One more launch is drawn, long in one
# direction or several, so that no text can foresee it. What is seen there counts as elsewhere.


FARTHEST_DRAWN = 20_000  # a size that is drawn
BEYOND_NUMBERS = 12  # launches
STEPS_DRAWN = 3_000  # of one of these launches, as drawn
CORNER = (129, 230)  # the range of sides, where several are long at once
STEPS_IN_THE_CORNER = (17, 25)  # two tiles of 16
WARP_AND_MORE = 33  # a side on which it shows what the lanes of a warp ask for
MORE_STEPS = 17
DRAW = 80  # of inputs


def far_cases(
    problem: Problem, long: Iterable[tuple[Case, int]], source: Source, seed: int
) -> list[Case]:
    """The launches to make.

    Args:
        problem: what is computed.
        long: the usual launches that are long in one direction, each with the steps it took.
        source: the answer's.
        seed: draws the sizes.
    """
    rng = np.random.default_rng((seed, 95))
    numbers = sorted(set(numbers_of(source)))
    beyond: list[Case] = []
    drawn: list[Case] = []
    for case, steps in long:
        assert case.along is not None
        longest = _longest(problem, case, steps, STEPS_DRAWN)
        farthest = _longest(problem, case, steps, problem.steps_beyond)
        usual = case.shape[case.along]
        wide = replace(case, shape=_wide(problem, case.shape))
        beyond += (
            _longer(problem, wide, n + 1, problem.steps_beyond)
            for n in numbers
            if usual < n + 1 <= farthest
        )
        if longest > usual:
            length = int(np.exp(rng.uniform(np.log(usual), np.log(longest))))
            drawn.append(_longer(problem, case, length))
    beyond.sort(key=lambda case: max(case.shape))
    corner = _corner(problem, rng)
    if corner and (not drawn or rng.random() < 0.5):
        drawn = [corner]
    one = [drawn[rng.integers(len(drawn))]] if drawn else []
    return [*beyond[:BEYOND_NUMBERS], *one]


def _longer(problem: Problem, case: Case, size: int, steps: int = STEPS_DRAWN) -> Case:
    assert case.along is not None
    shape = list(case.shape)
    shape[case.along] = size
    return Case(
        problem.fitted(tuple(shape)),
        poison=NAN,
        draw=DRAW + case.along,
        counted=True,
        along=case.along,
        allowed=4 * steps,
    )


def _longest(problem: Problem, case: Case, steps: int, most_steps: int) -> int:
    """How long a launch may be, as its steps and arrays grow with it."""
    assert case.along is not None
    usual = case.shape[case.along]
    elements = sum(map(math.prod, problem.operand_shapes(case.shape)))
    by_steps = usual * most_steps // max(steps, 1)
    by_elements = usual * MOST_ELEMENTS // max(elements, 1)
    return int(min(by_steps, by_elements, FARTHEST_DRAWN))


def _spread(problem: Problem) -> list[int]:
    """The directions along which the threads are spread; a sum runs along the others."""
    return [axis for axis in problem.directions if not (problem.has_steps and axis == 2)]


def _wide(problem: Problem, shape: Shape) -> Shape:
    """The shape with sides of more than a warp, and with more steps than one tile of 16 has."""
    spread = _spread(problem)
    least = {axis: WARP_AND_MORE if axis in spread else MORE_STEPS for axis in problem.directions}
    return tuple(max(size, least.get(axis, 0)) for axis, size in enumerate(shape))


def _corner(problem: Problem, rng: np.random.Generator) -> Case | None:
    """A launch that is long in all directions along which the threads are spread."""
    spread = _spread(problem)
    if len(spread) < 2:
        return None
    shape = list(problem.short)
    side = int(rng.integers(*CORNER))
    for axis in spread:  # as often as not a square: what is done for squares alone shows there
        shape[axis] = side if rng.random() < 0.5 else int(rng.integers(*CORNER))
    if problem.has_steps:
        shape[2] = int(rng.integers(*STEPS_IN_THE_CORNER))
    return Case(
        problem.fitted(tuple(shape)),
        poison=NAN,
        draw=DRAW + 9,
        counted=True,
        along=spread[0],
        allowed=8 * STEPS_DRAWN,
    )


def numbers_of(source: Source) -> Iterator[int]:
    """The whole numbers in an answer, written out or computed from numbers only."""
    names = dict(source.constants)
    for function in source.functions:
        for node in ast.walk(function):
            if not isinstance(node, ast.Constant | ast.BinOp | ast.UnaryOp | ast.Name | ast.Call):
                continue
            try:
                value = evaluate_constant(node, names)
            except NotConstant:
                continue
            if isinstance(value, (int, float, np.number)) and math.isfinite(value):
                yield abs(math.ceil(value))
