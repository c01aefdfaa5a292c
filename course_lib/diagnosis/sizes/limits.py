"""Numbers that make an answer right only up to a size, or only for one; and what settles each.

A limit that no launch has ever met is a suspicion if some size, grown long, comes closer to it. One
small launch just beyond it tells: the numbers go wrong, or the suspicion was unfounded.
"""

from __future__ import annotations

import ast
import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

from course_lib.diagnosis.launches.outcome import Outcome, where
from course_lib.diagnosis.sizes.words import tell
from course_lib.diagnosis.source.source import Source
from course_lib.emulator import Kernel
from course_lib.emulator.observers.limits import LimitNotes, Site
from course_lib.problems.problem import NAN, Case, OtherSize, Problem, Shape
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
UNITS = range(1, 1025)  # how many indices a block or a turn may have
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
        size = next(filter(None, (_by_whole_units(points, unit) for unit in UNITS)), None)
        if size is None:
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


def _by_whole_units(points: Mapping[int, float], unit: int) -> int | None:
    """The first size beyond the limit, if each unit begun takes all launches equally far."""
    reached = {-(-size // unit): far for size, far in points.items()}
    first, last = min(reached), max(reached)
    if len(reached) < 2 + (unit > 1):
        return None
    per_unit = (reached[last] - reached[first]) / (last - first)
    fits = all(
        far == reached[first] + per_unit * (-(-size // unit) - first)
        for size, far in points.items()
    )
    if not fits or per_unit <= 0:
        return None
    return unit * (first + math.ceil((1 - reached[first]) / per_unit) - 1) + 1


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


# --- A number that means a size, found by a change that makes it another size ---------------------
# A task whose arrays have one fixed size can't tell `range(12)` from `range(x.shape[0])`. So a
# right answer is launched once more, on arrays that are longer along one axis; where that goes
# wrong, each number in a test or in the head of a loop is changed as the size has changed.


def size_finding(
    kernel: Kernel, source: Source, size: OtherSize, part: str, is_right: Callable[[Kernel], bool]
) -> Finding:
    """The finding for an answer that is right for the usual size alone.

    Args:
        kernel: that answer.
        source: it, with the functions that it calls.
        size: what was longer.
        part: where the result is wrong then.
        is_right: whether an edited kernel is right on the longer arrays.
    """
    for node in _in_tests(source):
        assert isinstance(node.value, int)
        new, rest = divmod(node.value * size.other, size.usual)
        if rest or not is_right(_with_number(kernel, node, new)):
            continue
        kind = "size in a loop" if source.heads_a_loop(node) else "size in a test"
        return tell(kind, node.lineno, number=node.value, part=part, **asdict(size))
    return tell("size somewhere", None, part=part, **asdict(size))


def _in_tests(source: Source) -> Iterator[ast.Constant]:
    """The whole numbers in tests and in heads of loops."""
    for function in source.functions:
        for node in ast.walk(function):
            if isinstance(node, (ast.For, ast.If, ast.While, ast.IfExp)):
                head = node.iter if isinstance(node, ast.For) else node.test
                for part in ast.walk(head):
                    if isinstance(part, ast.Constant) and type(part.value) is int:
                        yield part


def _with_number(kernel: Kernel, node: ast.Constant, number: int) -> Kernel:
    """The kernel with another number in this place, in itself or in a function that it calls."""
    if any(part is node for part in ast.walk(kernel.tree)):
        new = ast.copy_location(ast.Constant(number), node)
        return replace(kernel, tree=copy.deepcopy(kernel.tree, {id(node): new}))
    called = {
        name: _with_number(value, node, number)
        for name, value in kernel.namespace.items()
        if isinstance(value, Kernel) and any(part is node for part in ast.walk(value.tree))
    }
    return replace(kernel, namespace={**kernel.namespace, **called})
