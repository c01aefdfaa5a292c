"""Cells of a shared array that are read and that nobody has written: where they are filled."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from course_lib.diagnosis.codes import array_of
from course_lib.diagnosis.faults.words import tell
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.search import Search
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import walk, wide_accesses
from course_lib.diagnosis.trial import Trial
from course_lib.emulator import KernelRejected
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line, facts_of

MOST_LIFTED = 6  # stores whose test is left out


def told_where_filled(seen: Finding, launcher: Launcher, trials: Sequence[Trial]) -> Finding:
    """A read of an empty cell, told at the store that should have filled it.

    That is the store that does so once the test around it is left out, or the only one to the
    array. The read may be as wrong as the store; but a tile is made for the cells that are read.
    """
    source, array = launcher.source, array_of(seen.cell)
    stores = source.accesses(array, store=True)
    shown = next((trial for trial in trials if _is_among(trial.errors, seen)), None)
    lines = {store.lineno for store in stores}
    is_late = "line" in facts_of(seen.hint)  # another line fills the cell, and after the read
    if shown is None or is_late or array not in source.shared_names() or seen.line in lines:
        return seen
    there = {"array": array, "read": Line(seen.line or 0)}
    told = replace(seen, other_line=seen.line)
    for store in stores[:MOST_LIFTED]:
        branch = next(
            (ancestor for ancestor in source.ancestors(store) if isinstance(ancestor, ast.If)), None
        )
        if branch and _fills_without(branch, store, launcher, shown, seen):
            test = Line(branch.test.lineno)
            return tell.again("filled under a test", told, store.lineno, **there, test=test)
    if len(lines) == 1 and not _is_passed_on(array, source):
        return tell.again("filled here", told, stores[0].lineno, **there)
    return seen


def _is_passed_on(array: str, source: Source) -> bool:
    """Is the array an argument of a call that may fill it, as an atomic operation does?"""
    return any(
        isinstance(argument, ast.Name) and argument.id == array
        for node in source.walk()
        if isinstance(node, ast.Call) and not any(wide_accesses(node))
        for argument in node.args
    )


def _fills_without(
    branch: ast.If, store: ast.AST, launcher: Launcher, trial: Trial, seen: Finding
) -> bool:
    """Is the cell filled once all threads take the arm of a branch in which a store stands?"""
    holds = any(store in ast.walk(part) for part in branch.body)
    for tree in launcher.source.functions:
        for node, path in walk(tree):
            if node is branch:
                decided = {(*path, ("test", None)): ast.Constant(holds)}
                edit = Edit("", branch.lineno, 0, tree, decided)  # type: ignore[arg-type]
                changed = edit.applied(launcher.answer.kernel)
                try:  # where all threads store there, they race; that says nothing of the cell
                    profile, _ = Search(launcher, [trial]).watched(trial, changed, races=False)
                except KernelRejected:
                    return False
                return not _is_among(profile.findings, seen)
    return False


def _is_among(findings: Iterable[Finding], seen: Finding) -> bool:
    place = seen.code, seen.line, seen.cell
    return any((finding.code, finding.line, finding.cell) == place for finding in findings)
