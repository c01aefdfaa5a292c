"""Explains wrong numbers: by what they are made of, and by the one change that makes them right."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from course_lib.diagnosis.faults.traced import told_where_filled
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.launches.outcome import (
    OUTSIDE,
    Trial,
    array_of,
    by_how_much,
    exact_of,
    is_misaligned,
    where,
)
from course_lib.diagnosis.number_patterns import (
    idea_behind,
    ideas_of,
    not_finite,
    placed,
)
from course_lib.diagnosis.provenance import words as facts_in_words
from course_lib.diagnosis.provenance.dependence import Experiment, experiment
from course_lib.diagnosis.provenance.facts import Fact
from course_lib.diagnosis.provenance.suspects import explained
from course_lib.diagnosis.repair.causes import code_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.search import Search
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.words import tell
from course_lib.emulator import KernelRejected
from course_lib.emulator.budget import BudgetExceeded
from course_lib.registry.exercise import WrongIdea
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import Line, Sentence, facts_of, with_values

NUMBERS = ("wrong-result", "race-write-after-write", "incomplete-output")
# What these say is true and shows late; what the numbers are made of says more.
SYMPTOMS = (
    *(*NUMBERS, *OUTSIDE, "uninitialised-read"),
    *("wrong-bounds-check", "wrong-loop-bound", "wrong-index", "hardcoded-answer"),
)
# Where the numbers say more than the change that mends them.
OF_THE_NUMBERS = {"before": "uninitialised-read", "not meant": "wrong-index"}
MOST_LOOKED_AT = 3  # launches, beside the exact one, for an idea
# A change there says more than what the numbers equal.
OF_A_PLACE = ("wrong-loop-bound", "wrong-index", "wrong-bounds-check")
OF_LANES = ("uncoalesced-load", "uncoalesced-store", "bank-conflict")
STEPS_OF_COSTS = 20_000  # for the changes that may avoid one
UNFILLED = "uninitialised-read"
AGREES = 4  # lines that the numbers point to first: a change at one of them is the cause


def with_causes(launcher: Launcher, found: list[Finding], trials: Sequence[Trial]) -> list[Finding]:
    """The findings, with the first error explained where it is but a symptom."""
    first = next((finding for finding in found if finding.severity == "error"), None)
    if first is None or _is_of_large_sizes(first, trials):
        return found
    explanation = CauseSearch(launcher, first, trials)
    if first.line is not None and not explanation.is_needed:
        return found
    better = explanation.told()
    if explanation.repair:  # with it no launch shows an error: all of them follow from one cause
        return [better, *(finding for finding in found if finding.severity != "error")]
    return [better if finding is first else explanation.at_its_store(finding) for finding in found]


def at_their_mapping(
    launcher: Launcher, costs: Sequence[Finding], exact: Trial, trials: Sequence[Trial]
) -> list[Finding]:
    """The costs of a launch; those of how lanes meet memory where one change would end them."""
    wanted = {cost.code for cost in costs} & {*OF_LANES}
    ending: dict[str, Edit] = {}
    search = Search(launcher, trials, steps=STEPS_OF_COSTS)
    for edit, left in search.without_costs(exact) if wanted else ():
        ending = dict.fromkeys(wanted - left, edit) | ending
        if ending.keys() == wanted:
            break
    return [_at_a_change(cost, ending.get(cost.code)) for cost in costs]


def _at_a_change(cost: Finding, edit: Edit | None) -> Finding:
    if edit is None or cost.line in edit.lines:
        return cost
    said = tell.says("shows elsewhere", line=Line(cost.line or 0), seen=cost.message)
    message = tell.says("one change for a cost", seen=said, says=said_of(edit)[0])
    return replace(cost, message=message, line=edit.line)


def _writes_outside(trial: Trial) -> bool:
    """Does a thread write where no array is? What it meant to write is missing by chance."""
    return any(error.code == "out-of-bounds-write" for error in trial.errors)


def _is_of_large_sizes(first: Finding, trials: Sequence[Trial]) -> bool:
    """Is it told what number is a limit, beyond which alone the answer is wrong?"""
    wrong = [trial for trial in trials if not trial.right or trial.leaves_arrays]
    beyond = bool(wrong) and all(trial.case.along is not None for trial in wrong)
    return beyond and first.code != "wrong-result"


@dataclass
class CauseSearch:
    """What explains one finding.

    Args:
        launcher: launches the answer.
        seen: the finding.
        trials: what the launches showed.
    """

    launcher: Launcher
    seen: Finding
    trials: Sequence[Trial]

    @property
    def is_needed(self) -> bool:
        """Is it but a symptom? So is a race where launches without one are wrong as well."""
        clean = any(not trial.right and not trial.errors for trial in self.trials)
        return self.seen.code in SYMPTOMS or (clean and self.seen.code.startswith("race-"))

    def told(self) -> Finding:
        """The finding, explained; as it is where nothing explains it."""
        if not self.is_needed:  # it is known what is wrong, but not where
            return replace(self.seen, line=next(iter(self.ranks), None))
        if self.repair:
            return self.by_a_change(self.repair)
        if self.idea:
            return self.idea
        if self.seen.code in NUMBERS and self.telling and not self.says_less(self.telling):
            return self.by_a_fact(self.telling)
        if self.seen.code == "wrong-result":
            return self.unexplained()
        if self.seen.code == UNFILLED:
            return self.at_its_store(self.seen)
        line = self.line_of_index() if self.seen.code in OUTSIDE else None
        if line and self.seen.line not in (line, None):
            seen = tell.says("shows elsewhere", line=Line(self.seen.line), seen=self.seen.message)
            return replace(self.seen, message=seen, line=line)
        return replace(self.seen, line=self.seen.line or next(iter(self.ranks), None))

    def line_of_index(self) -> int | None:
        """Where the index of an access that leaves an array comes from, if it is one variable that
        serves nothing else, or counts a loop: the test around it, or a larger array, mends nothing.
        """
        source, place = self.launcher.source, facts_of(self.seen.message).get("place")
        if not isinstance(place, tuple) or place[1] < 0:  # before the first, a test is missing
            return None
        there = [node for node in self.accesses_of(self.seen) if isinstance(node, ast.Subscript)]
        lines = {source.origin_of_index(access, place[:1]) for access in there}
        return lines.pop() if len(lines) == 1 else None

    def at_its_store(self, seen: Finding) -> Finding:
        """A read of an empty cell where that should have been filled; others as they are."""
        if seen.code != UNFILLED:
            return seen
        return told_where_filled(seen, self.launcher, self.trials)

    def says_less(self, fact: Fact) -> bool:
        """Does this fact say less than the finding? Terms are missing in no order, or all are
        where one store replaces another."""
        replaced = self.seen.code == "race-write-after-write" and fact.kind == "independent"
        return fact.is_vague or replaced

    @cached_property
    def repair(self) -> Edit | None:
        """The smallest change with which all launches are right and clean."""
        if not self.is_needed or self.launcher.problem.boxes:
            return None
        counted = [trial for trial in self.trials if trial.case.is_counted]
        search = Search(self.launcher, counted, self.ranks)
        array = array_of(self.seen.cell)
        is_left = self.seen.code in OUTSIDE and array in self.launcher.source.own_arrays()
        return search.repair() or (search.larger_array(array) if is_left else None)

    @cached_property
    def facts(self) -> list[Fact]:
        """What is wrong with the numbers of a launch, where it is not known better."""
        if self.known and self.known[0].code:
            return []
        meet = self.seen.code == "race-write-after-write"
        try:
            return explained(self.experiment, meet) if self.experiment else []
        except (BudgetExceeded, KernelRejected):  # with other numbers it takes another way
            return []

    @cached_property
    def experiment(self) -> Experiment | None:
        """The launch that the facts are of.

        Raises:
            BudgetExceeded, KernelRejected: if it ends otherwise with other numbers.
        """
        if self.launcher.problem.boxes:  # copies of a launch have arrays, and no maps of them
            return None
        ending = [trial for trial in self.trials if trial.case.is_counted and not trial.runs_out]
        return experiment(self.launcher, ending)

    @cached_property
    def ranks(self) -> dict[int, int]:
        """The lines to which the numbers point, each with its rank from 0 on."""
        seen = self.idea or (None if self.seen.code in NUMBERS else self.seen)
        known = self.known_lines(seen) if seen and seen.line else []
        of_facts = (line for fact in self.facts for line in fact.lines)
        errors = (error for trial in self.trials for error in trial.errors)
        leaving = {
            error.line for error in errors if error.code == "out-of-bounds-write" and error.line
        }
        lossy = self.launcher.limits.lossy_casts()
        lines = dict.fromkeys([*lossy, *known, *sorted(leaving), *of_facts])
        return {line: rank for rank, line in enumerate(lines)}

    def known_lines(self, seen: Finding) -> list[int]:
        """The line of what was seen; before it, where an array is left, the tests around, and
        where a cell is empty, the stores that should fill it, with theirs."""
        source, lines = self.launcher.source, []
        is_empty = seen.code == UNFILLED
        for access in self.accesses_of(seen) if is_empty or seen.code in OUTSIDE else ():
            lines += [access.lineno] if is_empty else []
            for test, line in source.conditions(access):
                lines += source.lines_of_test(test, line)[::-1]
        return [*lines, seen.line or 0]

    def accesses_of(self, seen: Finding) -> list[ast.expr | ast.stmt]:
        """Where an access that leaves an array stands in the text, else the statement there; the
        stores of an array with an empty cell."""
        source, array = self.launcher.source, array_of(seen.cell)
        accesses = source.accesses(array, seen.code in ("out-of-bounds-write", UNFILLED))
        if seen.code == UNFILLED:
            return [*accesses]
        statement = source.at_line(seen.line or 0)
        there = [access for access in accesses if access.lineno == seen.line]
        return [*there] or ([statement] if statement else [])

    @cached_property
    def telling(self) -> Fact | None:
        return next((fact for fact in self.facts if fact.lines and fact.kind != "not finite"), None)

    @cached_property
    def exact(self) -> Trial | None:
        return exact_of(self.trials)

    @cached_property
    def lost(self) -> Finding | None:
        """What is said of numbers that are none, in the first launch that has some."""
        found = (not_finite(trial.outcome) for trial in self.trials if trial.case.is_counted)
        return next(filter(None, found), None)

    @cached_property
    def known(self) -> tuple[WrongIdea, Trial] | None:
        """What is known to come of inputs like these where an answer is wrong, and a launch."""
        # Whose number stays is chance; not so where a kernel that is given does the storing.
        is_chance = self.seen.code.startswith("race-") and not self.launcher.reads_for_a_caller
        if self.exact is None or is_chance:
            return None
        wrong = [t for t in self.trials if not t.right and t.case.is_counted]
        looked_at = [self.exact, *sorted(wrong, key=lambda trial: trial.telling)[:MOST_LOOKED_AT]]
        looked_at = [trial for trial in looked_at if not _writes_outside(trial)]
        ideas = ideas_of(self.launcher.exercise, self.launcher.problem)
        clean = [trial.outcome for trial in looked_at if not trial.right and not trial.errors]
        clean += [trial.outcome for trial in self.trials if trial.right and trial is not self.exact]
        for trial in looked_at:
            idea = idea_behind(ideas, trial.outcome, clean)
            if idea and (idea.code or trial is self.exact):  # others have inputs of another kind
                return idea, trial
        return None

    @cached_property
    def idea(self) -> Finding | None:
        """What is known, as a finding."""
        if self.known is None:
            return None
        (idea, trial), output = self.known, self.launcher.exercise.output
        message = tell.says("other numbers", output=output, says=idea.says)
        code, place = idea.code or "wrong-formula", idea.place or ("store",)
        told = finding(code, message, None, idea.hint)
        found = placed(self.launcher, told, place, trial)
        fact = None if idea.place else self.telling  # which index is wrong, not all entries say
        if fact and fact.kind in ("reads other", "paired", "moved"):
            return replace(found, line=fact.lines[0])
        return found

    def by_a_change(self, edit: Edit) -> Finding:
        """Where one change makes the answer right, with the idea or the fact that points there."""
        says, hint = said_of(edit)
        seen, message, has_values, of_facts = self.seen, self.seen.message, False, False
        hint = seen.hint if is_misaligned(seen) else hint  # type: ignore[assignment]
        agreeing = next((fact for fact in self.facts if edit.line in fact.lines[:AGREES]), None)
        fact = agreeing or (self.telling if seen.code == "wrong-result" else None)
        code = code_of(edit, self.shown_by(fact, edit))
        code = OF_THE_NUMBERS.get(agreeing.kind, code) if agreeing else code
        idea = self.idea if self.fits(edit, code) else None
        lost = self.lost if not idea and seen.code == "wrong-result" else None
        plain = seen.code not in NUMBERS and fact is not None and fact.kind == "unwritten"
        if idea:
            message, hint = idea.message, idea.hint  # type: ignore[assignment]
        elif fact and fact.kind != "not finite" and not plain:
            message, of_facts = self.sentence_of(fact)[0], True
        elif lost:  # perhaps in another launch than that whose numbers are told
            message, has_values = lost.message, True
        elif seen.code != "wrong-result" and seen.line not in (None, edit.line):
            message = tell.says("shows elsewhere", line=Line(seen.line or 0), seen=message)
        else:
            has_values = True
        told = tell.says("one change", seen=message, says=says)
        code = (idea and self.known and code not in OF_A_PLACE and self.known[0].code) or code
        code = lost.code if lost and code == "wrong-formula" else code
        found = finding(code, told, edit.line, hint, "error")
        return self.with_launch(found, has_values=has_values, of_facts=of_facts)

    def fits(self, edit: Edit, code: str) -> bool:
        """Is what is known of the numbers the cause? Others can give the same ones: a change at
        another line, of another kind, tells."""
        said = self.known[0].code if self.known else ""
        return not said or said == code or (self.idea is not None and self.idea.line == edit.line)

    def shown_by(self, fact: Fact | None, edit: Edit) -> str:
        """The code where a change does not tell: of what was seen, or what the numbers are."""
        if self.seen.code != "wrong-result" or fact is None or fact.kind == "not finite":
            return self.seen.code
        if fact.kind == "unwritten" or edit.line not in fact.lines[:AGREES]:
            return facts_in_words.TOLD[fact.kind][0]
        return facts_in_words.code_of(fact, self.launcher.source, edit.line)

    def by_a_fact(self, fact: Fact) -> Finding:
        """What the numbers are made of, at the line to which they point first."""
        code = facts_in_words.code_of(fact, self.launcher.source, fact.lines[0])
        message, hint = self.sentence_of(fact)
        if fact.kind == "unwritten" and self.experiment:
            gaps = self.experiment.unwritten.reshape(self.experiment.shape)
            part = where(gaps, self.launcher.problem.geometry(self.launcher.tile))
            several = tell.says("unwritten part", seen=message, where=part)
            message = several if gaps.sum() > 1 else message
        found = finding(code, message, fact.lines[0], hint, "error")
        return self.with_launch(found, of_facts=True)

    def unexplained(self) -> Finding:
        """Wrong numbers of which only a part is known."""
        if self.lost:
            line = next(iter(self.ranks), self.seen.line)
            return self.with_launch(
                replace(self.lost, line=line, severity="error"), has_values=True
            )
        return tell.again("unexplained", self.seen)

    def sentence_of(self, fact: Fact) -> tuple[Sentence, Sentence]:
        """A fact and a question; an element is one of a launch of a certain size."""
        letters = dict(zip(self.launcher.names, self.launcher.exercise.parameters, strict=True))
        message, hint = facts_in_words.said_of(fact, letters, letters[self.launcher.names[-1]])
        case = self.experiment.case if self.experiment else None
        if case and not case.exact and fact.element:
            launch = self.launcher.launched_as(case)
            message = tell.says("seen on", seen=message, launch=launch)
        return message, hint

    def with_launch(
        self, found: Finding, has_values: bool = False, of_facts: bool = False
    ) -> Finding:
        """With the launch that shows it, for whoever grades, and one element that is wrong.

        `has_values`: it names one already; `of_facts`: it tells of the launch that those are of.
        """
        if self.exact is None:
            return found
        told = self.launcher.seen_in(self.exact, found, is_told=False)
        if has_values or self.seen.code != "wrong-result" or self.exact.right:
            return told
        values = f"{by_how_much(self.exact.outcome)}."
        if of_facts and self.experiment and not self.experiment.case.exact:  # of another launch
            values = f"On {self.launcher.launched_as(self.exact.case).label}, {values}"
        return replace(told, message=with_values(told.message, values))
