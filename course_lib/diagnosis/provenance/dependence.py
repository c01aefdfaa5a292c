"""Which cells, and which lines, every element of an output depends on, and should depend on.

One cell of one array is another number in each copy of a launch. What that does to the output, and
to what should come out, are two tables; where they differ is what an answer does wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from course_lib.devices.number_formats import rounded
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import Trial
from course_lib.diagnosis.provenance.copies import LaunchCopies, TextSite, sites_of
from course_lib.emulator import Budget, KernelRejected
from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.launch import typing_for
from course_lib.problems.inputs import as_held, expected_of, make_inputs
from course_lib.problems.problem import EPSILON, Case

Array = np.ndarray
DRAW = 81  # of the inputs
# Lanes times steps of all copies of an experiment in which every cell gets its copy.
MOST_WORK = 30_000_000
MOST_WATCHED = 40  # elements that are looked at one by one
FEW_WATCHED = 6  # the same where not every cell can have a copy
FEWEST_CELLS = 120  # that get a copy then, of all arrays
MOST_CELLS = 600  # of one array, for one element
EXACT = 1e-12  # more than float64 rounds
FAINT = 1 / 8  # of the noise: a cell that should take part, and moves the outcome by more, does
MOST_SAMPLED, MANY_MORE = 16, 4  # cells, by which it is told whether only the largest count
LEAST_SHARE = 1 / 8  # of the largest number of an array: closer to 0 no number is
LONGER, LEAST_STEPS = 8, 2_000  # a change may make a launch so much longer than it was
BYTES = 1 << 30


@dataclass(frozen=True)
class DependenceTable:
    """How the elements of an output depend on some cells of one array.

    Attributes:
        array: its name in the kernel.
        shape: its shape.
        cells: the cells, flat.
        got: by how much the outcome moves for each cell (first axis) and element (second axis),
            in multiples of the cell's change.
        right: by how much it should.
        depends, should: where those are more than rounding.
        is_clear: no cell that takes part is lost in rounding, as some are behind a softmax. Only
            then does a difference say that another cell takes part.
    """

    array: str
    shape: tuple[int, ...]
    cells: Array
    got: Array
    right: Array
    depends: Array
    should: Array
    is_clear: bool

    def places(self, rows: Array) -> Array:
        """The indices of some of the cells: one row for each."""
        return np.stack(np.unravel_index(self.cells[rows], self.shape or (1,)), axis=-1)


@dataclass
class Experiment:
    """One launch, its copies, and what came of them. Elements of the output are counted flat.

    Attributes:
        inputs: what the launch begins with.
        before: what the output holds before, and `other` what it holds in one copy.
        steps: of one launch.
        expected, room: what should come out, and how far rounding may take it.
        got, got_other, got_zero: what came out, with other contents before, with inputs of 0.
        zero: what should come out of inputs of 0; not finite if that is no input.
    """

    launcher: Launcher
    case: Case
    copies: LaunchCopies
    steps: int
    inputs: tuple[Array, ...]
    before: Array
    other: Array
    expected: Array
    room: Array
    got: Array
    got_other: Array
    got_zero: Array
    zero: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the output."""
        return self.before.shape

    @cached_property
    def wrong(self) -> Array:
        with np.errstate(invalid="ignore"):
            result: Array = ~(np.abs(self.got - self.expected) <= self.room)
            return result

    @cached_property
    def unwritten(self) -> Array:
        """Elements that hold what they held before; none where atomics add to them, perhaps 0."""
        stores = self.launcher.source.accesses(self.launcher.names[-1], store=True)
        if not stores and "atomic" in self.launcher.answer.kernel.source:
            return np.zeros_like(self.wrong)
        held = self.before.reshape(-1).astype(np.float64)
        follows = self.got_other == self.other.reshape(-1)
        result: Array = (self.got == held) & follows & self.wrong
        return result

    @cached_property
    def noise(self) -> Array:
        """Differences up to this are rounding."""
        scale = np.nan_to_num(np.abs(self.got), posinf=0) + np.abs(self.expected)
        result: Array = 4 * self.room + 16 * EPSILON * scale
        return result

    @cached_property
    def watched(self) -> Array:
        """The wrong elements that are looked at one by one."""
        some = np.flatnonzero(self.wrong & ~self.unwritten & np.isfinite(self.got))
        most = MOST_WATCHED if self.every_cell else FEW_WATCHED
        return _some(some, most)

    @cached_property
    def every_cell(self) -> bool:
        return sum(map(np.size, self.inputs)) <= self.most_copies

    @property
    def most_copies(self) -> int:
        return MOST_WORK // (self.copies.lanes * self.steps)

    @cached_property
    def tables(self) -> list[DependenceTable]:
        """One for each input, with the watched elements only.

        Where not every cell can have a copy, as many elements are watched as can have all theirs.
        """
        cells = [np.arange(np.size(array)) for array in self.inputs]
        if not self.every_cell:
            of_elements = zip(*map(self._cells_of_slabs, range(len(self.inputs))), strict=True)
            together: list[set[int]] = [set() for _ in self.inputs]
            watched = 0
            for of_element in of_elements:
                more = [one | set(other) for one, other in zip(together, of_element, strict=True)]
                if watched and sum(map(len, more)) > max(FEWEST_CELLS, self.most_copies):
                    break
                together, watched = more, watched + 1
            self.watched = self.watched[:watched]
            cells = [np.array(sorted(group), int) for group in together]
        return [self._table(number, cell) for number, cell in enumerate(cells)]

    @cached_property
    def sites(self) -> list[TextSite]:
        """The loads, stores and tests in the text."""
        return sites_of(typing_for(self.copies.kernel, self._arguments(self.inputs)))

    @cached_property
    def without(self) -> dict[TextSite, Array]:
        """What is left in the output if a load or store is 0, or a test is decided."""
        found: dict[TextSite, Array] = {}
        for is_test in (False, True):  # a test may end a loop; then the others still count
            some = [site for site in self.sites if (site.kind == "test") is is_test]
            with suppress(BudgetExceeded):
                found |= zip(some, self._left([[site] for site in some]), strict=True)
        return found

    @cached_property
    def unfinished(self) -> list[TextSite]:
        """The loads from which elements get what is not finite.

        Without one that does it alone, elements are finite. Of several such on one way the first
        counts. Where none does it alone, all others of them are 0 while one is tried.
        """
        loads = [site for site in self.sites if site.kind == "load"]
        passed = [site for site in loads if self.helped(site, only_finite=True)]
        rest = [site for site in loads if site not in passed]
        bad = ~np.isfinite(self.got) & ~self.unwritten
        tried = [rest, *([other for other in rest if other is not site] for site in rest)]
        still = (~np.isfinite(self._left(tried)) & bad).any(axis=1)
        alone = [site for site, is_bad in zip(rest, still[1:], strict=True) if is_bad]
        return passed if still[0] else [*alone, *passed]

    def _left(self, sites: Sequence[Sequence[TextSite]]) -> Array:
        if not sites:
            return np.zeros((0, self.got.size))
        left = self.copies.results([self._arguments(self.inputs)] * len(sites), sites)
        return left.reshape(len(sites), -1).astype(np.float64)

    def helped(self, site: TextSite, only_finite: bool = False) -> int:
        """How many wrong elements are right, written or finite once a site is changed."""
        left = self.without.get(site, self.got)
        is_written = left != self.before.reshape(-1)
        better = ~np.isfinite(self.got) & np.isfinite(left) & is_written
        if not only_finite:
            with np.errstate(invalid="ignore"):
                better |= np.abs(left - self.expected) <= self.room
            better |= self.unwritten & is_written
        return int((better & self.wrong).sum())

    def feeds(self, site: TextSite) -> float:
        """Of the elements that are others without a site, the share that is wrong."""
        with np.errstate(invalid="ignore"):
            moved = ~(np.abs(self.without.get(site, self.got) - self.got) <= self.noise)
        fed = moved & np.isfinite(self.got)
        return float(np.mean(self.wrong[fed])) if fed.any() else 0.0

    def _arguments(self, inputs: Sequence[Array]) -> list[Array]:
        return [*as_held(self.launcher.problem, inputs), self.before.copy(order="K")]

    def _got_of_changed(self, number: int, groups: Sequence[Array]) -> Array:
        """How the outcome moves if these groups of cells of an input are others."""
        rows = [self._arguments(self._with_others(number, cells)) for cells in groups]
        got = self.copies.results(rows).reshape(len(rows), -1).astype(np.float64)
        with np.errstate(invalid="ignore"):
            moved: Array = got - self.got
        return moved

    def _right_of_changed(self, number: int, groups: Sequence[Array]) -> Array:
        """How it should move."""
        right = [self._expected_of_changed(number, cells) for cells in groups]
        moved: Array = np.array(right) - self.expected
        return moved

    def _with_others(self, number: int, cells: Array) -> tuple[Array, ...]:
        """The inputs, with some cells of one changed."""
        return self._with(number, cells, self._other_than(number))

    def _with(
        self, number: int, cells: Array, other: Callable[[Array], Array]
    ) -> tuple[Array, ...]:
        changed = self.inputs[number].copy(order="K")
        changed.flat[cells] = other(changed.flat[cells])
        return (*self.inputs[:number], changed, *self.inputs[number + 1 :])

    def _expected_of_changed(self, number: int, cells: Array) -> Array:
        return self.launcher.problem.result(*self._with_others(number, cells)).reshape(-1)

    def _other_than(self, number: int) -> Callable[[Array], Array]:
        """What a changed cell of an input holds. Where only the largest numbers count, a number
        that is larger than all."""
        return self._larger(number) if self.is_of_the_largest[number] else self._smaller(number)

    def _larger(self, number: int) -> Callable[[Array], Array]:
        values = self.inputs[number]
        largest = 1 + 2 * np.abs(values).max(initial=0)
        return lambda cells: np.full_like(cells, largest)

    def _smaller(self, number: int) -> Callable[[Array], Array]:
        """Half of it with the other sign, or half as much again where a formula takes no such
        numbers. Neither a square nor a size hides that."""
        inputs = list(self.inputs)
        inputs[number] = inputs[number] * np.float32(-0.5)
        if self.launcher.problem.has_answer(*inputs):
            return lambda values: np.where(values == 0, np.float32(1), values * np.float32(-0.5))
        name = (*self.launcher.problem.formats, "float32")[number]
        return lambda values: rounded(np.asarray(values * 1.5, np.float32), name)

    @cached_property
    def is_of_the_largest(self) -> list[bool]:
        """Of each input: do many more cells move the result once they are larger than all others,
        as for a maximum?"""
        return [
            self._moving(number, self._larger(number))
            > MANY_MORE * self._moving(number, self._smaller(number))
            for number in range(len(self.inputs))
        ]

    def _moving(self, number: int, other: Callable[[Array], Array]) -> int:
        """How many of some cells move the result that should come out."""
        result = self.launcher.problem.result
        some = _some(np.arange(np.size(self.inputs[number])), MOST_SAMPLED)
        moved = [result(*self._with(number, cell, other)) for cell in some[:, None]]
        off = (np.abs(changed.reshape(-1) - self.expected) > self.room for changed in moved)
        return sum(bool(mask.any()) for mask in off)

    def _table(self, number: int, cells: Array) -> DependenceTable:
        at, groups = self.watched, [*cells[:, None]]
        values = self.inputs[number]
        got = right = np.zeros((len(cells), len(at)))
        is_clear = True
        if got.size:
            right = self._right_of_changed(number, groups)[:, at]
            seen, least = np.abs(right) > self.noise[at], EXACT * (1 + np.abs(self.expected[at]))
            is_clear = not ((np.abs(right) > least) & ~seen).any()
            got = self._got_of_changed(number, groups)[:, at] if is_clear else right
        by = (self._other_than(number)(values) - values).reshape(-1)[cells].astype(np.float64)
        with np.errstate(invalid="ignore"):
            depends, should = (~(np.abs(change) <= self.noise[at]) for change in (got, right))
            depends |= should & (np.abs(got) > FAINT * self.noise[at])  # weak, and yet not missing
        name = self.launcher.names[number]
        scaled = (got / by[:, None], right / by[:, None])
        return DependenceTable(name, np.shape(values), cells, *scaled, depends, should, is_clear)

    def differs(self, number: int, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Should two elements depend on other cells of an input, as far as whole slabs tell?"""
        places = [int(np.ravel_multi_index(index, self.shape)) for index in (one, other)]
        for cells in self._slabs(number):
            expected = self._expected_of_changed(number, cells)
            moved = np.abs(expected - self.expected)[places] > self.room[places]
            if moved[0] != moved[1]:
                return True
        return False

    def _slabs(self, number: int) -> list[Array]:
        """The cells of an input, row by row, column by column, and so on."""
        shape = np.shape(self.inputs[number])
        flat = np.arange(prod(shape)).reshape(shape)
        return [
            np.take(flat, index, axis).reshape(-1)
            for axis, length in enumerate(shape)
            for index in range(length)
        ]

    def _cells_of_slabs(self, number: int) -> list[Array]:
        """For each watched element, the cells that it depends on or should, as far as whole slabs
        tell."""
        shape = np.shape(self.inputs[number])
        flat = np.arange(prod(shape)).reshape(shape)
        slabs = self._slabs(number)
        if not slabs or not len(self.watched):
            return [flat.reshape(-1)] * len(self.watched)
        noise = self.noise[self.watched]
        with np.errstate(invalid="ignore"):
            moved = [
                ~(np.abs(compute(number, slabs)[:, self.watched]) <= noise)
                for compute in (self._got_of_changed, self._right_of_changed)
            ]
        found = []
        for depends, should in zip(moved[0].T, moved[1].T, strict=True):
            cells: set[int] = set()
            for matters in (depends, should):
                axes = np.split(matters, np.cumsum(shape)[:-1])
                cells |= set(_some(flat[np.ix_(*axes)].reshape(-1), MOST_CELLS))
            found.append(np.array(sorted(cells), int))
        return found


def experiment(launcher: Launcher, trials: Sequence[Trial]) -> Experiment | None:
    """The smallest launch that goes wrong, with inputs that tell its cells apart."""
    fewest = min((trial.profile.steps for trial in trials), default=1)
    steps = {trial.case.shape: trial.profile.steps for trial in trials}
    for case in _cases(launcher, trials):
        for draw in (DRAW, case.draw):
            try:
                expected = max(1, steps.get(case.shape, fewest))
                found = _begun(launcher, replace(case, draw=draw, allowed=0), expected)
            except (KernelRejected, BudgetExceeded):
                break
            if found.wrong.any():
                return found
    return None


def _cases(launcher: Launcher, trials: Sequence[Trial]) -> Iterator[Case]:
    """The smallest with several blocks and steps first, and with an axis of length 1 last: there
    many slips look the same. In step first, since warp by warp takes several times as long."""
    problem = launcher.problem
    wrong = [
        trial.case for trial in trials if not trial.right and problem.shows_all(trial.case.shape)
    ]
    shapes = {case.shape: case for case in wrong}
    if problem.sizes_vary and wrong:
        short = problem.fitted(problem.short)
        shapes.setdefault(short, replace(wrong[0], shape=short, exact=False))

    def size(case: Case) -> tuple[bool, bool, int]:
        launch = launcher.launch(case)
        cells = sum(map(prod, problem.operand_shapes(case.shape)))
        alone = 1 in problem.covered(case.shape)
        along = case.shape[-1] if problem.has_steps else 2
        several = prod(launch.grid) > 1 and along > (launcher.step_tile or 1)
        return alone, not several, cells * prod(launch.grid) * prod(launch.block)

    for case in sorted(shapes.values(), key=size):
        for schedule in dict.fromkeys(("lockstep", case.schedule)):
            yield replace(case, schedule=schedule)


def _begun(launcher: Launcher, case: Case, steps: int) -> Experiment:
    problem = launcher.problem
    launch = launcher.launch(case)
    drawn = [np.asarray(array) for array in make_inputs(problem, case, launcher.seed)]
    if case.draw == DRAW:
        drawn = [_apart_from_zero(array) for array in drawn]
    formats = problem.formats or ("float32",) * len(drawn)
    inputs = tuple(
        rounded(array, name) if problem.formats else array
        for array, name in zip(drawn, formats, strict=True)
    )
    expected, room = expected_of(problem, case, inputs)
    rng = np.random.default_rng((launcher.seed, DRAW))
    held = np.full(expected.shape, problem.before(case))
    if problem.starts_blank:
        held = rng.uniform(1, 2, expected.shape)
    before = np.asarray(held, np.float32, order=problem.order)
    other = np.asarray(before + rng.uniform(1, 2, expected.shape), np.float32, order=problem.order)
    nothing = tuple(np.zeros_like(array) for array in inputs)
    with np.errstate(all="ignore"):
        zero = expected_of(problem, case, nothing)[0]
    budget = Budget(LONGER * steps + LEAST_STEPS, BYTES, 0)
    copies = LaunchCopies(launcher.answer.kernel, launch.grid, launch.block, case.schedule, budget)
    rows = [
        [*as_held(problem, arrays), held.copy(order="K")]
        for arrays, held in ((inputs, before), (inputs, other), (nothing, before))
    ]
    got = copies.results(rows).reshape(3, -1).astype(np.float64)
    start, changed, zeros = got
    return Experiment(
        launcher,
        case,
        copies,
        steps,
        inputs,
        before,
        other,
        expected.reshape(-1),
        room.reshape(-1),
        start,
        changed,
        zeros,
        zero.reshape(-1),
    )


def _some(numbers: Array, most: int) -> Array:
    """No more than so many of some numbers, evenly spread."""
    if len(numbers) <= most:
        return numbers
    some: Array = numbers[np.linspace(0, len(numbers) - 1, most).astype(int)]
    return some


def _apart_from_zero(values: Array) -> Array:
    """No number is so small that what it is multiplied with would not matter."""
    least = np.float32(LEAST_SHARE * np.abs(values).max(initial=0.0))
    small = np.abs(values) < least
    result: Array = np.where(small, np.copysign(least + np.abs(values), values), values).astype(
        np.float32
    )
    return result
