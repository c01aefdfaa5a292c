"""Small changes to what a function names: its indices, variables and numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from course_lib.diagnosis.repairs.change import (
    Change,
    EditSite,
    Original,
    code_of_place,
    quoted,
)
from course_lib.diagnosis.source.tree import node_at
from course_lib.sentences import say


def exchanged_indices(function: Original) -> Iterator[Change]:
    """`A[i, j]` for `A[j, i]`."""
    for each in function.all(ast.Subscript):
        index = each.node.slice
        if isinstance(index, ast.Tuple) and len(index.elts) == 2:
            exchanged = ast.Tuple(index.elts[::-1], ast.Load())
            says = say("the two indices of {text} are exchanged", text=quoted(each.node))
            hint = "Which index is the row, and which one the column?"
            yield function.with_node(
                each, exchanged, "wrong-index", says, hint, "indices", (("slice", None),)
            )


def other_names(function: Original) -> Iterator[Change]:
    """A variable for another one, first in sums."""
    sums = (each for each in ast.walk(function.tree) if isinstance(each, ast.AugAssign))
    added = {id(node) for each in sums for node in ast.walk(each)}
    for each in sorted(
        function.all(ast.Name),
        key=lambda each: id(each.node) not in added,
    ):
        name = each.node.id
        is_own = name in function.own_names and isinstance(each.node.ctx, ast.Load)
        if not is_own or function.is_called(each):
            continue
        for other in sorted(function.own_names - {name}):
            says, hint = function.about(each)
            new = ast.Name(other, ast.Load())
            yield function.with_node(each, new, "wrong-formula", says, hint, "name")


def other_numbers(function: Original) -> Iterator[Change]:
    """A number for the one beside it; then for one that the task knows, or for a variable.

    How far bits are shifted comes first: to change what is shifted would often do as well.
    """
    names = sorted(function.own_names)
    places = [each for each in function.all(ast.Constant) if is_whole(each.node)]
    places.sort(key=lambda each: not _is_a_shift(function, each))
    whole = [(each, each.node.value) for each in places if isinstance(each.node.value, int)]
    neighbours = [(each, (value + 1, value - 1)) for each, value in whole]
    known: list[tuple[EditSite[ast.Constant], tuple[int | str, ...]]]
    known = [(each, (*function.numbers, *names)) for each in places]
    for each, others in (*neighbours, *known):
        says, hint = function.about(each)
        code = code_of_place(function, each)
        kind = "step" if _begins_or_steps(function, each) else "number"
        for other in others:
            if isinstance(other, str):
                yield function.with_node(each, ast.Name(other, ast.Load()), code, says, hint, kind)
            elif other >= 0 and other != each.node.value:
                yield function.with_node(each, ast.Constant(other), code, says, hint, kind)


def _is_a_shift(function: Original, place: EditSite[ast.Constant]) -> bool:
    """Does a number say by how many bits something is shifted?"""
    around = next(function.above(place), None)
    shifts = isinstance(around, ast.BinOp) and isinstance(around.op, (ast.LShift, ast.RShift))
    return shifts and place.path[-1] == ("right", None)


def _begins_or_steps(function: Original, place: EditSite[ast.Constant]) -> bool:
    """Is it where a loop over a range begins, or its step? Sums in two halves choose these."""
    call = next(function.above(place), None)
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "range":
        return False
    return len(call.args) > 1 and place.path[-1] != ("args", 1)


def same_number_twice(function: Original) -> Iterator[Change]:
    """One number that stands several times in a branch, all of them changed."""
    for each in function.all(ast.If):
        nodes = (node for node in ast.walk(each.node) if is_whole(node))
        values = [node.value for node in nodes if isinstance(node.value, int)]
        for value in dict.fromkeys(each for each in values if values.count(each) > 1):
            for other in (value - 1, value + 1):

                def change_all(
                    tree: ast.FunctionDef,
                    each: EditSite[ast.If] = each,
                    value: int = value,
                    other: int = other,
                ) -> None:
                    for node in ast.walk(node_at(tree, each.path)):
                        if is_whole(node) and node.value == value:
                            node.value = other

                test = quoted(each.node.test)
                says = say("{n} is the wrong number in {test} and below", n=value, test=test)
                hint = say("What should stand where {n} stands?", n=value)
                yield function.with_edit(each, change_all, "wrong-formula", says, hint, "number")


def is_whole(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and type(node.value) is int
