"""Small changes to what a function names: its indices, variables and numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from course_lib.diagnosis.repairs.change import (
    AnyEditSite,
    Change,
    EditSite,
    Original,
    code_of_place,
    lies_in,
    node_at,
    quoted,
)
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


def exchanged_in_a_product(function: Original) -> Iterator[Change]:
    """`a[i] * b[j]` for `a[j] * b[i]`, of a kernel."""
    for each in function.all(ast.BinOp) if function.is_kernel else ():
        match each.node:
            case ast.BinOp(
                ast.Subscript(ast.Name(one), ast.Name(i)) as left,
                ast.Mult() as times,
                ast.Subscript(ast.Name(other), ast.Name(j)) as right,
            ) if i != j:
                exchanged = ast.BinOp(
                    ast.Subscript(left.value, right.slice, ast.Load()),
                    times,
                    ast.Subscript(right.value, left.slice, ast.Load()),
                )
                says = say("the two indices in {text} are exchanged", text=quoted(each.node))
                hint = say(
                    "How far do {i} and {j} count, and how long are {one} and {other}?",
                    i=i,
                    j=j,
                    one=one,
                    other=other,
                )
                yield function.with_node(each, exchanged, "wrong-index", says, hint, "indices")


def other_axis(function: Original) -> Iterator[Change]:
    """`A.shape[0]` for `A.shape[1]`, of a kernel."""
    for each in function.all(ast.Subscript) if function.is_kernel else ():
        match each.node:
            case ast.Subscript(
                ast.Attribute(ast.Name(array), "shape"), ast.Constant(0 | 1 as axis)
            ):
                text = quoted(each.node)
                says = say("{text} is the length of another axis", text=text)
                hint = say(
                    "Does {text} count the rows of {array} or its columns? Which are meant?",
                    text=text,
                    array=array,
                )
                code = code_of_place(function, each)
                code = "wrong-index" if code == "wrong-formula" else code
                number = ast.Constant(1 - axis)
                at = (("slice", None),)
                yield function.with_node(each, number, code, says, hint, "axis", at)


def exchanged_in_a_return(function: Original) -> Iterator[Change]:
    """`return i, j` for `return j, i`, of a function that a kernel calls."""
    for each in function.all(ast.Return) if function.is_kernel else ():
        value = each.node.value
        if isinstance(value, ast.Tuple) and len(value.elts) == 2:
            exchanged = ast.Tuple(value.elts[::-1], ast.Load())
            values = ", ".join(map(ast.unparse, value.elts))
            says = say("the two values of {text} are exchanged", text=f"`return {values}`")
            hint = "Which of the two does the task name first?"
            yield function.with_node(
                each, exchanged, "wrong-index", says, hint, "indices", (("value", None),)
            )


def exchanged_in_a_loop(function: Original) -> Iterator[Change]:
    """Two variables of one assignment exchanged in a whole loop of a kernel."""
    loops = list(function.all(ast.For))
    outer = [each for each in loops if not any(lies_in(each, other) for other in loops)]
    says = "{one} and {two} have changed places in this loop"
    yield from _exchanged(function, outer, says)


def exchanged_in_a_call(function: Original) -> Iterator[Change]:
    """The same in a statement that is a call, such as a store of 16 bytes."""
    calls = [each for each in function.all(ast.Expr) if isinstance(each.node.value, ast.Call)]
    yield from _exchanged(function, calls, "{one} and {two} have changed places in this line")


def _exchanged(function: Original, sites: Iterable[AnyEditSite], template: str) -> Iterator[Change]:
    pairs = list(_pairs(function.tree))
    for each in sites if function.is_kernel else ():
        for one, two in pairs:
            used = [
                node
                for node in ast.walk(each.node)
                if isinstance(node, ast.Name) and node.id in (one, two)
            ]
            if len({node.id for node in used}) < 2:
                continue
            turned = {one: two, two: one}

            def exchange(
                tree: ast.FunctionDef,
                each: AnyEditSite = each,
                turned: dict[str, str] = turned,
            ) -> None:
                for node in ast.walk(node_at(tree, each.path)):
                    if isinstance(node, ast.Name):
                        node.id = turned.get(node.id, node.id)

            says = say(template, one=one, two=two)
            hint = say("Which of {one} and {two} chooses a row?", one=one, two=two)
            first = EditSite(min(used, key=lambda node: node.lineno), each.path)
            yield function.with_edit(first, exchange, "wrong-index", says, hint, "exchange")


def _pairs(tree: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """The pairs of variables that are set together: `x, y = …`."""
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            one, two = target.elts
            if isinstance(one, ast.Name) and isinstance(two, ast.Name):
                yield one.id, two.id


def other_names(function: Original) -> Iterator[Change]:
    """A variable for another one of its sort: first, in sums, those that are no index."""
    sorts = _sorts(function)
    values = sorts[-1] if function.is_kernel else set()
    sums = (each for each in ast.walk(function.tree) if isinstance(each, ast.AugAssign))
    added = {id(node) for each in sums for node in ast.walk(each)}
    for each in sorted(
        function.all(ast.Name),
        key=lambda each: (each.node.id not in values, id(each.node) not in added),
    ):
        name = each.node.id
        mine = next((sort for sort in sorts if name in sort), set())
        if not isinstance(each.node.ctx, ast.Load) or function.is_called(each):
            continue
        for other in sorted(mine - {name}):
            says, hint = function.about(each)
            code = "wrong-index" if function.is_kernel else "wrong-formula"
            new = ast.Name(other, ast.Load())
            yield function.with_node(each, new, code, says, hint, "name")


def _sorts(function: Original) -> list[set[str]]:
    """The function's own names by sort: of a kernel, indices and other numbers."""
    if not function.is_kernel:
        return [function.own_names]
    arrays, indices = set(), set()
    for node in ast.walk(function.tree):
        if isinstance(node, ast.Subscript):
            if isinstance(node.value, ast.Name):
                arrays.add(node.value.id)
            indices |= {part.id for part in ast.walk(node.slice) if isinstance(part, ast.Name)}
    return [indices & function.own_names, function.own_names - indices - arrays]


def other_numbers(function: Original) -> Iterator[Change]:
    """A number for the one beside it; then for one that the task knows, or for a variable.

    How far bits are shifted comes first: to change what is shifted would often do as well.
    """
    names = () if function.is_kernel else sorted(function.own_names)
    places = [each for each in function.all(ast.Constant) if is_whole(each.node)]
    places.sort(key=lambda each: not _is_a_shift(function, each))
    whole = [(each, each.node.value) for each in places if isinstance(each.node.value, int)]
    neighbours = [(each, (value + 1, value - 1)) for each, value in whole]
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
