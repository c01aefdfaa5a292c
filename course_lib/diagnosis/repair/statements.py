"""The changes of one statement: left out, moved, guarded, adding up instead of setting."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

from course_lib.diagnosis.repair.edit import Edit, StatementEdit
from course_lib.diagnosis.repair.exchanges import registers_exchanged
from course_lib.diagnosis.repair.ingredients import Ingredients, expression
from course_lib.diagnosis.source.nodes import indices_of
from course_lib.diagnosis.source.tree import Path, copy_of
from course_lib.emulator.language import types as T

GONE = StatementEdit(instead=())
BLOCKS = (ast.For, ast.While, ast.If)


@dataclass(frozen=True)
class StatementPlace:
    """Where a statement stands: its number in a block, which is a field of the node at `owner`."""

    block: Sequence[ast.stmt]
    owner: Path
    name: str
    number: int

    @property
    def statement(self) -> ast.stmt:
        return self.block[self.number]

    @property
    def path(self) -> Path:
        return (*self.owner, (self.name, self.number))

    @property
    def previous(self) -> StatementPlace | None:
        return replace(self, number=self.number - 1) if self.number else None

    @property
    def following(self) -> StatementPlace | None:
        is_last = self.number + 1 == len(self.block)
        return None if is_last else replace(self, number=self.number + 1)


def of_statements(function: Ingredients) -> Iterator[Edit]:
    """All changes of one statement of a function, in the order of its text."""
    for place in _places(function):
        statement, path = place.statement, place.path
        if not isinstance(statement, BLOCKS):
            yield from registers_exchanged(function, [path], 1)
        if not isinstance(statement, ast.For | ast.While):
            if not function.makes_an_array(statement):
                yield function.statement("left out", 2, path, GONE)
        yield from _of_statement(statement, function, path)
        yield from _guarded_store(function, statement, path)
        if place.previous and not isinstance(statement, BLOCKS):
            yield from registers_exchanged(function, [place.previous.path, path], 2)
        if isinstance(statement, BLOCKS):
            yield from _moved_out(function, statement, path)
            yield from _moved_in(function, statement, place)
        yield from _in_other_order(function, place)


def _places(function: Ingredients) -> Iterator[StatementPlace]:
    for node, path in function.nodes:
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):  # and not what an expression with `if` chooses
                yield from (
                    StatementPlace(block, path, name, number) for number in range(len(block))
                )


# --- by the kind of the statement -----------------------------------------------------------------


@singledispatch
def _of_statement(statement: ast.stmt, function: Ingredients, path: Path) -> Iterator[Edit]:
    yield from ()


@_of_statement.register
def _of_assignment(statement: ast.Assign, function: Ingredients, path: Path) -> Iterator[Edit]:
    """`=` for `+=`, also with a zero before each of the loops around it; another first value."""
    match statement.targets:
        case [(ast.Name() | ast.Subscript()) as target]:
            pass
        case _:
            return
    if not T.is_scalar(function.kind_of(statement.value)):
        return
    line = statement.lineno
    added = ast.AugAssign(copy_of(target), ast.Add(), statement.value, lineno=line)
    yield function.statement("= for +=", 1, path, StatementEdit(instead=(added,)))
    for length in range(1, len(path)):
        if isinstance(function.at[path[:length]], ast.For | ast.While):
            zero = ast.Assign([copy_of(target)], ast.Constant(0), lineno=line)
            places = {
                path: StatementEdit(instead=(added,)),
                path[:length]: StatementEdit(before=(zero,)),
            }
            yield function.statements("= for +=", 2, places, line)
    yield function.value("zero", 3, (*path, ("value", None)), ast.Constant(0))


@_of_statement.register
def _of_addition(statement: ast.AugAssign, function: Ingredients, path: Path) -> Iterator[Edit]:
    target, value = statement.target, statement.value
    new: ast.stmt = ast.Assign([copy_of(target)], value, lineno=statement.lineno)
    yield function.statement("+= for =", 1, path, StatementEdit(instead=(new,)))
    if not isinstance(statement.op, ast.Add):
        new = ast.AugAssign(copy_of(target), ast.Add(), value)
        yield function.statement("operator", 1, path, StatementEdit(instead=(new,)))


@_of_statement.register
def _of_for(statement: ast.For, function: Ingredients, path: Path) -> Iterator[Edit]:
    """Another start, as of a remainder, which begins where whole tiles end."""
    if not isinstance(statement.target, ast.Name):
        return
    number, first = statement.target.id, (*path, ("body", 0))
    for name in sorted(function.bounds_at(path) - function.constants):
        for cost, start in ((2, name), *((3, f"{name} * {side}") for side in function.sides)):
            if name != number:
                change = StatementEdit(before=tuple(ast.parse(f"{number} += {start}").body))
                yield function.statements("later start", cost, {first: change}, statement.lineno)


@_of_statement.register
def _of_if(statement: ast.If, function: Ingredients, path: Path) -> Iterator[Edit]:
    body, first = statement.body, statement.body[0]
    compares = (node for node in ast.walk(statement.test) if isinstance(node, ast.Compare))
    takes = any(T.is_float(function.kind_of(node.left)) for node in compares)  # the larger one
    cost = 2 if takes else 1
    yield function.statement("guard left out", cost, path, StatementEdit(instead=tuple(body)))
    if not statement.orelse and isinstance(first, ast.Assign):
        target = copy_of(first.targets[0])
        zero = ast.Assign([target], ast.Constant(0), lineno=first.lineno)
        new = ast.If(statement.test, body, [zero])
        yield function.statement("else missing", 2, path, StatementEdit(instead=(new,)))


def _guarded_store(function: Ingredients, statement: ast.stmt, path: Path) -> Iterator[Edit]:
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return
    for node in ast.walk(statement):
        match node:
            case ast.Subscript(value=ast.Name(id=array), ctx=ast.Store()):
                if not all(map(function.is_whole, indices_of(node))):
                    return
                tests = [
                    f"{ast.unparse(index)} < {array}.shape[{axis}]"
                    for axis, index in enumerate(indices_of(node))
                ]
                guarded = ast.If(expression(" and ".join(tests)), [statement], [])
                change = StatementEdit(instead=(guarded,))
                yield function.statement("guard missing", 3, path, change)
                return


# --- moved ----------------------------------------------------------------------------------------


def _moved_out(
    function: Ingredients, block: ast.For | ast.While | ast.If, path: Path
) -> Iterator[Edit]:
    """The last statement of a block behind it, or the first one before it."""
    first, last = block.body[0], block.body[-1]
    out = {
        (*path, ("body", len(block.body) - 1)): GONE,
        path: StatementEdit(after=(last,)),
    }
    yield function.statements("in the loop", 1, out, last.lineno)
    out = {(*path, ("body", 0)): GONE, path: StatementEdit(before=(first,))}
    yield function.statements("in the loop", 1, out, first.lineno)


def _moved_in(
    function: Ingredients, block: ast.For | ast.While | ast.If, place: StatementPlace
) -> Iterator[Edit]:
    """The statement behind a block at its end, or the one before it at its beginning."""
    last: Path = (*place.path, ("body", len(block.body) - 1))
    first: Path = (*place.path, ("body", 0))
    if place.following:
        change = StatementEdit(after=(place.following.statement,))
        yield from _moved(function, "behind the loop", place.following, last, change)
    if place.previous:
        change = StatementEdit(before=(place.previous.statement,))
        yield from _moved(function, "before the loop", place.previous, first, change)


def _moved(
    function: Ingredients, kind: str, place: StatementPlace, to: Path, change: StatementEdit
) -> Iterator[Edit]:
    if not function.makes_an_array(place.statement):
        changes = {to: change, place.path: GONE}
        yield function.statements(kind, 1, changes, place.statement.lineno)


def _in_other_order(function: Ingredients, place: StatementPlace) -> Iterator[Edit]:
    """A statement and the next one, exchanged."""
    other = place.following
    if other is None or isinstance(other.statement, ast.For | ast.While):
        return
    if any(map(function.makes_an_array, (place.statement, other.statement))):
        return
    past = {place.path: StatementEdit(before=(other.statement,)), other.path: GONE}
    yield function.statements("order", 2, past, place.statement.lineno)
