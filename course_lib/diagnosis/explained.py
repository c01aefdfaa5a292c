"""Explains wrong numbers: by what they are made of, and by the one change that makes them right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_lib.diagnosis.families.common import not_written
from course_lib.diagnosis.ideas import idea_behind
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.provenance import words as facts_in_words
from course_lib.diagnosis.provenance.facts import (
    ALIAS,
    BEFORE,
    MOVED,
    NOT_FINITE,
    READS_OTHER,
    UNWRITTEN,
    Fact,
)
from course_lib.diagnosis.provenance.suspects import explained
from course_lib.diagnosis.provenance.tables import experiment
from course_lib.diagnosis.repair.causes import code_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.search import Search
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.slip import Slip
from course_lib.diagnosis.trial import Trial, exact_of, runs_out
from course_lib.diagnosis.wrong_numbers import OF_FAMILY, placed
from course_lib.emulator import KernelRejected
from course_lib.emulator.budget import BudgetExceeded
from course_lib.exercise import WrongIdea
from course_lib.findings import Finding, finding
from course_lib.sentences import Line, Sentence, say

# What these say is true and shows late; what the numbers are made of says more.
SYMPTOMS = (
    *("wrong-result", "uninitialised-read", "out-of-bounds-read", "out-of-bounds-write"),
    *("race-write-after-write", "wrong-bounds-check", "incomplete-output", "wrong-index"),
)
NUMBERS = ("wrong-result", "race-write-after-write", "incomplete-output")
AGREES = 4  # lines that the numbers point to first: a change at one of them is the cause


def with_causes(launcher: Launcher, found: list[Finding], trials: Sequence[Trial]) -> list[Finding]:
    """The findings, with the first error explained where it is but a symptom."""
    first = next((each for each in found if each.severity == "error"), None)
    if first is None:
        return found
    is_cause = first.code not in SYMPTOMS or (
        first.code == "wrong-index" and launcher.exercise.family in OF_FAMILY
    )
    if is_cause and first.line is not None:
        return found
    better = explanation(launcher, first, trials)
    return [better if each is first else each for each in found]


def explanation(launcher: Launcher, seen: Finding, trials: Sequence[Trial]) -> Finding:
    """What was seen, explained; as it is where nothing explains it."""
    in_order = [trial for trial in trials if trial.case.is_counted]
    facts = _facts(launcher, [trial for trial in in_order if not runs_out(trial)])
    ranks: dict[int, int] = {}
    for fact in facts:
        for line in fact.lines:
            ranks.setdefault(line, len(ranks))
    if seen.code not in SYMPTOMS:  # it is known what is wrong, but not where
        return replace(seen, line=next(iter(ranks), None))
    repairs = Search(launcher, in_order, ranks).repairs()
    exact = exact_of(trials)
    idea = idea_behind(launcher.exercise, exact.outcome) if exact else None
    told = _idea_told(launcher, idea, exact) if idea and exact else None
    if repairs:
        return _repaired(launcher, seen, repairs[0], facts, told)
    telling = next((f for f in facts if f.lines and f.kind != NOT_FINITE), None)
    if told:
        return _at_fact(launcher, told, telling)
    if seen.code in NUMBERS and telling and not telling.is_vague:
        return _of_fact(launcher, telling, exact)
    if seen.code == "wrong-result":
        fact = _sentence_of(launcher, telling)[0] if telling else ""
        template = "{seen} {fact} Nothing that was tried explains the numbers."
        said = say(
            template if fact else template.replace("{fact} ", ""), seen=seen.message, fact=fact
        )
        return replace(seen, message=said)
    return seen


def _at_fact(launcher: Launcher, told: Finding, fact: Fact | None) -> Finding:
    """An idea, where the numbers point to what is read or stored in another place."""
    if fact is None or fact.kind not in (MOVED, READS_OTHER, ALIAS):
        return told
    return replace(told, code=facts_in_words.code_of(fact, launcher.source), line=fact.lines[0])


def _facts(launcher: Launcher, trials: Sequence[Trial]) -> list[Fact]:
    try:
        made = experiment(launcher, trials)
        return explained(made) if made else []
    except (BudgetExceeded, KernelRejected):  # with other numbers it takes another way
        return []


def _idea_told(launcher: Launcher, idea: WrongIdea, trial: Trial) -> Finding:
    message = say(
        "{output} holds other numbers: {says}.", output=launcher.exercise.output, says=idea.says
    )
    slip = Slip("wrong-formula", message, idea.hint, idea.place)
    return placed(launcher, slip, trial)


def _repaired(
    launcher: Launcher, seen: Finding, edit: Edit, facts: Sequence[Fact], idea: Finding | None
) -> Finding:
    """Where one change makes the answer right, with the idea or the fact that points there."""
    told: str = seen.message
    hint: str
    says, hint = said_of(edit)
    agreeing = next((f for f in facts if edit.line in f.lines[:AGREES]), None)
    if idea:
        told, hint = idea.message, idea.hint
    elif agreeing and agreeing.kind != NOT_FINITE:
        told = _sentence_of(launcher, agreeing)[0]
    elif seen.code != "wrong-result" and seen.line not in (None, edit.line):
        told = say("{seen} That shows at {line}.", line=Line(seen.line), seen=seen.message)
    message = say("{told} With one change here it would be right: {says}.", told=told, says=says)
    code = "uninitialised-read" if agreeing and agreeing.kind == BEFORE else None
    return finding(code or code_of(edit, seen.code), message, edit.line, hint, "error")


def _of_fact(launcher: Launcher, fact: Fact, exact: Trial | None) -> Finding:
    code = facts_in_words.code_of(fact, launcher.source)
    message, hint = _sentence_of(launcher, fact)
    blank = launcher.problem.starts_blank and fact.kind == UNWRITTEN
    unwritten = not_written(exact.outcome) if exact and blank else None
    return finding(code, unwritten or message, fact.lines[0], hint, "error")


def _sentence_of(launcher: Launcher, fact: Fact) -> tuple[Sentence, Sentence]:
    letters = dict(zip(launcher.names, launcher.exercise.parameters, strict=True))
    return facts_in_words.said_of(fact, letters, letters[launcher.names[-1]])
