"""Launches a tile kernel on a task's inputs, and says whether its numbers are right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.curriculum import Task
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.emulator import KernelRejected
from course_lib.problems.described import TaskProblem, with_fixed
from course_lib.problems.inputs import as_held, expected_of, make_inputs
from course_lib.problems.problem import NAN, ODD, Case, Geometry, make_cases
from course_lib.tiles import EmulatedTiles, TileCounts
from course_lib.tiles.machine import Steps
from course_lib.wording.findings import Finding

STEPS = 20_000  # statements of one launch; a right answer takes some hundred
TILES_EACH_WAY = 2  # in the launch whose sizes all tiles divide
Constants = Mapping[str, int]


@dataclass(frozen=True)
class TileCase:
    """One launch to try: the sizes and inputs, and what is known when it is compiled."""

    case: Case
    constants: Constants


@dataclass(frozen=True)
class TileTrial:
    """What a launch showed.

    Attributes:
        tried: what was launched.
        grid: programs, first axis first.
        outcome: the numbers beside the right ones.
        findings: what is wrong, the most important first.
        steps: statements that were carried out.
        counts: what was moved and computed; None if the launch did not end.
        changed: the inputs that were written to.
    """

    tried: TileCase
    grid: tuple[int, ...]
    outcome: Outcome
    findings: tuple[Finding, ...]
    steps: int
    counts: TileCounts | None = None
    changed: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.severity == "warning")

    @property
    def right(self) -> bool:
        """Are the numbers right, and nothing is found?"""
        return not self.errors and not self.changed and bool(self.outcome.right.all())

    @property
    def right_as_far_as_written(self) -> bool:
        """The same, of one program alone, which writes a part."""
        written = ~self.outcome.untouched
        clean = not self.errors and not self.changed
        return clean and bool(written.any() and self.outcome.right[written].all())

    @property
    def size(self) -> int:
        """How much there is to launch, with all programs."""
        return self.outcome.expected.size + 64 * int(np.prod(self.grid)) + self.steps


@dataclass(frozen=True)
class TileLauncher:
    """Launches kernels for one task.

    Attributes:
        task: what is asked.
        seed: draws the inputs and one of the shapes.
    """

    task: Task
    seed: int = 0
    _begun: dict[Case, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def problem(self) -> TaskProblem:
        return TaskProblem(self.task)

    def cases(self) -> list[TileCase]:
        """The launches of every answer: at sizes that tiles divide, at odd ones, and at long ones.

        Each set of constants has its turn, so that none may be written out.
        """
        every = (self.task.constants, *self.task.other_constants)
        problem, largest = self.problem, max(max(sizes.values(), default=1) for sizes in every)
        first = with_fixed(problem.sizes, [TILES_EACH_WAY * largest] * len(problem.sizes))
        cases: Sequence[Case] = [
            Case(first, poison=(ODD, NAN)[number % 2], draw=number) for number in range(2)
        ]
        if problem.sizes_vary:
            made = [case for case in make_cases(problem, first, self.seed) if not case.further]
            cases = sorted(made, key=lambda case: not case.exact)
        found = []
        for number in range(max(len(cases), len(every))):
            case = replace(cases[number % len(cases)], schedule="lockstep")
            found.append(TileCase(case, every[number % len(every)]))
        return found

    def label(self, tried: TileCase) -> str:
        """The sizes of a launch, and its constants: "M = 33, N = 19, TM = 16"."""
        constants = [f"{name} = {size}" for name, size in tried.constants.items()]
        return ", ".join([self.problem.label(tried.case.shape), *constants])

    def run(
        self, tried: TileCase, kernel: EmulatedTiles, steps: int = STEPS, only: int | None = None
    ) -> TileTrial:
        """One launch of a kernel, or of one of its programs."""
        problem, case = self.problem, tried.case
        if case not in self._begun:
            inputs = make_inputs(problem, case, self.seed)
            self._begun[case] = (inputs, *expected_of(problem, case, inputs))
        inputs, expected, tolerance = self._begun[case]
        held = as_held(problem, inputs)
        before = [np.array(array) for array in held]
        output = np.full(expected.shape, case.poison, np.float32)
        grid = self.task.launch(expected.shape, tried.constants).grid
        findings: tuple[Finding, ...] = ()
        counts = None
        budget = Steps(steps)
        limited = replace(kernel, budget=budget, only=only)
        try:
            profile = limited.launch(grid, *self.arguments(tried, held, output))
            findings, counts = profile.findings, profile.counts
        except KernelRejected as rejected:
            findings = tuple(rejected.findings)
        letters = self.task.parameters
        outcome = Outcome(
            inputs, expected, output, tolerance, Geometry(1, 1), case.poison, letters[-1],
            letters[:-1],
        )  # fmt: skip
        changed = tuple(
            name
            for name, one, other in zip(letters, before, held, strict=False)
            if not np.array_equal(one, other)
        )
        return TileTrial(
            tried, grid, outcome, findings, steps - max(budget.left, 0), counts, changed
        )

    def arguments(self, tried: TileCase, held: Sequence[Any], output: Any) -> tuple[Any, ...]:
        """What a launch is given: arrays, numbers, sizes, constants."""
        size_of = dict(zip(self.problem.sizes, tried.case.shape, strict=True))
        inputs = (array if np.ndim(array) else float(array) for array in held)
        scalars = (size_of[name] for name in self.task.scalars)
        return (*inputs, output, *scalars, *tried.constants.values())


def launched(
    launcher: TileLauncher, kernel: EmulatedTiles, stop: frozenset[str]
) -> Iterator[TileTrial]:
    """Every launch of an answer, until one ends with a finding that no other can better."""
    for tried in launcher.cases():
        trial = launcher.run(tried, kernel)
        yield trial
        if any(found.code in stop for found in trial.errors):
            return
