"""The examination of a kernel: launches it on all its cases, and draws the conclusions.

`examine_kernel` is the door, `Examination` the order of it all. First come the extra launches that
settle what a number in an answer means: a limit, or a size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property

from course_lib.curriculum import Exercise
from course_lib.diagnosis import answer
from course_lib.diagnosis.answer import Answer, LaunchConfiguration, choices, missing, source_of
from course_lib.diagnosis.costs import requirements
from course_lib.diagnosis.costs.measured import Measured
from course_lib.diagnosis.explained import at_their_mapping, with_causes
from course_lib.diagnosis.faults import symptoms
from course_lib.diagnosis.faults.traced import depends_on_rounding, faults_of
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import (
    APART,
    OUTSIDE,
    Trial,
    counts_of,
    exact_of,
    is_misaligned,
    where,
)
from course_lib.diagnosis.number_patterns import (
    cause_of,
    written_inputs,
    wrong_result,
)
from course_lib.diagnosis.points import what_holds
from course_lib.diagnosis.real_gpu import try_on_gpu
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.report import Hearer, Report, Tried, make_report, nobody
from course_lib.diagnosis.sizes import (
    DRAW,
    far_cases,
    limit_finding,
    room_finding,
)
from course_lib.diagnosis.source.tree import walk
from course_lib.diagnosis.words import tell
from course_lib.emulator import Kernel, KernelRejected
from course_lib.emulator.observers.limits import Site
from course_lib.problems.problem import Case, OtherSize
from course_lib.wording.findings import Finding, by_importance


def limit_of(launcher: Launcher, trials: list[Trial]) -> tuple[Finding | None, list[Finding]]:
    """The number up to which alone the answer is right, as a finding; warnings of others.

    Adds the launches beyond all limits to the trials: whatever goes wrong there, or costs too much,
    counts as it does elsewhere.
    """
    wrong = [trial for trial in trials if not trial.right or trial.leaves_arrays]
    warnings: list[Finding] = []
    if not launcher.problem.sizes_vary:
        return None if wrong else size_written_out(launcher, trials), warnings
    if wrong:
        long = [trial for trial in wrong if trial.case.along is not None]
        site = launcher.limits.met_first_in(long[0].case) if long == wrong else None
    else:

        def is_right(case: Case) -> bool:
            trial = launcher.run(case)
            if trial.runs_out and case.draw >= DRAW:
                return True  # how much a launch so large takes was guessed
            fails = not trial.right or trial.leaves_arrays
            trials.append(trial)
            wrong.extend([trial] * fails)
            return not fails

        tile = max(*launcher.tile, launcher.step_tile or 1)
        settle = launcher.limits.settle
        site, warnings = settle(launcher.problem, launcher.source, launcher.spent, tile, is_right)
        if not wrong and launcher.exercise.is_graded:
            site = _far_away(launcher, trials, is_right)
    if site is None or wrong[0].right:
        return None, warnings
    beyond = [
        finding
        for finding in faults_of(launcher, wrong[0])
        if finding.code in OUTSIDE and finding.line == site.line
    ]
    if site.kind == "axis" and beyond:
        return room_finding(site, launcher.source, beyond[0]), warnings
    label = launcher.launched_as(wrong[0].case)
    return limit_finding(site, launcher.source, label, wrong[0].outcome), warnings


def _far_away(
    launcher: Launcher, trials: list[Trial], is_right: Callable[[Case], bool]
) -> Site | None:
    """The limit that explains a launch far beyond the usual sizes, if one goes wrong."""
    long = [(trial.case, trial.profile.steps) for trial in trials if trial.case.along is not None]
    for case in far_cases(launcher.problem, long, launcher.source, launcher.seed):
        if not is_right(case):
            return launcher.limits.met_first_in(case)
    return None


def size_written_out(launcher: Launcher, trials: list[Trial]) -> Finding | None:
    """The size for which alone a right answer is right, as a finding.

    Adds the launch that goes wrong to the trials.
    """
    for case, size in launcher.problem.other_sizes():
        trial = launcher.run(case)
        if trial.right:
            fault = _fault_of(launcher, trial)
            if fault is None:
                continue
            trials.append(replace(trial, profile=replace(trial.profile, findings=[])))
            return fault

        def is_right(kernel: Kernel, case: Case = case) -> bool:
            return launcher.with_kernel(kernel).run(case).right

        part = where(~trial.outcome.right, trial.outcome.sizes)
        found = _size_finding(launcher, size, part, is_right)
        if found.line is not None:  # what else is seen there follows from that number
            trial = replace(trial, profile=replace(trial.profile, findings=[]))
        trials.append(trial)
        return found
    return None


def _size_finding(
    launcher: Launcher, size: OtherSize, part: str, is_right: Callable[[Kernel], bool]
) -> Finding:
    """The number that means a size, found by a change that makes it another size.

    A task whose arrays have one fixed size can't tell `range(12)` from `range(x.shape[0])`. So a
    right answer is launched once more, on arrays that are longer along one axis; where that goes
    wrong, each number in a test or in the head of a loop is changed as the size has changed.
    """
    source, facts = launcher.source, {"part": part, **asdict(size)}
    for tree in source.functions:
        for node, path in walk(tree):
            if not isinstance(node, ast.Constant) or type(node.value) is not int:
                continue
            new, rest = divmod(node.value * size.other, size.usual)
            edit = Edit("", node.lineno, 0, tree, {path: ast.Constant(new)})
            is_tested = any(name in ("test", "iter") for name, _ in path)
            if is_tested and not rest and is_right(edit.applied(launcher.answer.kernel)):
                kind = "size in a loop" if source.heads_a_loop(node) else "size in a test"
                return tell(kind, node.lineno, number=node.value, **facts)
    return tell("size somewhere", None, **facts)


def _fault_of(launcher: Launcher, trial: Trial) -> Finding | None:
    """What threads do wrong in a launch whose numbers are right: where the sizes leave some of them
    without work, they may still leave an array, or a barrier to the others."""
    for finding in faults_of(launcher, trial):
        if finding.severity == "error" and finding.code not in (
            "uninitialised-read",
            *symptoms.SYMPTOMS,
        ):
            return finding
    return None


# --- All launches, and the conclusions ------------------------------------------------------------


# After one of these, no other launch is tried: it would not help, or cost too much, or go past
# what the student has asked for.
FINAL = {
    *("timeout", "compile-error", "unsupported", "not-allowed", "missing-answer", "invalid-launch")
}


FEW = 1_500  # steps, for the share of a thread that does not do everybody's work
MORE_STEPS = 12  # than in the exact launch: of one with sides up to three times as long


def unequal(shape: Sequence[int], along: Sequence[int]) -> list[tuple[int, ...]]:
    """Shapes with multiples of these sides; of equal sides each is longer than the next."""
    longer, shorter = list(shape), list(shape)
    for size in {shape[axis] for axis in along if shape[axis] > 1}:
        axes = [axis for axis in along if shape[axis] == size]
        for times, axis in enumerate(axes):
            longer[axis] = size * (1 + times)
            shorter[axis] = size * (len(axes) - times)
    return [tuple(longer), tuple(shorter)] if longer != shorter else []


class Examination:
    """All launches of one answer, and the conclusions."""

    def __init__(
        self,
        exercise: Exercise,
        answer: Answer,
        block: Sequence[int] | None,
        seed: int,
        choice: LaunchConfiguration | None = None,
    ) -> None:
        self.launcher = Launcher(exercise, answer, block, seed, choice)
        self.exercise = exercise
        self.kernel = answer.kernel
        self.source = self.launcher.source
        self.trials: list[Trial] = []
        self.unsteady: Trial | None = None
        self.usual = 0  # launches, as many as every answer has
        self.early: Hearer = nobody
        self._launches = self._launched_trials()

    @cached_property
    def seen_at_once(self) -> list[Finding]:
        """Errors that leave nothing to launch."""
        absent = missing(self.exercise, self.kernel)
        if absent:
            return [absent]
        return answer.seen_at_once(self.exercise, self.kernel, self.source)

    def fails(self) -> bool:
        """Does some launch end with wrong numbers? Those after it wait for `verdict`."""
        try:
            return any(not trial.right and not trial.runs_out for trial in self._launches)
        except KernelRejected as rejected:
            self.verdict = make_report(self.exercise, rejected.findings)
            return False

    @cached_property
    def verdict(self) -> Report:
        """The conclusion from all launches."""
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
        trials = self.trials
        cases = self.launcher.cases()
        self.usual = sum(case.is_counted for case in cases)
        for case in cases:
            if case.further and all(trial.right for trial in trials):
                continue
            is_brief = bool(trials) and trials[0].all_meet and self.stores_in_a_loop()
            if is_brief:  # each thread may go through all elements
                self.launcher.most_steps = FEW
            trial = self.launched_either_way(case)
            beyond = case.along is not None and not all(trial.right for trial in trials)
            if trial.runs_out and (is_brief or beyond):
                break  # shorter launches that end, and are wrong, say more
            trials.append(trial)
            yield trial
            if trials[-1].is_hopeless:
                break

    def launched_either_way(self, case: Case) -> Trial:
        """Launch a case, in lockstep with products rounded up or down by chance.

        The exact launch, whose counts are compared, rounds to the nearest number. So does one that
        went wrong, once more: a cause is read off its numbers. If it is right then, it is kept as
        `unsteady`.
        """
        either = not case.exact and case.schedule == "lockstep" and not self.is_wrong
        trial = self.launcher.run(case, either_rounding=either)
        if trial.right or not either:
            return trial
        nearest = self.launcher.run(case)
        if nearest.right:
            self.unsteady = trial
        return nearest

    @property
    def is_wrong(self) -> bool:
        return not all(trial.right for trial in self.trials)

    def stores_in_a_loop(self) -> bool:
        """Is there a loop around a store of the output? Then each launch may take long."""
        stores = self.source.accesses(self.launcher.names[-1], store=True)
        return not stores or any(map(self.source.loops_around, stores))

    def conclude(self, trials: list[Trial]) -> Report:
        """Put together what all launches showed."""
        found = self.causes(trials)
        exact = exact_of(trials)
        numbers_right = exact is not None and all(trial.right_but_for_races for trial in trials)
        if numbers_right and not _has_errors(found):
            found += self.on_a_gpu()
        found = answer.told_of_barriers(found, self.source)
        if not numbers_right and not _has_errors(found):
            found.append(wrong_result(self.launcher, trials))
        if not numbers_right or any(finding.code in OUTSIDE for finding in found):
            self.early(self.seen_so_far(found, trials))
            found = with_causes(self.launcher, found, trials)
        works = exact is not None and _works(exact)
        if exact is not None and (numbers_right or exact.right):
            found += self.costs(exact, trials)
        problem = self.launcher.problem
        even = exact is not None and self.is_right_where_even(exact, trials)
        held = what_holds(self.exercise, found, trials, problem, numbers_right, even, self.usual)
        shares = exact is None or not works or requirements.shares(Measured(self.launcher, exact))
        report = make_report(
            self.exercise, symptoms.once(found), held, numbers_right, works, shares
        )
        counts = counts_of(exact.profile) if exact else {}
        return replace(self.with_launches(report, trials), counts=counts)

    def seen_so_far(self, found: Sequence[Finding], trials: Sequence[Trial]) -> Report:
        """The first error as it shows; its cause is still to be found, and with it the points."""
        errors = [finding for finding in by_importance(found) if finding.severity == "error"]
        report = replace(make_report(self.exercise, errors[:1]), max_points=0)
        return self.with_launches(report, trials)

    def with_launches(self, report: Report, trials: Sequence[Trial]) -> Report:
        """A report that says what was launched, and how."""
        tried = tuple(self.tried(trial) for trial in trials if trial.case.is_counted)
        return replace(report, launched=self.launcher.launched, tried=tried)

    def is_right_where_even(self, exact: Trial, trials: Sequence[Trial]) -> bool:
        """Is an answer right in the exact launch, and in the launch where no two sides are equal?

        On a square, rows and columns may be exchanged without anybody's noticing.
        """
        launcher = self.launcher
        if not _works(exact):
            return False
        if all(trial.right or trial.case.along is not None for trial in trials):
            return True  # what goes wrong beyond a size alone says nothing of sides
        steps = MORE_STEPS * launcher.spent[exact.case]
        cases = [
            Case(shape, draw=70, allowed=steps)
            for shape in unequal(exact.case.shape, launcher.problem.directions)
        ]
        others = map(launcher.run, cases)
        return all(other.right or other.runs_out for other in others)

    def causes(self, trials: list[Trial]) -> list[Finding]:
        """What is wrong, without what only follows; adds launches that settle a limit."""
        launcher, source, names = self.launcher, self.source, self.launcher.names
        rounding = depends_on_rounding(launcher, trials, self.unsteady)
        if rounding:
            return [rounding]
        limit, warnings = limit_of(launcher, trials)
        if limit and not any(trial.errors for trial in trials if trial.case.along is None):
            return [limit, *warnings]  # whatever else was seen beyond it follows
        faults = self.faults(trials)
        stops = [fault for fault in faults if is_misaligned(fault)]
        if stops:
            return stops  # whatever else was seen may follow
        overwritten = written_inputs(launcher, trials)
        orderly = symptoms.is_orderly(exact_of(trials), names[-1])
        shared = source.shared_names()
        faults = symptoms.without_strays(faults, shared)
        doubtful = symptoms.in_disorder(faults, names[-1], orderly)
        cause = None if doubtful else limit or cause_of(launcher, trials)
        beyond = symptoms.lines_beyond(faults, shared)
        staging = source.store_lines(symptoms.arrays_left(faults, shared)) - beyond
        if cause and beyond and (cause.code == "wrong-formula" or cause.line in staging):
            cause = None  # what lies beyond the end of a tile is no number to go by
        return symptoms.keep_causes(faults, cause, names[-1], orderly) + overwritten + warnings

    def faults(self, trials: Sequence[Trial]) -> list[Finding]:
        """What the emulator saw in all launches, the best examples first."""
        first = faults_of(self.launcher, trials[0])
        # What is seen where the numbers are wrong makes the better example.
        telling = sorted(trials[1:], key=lambda trial: trial.right)
        later = [finding for trial in telling for finding in faults_of(self.launcher, trial)]
        # The smallest launch shows best which barrier is missed first; of other faults, the
        # larger ones make better examples.
        apart = [finding for finding in first if finding.code == APART]
        own = self.source.own_arrays()
        return symptoms.one_for_each_array([*apart, *later, *first], own)

    def costs(self, exact: Trial, trials: Sequence[Trial]) -> list[Finding]:
        """What an answer with right numbers lacks among the costs and tools that its exercise asks
        for.
        """
        costs = requirements.judge(self.exercise, Measured(self.launcher, exact))
        costs = at_their_mapping(self.launcher, costs, exact, trials)
        costs = [self.launcher.seen_in(exact, cost, is_told=False) for cost in costs]
        if not _has_errors(costs):  # then where tiles are partial
            for trial in trials:
                if trial.case.counted and trial.right and not _has_errors(costs):
                    found = requirements.judge_uneven(self.exercise, Measured(self.launcher, trial))
                    far = trial.case.allowed > 0
                    costs += [
                        self.launcher.seen_in(trial, finding, is_told=far) for finding in found
                    ]
        # In a task, what is not asked for is not yet anybody's worry; a store that only the next
        # one overwrites is a slip at any time.
        if self.exercise.is_graded:
            return costs
        return [c for c in costs if c.severity == "error" or c.code == "excess-global-traffic"]

    def tried(self, trial: Trial) -> Tried:
        """A launch as the student reads of it."""
        profile, case = trial.profile, trial.case
        label = case.label(self.launcher.problem)
        return Tried(label, trial.is_fine, profile.grid, profile.block, case.schedule)

    def on_a_gpu(self) -> list[Finding]:
        """The findings of a run on the student's own GPU, where there is one."""
        launcher, answer = self.launcher, self.launcher.answer
        if answer.run_native is None:
            return []
        return try_on_gpu(
            answer.native,
            launcher.problem,
            launcher.launch,
            launcher.seed,
            answer.run_native,
            launcher.names,
        )


def _works(exact: Trial) -> bool:
    """Is an answer right where its blocks divide the sizes, and made of what somebody wrote?"""
    return exact.right and all(fault.code != "uninitialised-read" for fault in exact.errors)


def _has_errors(found: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in found)


def examine_kernel(
    exercise: Exercise,
    answer: Answer,
    block: Sequence[int] | None,
    seed: int,
    early: Hearer = nobody,
) -> Report:
    """The verdict on a kernel, launched in the first of the likely ways in which it passes.

    Where it passes in none of them, the verdict is that of the first; so of a way that fails, no
    more is launched until all have been tried, and only then is `early` told that it is wrong.
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
        if len(ways) == 1:
            break
        fails = not examination.seen_at_once and examination.fails()
        tried.append(examination.launcher.constants)
        if fails:
            continue
        if examination.verdict.passed:
            return examination.verdict
        if {error.code for error in examination.verdict.errors} & FINAL:
            break
    assert first is not None
    first.early = early
    return first.verdict
