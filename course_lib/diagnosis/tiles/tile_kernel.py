"""Examines a kernel of a tile language: launches it on the tile machine, and says what is wrong.

Nothing of it is executed. First comes what the machine finds by itself, then the one change that
makes every launch right, then what the task knows of wrong answers, then where numbers are wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from course_lib.curriculum import Task
from course_lib.diagnosis.launches.outcome import OUTSIDE, by_how_much, where
from course_lib.diagnosis.number_patterns import idea_behind, ideas_of, not_finite
from course_lib.diagnosis.repair.causes import code_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.report import Report, Tried, make_report
from course_lib.diagnosis.source.tree import last_name, names_bound, nodes_in
from course_lib.diagnosis.tiles.tile_launches import (
    STEPS_OF_ALL_CHANGES,
    STEPS_WITH_AN_IDEA,
    TileLauncher,
    TileTrial,
    edit_that_repairs,
    launched,
)
from course_lib.diagnosis.tiles.words import SAYS, tell
from course_lib.diagnosis.words import NEVER_WRITTEN
from course_lib.emulator.language.kernel import says_nothing
from course_lib.registry.exercise import WrongIdea
from course_lib.registry.kinds import TileKind
from course_lib.tiles import EmulatedTiles
from course_lib.tiles.launch import LANGUAGES
from course_lib.tiles.reading import TileProgram
from course_lib.wording.findings import Finding, by_importance, finding
from course_lib.wording.sentences import Line, Sentence, say, with_values

# After one of these no other launch says more, and no change is looked for.
FINAL = frozenset(("timeout", "unsupported", "not-allowed", "missing-answer", "invalid-launch"))
STOPS = FINAL | {"compile-error"}
STORES = ("store", "scatter", "atomic_add")
# What these say is the cause, at its line.
SAID = ("missing-mask",)


def examine(task: Task, program: TileProgram, name: str, line: int, seed: int = 0) -> Report:
    """The verdict on the function of this name in a text, which is defined at this line."""
    assert isinstance(task.kind, TileKind)
    function = program.functions.get(name)
    if function is None or not function.is_kernel:
        wanted, decorator = task.kind.title, task.kind.decorator
        told = tell("no kernel", line, kernel=name, wanted=wanted, decorator=decorator)
        return make_report(task, [told])
    kernel = EmulatedTiles(program, function)
    absent = _missing(task, task.kind, kernel)
    if absent:
        return make_report(task, [absent])
    launcher = TileLauncher(task, seed)
    trials = list(launched(launcher, kernel, STOPS))
    wrong = [trial for trial in trials if not trial.right]
    found = [TileCause(launcher, kernel, trials).told()] if wrong else []
    warned = {
        (warning.code, warning.line): warning for trial in trials for warning in trial.warnings
    }
    known = {(finding.code, finding.line) for finding in found}
    found += [warning for place, warning in warned.items() if place not in known]
    report = make_report(task, found, _held(launcher, trials), numbers_right=not wrong)
    tried = tuple(Tried(launcher.label(trial.tried), trial.right, trial.grid) for trial in trials)
    return replace(report, tried=tried, counts=_counts(trials[0]) if not wrong else {})


def _missing(task: Task, kind: TileKind, kernel: EmulatedTiles) -> Finding | None:
    """The finding for an answer that is not there yet."""
    function = kernel.function
    line, names = function.tree.lineno, {"kernel": function.name, "output": task.output}
    if says_nothing(function.tree.body):
        return tell("empty", line, **names)
    if function.language != kind.language:
        said = LANGUAGES[function.language].TITLE
        return tell("other language", line, kernel=function.name, language=said, wanted=kind.title)
    wanted = len(task.parameters) + len(task.scalars) + len(task.constants)
    if len(function.parameters) != wanted:
        own = ", ".join(function.parameters)
        return tell("other parameters", line, kernel=function.name, own_parameters=own,
                    signature=task.signature)  # fmt: skip
    return None


def _held(launcher: TileLauncher, trials: Sequence[TileTrial]) -> list[str]:
    """What can be said in favour of an answer."""
    right = sum(trial.right for trial in trials)
    codes = {error.code for trial in trials for error in trial.errors}
    if codes & STOPS:
        return []
    held = [launcher.problem.formula + f" in all {right} launches"] if right == len(trials) else []
    if 0 < right < len(trials):
        held = [f"right in {right} of {len(trials)} launches"]
    if not codes & {*OUTSIDE}:
        held.append("no program leaves an array")
    if not any(code.startswith("race-") for code in codes):
        held.append("no races")
    return held


def _counts(trial: TileTrial) -> dict[str, int]:
    counts = trial.counts
    return {} if counts is None else {
        "global_load_bytes": counts.global_load_bytes,
        "global_store_bytes": counts.global_store_bytes,
    }  # fmt: skip


@dataclass
class TileCause:
    """Why a kernel is wrong.

    Args:
        launcher: launches it.
        kernel: the kernel.
        trials: what its launches showed.
    """

    launcher: TileLauncher
    kernel: EmulatedTiles
    trials: Sequence[TileTrial]

    def told(self) -> Finding:
        """The cause, as far as it is found."""
        seen = self.seen
        if seen.code in (*FINAL, *SAID):
            return seen
        if self.edit:
            return self.by_a_change(self.edit)
        if self.idea and seen.code in ("wrong-result", "incomplete-output"):
            message = tell.says("other numbers", output=self.task.output, says=self.idea.says)
            code = self.idea.code or "wrong-formula"
            return finding(code, message, self.last_store, self.idea.hint, "error")
        dropped = next(
            (
                warning
                for trial in self.wrong
                for warning in trial.warnings
                if warning.code == "no-effect"
            ),
            None,
        )
        if dropped and seen.code in ("wrong-result", "incomplete-output"):
            message = tell.says("dropped", seen=seen.message, dropped=dropped.message)
            return replace(dropped, message=message, severity="error")
        if self.lost and seen.code == "wrong-result":
            return replace(self.lost, line=seen.line, severity="error")
        return tell.again("unexplained", seen) if seen.code == "wrong-result" else seen

    @property
    def task(self) -> Task:
        return self.launcher.task

    @cached_property
    def wrong(self) -> list[TileTrial]:
        """The launches that went wrong, the smallest first."""
        return sorted((t for t in self.trials if not t.right), key=lambda trial: trial.size)

    @cached_property
    def seen(self) -> Finding:
        """The most important thing that shows."""
        errors = by_importance(error for trial in self.trials for error in trial.errors)
        if errors:  # what is written outside may meet what others write: that only follows
            return next((error for error in errors if error.code in OUTSIDE), errors[0])
        changed = next((name for trial in self.wrong for name in trial.changed), "")
        if changed:
            formula = self.launcher.problem.formula
            return tell("written input", self.last_store, name=changed, formula=formula)
        trial = self.wrong[0]
        outcome, sizes = trial.outcome, self.launcher.label(trial.tried)
        odd = next((t for t in self.wrong if not np.isnan(t.outcome.poison)), None)
        if odd and odd.outcome.untouched.all():
            sizes = self.launcher.label(odd.tried)
            return tell("nothing stored", self.last_store, output=self.task.output, sizes=sizes)
        never = outcome.untouched & ~outcome.right
        said: Sentence | str = ""
        if never.any() and not np.isnan(outcome.poison):
            said = say(NEVER_WRITTEN, where=where(never, outcome.sizes))
        place = where(~outcome.right, outcome.sizes)
        found = tell("wrong", self.last_store, sizes=sizes, place=place, unwritten=said)
        return replace(found, message=with_values(found.message, f"{by_how_much(outcome)}."))

    @cached_property
    def edit(self) -> Edit | None:
        suspect = None if self.seen.code == "wrong-result" else self.seen.line
        steps = STEPS_WITH_AN_IDEA if self.idea else STEPS_OF_ALL_CHANGES
        return edit_that_repairs(self.launcher, self.kernel, self.trials, suspect, steps)

    @cached_property
    def idea(self) -> WrongIdea | None:
        """What is known to come out of inputs like these where an answer is wrong."""
        ideas = ideas_of(self.task, self.launcher.problem)
        clean = [trial.outcome for trial in self.wrong if not trial.errors]
        found = (idea_behind(ideas, outcome, clean) for outcome in clean)
        return next(filter(None, found), None)

    @cached_property
    def lost(self) -> Finding | None:
        """What is said of numbers that are none."""
        found = (not_finite(trial.outcome) for trial in self.wrong if not trial.errors)
        return next(filter(None, found), None)

    @cached_property
    def last_store(self) -> int:
        """The line where wrong numbers show: of the last store, or of the variable stored there."""
        tree = self.kernel.function.tree
        stores = [node for node in nodes_in(tree, ast.Call) if last_name(node.func) in STORES]
        if not stores:
            return tree.lineno
        store = max(stores, key=lambda node: node.lineno)
        named = [keyword.value for keyword in store.keywords if keyword.arg in ("tile", "value")]
        stored = (named or store.args or [store])[-1]
        lines = [
            node.lineno
            for node in nodes_in(tree, ast.Assign)
            if isinstance(stored, ast.Name)
            and node.lineno < store.lineno
            and stored.id in names_bound(node)
        ]
        return max(lines, default=store.lineno)

    def by_a_change(self, edit: Edit) -> Finding:
        """Where one change makes every launch right, and what showed without it."""
        seen, message = self.seen, self.seen.message
        says, hint = said_of(edit, SAYS)
        code = code_of(edit, seen.code)
        if seen.code == "compile-error":
            code = seen.code
        if self.idea and seen.code in ("wrong-result", "incomplete-output"):
            message = tell.says("other numbers", output=self.task.output, says=self.idea.says)
            hint, code = say(self.idea.hint), self.idea.code or code
        elif seen.code != "wrong-result" and seen.line not in (None, edit.line):
            message = tell.says("shows elsewhere", line=Line(seen.line), seen=message)
        told = tell.says("one change", seen=message, says=says)
        return finding(code, told, edit.line, hint, "error")
