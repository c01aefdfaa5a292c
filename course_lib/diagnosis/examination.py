"""Launches an answer on all its cases, and draws the conclusions."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from course_lib.curriculum import Exercise, Launch, Task
from course_lib.diagnosis import at_a_glance
from course_lib.diagnosis.costs import requirements
from course_lib.diagnosis.costs.measured import Measured
from course_lib.diagnosis.families.described.made_of import wrongly_made_of
from course_lib.diagnosis.families.locate import locate
from course_lib.diagnosis.families.product.steps import tiles_slip
from course_lib.diagnosis.families.table import problem_of
from course_lib.diagnosis.faults import kept, outside, timeout, types
from course_lib.diagnosis.faults.divergence import explain_divergence
from course_lib.diagnosis.faults.flat_rows import explain_row_length
from course_lib.diagnosis.faults.numbering import explain_meeting
from course_lib.diagnosis.holds import what_holds
from course_lib.diagnosis.launches.journeys import Journeys, about_buffers
from course_lib.diagnosis.launches.outcome import Outcome, by_how_much, where
from course_lib.diagnosis.launches.trail import Trail, TrailMaker
from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.inputs import as_held, expected_of, make_inputs
from course_lib.diagnosis.problems.launch_choice import (
    Choice,
    Launched,
    block_passed_over,
    choices,
    tile_of,
)
from course_lib.diagnosis.problems.problem import Case, Problem, SeenLaunch
from course_lib.diagnosis.real_gpu import try_on_gpu
from course_lib.diagnosis.repairs.repaired import explained_by_a_change
from course_lib.diagnosis.report import Report, Tried, make_report
from course_lib.diagnosis.sizes.limits import Limits, limit_finding, room_finding
from course_lib.diagnosis.sizes.written_out import size_finding
from course_lib.diagnosis.slip import TRANSPOSED, Place, Slip
from course_lib.diagnosis.source import Source
from course_lib.emulator import Budget, Kernel, KernelRejected, Profile, emulate, kernel_from
from course_lib.emulator.launch import Typings
from course_lib.entries import axes
from course_lib.findings import Finding, finding
from course_lib.sentences import Line, Sentence, say, with_values

APART = "barrier-divergence"
RACES = ("race-", APART)
SHOWN_WITH_SIZES = (*outside.OUTSIDE, "wrong-bounds-check", "uninitialised-read")
MOST_ELEMENTS = 1 << 19  # of the exact problem's arrays together
MOST_OF_A_CODE = 12  # findings of one launch that are looked at
# What one launch may use. The problems are small, and so is this: an answer that needs far more
# than right ones do ends with a finding, whatever it is made of.
BUDGET = Budget(bytes=96 << 20, printed_lines=0, lanes_per_step=2048, lanes_at_once=8192)
LONGER = 8  # times the steps of a wrong answer: what a change of it may take
MOST_DIAGNOSED = 3  # launches whose numbers are searched for a slip, beside the exact one
STEP_NAMES = ("TILE", "BK")  # constants that say how many steps of k are staged at a time
# After one of these, no other launch is tried: it would not help, or cost too much, or go past
# what the student has asked for.
FINAL = {
    *("timeout", "compile-error", "unsupported", "not-allowed", "missing-answer", "invalid-launch")
}
FAR = 1 << 30  # steps: nothing cuts the sum into tiles


@dataclass(frozen=True)
class Answer:
    """A kernel, and what stands around it.

    Attributes:
        kernel: its syntax tree.
        native: the object to launch on a real GPU, if the answer came as one and there is one.
        run_native: launches it: run_native(kernel, grid, block, *arrays).
    """

    kernel: Kernel
    native: object = None
    run_native: Callable[..., object] | None = None


COUNTED = (
    *("flops", "global_load_bytes", "global_load_sectors", "global_store_bytes"),
    *("global_store_sectors", "shared_load_wavefronts", "shared_store_wavefronts", "barriers"),
)


def counts_of(profile: Profile) -> dict[str, int]:
    """The counters of a launch that a student compares."""
    return {name: int(getattr(profile, name)) for name in COUNTED}


def source_of(kernel: Kernel) -> Source:
    """The kernel's syntax tree with those of the device functions that it calls."""
    functions, waiting, constants = [], [kernel], {}
    while waiting:
        each = waiting.pop(0)
        if not isinstance(each.tree, ast.FunctionDef) or each.tree in functions:
            continue
        functions.append(each.tree)
        names = {node.id for node in ast.walk(each.tree) if isinstance(node, ast.Name)}
        for name in sorted(names & each.namespace.keys()):
            called = each.namespace[name]
            if isinstance(called, (int, float, np.number)):
                constants[name] = called
            if isinstance(called, Kernel):
                waiting.append(called)
            elif hasattr(called, "py_func"):
                waiting.append(kernel_from(called))
    return Source(tuple(functions), kernel.parameters, constants)


def _is_empty(kernel: Kernel) -> bool:
    """Does it neither write an element nor call anything that might?"""
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return False
    return not any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(kernel.tree))


def _is_a_result(value: ast.expr | None) -> bool:
    """Is it anything but None, that a `return` returns?"""
    return value is not None and getattr(value, "value", ...) is not None


def _why_nothing_is_written(kernel: Kernel, output: str) -> tuple[str, int, str]:
    """Message, line and hint for a kernel that writes no element."""
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Return) and _is_a_result(node.value):
            message = say(
                "A kernel returns nothing: its result has to be written into {output}.",
                output=output,
            )
            return (
                message,
                node.lineno,
                say("Which element of {output} belongs to this thread?", output=output),
            )
        if isinstance(node, ast.Name) and node.id == output and isinstance(node.ctx, ast.Store):
            message = say(
                "This gives the name {output} another meaning, for one thread; the array {output} "
                "stays as it was.",
                output=output,
            )
            return (
                message,
                node.lineno,
                say("Which element of {output} belongs to this thread?", output=output),
            )
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare):
            return (
                say("This line compares and stores nothing."),
                node.lineno,
                "A single = stores what stands on its right. Where should it go?",
            )
    hint = "Start with the index of the element that one thread works on."
    body = getattr(kernel.tree, "body", ())
    if not isinstance(body, list) or all(isinstance(node, (ast.Expr, ast.Pass)) for node in body):
        return (
            say("{kernel} is still empty: it writes nothing.", kernel=kernel.name),
            kernel.tree.lineno,
            hint,
        )
    message = say("{kernel} writes no element of {output}.", kernel=kernel.name, output=output)
    return (
        message,
        kernel.tree.lineno,
        say("Which line should write a number into {output}?", output=output),
    )


# Of a thread outside an array, where no thread of the launch is surplus.
FROM_WHERE_TO_WHERE = "Which index does the very first thread have, and which the very last?"
ALL_HAVE_WORK = "There is an element for every thread here. Which one is this thread's?"


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
        return [each for each in self.profile.findings if each.severity == "error"]


class Examination:
    """All launches of one answer, and the conclusions."""

    def __init__(
        self,
        exercise: Exercise,
        answer: Answer,
        block: Sequence[int] | None,
        seed: int,
        choice: Choice | None = None,
    ) -> None:
        self.exercise = exercise
        self.problem: Problem = problem_of(exercise)
        self.answer = answer
        self.block = block
        self.seed = int(seed) % (1 << 32)
        self.names = answer.kernel.parameters
        self.trails: dict[Case, Trail] = {}
        self.journeys: dict[Case, Journeys] = {}
        self.typings: Typings = {}
        self.spent: dict[Case, int] = {}  # steps of each launch
        self.limits = Limits()
        self.choice = choice or Choice()
        self.constants: dict[str, object] = dict(self.choice.constants)
        self.trials: list[Trial] = []
        self._launches = self._launched_trials()

    @cached_property
    def source(self) -> Source:
        return source_of(self.answer.kernel)

    # --- launches ---------------------------------------------------------------------------

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
            hint = "Which of your constants gives the size of the block?"
            raise KernelRejected(
                [
                    finding(
                        "invalid-launch",
                        say("No launch is possible: {said}.", said=str(error)),
                        None,
                        hint,
                    )
                ]
            ) from None

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

    def run(self, case: Case, listen: bool = False) -> Trial:
        """Launch the kernel on one case; with `listen`, its trail is kept."""
        inputs = make_inputs(self.problem, case, self.seed)
        expected, tolerance = expected_of(self.problem, case, inputs)
        output = np.full(expected.shape, case.poison, np.float32, self.problem.order)
        held = as_held(self.problem, inputs)
        before = tuple(each.copy(order="K") for each in held)
        launch = self.launch(case)
        emulation = emulate(
            self.answer.kernel,
            schedule=case.schedule,
            seed=self.seed,
            counters=case.exact or case.counted,
            budget=replace(BUDGET, steps=self.steps_for(case)),
            outputs=self.names[-1:] if self.problem.starts_blank else (),
        )
        emulation.typings = self.typings
        emulation.limits = None if listen else self.limits.notes_for(case)
        if case.exact or listen:
            shapes = {
                name: array.shape for name, array in zip(self.names, (*held, output), strict=True)
            }
            maker = TrailMaker(shapes, self.names[-1], launch.grid, self.problem.order)
            self.journeys[case] = Journeys()
            emulation.observers += [maker, self.journeys[case]]
        profile = emulation[launch.grid, launch.block](*held, output)
        self.spent[case] = profile.steps
        if case.exact or listen:
            self.trails[case] = maker.trail()
        kept = all(map(np.array_equal, held, before))
        wide, high = self.thread_tile
        sizes = replace(
            self.problem.geometry(case.shape, self.tile, self.step_tile),
            thread_rows=high,
            thread_columns=wide,
        )
        *operands, letter = self.exercise.parameters
        outcome = Outcome(
            inputs, expected, output, tolerance, sizes, case.poison, letter, tuple(operands)
        )
        return Trial(case, outcome, profile, kept)

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
        left = self.problem.steps_of_all - sum(self.spent.values())
        return max(1, min(case.steps(self.problem), left))

    def budget_of(self, trial: Trial) -> str:
        """The budget that a launch used up, in words.

        Never what earlier launches have left: their steps may depend on hidden inputs.
        """
        steps = trial.case.steps(self.problem)
        if trial.profile.steps < steps:
            return f"the {self.problem.steps_of_all} steps of all launches together"
        return f"the {steps} steps of this launch"

    # --- conclusions ------------------------------------------------------------------------

    @cached_property
    def seen_at_once(self) -> list[Finding]:
        """Errors that leave nothing to launch."""
        missing = self.missing()
        if missing:
            return [missing]
        return at_a_glance.seen_at_once(self.exercise, self.answer.kernel, self.source)

    def fails(self) -> bool:
        """Does some launch end with wrong numbers? Those after it wait for `verdict`."""
        try:
            return any(not trial.right and not _runs_out(trial) for trial in self._launches)
        except KernelRejected as rejected:
            self.verdict = make_report(self.exercise, rejected.findings)
            return False

    @cached_property
    def verdict(self) -> Report:
        """What all launches show."""
        try:
            return self.report()
        except KernelRejected as rejected:
            return make_report(self.exercise, rejected.findings)

    def report(self) -> Report:
        """The verdict, once all launches that are still to come have been made.

        Raises:
            KernelRejected: if the answer cannot be launched.
        """
        if self.seen_at_once:
            return make_report(self.exercise, self.seen_at_once)
        for _ in self._launches:
            pass
        return self.conclude(self.trials)

    def _launched_trials(self) -> Iterator[Trial]:
        """Launch case after case, as long as there is something to learn; keeps all in `trials`."""
        self.adopt_tile()
        launch = self.launch(Case(self.problem.exact(64)))
        first = self.problem.first(launch, self.tile, self.step_tile or 1, self.seed)
        self.refuse_giants(first)
        cases = self.problem.cases(first, self.seed)
        self.limits = Limits()
        trials = self.trials
        for case in cases:
            if case.again and all(trial.right for trial in trials):
                continue
            trial = self.run(case)
            if case.along is not None and _runs_out(trial) and not all(t.right for t in trials):
                break  # shorter launches that end, and are wrong, say more
            trials.append(trial)
            yield trial
            if _is_hopeless(trials[-1]) or (_all_meet(trials[-1]) and self.stores_in_a_loop()):
                break

    def stores_in_a_loop(self) -> bool:
        """Does a loop stand around a store of the output? Then each launch may take long."""
        stores = self.source.accesses(self.names[-1], store=True)
        return not stores or any(map(self.source.loops_around, stores))

    def refuse_giants(self, first: Shape) -> None:
        """Refuse tiles so large that a problem with two of them is none for an emulator.

        Raises:
            KernelRejected: if they are.
        """
        shapes = (*self.problem.operand_shapes(first), self.problem.covered(first))
        if sum(map(math.prod, shapes)) > MOST_ELEMENTS:
            message = say(
                "Here a block computes a tile of {shape}: that is too large.", shape=self.tile[::-1]
            )
            hint = "Which of your constants gives the size of the tile, and how large is it?"
            raise KernelRejected([finding("invalid-launch", message, None, hint)])

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

    def missing(self) -> Finding | None:
        """The finding for an answer that is not there yet."""
        kernel = self.answer.kernel
        if _is_empty(kernel):
            output = (kernel.parameters or self.exercise.parameters)[-1]
            return finding("missing-answer", *_why_nothing_is_written(kernel, output))
        wanted = self.exercise.parameters
        if len(kernel.parameters) != len(wanted):
            message = say(
                "{kernel} takes ({own_parameters}); the exercise calls {signature}.",
                kernel=kernel.name,
                own_parameters=", ".join(kernel.parameters),
                signature=self.exercise.signature,
            )
            return finding("invalid-launch", message, kernel.tree.lineno, "Compare the parameters.")
        return None

    def conclude(self, trials: list[Trial]) -> Report:
        """Put together what all launches showed."""
        limit, warnings = self.limit_of(trials)
        first = self.faults_of(trials[0])
        # What is seen where the numbers are wrong makes the better example.
        telling = sorted(trials[1:], key=lambda trial: trial.right)
        later = [each for trial in telling for each in self.faults_of(trial)]
        # The smallest launch shows best which barrier is missed first; of other faults, the
        # larger ones make better examples.
        apart = [each for each in first if each.code == APART]
        faults = outside.one_for_each_array([*apart, *later, *first], self.source.own_arrays())
        numbers_right = all(map(_right_but_for_races, trials)) and _exact(trials) is not None
        if all(trial.right for trial in trials):
            faults = [kept.allow_unused(each, self.names) for each in faults]
        overwritten = self.written_inputs(trials)
        if overwritten:
            faults = [each for each in faults if not kept.follows_overwriting(each, self.names)]
        orderly = kept.is_orderly(_exact(trials), self.names[-1])
        shared = self.source.shared_names()
        faults = kept.without_strays(faults, shared)
        doubtful = kept.in_disorder(faults, self.names[-1], orderly)
        cause = self.wrapped(trials) or (None if doubtful else limit or self.cause(trials, faults))
        beyond = kept.lines_beyond(faults, shared)
        staging = self.source.store_lines(kept.arrays_left(faults, shared)) - beyond
        if cause and beyond and (cause.code == "wrong-formula" or cause.line in staging):
            cause = None  # what lies beyond the end of a tile is no number to go by
        if doubtful and cause is None:
            cause = self.short_loop(trials, faults) or (limit if _empties(trials) else None)
            faults = kept.in_order(faults) if cause else faults
        found = kept.keep_causes(faults, cause, self.names[-1], orderly) + overwritten + warnings
        if numbers_right and not any(each.severity == "error" for each in found):
            found += self.on_a_gpu()
        found = at_a_glance.told_of_barriers(found, self.source)
        exact = _exact(trials)
        if not numbers_right and not any(each.severity == "error" for each in found):
            found.append(self.wrong_result(trials))
        if not numbers_right:
            found = self.with_a_change(found, trials)
        works = exact is not None and exact.right
        if exact is not None and (numbers_right or works):
            exercise = self.exercise
            costs = requirements.judge(exercise, self.measured(exact))
            costs = [self.on_launch(exact, each) for each in costs]
            if not any(each.severity == "error" for each in costs):
                costs += self.costs_at_edges(trials)
            # In a task, what is not asked for is not yet anybody's worry.
            found += [each for each in costs if each.severity == "error" or exercise.is_graded]
        held = what_holds(self.exercise, found, trials, self.problem, numbers_right)
        report = make_report(
            self.exercise, kept.once(found), held, numbers_right, works, self.shares(trials)
        )
        tried = tuple(self.tried(trial) for trial in trials)
        counts = counts_of(exact.profile) if exact else {}
        return replace(report, launched=self.launched, tried=tried, counts=counts)

    def with_a_change(self, found: list[Finding], trials: Sequence[Trial]) -> list[Finding]:
        """The findings, the first error of a task explained by the change that repairs it."""
        task = self.exercise
        first = next((each for each in found if each.severity == "error"), None)
        if not isinstance(task, Task) or first is None:
            return found
        order = sorted(
            trials, key=lambda each: (each.right and not each.errors, each.profile.steps)
        )
        better = explained_by_a_change(
            task, self.answer.kernel, first, partial(self.repairs, order)
        )
        if better is None:
            return found
        return [better, *(each for each in found if each.severity != "error")]

    def repairs(self, trials: Sequence[Trial], kernel: Kernel, steps: int) -> tuple[bool, int]:
        """Is a changed kernel right in all of these launches? And how many steps did it take?

        Where the first one is right, which is one that went wrong, the others may take as long as
        they do: few changes come so far.
        """
        taken = 0
        for trial in trials:
            case, outcome = trial.case, trial.outcome
            most = 4 * case.steps(self.problem)
            if not taken:  # a change with which a loop never ends should not use up all there is
                most = min(steps, most, LONGER * trial.profile.steps)
            launch = self.launch(case)
            emulation = emulate(
                kernel,
                schedule=case.schedule,
                seed=self.seed,
                counters=False,
                budget=replace(BUDGET, steps=most),
                outputs=self.names[-1:] if self.problem.starts_blank else (),
            )
            output = np.full(outcome.expected.shape, case.poison, np.float32, self.problem.order)
            inputs = as_held(self.problem, outcome.inputs)
            try:
                profile = emulation[launch.grid, launch.block](*inputs, output)
            except KernelRejected:
                return False, taken + 1
            taken += profile.steps
            right = replace(outcome, got=output).right.all()
            if not right or any(each.severity == "error" for each in profile.findings):
                return False, taken
        return True, taken

    def tried(self, trial: Trial) -> Tried:
        """A launch as it is told to the student."""
        profile, case = trial.profile, trial.case
        right = trial.right and not trial.errors
        return Tried(case.label(self.problem), right, profile.grid, profile.block, case.schedule)

    def short_loop(self, trials: Sequence[Trial], faults: Sequence[Finding]) -> Finding | None:
        """The loop that is too short, if the launches without a race prove it, the exact one too.

        Where such a loop makes no turn at all, its barriers and stores are left out as well.
        """
        if any(each.code in (APART, "timeout") for each in faults):
            return None
        clean = [
            trial for trial in trials if all(e.code not in kept.DISORDER for e in trial.errors)
        ]
        cause = self.cause(clean, faults)
        return cause if cause and cause.code == "wrong-loop-bound" else None

    def shares(self, trials: Sequence[Trial]) -> bool:
        """Do the threads of a block work together, with what the exercise asks them to use?"""
        exact = _exact(trials)
        return exact is None or requirements.shares(self.measured(exact))

    def limit_of(self, trials: list[Trial]) -> tuple[Finding | None, list[Finding]]:
        """The number up to which alone the answer is right, as a finding; warnings of others.

        Adds the launch that goes wrong beyond it to the trials.
        """
        wrong = [trial for trial in trials if not trial.right or _leaves_arrays(trial)]
        warnings: list[Finding] = []
        if not self.problem.sizes_vary:
            return None if wrong else self.size_written_out(trials), warnings
        if wrong:
            long = [trial for trial in wrong if trial.case.along is not None]
            site = self.limits.met_first_in(long[0].case) if long == wrong else None
        else:

            def is_right(case: Case) -> bool:
                trial = self.run(case)
                fails = not trial.right or _leaves_arrays(trial)
                wrong.extend([trial] * fails)
                return not fails

            tile = max(*self.tile, self.step_tile or 1)
            settle = self.limits.settle
            site, warnings = settle(self.problem, self.source, self.spent, tile, is_right)
            trials += wrong
        if site is None or wrong[0].right:
            return None, warnings
        beyond = [
            each
            for each in self.faults_of(wrong[0])
            if each.code in outside.OUTSIDE and each.line == site.line
        ]
        if site.kind == "axis" and beyond:
            return room_finding(site, self.source, beyond[0]), warnings
        label = self.launched_as(wrong[0])
        return limit_finding(site, self.source, label, wrong[0].outcome), warnings

    def size_written_out(self, trials: list[Trial]) -> Finding | None:
        """The size for which alone a right answer is right, as a finding.

        Adds the launch that goes wrong to the trials.
        """
        for case, size in self.problem.other_sizes():
            trial = self.run(case)
            if trial.right and not _leaves_arrays(trial):
                continue

            def is_right(kernel: Kernel, case: Case = case) -> bool:
                answer = replace(self.answer, kernel=kernel)
                again = Examination(self.exercise, answer, self.block, self.seed, self.choice)
                return again.run(case).right

            part = where(~trial.outcome.right, trial.outcome.sizes)
            found = size_finding(self.answer.kernel, self.source, size, part, is_right)
            if found.line is not None:  # what else is seen there follows from that number
                trial = replace(trial, profile=replace(trial.profile, findings=[]))
            trials.append(trial)
            return found
        return None

    def faults_of(self, trial: Trial) -> list[Finding]:
        """What the emulator found in one launch, traced to causes where the source shows them."""
        outcome = trial.outcome
        arrays = (*outcome.inputs, outcome.got)
        shapes = {name: array.shape for name, array in zip(self.names, arrays, strict=True)}
        reach = {
            name: self._reach(number, shape) for number, (name, shape) in enumerate(shapes.items())
        }
        found = []
        for each in _few_of_each_code(kept.without_wraps(trial.profile.findings)):
            if each.code in self.exercise.forgiven:
                continue
            if each.code in outside.OUTSIDE:
                each = outside.explain_outside(each, shapes, reach, self.source, self.letters)
                each = self._where_nobody_is_surplus(each, trial, shapes)
            if each.code == "float64-arithmetic":
                each = types.explain_float64(each, self.source)
            if each.code == "timeout":
                each = timeout.explain_timeout(
                    each, trial.profile.stopped_in, self.budget_of(trial)
                )
            if each.code == APART:
                each = explain_divergence(each, self.source)
            each = explain_meeting(each, self.source, trial.profile.block)
            each = about_buffers(self.exercise, each)
            own = {array.name: array.shape for array in trial.profile.shared_arrays}
            each = explain_row_length(each, self.source, {**shapes, **own})
            is_shown = each.code in SHOWN_WITH_SIZES and not trial.case.exact
            tells_sizes = self.problem.sizes_vary and (each.code == APART or is_shown)
            message = seen_on(self.launched_as(trial), each.message, tells_sizes)
            found.append(replace(each, message=message))
        return found

    def _where_nobody_is_surplus(
        self, each: Finding, trial: Trial, shapes: Mapping[str, tuple[int, ...]]
    ) -> Finding:
        """What to look at where a thread leaves an array in a launch of which all are needed."""
        if self.problem.sizes_vary or each.code not in outside.OUTSIDE:
            return each
        array = outside.array_of(each.cell)
        if array not in shapes:  # the kernel's own, of a size that fits its threads
            return each
        elements = trial.outcome.expected.size
        if math.prod(shapes[array]) < elements or not _all_have_work(trial):
            return each
        threads = math.prod((*trial.profile.grid, *trial.profile.block))
        hint = ALL_HAVE_WORK if elements < 2 * threads else FROM_WHERE_TO_WHERE
        return replace(each, hint=hint)

    def launched_as(self, trial: Trial) -> SeenLaunch:
        """A launch as a fact of a sentence."""
        grid, block = trial.profile.grid, trial.profile.block
        return SeenLaunch(trial.case, trial.case.label(self.problem), grid, block, self.seed)

    def _reach(self, number: int, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape rounded up to whole tiles: how far threads and tiles reach."""
        units = self.problem.tiles_of(self.tile, self.step_tile or FAR)[number]
        return tuple(-(-size // unit) * unit for size, unit in zip(shape, units, strict=True))

    def wrapped(self, trials: Sequence[Trial]) -> Finding | None:
        """A loop without end whose counter wraps around before it reaches the size."""
        endless = [trial for trial in trials if any(e.code == "timeout" for e in trial.errors)]
        if not endless or not any(e.code == "wrong-index" for e in endless[0].errors):
            return None
        return types.narrow_index(self.source, max(endless[0].case.shape))

    def cause(self, trials: Sequence[Trial], faults: Sequence[Finding]) -> Finding | None:
        """What explains wrong numbers, as a finding; None if nothing does or all are right."""
        wrong = [trial for trial in trials if not trial.right]
        if not wrong:
            return None
        exact = _exact(trials)
        if exact is None:
            return None
        rebound = at_a_glance.output_rebound(self.names[-1], self.source)
        if rebound:
            return rebound
        trail = self.trail(exact.case)
        several = math.prod((*exact.profile.grid, *exact.profile.block)) > 1
        if several and trail.writes.size > 1 == np.count_nonzero(trail.writes):
            return None  # everybody writes one element; that two of them meet says it best
        mapping = self.problem.mapping(trail, exact.outcome.sizes)
        blocks = math.prod(exact.profile.grid)
        alone = blocks > 1 and list(trail.corners) == [(0, 0)] and exact.outcome.untouched.any()
        if alone and not mapping:
            return self.one_block(exact, trail)
        made = None if mapping else self.made_of(exact)
        if made:
            return made
        slip = self.problem.diagnose(exact.outcome)
        if mapping and mapping.place[:2] == ("owner", "thread") and not _mostly_right(exact):
            mapping = replace(mapping, place=("owner", "store", mapping.place[-1]))
        if mapping and _comes_first(mapping, slip, exact, self.reads_where_it_stores):
            slip = mapping
        if slip and slip.place == TRANSPOSED and not mapping and blocks > 1:
            slip = self.other_sums(slip)
        if slip and slip.code == "incomplete-output" and not self.exercise.is_graded:
            empty = self.nothing_added(exact, trail)
            if empty:
                return empty
        if slip:
            return self.fixed_loop(slip, exact) or self.placed(slip, exact, trail)
        apart = self.multiplied_apart(trail)
        if apart:
            return apart
        if not exact.right:
            same = self.independent_of_input(trials)
            if same:
                return same
        narrow = types.narrow_index(self.source, min(max(trial.case.shape) for trial in wrong))
        if narrow:
            return narrow
        for trial in sorted(wrong, key=_telling)[:MOST_DIAGNOSED]:
            slip = self.problem.diagnose(trial.outcome)
            if slip and slip.place in (("steps", "tiles"), ("steps", "left out")):
                slip = tiles_slip(slip, [trial.outcome for trial in wrong])
            if slip:
                return self.fixed_loop(slip, trial) or self.placed(slip, trial)
        return self.stale(wrong) or self.made_of(exact, fewest=1)

    @property
    def reads_where_it_stores(self) -> bool:
        """Does a line that stores the output read an input as well?"""
        *inputs, output = self.names
        reads = (each for name in inputs for each in self.source.accesses(name, store=False))
        return not self.source.store_lines([output]).isdisjoint(each.lineno for each in reads)

    def other_sums(self, slip: Slip) -> Slip:
        """Where a result is transposed though each block stores where it should: the sums are."""
        if not self.source.additions():
            return slip
        hint = say(
            "A thread stores {output}[0, 1]: which elements should it read, and which ones does it "
            "read here?",
            output=self.names[-1],
        )
        return replace(slip, hint=hint, place=("sum",))

    def nothing_added(self, trial: Trial, trail: Trail) -> Finding | None:
        """The finding for sums that are stored as they began, where they look as if unwritten."""
        wrong = ~trial.outcome.right
        if trial.outcome.poison != 0 or not (trail.writes[wrong] > 0).all():
            return None
        C = self.exercise.output
        lines = trail.store_lines[self.names[-1]]
        if not self.source.own_arrays() or not list(self.source.additions()):
            message = say(
                "The last number that is stored in {place} of {array} is 0, as it was before.",
                array=C,
                place=where(wrong, trial.outcome.sizes),
            )
            hint = "Work out the value that this line stores, step by step, for thread 0."
            return finding("wrong-formula", message, lines[-1] if lines else None, hint)
        message = say(
            "What is stored is right, but for {place}: there a 0 is stored, since nothing was "
            "added to that sum.",
            place=where(wrong, trial.outcome.sizes),
        )
        if wrong.all():
            message = say(
                "Every element of {array} is 0: nothing was added to the sum that is stored.",
                array=C,
            )
        hint = say("Which line adds to the sum of {array}{place}?", array=C, place=_first(wrong))
        return finding("accumulator-error", message, lines[-1] if lines else None, hint)

    def made_of(self, trial: Trial, fewest: int = 2) -> Finding | None:
        """The finding for a result in a task that is made of other elements than it should be.

        `fewest` is how many it should be made of: of a single one, other slips know more.
        """
        task = self.exercise
        if not isinstance(task, Task) or not task.reference:
            return None
        launch = self.launch(trial.case)
        return wrongly_made_of(task, self.answer.kernel, self.source, launch, trial.outcome, fewest)

    def placed(self, slip: Slip, trial: Trial, trail: Trail | None = None) -> Finding:
        """A slip as a finding, with its line."""
        trail = trail or self.trail(trial.case)
        place = locate(slip, self.source, trail, self.names, self.exercise.parameters)
        said = seen_on(self.launched_as(trial), place.message or slip.message, not trial.case.exact)
        message = with_values(said, slip.values)
        hint = slip.hint
        if place.code == "wrong-bounds-check" and slip.code != place.code:
            hint = "For which elements is this test true, and for which should it be?"
            innocent = self.source.index_behind_a_right_test(self.names[-1], self.letters)
            if innocent and "missing" in slip.place:
                changes = isinstance(innocent, ast.Subscript)
                hint = (
                    "What stands there before this line runs?" if changes else FROM_WHERE_TO_WHERE
                )
                place = Place(innocent.lineno)
            elif self.source.joins_bits(place.line):
                hint = "`&` is worked out before `<`, and `and` after it. Which one is meant?"
        code = place.code or slip.code
        hint = place.hint or hint
        return finding(code, message, place.line, hint, "error")

    def on_launch(self, trial: Trial, each: Finding) -> Finding:
        """A finding of which a student is not told the launch."""
        return replace(each, message=seen_on(self.launched_as(trial), each.message, False))

    @property
    def letters(self) -> dict[str, tuple[str, ...]]:
        """The size of every axis of each array by its letter, if the curriculum entry says so."""
        shapes = self.exercise.shapes
        if len(shapes) != len(self.names):
            return {}
        return {name: axes(each) for name, each in zip(self.names, shapes, strict=True)}

    def fixed_loop(self, slip: Slip, trial: Trial) -> Finding | None:
        """The finding for a loop over tiles that is always equally long, if that is the slip."""
        sizes = trial.outcome.sizes
        kept = min(slip.steps, default=0)
        if slip.place[0] != "steps" or slip.steps != tuple(range(kept, sizes.steps)):
            return None
        turns, rest = divmod(kept, sizes.tile_steps or 1)
        around = [
            loop
            for load in self.source.accesses(self.names[0], store=False)
            for loop in self.source.loops_around(load)
        ]
        for site in self.limits.loops_of(turns) if not rest else ():
            if site.node in around:
                return limit_finding(site, self.source, self.launched_as(trial), trial.outcome)
        return None

    def multiplied_apart(self, trail: Trail) -> Finding | None:
        """The finding for a statement that multiplies elements of A and B of different steps."""
        if not self.problem.has_steps:
            return None
        for statement in self.source.additions():
            if statement.lineno in trail.apart:
                (i, step), (other, j) = trail.apart[statement.lineno]
                A, B = self.exercise.parameters[:2]
                message = say(
                    "Here {first}[{i}, {step}] is multiplied by {second}[{other}, {j}].",
                    first=A,
                    i=i,
                    step=step,
                    second=B,
                    other=other,
                    j=j,
                )
                hint = say(
                    "Which index do {first} and {second} share in every product?", first=A, second=B
                )
                return finding("wrong-index", message, statement.lineno, hint)
        return None

    def one_block(self, trial: Trial, trail: Trail) -> Finding:
        """The finding for an answer in which block (0, 0) alone writes."""
        lines = trail.store_lines[self.names[-1]]
        letter = self.exercise.output
        message = say(
            "Only block (0, 0) writes: all others leave their part of {letter} as it was.",
            letter=letter,
        )
        hint = "What keeps the threads of the other blocks from the line that stores?"
        return finding("incomplete-output", message, lines[-1] if lines else None, hint)

    def independent_of_input(self, trials: Sequence[Trial]) -> Finding | None:
        """The finding for an output that stays the same when the inputs change."""
        by_shape: dict[tuple[int, ...], Trial] = {}
        if len(self.names) == 1:
            return None  # there are no inputs
        for trial in trials:
            twin = by_shape.setdefault(trial.case.shape, trial)
            if twin is trial or trial.right or twin.right:
                continue
            first, second = twin.outcome, trial.outcome
            if equal_in_both(first, second):
                trail = self.trail(trial.case)
                lines = trail.store_lines[self.names[-1]]
                value = first.got[first.known][0]
                C, inputs = first.output, first.operands
                at = ", ".join("0" * first.got.ndim)
                message = say(
                    "{array} does not depend on {inputs}: other inputs give the same output.",
                    array=C,
                    inputs=inputs,
                )
                said = with_values(message, f"{C}[{at}] is {value:.6g} in any case.")
                hint = say(
                    "Which line carries a value from {inputs} to {array}?", inputs=inputs, array=C
                )
                line = lines[-1] if lines else None
                return self.on_launch(trial, finding("hardcoded-answer", said, line, hint))
        return None

    def stale(self, wrong: Sequence[Trial]) -> Finding | None:
        """Wrong numbers that go with values of an earlier tile."""
        for trial in wrong if self.problem.has_steps else ():
            for read in trial.profile.stale_reads:
                message = say(
                    "Wrong on {sizes}: thread {thread} reads {cell} at {line}, which still "
                    "holds the value of an earlier tile.",
                    sizes=self.launched_as(trial),
                    thread=read.thread,
                    cell=read.cell,
                    line=Line(read.line),
                )
                inputs = " or ".join(self.exercise.parameters[:-1])
                hint = say(
                    "What does a thread put into the tile when it stands outside of {inputs}?",
                    inputs=inputs,
                )
                return finding("stale-shared-read", message, read.line, hint)
        return None

    def wrong_result(self, trials: Sequence[Trial]) -> Finding:
        """The finding when nothing explains the numbers: where, and by how much.

        Its line is the store of the output: that is where they show, and no guess at their cause.
        """
        wrong = [trial for trial in trials if not trial.right]
        trial = min(wrong, key=lambda trial: (not trial.case.exact, _telling(trial)))
        outcome = trial.outcome
        place = where(~outcome.right, outcome.sizes)
        never = outcome.untouched & ~outcome.right
        unwritten: Sentence | str = ""
        if never.any():
            unwritten = say(" Never written: {where}.", where=where(never, outcome.sizes))
        message = say(
            "Wrong on {sizes}, in {place}.{unwritten} None of the usual slips explains the "
            "numbers.",
            sizes=self.launched_as(trial),
            place=place,
            unwritten=unwritten,
        )
        hint = "Work out that one element by hand, step by step."
        if _right_in_block_0_alone(trial):
            hint = "Block 0 is right, and no other. Where does cuda.blockIdx come in, and how far?"
        lines = self.trail(trial.case).store_lines[self.names[-1]]
        line = lines[-1] if lines else self.source.kernel.lineno
        return finding("wrong-result", with_values(message, f"{by_how_much(outcome)}."), line, hint)

    def written_inputs(self, trials: Sequence[Trial]) -> list[Finding]:
        """The finding for an answer that changes A or B."""
        changed = [trial for trial in trials if not trial.inputs_kept]
        if not changed:
            return []
        known = next((trial for trial in changed if trial.case in self.trails), changed[0])
        lines = self.trail(known.case).store_lines
        name = next((name for name in self.names[:-1] if lines[name]), self.names[0])
        line = lines[name][0] if lines[name] else None
        message = say("{name} is an input, and the kernel writes into it.", name=name)
        hint = say("Which array should hold the result of {formula}?", formula=self.problem.formula)
        return [finding("wrong-index", message, line, hint)]

    def measured(self, trial: Trial) -> Measured:
        shape = trial.case.shape
        return Measured(
            profile=trial.profile,
            shape=shape,
            tile=self.tile[::-1],
            step_tile=self.step_tile,
            names=self.names,
            source=self.source,
            fetched_once=self.problem.fetches(shape, self.tile),
            barriers=self.problem.barriers(shape, self.step_tile),
            thread_tile=self.thread_tile[::-1],
            hands_over=not trial.case.exact
            or self.trail(trial.case).hands_over
            or self.reads_for_a_caller,
            at_most=self.problem.fetches_at_most(
                shape, self.tile, self.step_tile or 1, self.thread_tile
            ),
            journeys=self.journeys.get(trial.case),
        )

    @property
    def reads_for_a_caller(self) -> bool:
        """Is it the task's own kernel that reads what the answer has put into shared memory?"""
        return isinstance(self.exercise, Task) and bool(self.exercise.caller)

    def costs_at_edges(self, trials: Sequence[Trial]) -> list[Finding]:
        """What an answer that does well on the exact problem lacks where tiles are partial."""
        trial = next((trial for trial in trials if trial.case.counted and trial.right), None)
        return requirements.judge_uneven(self.exercise, self.measured(trial)) if trial else []

    def on_a_gpu(self) -> list[Finding]:
        """What a run on the student's own GPU shows, where there is one."""
        run = self.answer.run_native
        if run is None:
            return []
        native = self.answer.native
        return try_on_gpu(native, self.problem, self.launch, self.seed, run, self.names)


def seen_on(launch: SeenLaunch, said: str, is_told: bool) -> Sentence:
    """A sentence and the launch that showed it; whoever grades is told that one in any case."""
    if is_told:
        return say("{seen} Seen on {launch}.", seen=said, launch=launch)
    return say("{seen}", instructor="{seen} Seen on {launch}.", seen=said, launch=launch)


def equal_in_both(first: Outcome, second: Outcome) -> bool:
    """Did the same numbers come out of other inputs? Zeros say little, and not-a-number nothing."""
    written = ~first.untouched
    with np.errstate(invalid="ignore"):
        same = first.got[written] == second.got[written]
    return bool(written.any() and same.all() and first.got[written].any())


def _few_of_each_code(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The first findings of each code: a text of thousands of lines can have thousands of them."""
    seen: Counter[str] = Counter()
    for each in findings:
        seen[each.code] += 1
        if seen[each.code] <= MOST_OF_A_CODE:
            yield each


def _empties(trials: Sequence[Trial]) -> bool:
    """Is all disorder that a long launch reads cells that stayed empty, as beyond a limit?"""
    return all(
        each.code == "uninitialised-read" and trial.case.along is not None
        for trial in trials
        for each in trial.errors
        if each.code in kept.DISORDER
    )


def _right_but_for_races(trial: Trial) -> bool:
    """Right, or wrong in a launch whose order of warps shows what a reported race does."""
    races = any(each.code.startswith(RACES) for each in trial.errors)
    return trial.right or (races and trial.case.schedule != "lockstep")


def _telling(trial: Trial) -> tuple[bool, int]:
    """Sorts the launches that say most about a slip to the front."""
    size = math.prod(max(each, 1) for each in trial.case.shape)
    return bool(np.isnan(trial.case.poison)), -size


def _is_hopeless(trial: Trial) -> bool:
    """Would more launches only cost time?

    So it is with a loop without end and, where a launch is long, with wrong numbers from outside a
    tile.
    """
    beside = trial.case.exact and not _alone(trial) and not trial.right and _leaves_tiles(trial)
    return _runs_out(trial) or beside


def _runs_out(trial: Trial) -> bool:
    """Did the launch need more steps than it had?"""
    return any(each.code == "timeout" for each in trial.errors)


def _all_meet(trial: Trial) -> bool:
    """Do all threads write the one element that there is?"""
    codes = {each.code for each in trial.errors}
    return _alone(trial) and "race-write-after-write" in codes and trial.outcome.got.size == 1


def _alone(trial: Trial) -> bool:
    """Does a thread compute one element only?"""
    return trial.outcome.sizes.thread_rows * trial.outcome.sizes.thread_columns == 1


def _leaves_arrays(trial: Trial) -> bool:
    return any(each.code in outside.OUTSIDE for each in trial.errors)


def _leaves_tiles(trial: Trial) -> bool:
    """Does a thread leave an array that the kernel itself has made?"""
    made = {array.name for array in trial.profile.shared_arrays}
    return any(
        each.code in outside.OUTSIDE and outside.array_of(each.cell) in made
        for each in trial.errors
    )


def _first(mask: np.ndarray) -> str:
    """The first place in a mask, as an index: "[3, 4]"."""
    return f"[{', '.join(map(str, np.argwhere(mask)[0]))}]"


def _exact(trials: Sequence[Trial]) -> Trial | None:
    return next((trial for trial in trials if trial.case.exact), None)


def _mostly_right(trial: Trial) -> bool:
    """Are the numbers right where any were written?"""
    known = trial.outcome.known
    return bool(known.any() and trial.outcome.right[known].mean() > 0.9)


def _right_in_block_0_alone(trial: Trial) -> bool:
    """Of a list with one element for each thread: are those of the first block right, only?"""
    right, threads = trial.outcome.right, math.prod(trial.profile.block)
    blocks = math.prod(trial.profile.grid)
    if right.ndim != 1 or blocks < 2 or not (blocks - 1) * threads < right.size <= blocks * threads:
        return False
    return bool(right[:threads].all() and not right[threads:].any())


def _all_have_work(trial: Trial) -> bool:
    """Are there several threads, and no more than elements in the output and in each input?"""
    threads = math.prod((*trial.profile.grid, *trial.profile.block))
    arrays = (trial.outcome.got, *filter(np.ndim, trial.outcome.inputs))
    return threads > 1 and all(threads <= np.size(each) for each in arrays)


def _comes_first(mapping: Slip, slip: Slip | None, exact: Trial, in_one_line: bool) -> bool:
    """Does the place where blocks write explain more than the numbers they write?"""
    if slip is None or slip.code in kept.SYMPTOMS or exact.outcome.untouched.any():
        return True
    # An index that is exchanged in the line that reads and stores explains both, if the numbers
    # are wrong on square problems, too.
    exchanged = slip.place in (("store",), TRANSPOSED) or (
        in_one_line and slip.place[0] == "load" and not exact.right
    )
    return mapping.place[-1] == "both" and not exchanged


def examine_kernel(
    exercise: Exercise, answer: Answer, block: Sequence[int] | None, seed: int
) -> Report:
    """The verdict on a kernel, launched in the first of the likely ways in which it passes.

    Where it passes in none of them, the verdict is that of the first; so of a way that fails, no
    more is launched until all have been tried.
    """
    source = source_of(answer.kernel)
    ways = choices(exercise, source, answer.kernel.namespace, block)
    first: Examination | None = None
    tried: list[dict[str, object]] = []
    for choice in ways:
        if choice.constants in tried and not choice.adopts:
            continue
        examination = Examination(exercise, answer, block, seed, choice)
        first = first or examination
        fails = len(ways) > 1 and not examination.seen_at_once and examination.fails()
        tried.append(examination.constants)
        if fails:
            continue
        if examination.verdict.passed:
            return examination.verdict
        if {each.code for each in examination.verdict.errors} & FINAL:
            break
    assert first is not None
    return first.verdict
