"""All small changes of a kernel that the search tries: single ones, and alike in several places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.expressions import (
    COMPARISONS,
    OF_THE_GRID,
    compared_by,
    of_expressions,
    of_plain_expressions,
)
from course_lib.diagnosis.repair.ingredients import (
    NO_DEVIATION,
    CommonDeviation,
    Ingredients,
    expression,
)
from course_lib.diagnosis.repair.statements import (
    arguments_exchanged,
    elements_exchanged,
    names_exchanged,
    of_statements,
    registers_exchanged,
    targets_exchanged,
)
from course_lib.diagnosis.source.tree import Path, last_name, names_bound, names_read
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing


def on_both_axes(function: Ingredients) -> Iterator[Edit]:
    """What two neighbours lack that are worked out one after the other, as a row and a column:
    the place of the block, or a factor."""
    values = [
        (node, path)
        for node, path in function.nodes
        if path and isinstance(node, ast.expr) and _is_a_whole_value(function, node, path)
    ]
    lacking = list(_lacking_on_both_axes(function))
    for (one, here), (two, there) in pairwise(values):
        for kind, first, second in (
            lacking if here[:-2] == there[:-2] or len(here) == len(there) else ()
        ):
            new = {
                here: expression(first.format(ast.unparse(one))),
                there: expression(second.format(ast.unparse(two))),
            }
            yield function.values(kind, 3, new)


def within_the_block(function: Ingredients) -> Iterator[Edit]:
    """All calls that count along the grid, as in `range(cuda.grid(1), n, cuda.gridsize(1))`, by
    what counts within a block."""
    new = {
        path: expression(f"{function.cuda}.{OF_THE_GRID[last_name(node.func)]}.x")
        for node, path in function.nodes
        if isinstance(node, ast.Call) and last_name(node.func) in OF_THE_GRID
        if function.is_whole(node) and function.cuda
    }
    if len(new) > 1:
        yield function.values("register", 2, new)


def both_indices_off(function: Ingredients) -> Iterator[Edit]:
    """Both indices of an element one further or one less far, as by the width of a halo."""
    for node, path in function.nodes:
        if not isinstance(node, ast.Tuple) or len(node.elts) != 2 or path[-1][0] != "slice":
            continue
        if not any(isinstance(index, ast.Slice | ast.Starred) for index in node.elts):
            for sign in "+-":
                new = {
                    (*path, ("elts", number)): expression(f"({ast.unparse(index)}) {sign} 1")
                    for number, index in enumerate(node.elts)
                }
                yield function.values("off by one", 2, new)


def parts_moved(function: Ingredients) -> Iterator[Edit]:
    """`A[i, j + m]` as `A[i + m, j]`: which of two indices grows."""
    for node, path in function.nodes:
        if not isinstance(node, ast.Tuple) or len(node.elts) != 2 or path[-1][0] != "slice":
            continue
        for number, index in enumerate(node.elts):
            if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add):
                for kept, part in ((index.left, index.right), (index.right, index.left)):
                    longer = ast.BinOp(node.elts[1 - number], ast.Add(), part)
                    new = {(*path, ("elts", number)): kept, (*path, ("elts", 1 - number)): longer}
                    yield function.values("part moved", 2, new)


def split_the_other_way(function: Ingredients) -> Iterator[Edit]:
    """`t // 8` and `t % 8` exchanged, also with another number: which of two indices changes from
    one thread to the next."""
    groups: dict[tuple[str, type[ast.operator]], list[tuple[ast.BinOp, Path]]] = defaultdict(list)
    for node, path in function.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod):
            groups[ast.unparse(node.left), type(node.op)].append((node, path))
    for (text, operator), quotients in groups.items():
        remainders = groups.get((text, ast.Mod), ()) if operator is ast.FloorDiv else ()
        for (one, here), (two, there) in product(quotients, remainders):
            if ast.dump(one.right) == ast.dump(two.right):
                line = min(function.line(here), function.line(there))
                for number in {ast.unparse(one.right), *map(str, function.numbers)}:
                    new = {
                        here: expression(f"{text} % {number}"),
                        there: expression(f"{text} // {number}"),
                    }
                    yield function.values("split", 2, new, line)


def _lacking_on_both_axes(function: Ingredients) -> Iterator[tuple[str, str, str]]:
    """The kind of a change, and what it makes of two expressions, with `{}` in their place."""
    cuda, sides = function.cuda, function.sides
    for side in sides:
        yield "factor", f"({{}}) * {side}", f"({{}}) * {side}"
    for given in ("", *sides) if cuda else ():
        for axes in ("xy", "yx"):
            first, second = (
                f"({{}}) + {cuda}.blockIdx.{axis} * {given or f'{cuda}.blockDim.{axis}'}"
                for axis in axes
            )
            yield "block", first, second


def _is_a_whole_value(function: Ingredients, node: ast.expr, path: Path) -> bool:
    """Is it the whole value that a variable is set to, alone or as one of several?"""
    if path[-1][0] == "elts":
        path = path[:-1]
    is_set = path[-1][0] == "value" and isinstance(function.at[path[:-1]], ast.Assign)
    return is_set and function.is_whole(node)


def alike_comparisons(function: Ingredients) -> Iterator[Edit]:
    """All comparisons with the same sign, of the function or of one condition: of those with
    several signs, all at the same place."""
    groups: dict[tuple[type[ast.cmpop], int, Path], dict[Path, ast.Compare]] = defaultdict(dict)
    compared = [(node, path) for node, path in function.nodes if isinstance(node, ast.Compare)]
    for node, path in compared:
        for number, sign in enumerate(node.ops):
            for scope in ((), path[:-1]):
                groups[type(sign), number, scope][path] = node
    seen: set[tuple[int | Path, ...]] = set()
    for (usual, number, _), nodes in groups.items():
        if len(nodes) == 1 or (number, *nodes) in seen:
            continue
        seen.add((number, *nodes))
        for other in COMPARISONS:
            if other is not usual:
                new = {path: compared_by(node, number, other) for path, node in nodes.items()}
                yield function.values("comparison", 2, new)
        for by in ("+ 1", "- 1") if usual in (ast.Lt, ast.LtE, ast.Gt, ast.GtE) else ():
            ends = {
                (*path, ("comparators", number)): expression(
                    f"({ast.unparse(node.comparators[number])}) {by}"
                )
                for path, node in nodes.items()
            }
            yield function.values("off by one", 2, ends)


def alike_numbers(function: Ingredients) -> Iterator[Edit]:
    """Another number wherever one occurs in a test and what depends on it, or in an assignment."""
    for node, path in function.nodes:
        if not isinstance(node, ast.If | ast.Assign):
            continue
        groups: dict[int, list[Path]] = defaultdict(list)
        for inner, below in function.nodes:
            if below[: len(path)] == path and isinstance(inner, ast.Constant):
                if type(inner.value) is int and function.is_read(inner, below):
                    groups[inner.value].append(below)
        for number, places in groups.items():
            others = {number - 1, number + 1, *function.numbers} - {number}
            for other in others if len(places) > 1 else ():
                yield function.values("number", 2, dict.fromkeys(places, ast.Constant(other)))


def guarded_loads(function: Ingredients) -> Iterator[Edit]:
    """`A[i, j]` only where there is one, else 0: each by itself, all, and all of one array."""
    groups: dict[str, dict[Path, ast.expr]] = defaultdict(dict)
    for node, path in function.nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=array), ctx=ast.Load()):
                pass
            case _:
                continue
        tests = function.tests_of_indices(node)
        is_assigned = isinstance(function.at[path[:-1]], ast.Assign)
        if tests and is_assigned and T.is_float(function.kind_of(node)):
            guarded = ast.IfExp(expression(" and ".join(tests)), node, ast.Constant(0.0))
            groups["all"][path] = groups[array][path] = guarded
            yield function.value("guard missing", 2, path, guarded)
    for new in groups.values():
        if len(new) > 1:
            yield function.values("guard missing", 3, new)


# --- All changes, in the order of the text --------------------------------------------------------


def edits_of(
    typing: Typing,
    constants: Sequence[str],
    given: Collection[str],
    numbers: Sequence[int] = (),
    fields: Sequence[str] = (),
    deviation: CommonDeviation = NO_DEVIATION,
) -> list[Edit]:
    """Every small change to one function; in a plain function, `numbers` may replace its own
    numbers, and `fields` those of records. `given`: the lines that every student is given.
    """
    function = Ingredients(typing, constants, numbers, fields, deviation)
    found = [
        *of_expressions(function),
        *(of_plain_expressions(function) if numbers else ()),
        *of_statements(function),
        *registers_exchanged(function, [()], 2),
        *on_both_axes(function),
        *within_the_block(function),
        *both_indices_off(function),
        *parts_moved(function),
        *split_the_other_way(function),
        *alike_comparisons(function),
        *alike_numbers(function),
        *elements_exchanged(function),
        *names_exchanged(function),
        *targets_exchanged(function),
        *arguments_exchanged(function),
        *guarded_loads(function),
    ]
    lines = enumerate(typing.kernel.source.splitlines(), typing.kernel.first_line)
    kept = {number for number, line in lines if line.rstrip() in given}
    return [
        replace(edit, is_given=edit.line in kept)
        for edit in found
        if _has_all_values(edit, function)
    ]


def _has_all_values(edit: Edit, function: Ingredients) -> bool:
    """Does every variable that a statement reads have a value where the statement is put?"""
    return not any(
        (names_read(statement) & function.variables) - names_bound(statement) - known
        for path, change in edit.statements.items()
        for known in [function.known_at(path)]
        for statement in (*change.before, *(change.instead or ()))
    )
