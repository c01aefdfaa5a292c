"""The one small change with which a task's kernel is right, found by trying.

A task is small enough for that: each change is launched on the inputs that went wrong. So what is
said of it is true, and none of it is a guess at what the numbers look like.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping
from dataclasses import replace
from typing import Any, cast

from course_lib.diagnosis.repairs.change import Change, Original
from course_lib.diagnosis.repairs.one_change import changes
from course_lib.emulator import Kernel
from course_lib.exercise import Task
from course_lib.findings import Finding, finding
from course_lib.sentences import facts_of, say

MOST_STEPS = 12_000  # of all launches that are tried: a second or so, and ten times that in a tab
STEPS_OF_A_LAUNCH = 100  # what it costs to begin one, beside the steps it takes
BY_ITSELF = ("brackets", "precedence", "indices", "comparison", "name", "exchange", "surplus")
# What the emulator met or the numbers show, and the kinds of changes that explain it better.
KINDS = {
    "wrong-result": (*BY_ITSELF, "number", "step", "indentation", "branch", "factor"),
    "wrong-formula": ("surplus", "name"),
    "out-of-bounds-read": BY_ITSELF,
    "out-of-bounds-write": BY_ITSELF,
    "wrong-loop-bound": ("indices", "axis", "surplus"),
    "accumulator-error": ("comparison", "number", "indentation"),
    "incomplete-output": ("surplus", "comparison", "number", "indentation"),
    "wrong-bounds-check": ("indices", "number", "comparison"),
    "wrong-index": ("indices", "axis"),
    "race-write-after-write": ("brackets", "precedence", "comparison"),
    "uninitialised-read": ("comparison",),
    "race-write-after-read": ("comparison",),
    "race-read-after-write": ("comparison",),
}
Launched = Callable[[Kernel, int], tuple[bool, int]]  # with so many steps: right? steps used


def explained_by_a_change(
    task: Task, kernel: Kernel, found: Finding, launch: Launched
) -> Finding | None:
    """The finding with the change that repairs the kernel, if one does.

    `launch` runs a changed kernel with at most so many steps, and says whether it is right and how
    many steps it took.
    """
    change = change_that_repairs(task, kernel, found, launch)
    if change is None:
        return None
    seen: object = found.message
    while change.kind in ("indices", "axis") and "seen" in facts_of(seen):
        seen = facts_of(seen)["seen"]  # what a test or a size had to do with it is not the cause
    message = say("{seen} Here {says}.", seen=seen, says=change.says)
    if found.code == "wrong-result":
        output = task.parameters[-1]
        message = say("{array} holds other numbers: {says}.", array=output, says=change.says)
    return finding(change.code, message, change.line, change.hint, "error")


def change_that_repairs(
    task: Task, kernel: Kernel, found: Finding, launch: Launched
) -> Change | None:
    """The first change with which the kernel is right; of what lies outside, only at its line."""
    kinds = KINDS.get(found.code, ())
    if not isinstance(kernel.tree, ast.FunctionDef) or not kinds:
        return None
    # What a device function returns is used elsewhere: its own line is no better than another.
    outside = found.code.startswith("out-of-bounds") and not task.caller
    line = found.line if outside else None
    left = MOST_STEPS
    tried: Iterable[tuple[Change, Kernel]] = _changed_kernels(task, kernel, kinds)
    if found.code == "accumulator-error" and found.line:  # rather who stores than who adds
        near = found.line
        tried = sorted(tried, key=lambda each: abs(each[0].line - near))
    for change, changed in tried:
        if line and change.line != line:
            continue
        right, steps = launch(changed, left)
        if right:
            return change
        left -= STEPS_OF_A_LAUNCH + steps
        if left <= 0:
            return None
    return None


def _changed_kernels(
    task: Task, kernel: Kernel, kinds: Collection[str]
) -> Iterator[tuple[Change, Kernel]]:
    """Each change, and the kernel with it; where a kernel calls the answer, the answer's first."""
    called = kernel.namespace.get(task.id) if task.caller else None
    if isinstance(called, Kernel) and isinstance(called.tree, ast.FunctionDef):
        for change in _changes(task, called, kinds):
            changed = {task.id: replace(called, tree=change.tree)}
            around = cast(MutableMapping[str, Any], kernel.namespace)  # which is only read
            yield change, replace(kernel, namespace=ChainMap(changed, around))
    for change in _changes(task, kernel, kinds):
        yield change, replace(kernel, tree=change.tree)


def _changes(task: Task, kernel: Kernel, kinds: Collection[str]) -> Iterable[Change]:
    """The changes of some kinds to the lines that are the student's own."""
    ours = {line.strip() for line in task.given.splitlines() if line.strip()}
    lines = enumerate(kernel.source.splitlines(), kernel.first_line)
    given = {number for number, line in lines if line.strip() in ours}
    answer = ast.parse(task.answer)
    numbers = [
        node.value
        for node in ast.walk(answer)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    assert isinstance(kernel.tree, ast.FunctionDef)
    original = Original(kernel.tree, given, numbers, is_kernel=True)
    mine = [change for change in changes(original) if change.kind in kinds]
    known = {line.strip() for tree in (ast.parse(task.given), answer) for line in _lines(tree)}
    before = set(_lines(kernel.tree))

    def restores(change: Change) -> bool:
        """Does it make a line as it stands in the given code or in the course's answer?"""
        made = set(_lines(change.tree)) - before
        return all(line.strip() in known for line in made)

    return sorted(mine, key=lambda each: _likelihood(each, restores, kinds))


def _likelihood(
    change: Change, restores: Callable[[Change], bool], kinds: Collection[str]
) -> tuple[bool, bool]:
    """A key by which of several changes with which the numbers are right the one meant is first.

    Two indices exchanged where a tile is filled do the same as where it is read. Where the numbers
    are known already, a name is the last thing to ask for.
    """
    may_stand_elsewhere = change.kind in ("indices", "name")
    known = kinds == KINDS["wrong-formula"]
    return not (may_stand_elsewhere and restores(change)), known and change.kind == "name"


def _lines(tree: ast.AST) -> list[str]:
    """The statements, each written the same way, whatever the text looked like."""
    return ast.unparse(tree).splitlines()
