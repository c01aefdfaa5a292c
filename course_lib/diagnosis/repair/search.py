"""Looks for the one small change with which an answer is right.

All changes are tried at once, as the blocks of a few launches (see `schemata`): first in the
smallest launch that went wrong, those that are right there in the next one, and so on. What is left
then runs by itself, watched, in every launch that was made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from math import prod

import numpy as np

from course_lib.callers import CALLER
from course_lib.curriculum import Task
from course_lib.diagnosis.launcher import BUDGET, Launcher
from course_lib.diagnosis.problems.inputs import as_held
from course_lib.diagnosis.provenance.suspects import explained
from course_lib.diagnosis.provenance.tables import experiment
from course_lib.diagnosis.repair.edits import Edit, Edits
from course_lib.diagnosis.repair.schemata import schemata
from course_lib.diagnosis.trial import Trial, leaves_arrays, runs_out
from course_lib.emulator import Budget, Kernel, KernelRejected, emulate
from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.options import EmulationOptions, LaunchShape
from course_lib.emulator.unwatched import OutsideNotes, run_unwatched, typing_for

MOST_LANES = 200_000  # of one launch
MOST_CHANGES = 400  # in one launch
MOST_LOADS = 40  # of changes that load something, for which all lanes are gone through
SIFTED = 4  # launches in which changes are tried together
MOST_WATCHED = 8  # changes that are tried by themselves
AWAY = 3  # at most, what it counts that a change lies far from where the numbers point
FARTHEST = 5  # from what was written and suspected, that a change may be
STEPS_OF_TYPING = 17  # what it costs to type one change, in steps of the machine
MOST_STEPS = 80_000  # of all launches of changes together
MOST_BYTES = 1 << 30
ALIKE, MOST_PAIRS = 4, 500  # changes at one place, and pairs, that are tried
IN_PAIRS = ("name", "size", "axis", "register", "block", "factor", "term", "exchange", "indices")
Array = np.ndarray


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

    def repairs(self) -> list[Edit]:
        """The changes with which every launch is right and clean, the smallest first.

        Where none is, two places are changed at once: of those changes that make more right.
        """
        order = sorted(self.trials, key=lambda trial: (_is_fine(trial), _size(trial)))
        first = order[0]
        in_step = [trial for trial in order if trial.case.schedule == "lockstep"]
        if all(trial.right and not leaves_arrays(trial) for trial in in_step):
            return []  # what threads do to each other shows in no number
        edits = [edit for edit in self.edits(first) if self.distance(edit) <= FARTHEST]
        edits.sort(key=self.distance)
        found = self.tried(edits, first)
        found_right = self.verified([edit for edit, right in found if right.all()], order)
        if found_right:
            return found_right
        wide = next((trial for trial in order if _is_wide(trial) and not trial.right), first)
        if wide is not first:
            found = self.tried([edit for edit in edits if edit.kind in IN_PAIRS], wide)
        return self.verified(self.pairs(found, wide), order)

    def distance(self, edit: Edit) -> int:
        """How far a change is from what was written, and from where the numbers point."""
        if not self.suspects:
            return edit.cost
        return edit.cost + min(self.suspects.get(edit.line, AWAY), AWAY)

    def verified(self, edits: list[Edit], order: Sequence[Trial]) -> list[Edit]:
        """Those of the changes with which all launches are right."""
        for trial in order[1:SIFTED]:
            edits = [edit for edit, right in self.tried(edits, trial) if right.all()]
        return [edit for edit in edits[:MOST_WATCHED] if self.is_right(edit, order)]

    def pairs(self, found: Sequence[tuple[Edit, Array]], trial: Trial) -> list[Edit]:
        """Two changes of one kind at once, as of both axes: of those that make more right."""
        before = trial.outcome.right & ~np.bool_(leaves_arrays(trial))
        gains = [(int((right & ~before).sum()), edit) for edit, right in found]
        best: dict[tuple[object, ...], list[tuple[int, Edit]]] = {}
        for gain, edit in sorted(gains, key=lambda each: -each[0]):
            alike = best.setdefault((edit.kind, edit.tree, *edit.values, *edit.statements), [])
            if gain and len(alike) < ALIKE:
                alike.append((gain, edit))
        chosen = [each for alike in best.values() for each in alike]
        both = [
            (one.cost + other.cost, -gain - also, one.and_also(other))
            for (gain, one), (also, other) in combinations(chosen, 2)
            if one.kind == other.kind and one.apart(other)
        ]
        both.sort(key=lambda each: each[:2])
        pairs = [edit for _, _, edit in both[:MOST_PAIRS]]
        return [edit for edit, right in self.tried(pairs, trial) if right.all()]

    def tried(self, edits: Sequence[Edit], trial: Trial) -> list[tuple[Edit, Array]]:
        """Each change, with which elements are right with it in this launch."""
        return [each for part in self.parts(edits, trial) for each in self.right(part, trial)]

    def edits(self, trial: Trial) -> list[Edit]:
        """Every small change to a function of the student's own, the likeliest first."""
        found: list[Edit] = []
        for typing in self.own_functions(typing_for(self.kernel, self.arguments(trial))):
            kernel = typing.kernel
            written = {node.id for node in ast.walk(kernel.tree) if isinstance(node, ast.Name)}
            constants = [
                name
                for name, value in kernel.namespace.items()
                if type(value) is int and name in written
            ]
            found += Edits(typing, constants, self.given).all()
        return sorted(found, key=lambda edit: edit.cost)

    def own_functions(self, typing: Typing) -> Iterator[Typing]:
        """The functions that run and are part of the answer, each once."""
        task = self.launcher.exercise
        others = {*task.uses, task.caller and CALLER} if isinstance(task, Task) else set()
        seen: list[Typing] = [typing]
        for each in seen:
            callees = (called for called in each.calls.values() if isinstance(called, Typing))
            known = [other.kernel.tree for other in seen]
            seen += [called for called in callees if called.kernel.tree not in known]
            if each.kernel.name not in others and isinstance(each.kernel.tree, ast.FunctionDef):
                yield each

    @cached_property
    def given(self) -> frozenset[str]:
        """The lines of text that every student is given."""
        task = self.launcher.exercise
        text = task.given if isinstance(task, Task) else ""
        return frozenset(line.strip() for line in text.splitlines() if line.strip())

    def arguments(self, trial: Trial, copies: int = 0) -> tuple[object, ...]:
        """What a launch is given; with so many copies of the output."""
        outcome = trial.outcome
        shape = (copies, *outcome.expected.shape) if copies else outcome.expected.shape
        output = np.full(shape, trial.case.poison, np.float32)
        return (*as_held(self.launcher.problem, outcome.inputs), output)

    def parts(self, edits: Sequence[Edit], trial: Trial) -> Iterator[list[Edit]]:
        """The changes that run as blocks of one launch; those that take long, apart."""
        lanes = prod((*trial.profile.grid, *trial.profile.block))
        for of_loops, loads in product((False, True), repeat=2):
            most = MOST_LOADS if loads else MOST_CHANGES
            size = max(1, min(most, MOST_LANES // lanes))
            alike = [edit for edit in edits if (edit.is_of_a_loop, edit.loads) == (of_loops, loads)]
            for start in range(0, len(alike), size):
                yield alike[start : start + size]

    def right(self, edits: list[Edit], trial: Trial) -> list[tuple[Edit, Array]]:
        """What changes make right in one launch; each half by itself, where one cannot run."""
        if not edits or self.steps <= 0:
            return []
        case, outcome = trial.case, trial.outcome
        launch = self.launcher.launch(case)
        arguments = self.arguments(trial, len(edits))
        grid, block = ((*sizes, 1, 1)[:3] for sizes in (launch.grid, launch.block))
        options = EmulationOptions(
            schedule=case.schedule,
            seed=self.launcher.seed,
            counters=False,
            races=False,
            budget=Budget(steps=self.steps, bytes=MOST_BYTES, printed_lines=0),
        )
        changed = schemata(self.kernel, edits, 2 * max(*case.shape, 32) + 8)
        self.steps -= STEPS_OF_TYPING * len(edits)
        try:
            typing = typing_for(changed, arguments)
            shape = LaunchShape((grid[0], grid[1], len(edits)), block, 0)
            notes = OutsideNotes(len(edits))
            self.steps -= run_unwatched(typing, arguments, shape, options, (notes,))
        except BudgetExceeded:
            self.steps = 0
            return []
        except KernelRejected:
            half = len(edits) // 2
            return self.right(edits[:half], trial) + self.right(edits[half:], trial) if half else []
        outputs = arguments[-1]
        return [
            (edit, replace(outcome, got=output).right & ~outside)
            for edit, output, outside in zip(edits, outputs, notes.outside, strict=True)  # type: ignore[arg-type]
        ]

    def is_right(self, edit: Edit, trials: Sequence[Trial]) -> bool:
        """Is the answer right with a change, and without a fault, wherever it was launched?"""
        changed = edit.applied(self.kernel)
        return all(self.is_right_in(trial, changed) for trial in trials)

    def is_right_in(self, trial: Trial, kernel: Kernel) -> bool:
        launcher, case = self.launcher, trial.case
        launch = launcher.launch(case)
        emulation = emulate(
            kernel,
            schedule=case.schedule,
            seed=launcher.seed,
            counters=False,
            budget=replace(BUDGET, steps=case.steps(launcher.problem)),
            outputs=launcher.names[-1:] if launcher.problem.starts_blank else (),
        )
        arguments = self.arguments(trial)
        try:
            profile = emulation[launch.grid, launch.block](*arguments)
        except KernelRejected:
            return False
        right = replace(trial.outcome, got=np.asarray(arguments[-1])).right.all()
        return bool(right) and all(each.severity != "error" for each in profile.findings)


def smallest_repairs(launcher: Launcher, trials: Sequence[Trial]) -> list[Edit]:
    """The changes that make an answer right, those where the numbers point to first."""
    in_order = [trial for trial in trials if trial.case.is_counted]
    ending = [trial for trial in in_order if not runs_out(trial)]
    made = experiment(launcher, ending)
    lines = [line for fact in explained(made) for line in fact.lines] if made else []
    suspects = {line: rank for rank, line in enumerate(dict.fromkeys(lines))}
    return Search(launcher, in_order, suspects).repairs()


def _is_fine(trial: Trial) -> bool:
    return trial.right and not trial.errors


def _is_wide(trial: Trial) -> bool:
    """Are there several blocks along every axis?"""
    return min(trial.profile.grid[:2]) > 1


def _size(trial: Trial) -> int:
    """How much a launch is to run."""
    return prod((*trial.profile.grid, *trial.profile.block)) * trial.profile.steps
