"""Small changes to statements: one moved into a loop or out of it, a branch with an else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from course_lib.diagnosis.repairs.change import (
    LOOPS,
    AnyEditSite,
    Change,
    EditSite,
    Original,
    quoted,
)
from course_lib.diagnosis.source.tree import node_at
from course_lib.sentences import say


def moved_into_a_loop(function: Original) -> Iterator[Change]:
    """The statement after a loop as the loop's last one."""
    for each, body in _blocks(function):
        for number, (loop, after) in enumerate(pairwise(body)):
            if isinstance(after, ast.Return):
                continue
            if isinstance(loop, LOOPS):

                def move(
                    tree: ast.FunctionDef, each: AnyEditSite = each, number: int = number
                ) -> None:
                    block = node_at(tree, each.path).body
                    block[number].body.append(block.pop(number + 1))

                says = "this stands behind the loop, and so it runs only once, after it"
                hint = "How often should it run, and how far is it indented?"
                place = EditSite(after, each.path)
                yield function.with_edit(place, move, "wrong-formula", says, hint, "indentation")


def moved_out_of_a_loop(function: Original) -> Iterator[Change]:
    """A return that is a loop's last statement as the one after the loop."""
    for each, body in _blocks(function):
        for number, loop in enumerate(body):
            if not isinstance(loop, LOOPS) or len(loop.body) < 2:
                continue
            last = loop.body[-1]
            if isinstance(last, ast.Return):

                def move(
                    tree: ast.FunctionDef, each: AnyEditSite = each, number: int = number
                ) -> None:
                    block = node_at(tree, each.path).body
                    block.insert(number + 1, block[number].body.pop())

                says = (
                    "this return stands in the loop, and ends the function in its first iteration"
                )
                hint = "When is everything counted: how far should the return be indented?"
                place = EditSite(last, each.path)
                yield function.with_edit(place, move, "wrong-formula", says, hint, "indentation")


def set_otherwise(function: Original) -> Iterator[Change]:
    """A variable that a branch sets, and that should be 0 where the branch is not taken."""
    for each in function.all(ast.If):
        first = each.node.body[0]
        target = first.targets[0] if isinstance(first, ast.Assign) else None
        if each.node.orelse or not isinstance(target, ast.Name):
            continue

        def add_else(tree: ast.FunctionDef, each: EditSite[ast.If] = each) -> None:
            branch = node_at(tree, each.path)
            branch.orelse = [ast.Assign(branch.body[0].targets, ast.Constant(0))]
            ast.copy_location(branch.orelse[0], branch.body[0])
            ast.fix_missing_locations(tree)

        name, test = target.id, quoted(each.node.test)
        says = say("where {test} is false, {name} keeps its old number", test=test, name=name)
        hint = say("What is in {name} when this branch is not taken?", name=name)
        yield function.with_edit(each, add_else, "wrong-formula", says, hint, "branch")


def _blocks(function: Original) -> Iterator[tuple[AnyEditSite, list[ast.stmt]]]:
    """The places with a block of statements, and the block."""
    for each in function.places:
        body = getattr(each.node, "body", None)
        if isinstance(body, list):
            yield each, body
