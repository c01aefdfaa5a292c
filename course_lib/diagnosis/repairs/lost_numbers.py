"""A thread's own number that is lost on the way: in a narrow type, or to a loop of the same name.

What follows from it looks like anything: a race, a wrong test, an offset that is missing. So it is
looked for before them, in answers that are wrong.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from course_lib.diagnosis.faults.guards import every_thread
from course_lib.diagnosis.faults.number_types import NARROW, largest_of
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.repairs.tried_out import LONGER, repairs
from course_lib.diagnosis.source.in_a_thread import value_in
from course_lib.diagnosis.source.nodes import flat, names_in, part_of
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.trial import Trial
from course_lib.emulator.observers.thread_names import Place, ThreadNames
from course_lib.findings import Finding, finding
from course_lib.sentences import Line, say

OWN = {"threadIdx", "blockIdx", "grid", "laneid"}  # what distinguishes a thread


def lost_number(launcher: Launcher, trials: Sequence[Trial]) -> Finding | None:
    """The finding for a thread's number that a wrong answer loses."""
    wrong = [trial for trial in trials if not trial.right or trial.errors]
    if not wrong:
        return None
    return _overwritten(launcher.source, launcher.names[-1]) or _cut_off(launcher, wrong)


def _overwritten(source: Source, output: str) -> Finding | None:
    """A loop that counts with the name of a thread's number, which is needed behind its head."""
    for loop in source.loops():
        targets = flat(loop.target) if isinstance(loop, ast.For) else ()
        for name in (each.id for each in targets if isinstance(each, ast.Name)):
            made = _own_number(source, name, loop)
            used = next(_still_used(source, name, loop, output), None) if made else None
            if made is None or used is None:
                continue
            message = say(
                "This loop counts with {name}, and overwrites the thread's own number, which "
                "{name} has held since {made}: {used} takes {name} for that number still.",
                name=name,
                made=Line(made),
                used=Line(used),
            )
            hint = say(
                "What is {name} in this thread after the first iteration of the loop?", name=name
            )
            return finding("wrong-index", message, loop.lineno, hint)
    return None


def _own_number(source: Source, name: str, loop: ast.stmt) -> int | None:
    """The line before a loop, in its function, that gives a name the number of a thread."""
    for each in source.assignments(name):
        value = part_of(each, name)
        if each.lineno < loop.lineno and _function(source, each) is _function(source, loop):
            if value is not None and source.everything_behind(value) & OWN:
                return each.lineno
    return None


def _still_used(source: Source, name: str, loop: ast.stmt, output: str) -> Iterator[int]:
    """The lines that read a name after a loop has counted with it, or store there meanwhile."""
    end = loop.end_lineno or loop.lineno
    again = [each.lineno for each in source.assignments(name) if each.lineno > end]
    for node in ast.walk(_function(source, loop)):
        if not isinstance(node, ast.Name) or node.id != name or node.lineno <= end:
            continue
        if isinstance(node.ctx, ast.Load) and not any(line <= node.lineno for line in again):
            yield node.lineno
    for store in source.accesses(output, store=True):
        tests = [test for test, _ in source.conditions(loop)]
        if loop in source.loops_around(store) and name in names_in(store.slice):
            if any(name in names_in(test) for test in tests):
                yield store.lineno


def _function(source: Source, node: ast.AST) -> ast.AST:
    around = (each for each in source.ancestors(node) if isinstance(each, ast.FunctionDef))
    return next(around, source.kernel)


def _cut_off(launcher: Launcher, wrong: Sequence[Trial]) -> Finding | None:
    """A conversion that does not hold the numbers of all threads, without which it is right."""
    for call in launcher.source.walk():
        if not isinstance(call, ast.Call) or len(call.args) != 1:
            continue
        kind = next(iter(names_in(call.func) & NARROW), "")
        for trial in wrong if kind else ():
            found = _beyond(launcher, trial, call, kind)
            if found is None:
                continue
            kernel = replace(launcher.answer.kernel, tree=_without(launcher, call))
            if repairs(launcher, [trial], kernel, LONGER * trial.profile.steps)[0]:
                return found
            break
    return None


def _beyond(launcher: Launcher, trial: Trial, call: ast.Call, kind: str) -> Finding | None:
    """The finding for the first thread of a launch whose number a type does not hold."""
    launch = every_thread(launcher.threads_of(trial))
    numbers = value_in(launcher.source, call.args[0], launch)
    if not isinstance(numbers, np.ndarray) or numbers.max() <= largest_of(kind):
        return None
    lane = int(np.argmax(numbers > largest_of(kind)))
    places = (tuple(int(axis[lane]) for axis in each) for each in (launch.block, launch.thread))
    place, at = (cast(Place, each) for each in places)
    names = ThreadNames(cast(Place, launch.grid), cast(Place, launch.block_size))
    message = say(
        "In {who} {number} is {value} here, and {kind} holds no number above {most}: it wraps "
        "around to {wrapped}.",
        who=names.full(place, at),
        number=ast.unparse(call.args[0]),
        value=numbers[lane],
        kind=kind,
        most=largest_of(kind),
        wrapped=numbers[lane].astype(kind),
    )
    hint = say("Which is the largest number that {kind} can hold?", kind=kind)
    return finding("index-overflow", message, call.lineno, hint, threads=(at,))


def _without(launcher: Launcher, call: ast.Call) -> ast.FunctionDef | ast.Lambda:
    """The kernel's tree with a conversion taken off the number that it converts."""

    class Taken(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            same = (node.lineno, node.col_offset) == (call.lineno, call.col_offset)
            return node.args[0] if same and len(node.args) == 1 else node

    tree: ast.FunctionDef = Taken().visit(copy.deepcopy(launcher.answer.kernel.tree))
    return tree
