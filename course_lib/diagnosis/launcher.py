"""Launches an answer: grid and block, inputs, budget, and what is listened to."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from course_lib.curriculum import Exercise, Launch, Task
from course_lib.devices import WARP_SIZE
from course_lib.diagnosis.answer import (
    Answer,
    LaunchConfiguration,
    Launched,
    block_passed_over,
    source_of,
    tile_of,
)
from course_lib.diagnosis.launches.outcome import Outcome, Trial
from course_lib.diagnosis.launches.trail import (
    Journeys,
    Shares,
    Trail,
    Widths,
)
from course_lib.diagnosis.sizes import Limits
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.words import BUDGET_OF_ALL, BUDGET_OF_ONE, tell
from course_lib.emulator import Budget, Kernel, KernelRejected, emulate
from course_lib.emulator.launch import Typings
from course_lib.emulator.machine.given_values import HandedValues
from course_lib.problems.inputs import as_held, expected_of, make_inputs
from course_lib.problems.problem import Array, Case, Problem, SeenLaunch, Shape
from course_lib.problems.table import problem_of
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import say

MOST_ELEMENTS = 1 << 19  # of the exact problem's arrays together
# What one launch may use. The problems are small, and so is this: an answer that needs far more
# than right ones do ends with a finding, whatever it is made of.
BUDGET = Budget(bytes=96 << 20, printed_lines=0, lanes_per_step=2048, lanes_at_once=8192)
STEP_NAMES = ("TILE", "BK")  # constants that say how many steps of k are staged at a time
MANY_STATEMENTS = 200  # beyond what any answer needs that uses loops
ANOTHER_DRAW = 70  # of inputs, for what their place in shared memory is worth
# Of the elements of a result, those that follow what is read in shared memory: by chance half do,
# where that only spoils them; of a sum of many numbers with one of the thread's own, four in five.
SHARE_THAT_FOLLOWS = 0.6
# How much of the other result is enough where a block fetches sparingly: a stencil's own element
# weighs more than its neighbours. By chance some 1 / sqrt(n) of it is in n numbers.
PART_THAT_FOLLOWS = 0.1
TIMES_CHANCE = 3


class Launcher:
    """Launches one answer on cases, and keeps what was seen there."""

    def __init__(
        self,
        exercise: Exercise,
        answer: Answer,
        block: Sequence[int] | None,
        seed: int,
        choice: LaunchConfiguration | None = None,
    ) -> None:
        self.exercise = exercise
        self.problem: Problem = problem_of(exercise)
        self.answer = answer
        self.block = block
        self.seed = int(seed) % (1 << 32)
        self.names = answer.kernel.parameters
        self.trails: dict[Case, Trail] = {}
        self.journeys: dict[Case, Journeys] = {}
        self.widths: dict[Case, Widths] = {}
        self.shares: dict[Case, Shares] = {}
        self.typings: Typings = {}
        self.handed_on: dict[tuple[Case, bool], bool] = {}
        self.spent: dict[Case, int] = {}  # steps of each launch
        self.most_steps = BUDGET.steps  # of a launch that is still to come
        self.limits = Limits()
        self.choice = choice or LaunchConfiguration()
        self.constants: dict[str, object] = dict(self.choice.constants)

    @cached_property
    def source(self) -> Source:
        return source_of(self.answer.kernel)

    @cached_property
    def statements(self) -> int:
        """How many the answer has."""
        return sum(isinstance(node, ast.stmt) for node in self.source.walk())

    def launch(self, case: Case) -> Launch:
        """Grid and block for a case.

        Raises:
            KernelRejected: if the answer's own constants make no launch.
        """
        try:
            return self.exercise.launch(
                self.problem.covered(case.shape), self.constants, self.block
            )
        except ValueError as error:
            raise KernelRejected([tell("no launch", None, said=str(error))]) from None

    @cached_property
    def tile(self) -> tuple[int, int]:
        """Columns and rows of C that one block computes."""
        return self.exercise.tile_of_a_block(self.constants, self.block)

    @cached_property
    def step_tile(self) -> int | None:
        """How many steps of k are staged at a time."""
        name = next((name for name in STEP_NAMES if name in self.exercise.constants), "")
        if not name or not self.problem.has_steps:
            return None
        result: int | None = int({**self.exercise.constants, **self.constants}[name])  # type: ignore[call-overload]
        return result

    @cached_property
    def thread_tile(self) -> tuple[int, int]:
        """Columns and rows of C that one thread computes."""
        given = {**self.exercise.constants, **self.constants}
        width, height = (
            int(given[size]) if isinstance(size, str) else size  # type: ignore[call-overload]
            for size in self.exercise.thread_tile or (1, 1)
        )
        return width, height

    def run(self, case: Case, listen: bool = False, either_rounding: bool = False) -> Trial:
        """Launch the kernel on one case; with `listen`, its trail is kept."""
        inputs = make_inputs(self.problem, case, self.seed)
        expected, tolerance = expected_of(self.problem, case, inputs)
        before = self.problem.before(case)
        output = np.full(expected.shape, before, np.float32, self.problem.order)
        held = as_held(self.problem, inputs)
        handed = tuple(array.copy(order="K") for array in held)
        launch = self.launch(case)
        emulation = emulate(
            self.answer.kernel,
            schedule=case.schedule,
            seed=self.seed,
            counters=case.exact or case.counted,
            budget=replace(BUDGET, steps=self.steps_for(case)),
            outputs=self.names[-1:] if self.problem.starts_blank else (),
            either_rounding=either_rounding,
        )
        emulation.typings = self.typings
        emulation.limits = None if listen or (case in self.spent) else self.limits.notes_for(case)
        followed = listen or (case.exact and not either_rounding)
        if followed:
            shapes = {
                name: array.shape for name, array in zip(self.names, (*held, output), strict=True)
            }
            trail = Trail(shapes, self.names[-1], launch.grid[0], self.problem.order)
            self.journeys[case] = Journeys()
            emulation.observers += [trail, self.journeys[case]]
            if self.exercise.wide:
                self.widths[case] = Widths()
                emulation.observers.append(self.widths[case])
            if "parallel" in self.exercise.points:
                self.shares[case] = Shares(launch.grid)
                emulation.observers.append(self.shares[case])
        profile = emulation[launch.grid, launch.block](*held, output)
        self.spent[case] = profile.steps
        if followed:
            self.trails[case] = trail
        kept = all(map(np.array_equal, held, handed))
        wide, high = self.thread_tile
        sizes = replace(self.problem.geometry(self.tile), thread_rows=high, thread_columns=wide)
        *operands, letter = self.exercise.parameters
        outcome = Outcome(
            inputs, expected, output, tolerance, sizes, before, letter, tuple(operands)
        )
        return Trial(case, outcome, profile, kept)

    def with_kernel(self, kernel: Kernel) -> Launcher:
        """Another one, which launches the answer with a changed kernel."""
        answer = replace(self.answer, kernel=kernel)
        other = Launcher(self.exercise, answer, self.block, self.seed, self.choice)
        other.constants = self.constants
        return other

    def hands_on(self, case: Case, sparing: bool) -> bool:
        """Is the result made of what threads read of each other in shared memory?

        Of one input at least: with what was read there while that input was another one, the
        launch should leave what belongs to the other one; where a block is `sparing`, and fetches
        little twice, a part of it is enough.
        """
        if (case, sparing) not in self.handed_on:
            inputs = make_inputs(self.problem, case, self.seed)
            others = make_inputs(self.problem, replace(case, draw=ANOTHER_DRAW), self.seed)
            self.handed_on[case, sparing] = any(
                self.follows(
                    case, inputs, (*inputs[:number], other, *inputs[number + 1 :]), sparing
                )
                for number, other in enumerate(others)
                if np.ndim(other)
            )
        return self.handed_on[case, sparing]

    def follows(
        self, case: Case, inputs: tuple[Array, ...], others: tuple[Array, ...], sparing: bool
    ) -> bool:
        """Does the result follow what is read in shared memory, when that belongs to others?"""
        handed = HandedValues()
        self.exchanged(case, others, handed)
        got = self.exchanged(case, inputs, HandedValues(handed.kept))
        (old, room), (new, _) = (
            expected_of(self.problem, case, arrays) for arrays in (inputs, others)
        )
        differ = np.abs(new - old) > 2 * room
        if not differ.any():
            return True
        with np.errstate(invalid="ignore", over="ignore"):
            nearer = np.abs(got - new)[differ] < np.abs(got - old)[differ]
        if np.mean(nearer) > SHARE_THAT_FOLLOWS or not sparing:
            return bool(np.mean(nearer) > SHARE_THAT_FOLLOWS)
        differ &= np.isfinite(got)
        made_of = np.stack([old[differ], new[differ]], axis=-1)
        of_new = np.linalg.lstsq(made_of, got[differ], rcond=None)[0][1]
        return bool(of_new > PART_THAT_FOLLOWS + TIMES_CHANCE / math.sqrt(max(1, len(made_of))))

    def exchanged(self, case: Case, inputs: tuple[Array, ...], handed: HandedValues) -> Array:
        """What a launch leaves that nobody watches, but for what its threads hand on."""
        shape = expected_of(self.problem, case, inputs)[0].shape
        output = np.full(shape, self.problem.before(case), np.float32, self.problem.order)
        launch = self.launch(case)
        budget = replace(BUDGET, steps=2 * self.spent[case])
        emulation = emulate(self.answer.kernel, counters=False, races=False, budget=budget)
        emulation.typings, emulation.handed = self.typings, handed
        emulation.observers.append(handed)
        emulation[launch.grid, launch.block](*as_held(self.problem, inputs), output)
        return output

    def trail(self, case: Case) -> Trail:
        """What the kernel did to global memory in a case; runs it again if need be."""
        if case not in self.trails:
            self.run(case, listen=True)
        return self.trails[case]

    def steps_for(self, case: Case) -> int:
        """The emulator's budget for a launch, out of the one for all; a second time the same."""
        if case in self.spent:
            return self.spent[case]
        if case.allowed:
            return case.allowed
        extra = sum(map(self.extra_steps, (*self.spent, case)))
        left = self.problem.steps_of_all + extra - sum(self.spent.values())
        return max(1, min(self.allowance(case), left, self.most_steps))

    def allowance(self, case: Case) -> int:
        """The steps of a launch, and for a long text those that its statements take once."""
        return case.steps(self.problem) + self.extra_steps(case)

    def extra_steps(self, case: Case) -> int:
        """What the statements of a very long text take when each of them runs once."""
        if self.statements < MANY_STATEMENTS:
            return 0
        launch = self.launch(case)
        threads = math.prod(launch.block)
        lanes = math.prod(launch.grid) * threads
        turns = 1 if case.schedule == "lockstep" else -(-threads // WARP_SIZE)
        return self.statements * turns * (1 + lanes // BUDGET.lanes_per_step)

    def budget_of(self, trial: Trial) -> str:
        """The budget that a launch used up, in words.

        Never what earlier launches have left: their steps may depend on hidden inputs.
        """
        steps = self.allowance(trial.case)
        if trial.profile.steps < steps:
            return say(BUDGET_OF_ALL, steps=self.problem.steps_of_all)
        return say(BUDGET_OF_ONE, steps=steps)

    def refuse_giants(self, first: Shape) -> None:
        """Refuse tiles so large that a problem with two of them is none for an emulator.

        Raises:
            KernelRejected: if they are.
        """
        shapes = (*self.problem.operand_shapes(first), self.problem.covered(first))
        if sum(map(math.prod, shapes)) > MOST_ELEMENTS:
            raise KernelRejected([tell("giant tile", None, shape=self.tile[::-1])])

    def adopt_tile(self) -> None:
        """Where an answer calls its tile by a name of its own, read the size off its arrays."""
        if not self.choice.adopts:
            return
        profile = self.run(Case(self.problem.tiny, draw=50)).profile
        side = tile_of([array.shape for array in profile.shared_arrays])
        if side and side != self.exercise.constants["TILE"]:
            self.constants["TILE"] = side
            self.__dict__.pop("step_tile", None)
            self.__dict__.pop("tile", None)
        self.spent.clear()  # another tile is another launch

    def cases(self) -> list[Case]:
        """The launches to try, once it is known how large the answer's tiles are.

        Raises:
            KernelRejected: if it cannot be launched.
        """
        self.adopt_tile()
        launch = self.launch(Case(self.problem.exact(64)))
        first = self.problem.first(launch, self.tile, self.step_tile or 1, self.seed)
        self.refuse_giants(first)
        cases = self.problem.cases(first, self.seed)
        self.limits = Limits()
        return cases

    @property
    def launched(self) -> Launched | None:
        """How the answer was launched, if that was not the usual way."""
        big = (1 << 20, 1 << 20)
        launch = self.exercise.launch(big, self.constants, self.block)
        passed_over = block_passed_over(self.exercise, self.source, self.answer.kernel.namespace)
        if launch == self.exercise.launch(big) and not passed_over:
            return None
        adopted = "TILE" in self.constants and "TILE" not in self.choice.constants
        return Launched(
            launch.block,
            tuple(
                (name, value)
                for name, value in self.choice.constants.items()
                if value != self.exercise.constants.get(name)
            ),
            self.tile[0] if adopted else 0,
            passed_over,
        )

    def launched_as(self, case: Case) -> SeenLaunch:
        """A launch as a fact of a sentence."""
        launch = self.launch(case)
        grid, block = ((*size, 1, 1)[:3] for size in (launch.grid, launch.block))
        return SeenLaunch(case, case.label(self.problem), grid, block, self.seed)

    def seen_in(self, trial: Trial, finding: Finding, is_told: bool) -> Finding:
        """A finding with the launch that showed it; whoever grades is told that one in any case."""
        launch = self.launched_as(trial.case)
        found = tell.again("seen on", finding, launch=launch)
        if is_told:
            return found
        told = say("{seen}", instructor="{found}", seen=finding.message, found=found.message)
        return replace(finding, message=told)

    @property
    def reads_for_a_caller(self) -> bool:
        """Is it the task's own kernel that reads what the answer has put into shared memory?"""
        return isinstance(self.exercise, Task) and bool(self.exercise.caller)
