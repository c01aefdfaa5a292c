"""Explains wrong numbers: by what they are made of, and by the one change that makes them right."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.provenance import words as facts_in_words
from course_lib.diagnosis.provenance.facts import BEFORE, NOT_FINITE, Fact
from course_lib.diagnosis.provenance.suspects import explained
from course_lib.diagnosis.provenance.tables import experiment
from course_lib.diagnosis.repair.causes import code_of
from course_lib.diagnosis.repair.edits import Edit
from course_lib.diagnosis.repair.search import Search
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.trial import Trial, runs_out
from course_lib.findings import Finding, finding
from course_lib.sentences import Line, Sentence, say

# What these say is true and shows late; what the numbers are made of says more.
SYMPTOMS = (
    *("wrong-result", "uninitialised-read", "out-of-bounds-read", "out-of-bounds-write"),
    *("race-write-after-write", "wrong-bounds-check", "incomplete-output"),
)
NUMBERS = ("wrong-result", "race-write-after-write", "incomplete-output")
AGREES = 4  # lines that the numbers point to first: a change at one of them is the cause


def with_causes(launcher: Launcher, found: list[Finding], trials: Sequence[Trial]) -> list[Finding]:
    """The findings, with the first error explained where it is but a symptom."""
    first = next((each for each in found if each.severity == "error"), None)
    if first is None or first.code not in SYMPTOMS:
        return found
    better = explanation(launcher, first, trials)
    return [better if each is first else each for each in found]


def explanation(launcher: Launcher, seen: Finding, trials: Sequence[Trial]) -> Finding:
    """What was seen, explained; as it is where nothing explains it."""
    in_order = [trial for trial in trials if trial.case.is_counted]
    made = experiment(launcher, [trial for trial in in_order if not runs_out(trial)])
    facts = explained(made) if made else []
    ranks: dict[int, int] = {}
    for fact in facts:
        for line in fact.lines:
            ranks.setdefault(line, len(ranks))
    repairs = Search(launcher, in_order, ranks).repairs()
    if repairs:
        return _repaired(launcher, seen, repairs[0], facts)
    if seen.code in NUMBERS:
        telling = next((f for f in facts if f.lines and f.kind != NOT_FINITE), None)
        if telling:
            return _of_fact(launcher, telling)
    return seen


def _repaired(launcher: Launcher, seen: Finding, edit: Edit, facts: Sequence[Fact]) -> Finding:
    """Where one change makes the answer right, with the fact that points there."""
    says, hint = said_of(edit)
    told: object = seen.message
    agreeing = next((f for f in facts if edit.line in f.lines[:AGREES]), None)
    if agreeing and agreeing.kind != NOT_FINITE:
        told = _sentence_of(launcher, agreeing)[0]
    elif seen.code != "wrong-result" and seen.line not in (None, edit.line):
        told = say("At {line}, {seen}", line=Line(seen.line), seen=seen.message)
    message = say("{told} With one change here it would be right: {says}.", told=told, says=says)
    code = "uninitialised-read" if agreeing and agreeing.kind == BEFORE else None
    return finding(code or code_of(edit, seen.code), message, edit.line, hint, "error")


def _of_fact(launcher: Launcher, fact: Fact) -> Finding:
    code = facts_in_words.code_of(fact, launcher.source)
    message, hint = _sentence_of(launcher, fact)
    return finding(code, message, fact.lines[0], hint, "error")


def _sentence_of(launcher: Launcher, fact: Fact) -> tuple[Sentence, Sentence]:
    letters = dict(zip(launcher.names, launcher.exercise.parameters, strict=True))
    return facts_in_words.said_of(fact, letters, letters[launcher.names[-1]])
