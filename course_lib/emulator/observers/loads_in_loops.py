"""Which loads a compiler takes out of their loop, so that a register holds the element."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import lru_cache

from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.lines import holds
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.observers.values_in_text import SIZES, names_set

Loop = ast.For | ast.While
MOST_TURNS = 16  # of a loop of which NVVM writes out every turn, with those inside it


def is_moved_out(line: int, array: str, typings: Sequence[Typing]) -> bool:
    """Does a compiler take these loads out of their loop, in which nothing changes them?

    Nor does it load more than once if all that the loop does to memory is to change this one
    element. Of a loop that is written out turn by turn nothing is left: what counts is the next
    one around it.
    """
    for typing in typings:
        tree, unrolled = typing.kernel.tree, _unrolled(typing)
        loops = [node for node in ast.walk(tree) if isinstance(node, Loop)]
        around = [loop for loop in loops if holds(loop, line)]
        if around:
            left = [loop for loop in around if loop not in unrolled]
            loop = left[-1] if left else around[0]  # the innermost; of written out ones all
            return _keeps_in_a_register(loop, array, _own_arrays(tree), unrolled)
    return False


@lru_cache(maxsize=16)
def _unrolled(typing: Typing) -> frozenset[Loop]:
    """The loops of a function that are written out turn by turn."""
    loops = [node for node in ast.walk(typing.kernel.tree) if isinstance(node, Loop)]
    return frozenset(loop for loop in loops if _turns(loop, typing) <= MOST_TURNS)


def _turns(loop: Loop, typing: Typing) -> float:
    """How often the body of the innermost loops in it is carried out; infinite if nobody knows."""
    inside = [node for part in loop.body for node in ast.walk(part) if isinstance(node, Loop)]
    within = max((_turns(each, typing) for each in inside), default=1)
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=bounds)):
            own = names_set(typing.kernel.tree).union(typing.kernel.parameters)
            named = {n.id for each in bounds for n in ast.walk(each) if isinstance(n, ast.Name)}
            if named & own:
                return float("inf")
            try:
                numbers = [evaluate_constant(each, typing.kernel.namespace) for each in bounds]
                return len(range(*numbers)) * within
            except (NotConstant, TypeError, ValueError):
                pass
    return float("inf")


def _own_arrays(tree: ast.AST) -> set[str]:
    """The names of shared and local arrays: no store to them changes global memory."""
    made = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    return {
        ast.unparse(target)
        for node in made
        if isinstance(node.value, ast.Call)
        if ast.unparse(node.value.func).endswith((".shared.array", ".local.array"))
        for target in node.targets
    }


def _keeps_in_a_register(
    loop: Loop, array: str, own: Collection[str], unrolled: Collection[Loop]
) -> bool:
    parts = [*ast.walk(loop)]
    written_out = {each.target for each in unrolled if isinstance(each, ast.For)}
    stored = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store)]
    stored = [part for part in stored if part not in written_out]
    changed = {part.id for part in stored if isinstance(part, ast.Name)}
    elements = [part for part in parts if isinstance(part, ast.Subscript)]
    elements = [part for part in elements if ast.unparse(part.value) not in own]
    indices = [part.slice for part in elements if ast.unparse(part.value) == array]
    if any(isinstance(part, ast.Call) and _orders_or_updates(part) for part in parts):
        return False
    if any(isinstance(n, ast.Name) and n.id in changed for i in indices for n in ast.walk(i)):
        return False
    if not any(part in elements for part in stored):
        return True
    updates = [
        statement for statement in loop.body if isinstance(statement, ast.AugAssign | ast.Assign)
    ]
    always = {part for statement in updates for part in ast.walk(statement)}
    names = {ast.unparse(part) for part in elements if not ast.unparse(part.value).endswith(SIZES)}
    return len(names) == 1 and all(part in always for part in stored if part in elements)


def _orders_or_updates(call: ast.Call) -> bool:
    """Is it an atomic operation, a barrier or a fence?"""
    name = ast.unparse(call.func)
    return ".atomic." in name or "sync" in name or "threadfence" in name
