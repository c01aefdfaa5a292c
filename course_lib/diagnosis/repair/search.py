"""Looks for the one small change with which an answer is right.

All changes are tried at once, as the blocks of a few launches (see `schemata`): first in the
smallest launch that went wrong, those that are right there in the next one, and so on. What is left
then runs by itself, watched, in every launch that was made.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, groupby, product
from math import prod

import numpy as np

from course_lib.answer_text.context import CALLER, given_to
from course_lib.curriculum import Task
from course_lib.diagnosis.costs import requirements
from course_lib.diagnosis.costs.measured import Measured
from course_lib.diagnosis.launcher import BUDGET, Launcher
from course_lib.diagnosis.launches.outcome import (
    Outcome,
    Trial,
    exact_of,
)
from course_lib.diagnosis.repair.all_edits import edits_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import CommonDeviation
from course_lib.diagnosis.repair.schemata import schemata
from course_lib.diagnosis.source.tree import Path, variables_in, walk
from course_lib.emulator import Budget, Kernel, KernelRejected, Profile, emulate
from course_lib.emulator.budget import BudgetExceeded, EmulationOptions, LaunchShape
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.launch import OutsideNotes, run_unwatched, typing_for
from course_lib.problems.inputs import as_held
from course_lib.wording.sentences import Line

MOST_LANES = 30_000  # of one launch
MOST_CHANGES = 400  # in one launch
MOST_LOADS = 40  # of changes that load something, for which all lanes are gone through
FEWEST_AT_ONCE = 200  # changes that are tried together: typing them costs most
SIFTED = 4  # launches at least in which changes are tried together
MOST_WATCHED = 6  # changes that are tried by themselves
AWAY = 4  # at most, what it counts that a change lies far from where the numbers point
FARTHEST = 7  # from what was written and suspected, that a change may be
STEPS_OF_TYPING = 12  # what it costs to type one change, in steps of the machine
MOST_STEPS = 60_000  # of all launches of changes together
MOST_AT_ONCE = 30_000  # of them in one launch
MOST_OF_LOOPS = 15_000  # the same, of changes that may turn loops longer: it lasts as the longest
LANES_PER_STEP = 1 << 15  # most values are the same in all copies, and worked out once
STEPS_OF_PAIRS = 15_000  # of those, where no single change helps
LONGER, LEAST_STEPS = 2, 500  # a launch may be with a change, before others are tried
MORE_TURNS = 64  # of all loops together, than without a change
KEPT = 1 / 8  # of them, for the launches in which right changes must be right as well
MOST_BYTES = 1 << 30
ABOUT_AS_NEAR = 1  # a change that lies this much farther may be meant as well
ALIKE, MOST_PAIRS = 4, 500  # changes at one place, and pairs, that are tried
IN_PAIRS = ("name", "size", "axis", "register", "block", "factor", "term", "exchange", "indices")
OF_MAPPINGS = ("name", "axis", "exchange", "indices", "number", "split")  # of threads to elements
MOST_MEASURED = 12  # changes whose costs are counted
Array = np.ndarray


@dataclass(frozen=True)
class Variant:
    """A change, what the launch came to with it, and whether a thread left an array."""

    edit: Edit
    outcome: Outcome
    outside: bool

    @property
    def right(self) -> Array:
        """Which elements are right."""
        return self.outcome.right & ~np.bool_(self.outside)

    @property
    def is_right(self) -> bool:
        return bool(self.right.all())

    @property
    def right_as_far_as_written(self) -> bool:
        written = ~self.outcome.untouched
        return self.is_right or bool(written.any() and self.right[written].all())


@dataclass
class Search:
    """The changes to one answer that make it right.

    Args:
        launcher: launches the answer.
        trials: what its launches showed, one of them wrong.
        suspects: the lines to which the numbers point, each with its rank from 0 on.
        steps: of the machine, that may be spent.
    """

    launcher: Launcher
    trials: Sequence[Trial]
    suspects: Mapping[int, int] = field(default_factory=dict)
    steps: int = MOST_STEPS

    def __post_init__(self) -> None:
        self.kernel = self.launcher.answer.kernel

    def repair(self) -> Edit | None:
        """The smallest change with which every launch is right and clean; None if none is found.

        Where no single one is, two places are changed at once: by changes that make more right.
        """
        order = sorted(self.trials, key=lambda trial: (trial.is_fine, _size(trial)))
        first = min(order, key=lambda trial: (trial.right, trial.is_fine, trial.profile.steps))
        if all(trial.right_but_for_races and not trial.leaves_arrays for trial in order):
            return None  # what threads do to each other shows in no number
        edits = [edit for edit in self.edits(first) if self.distance(edit) <= FARTHEST]
        kept = int(KEPT * self.steps)
        block = self.telling_block(first)
        own, given = (
            [edit for edit in edits if edit.is_given is is_given] for is_given in (False, True)
        )
        for band in (*self.bands(own), *self.bands(given)):
            if self.steps <= kept:
                break
            self.steps -= kept
            alone = self.right_alone(band, first, block)
            self.steps = max(self.steps, 0) + kept
            found = self.first_verified(alone, order)
            if found:
                return found
        self.steps = min(self.steps, STEPS_OF_PAIRS)
        wide = next((trial for trial in order if _is_wide(trial) and not trial.right), first)
        singly = self.tried([edit for edit in own if edit.kind in IN_PAIRS], wide)
        return self.first_verified(self.pairs(singly, wide), order)

    def without_costs(self, exact: Trial) -> Iterator[tuple[Edit, set[str]]]:
        """Changes of who accesses what, with which an answer stays right and a launch has fewer
        kinds of costs, the nearest first; each with those that are left."""
        order = sorted((trial for trial in self.trials if trial.case.is_counted), key=_size)
        edits = [edit for edit in self.edits(exact) if edit.kind in OF_MAPPINGS]
        for trial in order[:SIFTED]:
            edits = [variant.edit for variant in self.tried(edits, trial) if variant.is_right]
        before = self.cost_codes(self.launcher, exact, warnings=True)
        for edit in self.nearest(edits)[:MOST_MEASURED]:
            changed = self.launcher.with_kernel(edit.applied(self.kernel))
            with suppress(KernelRejected):
                left = self.cost_codes(changed, changed.run(exact.case), warnings=True)
                if left < before and self.is_right(edit, order):
                    yield edit, left

    def larger_array(self, array: str) -> Edit | None:
        """An array of the answer's own, twice as long along each axis: if that is all it lacks.

        The copies of a launch share the sizes of arrays, so this change is tried by itself.
        """
        source = self.launcher.source
        call = source.own_arrays().get(array)
        own = call is not None and call.lineno < Line.FIRST_AROUND
        for tree in source.functions if own else ():
            for node, path in walk(tree):
                if node is call and call.args:
                    new: dict[Path, ast.expr] = {(*path, ("args", 0)): _doubled(call.args[0])}
                    edit = Edit("array too small", call.lineno, 1, tree, new)
                    return edit if self.is_right(edit, self.trials) else None
        return None

    def telling_block(self, trial: Trial) -> tuple[int, int] | None:
        """A block of which nothing that it writes is right; None if there is none."""
        if "atomic" in self.kernel.source:  # blocks make an element together
            return None
        wide, high, *_ = (*trial.profile.grid, 1)
        nothing = Edit("", 0, 0, self.kernel.tree)
        for block in dict.fromkeys([(wide - 1, high - 1), (0, 0), (wide // 2, high // 2)]):
            if any(
                not variant.right_as_far_as_written
                for variant in self.launched([nothing], trial, block)
            ):
                return block
        return None

    def right_alone(
        self, edits: Sequence[Edit], trial: Trial, block: tuple[int, int] | None
    ) -> list[Edit]:
        """The changes with which the launch is right; of a block, as far as it writes."""
        tried = self.tried(edits, trial, block)
        return [
            variant.edit
            for variant in tried
            if (variant.right_as_far_as_written if block else variant.is_right)
        ]

    def bands(self, edits: Sequence[Edit]) -> Iterator[list[Edit]]:
        """The changes that are tried together, the nearest first."""
        band: list[Edit] = []
        for _, alike in groupby(sorted(edits, key=self.distance), key=self.distance):
            band += alike
            if len(band) >= FEWEST_AT_ONCE:
                for of_loops in (False, True):
                    yield [edit for edit in band if edit.is_of_a_loop is of_loops]
                band = []
        yield band

    def distance(self, edit: Edit) -> int:
        """How far a change is from what was written, and from where the numbers point."""
        if not self.suspects:
            return edit.cost
        return edit.cost + min(self.suspects.get(edit.line, AWAY), AWAY)

    def first_verified(self, edits: list[Edit], order: Sequence[Trial]) -> Edit | None:
        """The first of the changes with which all launches are right, and no cost is new."""
        for number, trial in enumerate(order):  # in step: that costs least
            if number >= SIFTED and len(edits) <= MOST_WATCHED:
                break
            in_step = replace(trial, case=replace(trial.case, schedule="lockstep"))
            variants = self.tried(edits, in_step)
            if number < SIFTED:
                edits = [variant.edit for variant in variants if variant.is_right]
            else:  # a longer loop may be cut off here
                wrong = {variant.edit for variant in variants if not variant.is_right}
                edits = [edit for edit in edits if edit.is_of_a_loop or edit not in wrong]
        nearest = self.nearest(edits)[:MOST_WATCHED]
        most = min(map(self.distance, nearest), default=0) + ABOUT_AS_NEAR
        dear: list[Edit] = []
        for is_near in (True, False):  # to count a cost takes long: the near ones first
            alike = [edit for edit in nearest if (self.distance(edit) <= most) is is_near]
            for edit, lacks in self.cheapest_first(alike, exact_of(order)):
                if lacks:
                    dear.append(edit)
                elif self.is_right(edit, order):
                    return edit
        return next((edit for edit in dear if self.is_right(edit, order)), None)

    def nearest(self, edits: Sequence[Edit]) -> list[Edit]:
        """The changes in the order of their distance; of those of one kind in one line, each comes
        after the one before it, since the same is said of all."""
        alike: Counter[tuple[str, int]] = Counter()
        rank: dict[Edit, int] = {}
        for edit in sorted(edits, key=self.distance):
            rank[edit] = self.distance(edit) + alike[edit.kind, edit.line]
            alike[edit.kind, edit.line] += 1
        return sorted(rank, key=lambda edit: rank[edit])

    def cheapest_first(
        self, edits: list[Edit], exact: Trial | None
    ) -> Iterator[tuple[Edit, set[str]]]:
        """The changes that break no requirement of the exercise, each with those still missed: no
        cheap ways out. Those with which less memory traffic is asked for come first: nobody means
        to walk down a column, or to have work done twice. Those with which a launch takes much
        longer are measured only if no other will do."""
        if not edits or exact is None:
            yield from ((edit, set()) for edit in edits)
            return
        most = LONGER * exact.profile.steps + LEAST_STEPS
        long: list[Edit] = []
        yield from self.measured(edits, exact, most, long)
        yield from self.measured(long, exact, BUDGET.steps, [])

    def measured(
        self, edits: list[Edit], exact: Trial, most: int, long: list[Edit]
    ) -> list[tuple[Edit, set[str]]]:
        """Those changes that are done after so many steps; the others are added to `long`."""
        refused = self.cost_codes(self.launcher, exact) if edits else set()
        traffic: dict[Edit, tuple[int, int]] = {}
        missed: dict[Edit, set[str]] = {}
        for edit in edits:
            changed = self.launcher.with_kernel(edit.applied(self.kernel))
            changed.most_steps = most
            try:
                trial = changed.run(exact.case)
            except KernelRejected:  # by itself it has another type than among others
                continue
            if trial.runs_out:
                long.append(edit)
                continue
            missed[edit] = self.cost_codes(changed, trial)
            if missed[edit] <= refused:
                profile = trial.profile
                traffic[edit] = (
                    profile.global_load_sectors + profile.global_store_sectors,
                    profile.shared_load_wavefronts + profile.shared_store_wavefronts,
                )
        cheapest = sorted(traffic, key=lambda edit: (traffic[edit], self.distance(edit)))
        return [(edit, missed[edit]) for edit in cheapest]

    def cost_codes(self, launcher: Launcher, trial: Trial, warnings: bool = False) -> set[str]:
        """What the exercise asks for beside a right result, and a launch lacks; with `warnings`
        also what it only advises."""
        costs = requirements.judge(launcher.exercise, Measured(launcher, trial))
        return {cost.code for cost in costs if warnings or cost.severity == "error"}

    def pairs(self, found: Sequence[Variant], trial: Trial) -> list[Edit]:
        """Two changes of one kind at once, as of both axes: of those that make more right."""
        before = trial.outcome.right & ~np.bool_(trial.leaves_arrays)
        gains = [(int((variant.right & ~before).sum()), variant.edit) for variant in found]
        best: dict[tuple[object, ...], list[tuple[int, Edit]]] = {}
        for gain, edit in sorted(gains, key=lambda gained: -gained[0]):
            alike = best.setdefault((edit.kind, edit.tree, *edit.values, *edit.statements), [])
            if gain and len(alike) < ALIKE:
                alike.append((gain, edit))
        chosen = [gained for alike in best.values() for gained in alike]
        both = [
            (one.cost + other.cost, -gain - also, one.and_also(other))
            for (gain, one), (also, other) in combinations(chosen, 2)
            if one.kind == other.kind and one.apart(other)
        ]
        both.sort(key=lambda pair: pair[:2])
        pairs = [edit for _, _, edit in both[:MOST_PAIRS]]
        return [variant.edit for variant in self.tried(pairs, trial) if variant.is_right]

    def tried(
        self, edits: Sequence[Edit], trial: Trial, block: tuple[int, int] | None = None
    ) -> list[Variant]:
        """What each change makes of this launch, or of one of its blocks."""
        parts = self.parts(edits, trial, block)
        return [variant for part in parts for variant in self.launched(part, trial, block)]

    def edits(self, trial: Trial) -> list[Edit]:
        """Every small change to a function of the student's own, the likeliest first."""
        found: list[Edit] = []
        outcome = trial.outcome
        wrong = outcome.known & ~outcome.right
        deviation = CommonDeviation.of(outcome.values[wrong], outcome.expected[wrong])
        for typing in self.own_functions(typing_for(self.kernel, self.arguments(trial))):
            kernel = typing.kernel
            written = variables_in(kernel.tree)
            constants = [
                name
                for name, value in kernel.namespace.items()
                if type(value) is int and name in written
            ]
            found += edits_of(typing, constants, self.given, deviation=deviation)
        return sorted(found, key=lambda edit: edit.cost)

    def own_functions(self, typing: Typing) -> Iterator[Typing]:
        """The functions that run and are part of the answer, each once."""
        task = self.launcher.exercise
        others = given_to(task, self.kernel.namespace)
        others |= {task.caller and CALLER} if isinstance(task, Task) else set()
        seen: list[Typing] = [typing]
        for function in seen:
            callees = (called for called in function.calls.values() if isinstance(called, Typing))
            known = [other.kernel.tree for other in seen]
            seen += [called for called in callees if called.kernel.tree not in known]
            if function.kernel.name not in others and isinstance(
                function.kernel.tree, ast.FunctionDef
            ):
                yield function

    @cached_property
    def nodes(self) -> int:
        """Of the kernel: to type one costs about as much as a step."""
        return sum(1 for _ in ast.walk(self.kernel.tree))

    @cached_property
    def given(self) -> frozenset[str]:
        """The lines of text that every student is given, and may leave where they are."""
        task = self.launcher.exercise
        texts = (task.given, task.answer) if isinstance(task, Task) else ("", "")
        given, answer = ({line.rstrip() for line in text.splitlines()} for text in texts)
        return frozenset(given & answer)

    def arguments(self, trial: Trial, copies: int = 0) -> tuple[object, ...]:
        """What a launch is given; with so many copies of the output."""
        outcome = trial.outcome
        shape = (copies, *outcome.expected.shape) if copies else outcome.expected.shape
        output = np.full(shape, outcome.poison, np.float32)
        return (*as_held(self.launcher.problem, outcome.inputs), output)

    def parts(
        self, edits: Sequence[Edit], trial: Trial, only: tuple[int, int] | None
    ) -> Iterator[list[Edit]]:
        """The changes that run as blocks of one launch; those that take long, apart."""
        lanes = prod(trial.profile.block) * (1 if only else prod(trial.profile.grid))
        for of_loops, loads in product((False, True), repeat=2):
            most = MOST_LOADS if loads else MOST_CHANGES
            size = max(1, min(most, MOST_LANES // lanes))
            alike = [edit for edit in edits if (edit.is_of_a_loop, edit.loads) == (of_loops, loads)]
            for start in range(0, len(alike), size):
                yield alike[start : start + size]

    def launched(
        self, edits: list[Edit], trial: Trial, only: tuple[int, int] | None = None
    ) -> list[Variant]:
        """What changes make of one launch; each half by itself, where one of them cannot run."""
        if not edits or self.steps <= 0:
            return []
        case, outcome = trial.case, trial.outcome
        most = min(self.steps, MOST_OF_LOOPS if edits[0].is_of_a_loop else MOST_AT_ONCE)
        launch = self.launcher.launch(case)
        arguments = self.arguments(trial, len(edits))
        options = EmulationOptions(
            schedule=case.schedule,
            seed=self.launcher.seed,
            counters=False,
            races=False,
            budget=Budget(most, MOST_BYTES, printed_lines=0, lanes_per_step=LANES_PER_STEP),
        )
        variants = [edit.parts for edit in edits]
        along = 0 if case.along is None else case.shape[case.along]  # a mended loop may go
        most_turns = max(trial.profile.steps // 2, along) + MORE_TURNS
        changed = schemata(self.kernel, variants, self.kernel.parameters[-1:], most_turns)
        self.steps -= STEPS_OF_TYPING * len(edits) + self.nodes
        try:
            typing = typing_for(changed, arguments)
            shape = LaunchShape.of_copies(launch.grid, launch.block, len(edits))
            notes = OutsideNotes(len(edits))
            self.steps -= run_unwatched(typing, arguments, shape, options, (notes,), only)
        except BudgetExceeded:
            self.steps -= most
            return []
        except KernelRejected as rejected:
            parts = _without_refused(edits, rejected)
            return [variant for part in parts for variant in self.launched(part, trial, only)]
        outputs: Array = arguments[-1]  # type: ignore[assignment]
        return [
            Variant(edit, replace(outcome, got=output), bool(outside))
            for edit, output, outside in zip(edits, outputs, notes.outside, strict=True)
        ]

    def is_right(self, edit: Edit, trials: Sequence[Trial]) -> bool:
        """Is the answer right with a change, and without a fault, wherever it was launched?"""
        changed = edit.applied(self.kernel)
        return all(self.is_right_in(trial, changed) for trial in trials)

    def is_right_in(self, trial: Trial, kernel: Kernel) -> bool:
        try:
            profile, output = self.watched(trial, kernel)
        except KernelRejected:
            return False
        right = replace(trial.outcome, got=output).right.all()
        return bool(right) and all(finding.severity != "error" for finding in profile.findings)

    def watched(self, trial: Trial, kernel: Kernel, races: bool = True) -> tuple[Profile, Array]:
        """A kernel in a launch, as the emulator sees it, and the output; `races`: or but for races.

        Raises:
            KernelRejected: if it cannot be launched.
        """
        launcher, case = self.launcher, trial.case
        launch = launcher.launch(case)
        emulation = emulate(
            kernel,
            schedule=case.schedule,
            seed=launcher.seed,
            counters=False,
            races=races,
            budget=replace(BUDGET, steps=case.steps(launcher.problem)),
            outputs=launcher.names[-1:] if launcher.problem.starts_blank else (),
        )
        arguments = self.arguments(trial)
        profile = emulation[launch.grid, launch.block](*arguments)
        return profile, np.asarray(arguments[-1])


def _doubled(shape: ast.expr) -> ast.expr:
    if isinstance(shape, ast.Tuple):
        return ast.Tuple([_doubled(side) for side in shape.elts], ast.Load())
    if isinstance(shape, ast.Constant) and isinstance(shape.value, int):
        return ast.Constant(2 * shape.value)
    return ast.BinOp(ast.Constant(2), ast.Mult(), shape)


def _without_refused(edits: list[Edit], rejected: KernelRejected) -> list[list[Edit]]:
    """Parts of some changes, of which at least one is refused; a single one is left out."""
    if len(edits) == 1:
        return []
    line = rejected.findings[0].line
    there = [edit for edit in edits if any(part.line == line for part in edit.parts)]
    if 0 < len(there) < len(edits):
        return [[edit for edit in edits if edit not in there], there]
    half = len(edits) // 2
    return [edits[:half], edits[half:]]


def _is_wide(trial: Trial) -> bool:
    """Are there several blocks along every axis?"""
    return min(trial.profile.grid[:2]) > 1


def _size(trial: Trial) -> int:
    """How much a launch is to run."""
    return prod((*trial.profile.grid, *trial.profile.block)) * trial.profile.steps
