"""Puts together the races that one barrier would end: one finding, which names their lines.

A barrier orders what stands before it and what stands behind it. So one is enough for two races if
it can stand between the lines of the one and of the other as well; or, where an iteration of a loop
races with the next one, at the end of the same loop.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from course_lib.emulator.language.lines import holds
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Line, Sentence, facts_of, say

LACKS = "lacks_barrier"  # the fact of a race that a barrier of its block would end


def one_for_each_barrier(findings: Iterable[Finding], trees: Sequence[ast.AST]) -> list[Finding]:
    """The findings, of which each race that needs a barrier is there once for each barrier."""
    kept = list(findings)
    for group in _groups([each for each in kept if LACKS in facts_of(each.message)], trees):
        # What is read too early is the clearer one; of the others the first that was found.
        told = min(group, key=lambda each: each.code)
        kept = [each for each in kept if each is told or each not in group]
        kept[kept.index(told)] = _with_lines(told, group)
    return kept


def _groups(races: Sequence[Finding], trees: Sequence[ast.AST]) -> Iterator[list[Finding]]:
    """Races that one barrier ends."""
    straight: dict[ast.AST, list[Finding]] = {}
    around: dict[ast.AST, list[Finding]] = {}
    for race in races:
        first, last = _ends(race)
        tree = next((each for each in trees if holds(each, first) and holds(each, last)), None)
        if tree is None:
            continue
        if first < last and not _in_two_arms(tree, first, last):
            straight.setdefault(tree, []).append(race)
        elif loop := _loop_of(tree, first, last):
            around.setdefault(loop, []).append(race)
    yield from around.values()
    for together in straight.values():
        left = sorted(together, key=lambda race: _ends(race)[1])
        while left:
            _, before = _ends(left[0])  # the barrier stands above the first line that needs it
            yield [race for race in left if _ends(race)[0] < before]
            left = [race for race in left if _ends(race)[0] >= before]


def _ends(race: Finding) -> tuple[int, int]:
    """The line behind which a barrier is missing, and the one that should come after it."""
    facts = facts_of(race.message)
    first = facts["waited_at" if "lacks" in facts else "first_line"]
    return first.number, facts["second_line"].number  # type: ignore[attr-defined]


def _in_two_arms(tree: ast.AST, first: int, last: int) -> bool:
    """Are they in the two arms of a branch, so that no thread comes from one to the other?"""
    branches = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    return any(
        any(holds(part, first) for part in node.body)
        and any(holds(part, last) for part in node.orelse)
        for node in branches
    )


def _loop_of(tree: ast.AST, first: int, last: int) -> ast.AST | None:
    """The innermost loop that holds both lines."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    around = [loop for loop in loops if holds(loop, first) and holds(loop, last)]
    return around[-1] if around else None


def _with_lines(told: Finding, group: Sequence[Finding]) -> Finding:
    """A race whose message names the lines of the others, too, and has all of them as a fact."""
    if len(group) == 1:
        return told
    lines = {line for each in group for line in (each.line, each.other_line) if line}
    others = sorted(lines - {told.line, told.other_line})
    facts = {f"line_{number}": Line(line) for number, line in enumerate(others)}
    names = [f"{{{name}}}" for name in facts]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    message = say(
        "{said} The same barrier is missing for {lines}." if others else "{said}",
        said=told.message,
        lines=Sentence(listed, {}, facts),
        ended_by_it=tuple((each.code, each.cell.split("[")[0], each.line) for each in group),
    )
    return replace(told, message=message)
