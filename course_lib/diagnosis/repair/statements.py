"""Changes of one statement (left out, moved, guarded, adding up), and exchanges of two names."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from course_lib.diagnosis.repair.edit import Edit, StatementEdit
from course_lib.diagnosis.repair.ingredients import REGISTERS, Ingredients, expression, named
from course_lib.diagnosis.source.tree import Path, copy_of, names_bound, names_in
from course_lib.emulator.language import types as T

Places = Mapping[str, Sequence[Path]]


def registers_exchanged(function: Ingredients, paths: Sequence[Path], cost: int) -> Iterator[Edit]:
    """Two of threadIdx.x, blockIdx.y, A.shape[0], … in each other's place: below some nodes."""
    found: dict[str, list[Path]] = defaultdict(list)
    for node, below in function.nodes:
        if any(below[: len(path)] == path for path in paths):
            match node:
                case ast.Attribute(value=ast.Attribute(attr=register)) if register in REGISTERS:
                    found[ast.unparse(node)].append(below)
                case ast.Subscript(value=ast.Attribute(attr="shape")) if function.is_whole(node):
                    found[ast.unparse(node)].append(below)
    yield from function.exchanged(found, cost)


def elements_exchanged(function: Ingredients) -> Iterator[Edit]:
    """The two indices of an access, or two expressions of one kind in a tuple."""
    for node, path in function.nodes:
        if not isinstance(node, ast.Tuple) or not isinstance(node.ctx, ast.Load):
            continue
        is_index = path[-1][0] == "slice" and len(node.elts) == 2
        for one, two in combinations(range(len(node.elts)), 2):
            parts = [node.elts[one], node.elts[two]]
            names = all(isinstance(part, ast.Name) for part in parts)  # exchanged below
            kinds = {function.kind_of(part) for part in parts}
            if is_index or (len(kinds) == 1 and not names):
                places: list[Path] = [(*path, ("elts", number)) for number in (two, one)]
                new = dict(zip(places, parts, strict=True))
                kind, cost = ("indices", 1) if is_index else ("exchange", 2)
                yield function.values(kind, cost, new)


def names_exchanged(function: Ingredients) -> Iterator[Edit]:
    """Two names of one statement, or of the whole function; or one wherever another stands."""
    for node, path in function.nodes:
        if isinstance(node, ast.stmt):
            yield from whole_names_exchanged(function, path, 2 if path else 5)
            yield from _renamed(function, _reads_of_whole(function, path))
        if isinstance(node, ast.Assign | ast.AugAssign):
            value: Path = (*path, ("value", None))
            yield from whole_names_exchanged(function, value, 2)
            yield from _arrays_exchanged(function, value)


def _reads_of_whole(function: Ingredients, path: Path) -> dict[str, list[Path]]:
    """Where below a statement the names of whole numbers are read."""
    reads: dict[str, list[Path]] = defaultdict(list)
    for node, below in function.nodes:
        if below[: len(path)] == path and isinstance(node, ast.Name):
            if node.id in function.whole and function.is_read(node, below):
                reads[node.id].append(below)
    return reads


def whole_names_exchanged(function: Ingredients, path: Path, cost: int) -> Iterator[Edit]:
    """Two names of whole numbers exchanged, wherever they occur below a node."""
    reads = _reads_of_whole(function, path)
    places = [path for paths in reads.values() for path in paths]
    known = {name: reads[name] for name in reads if _is_known(function, name, places)}
    yield from function.exchanged(known, cost)


def _arrays_exchanged(function: Ingredients, path: Path) -> Iterator[Edit]:
    """Two arrays with as many axes, of one value: `a[i] * b[j]` for `b[i] * a[j]`."""
    found: dict[str, dict[Path, ast.expr]] = defaultdict(dict)
    for node, below in function.nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in function.arrays:
                if below[: len(path)] == path and T.is_scalar(function.kind_of(node)):
                    found[name][below] = index
    for one, two in combinations(sorted(found), 2):
        if function.arrays[one] == function.arrays[two]:
            new = {
                below: ast.Subscript(named(other), index, ast.Load())
                for name, other in ((one, two), (two, one))
                for below, index in found[name].items()
            }
            yield function.values("exchange", 2, new)


def _renamed(function: Ingredients, reads: Places) -> Iterator[Edit]:
    for one, paths in sorted(reads.items()):
        for two in function.whole if len(paths) > 1 else ():
            alike = (two in function.bounds) == (one in function.bounds)
            if alike and two != one and _is_known(function, two, paths):
                yield function.values("name", 3, dict.fromkeys(paths, named(two)))


def _is_known(function: Ingredients, name: str, paths: Sequence[Path]) -> bool:
    return all(name in function.known_at(path) for path in paths)


def arguments_exchanged(function: Ingredients) -> Iterator[Edit]:
    """Two arguments of a call, one after the other: `add(i, j)` for `add(j, i)`."""
    for node, path in function.nodes:
        for number, (one, two) in enumerate(
            pairwise(node.args if isinstance(node, ast.Call) else ())
        ):
            kinds = [function.kind_of(argument) for argument in (one, two)]
            if kinds[0] == kinds[1] and all(map(T.is_scalar, kinds)):
                new = {(*path, ("args", number)): two, (*path, ("args", number + 1)): one}
                yield function.values("exchange", 2, new, function.line(path))


def targets_exchanged(function: Ingredients) -> Iterator[Edit]:
    """`y, x = …` for `x, y = …`."""
    for node, path in function.nodes:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=[one, two]), *_]):
                turned = ast.Tuple([copy_of(two), copy_of(one)], ast.Store())
                new = ast.Assign([turned], node.value, lineno=node.lineno)
                change = StatementEdit(instead=(new,))
                yield function.statement("targets", 1, path, change)


# --- The changes of one statement -----------------------------------------------------------------


GONE = StatementEdit(instead=())
BLOCKS = (ast.For, ast.While, ast.If)


@dataclass(frozen=True)
class StatementPlace:
    """The place of a statement: its number in a block, which is a field of the node at `owner`."""

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
        elif not isinstance(statement, ast.For):
            yield from registers_exchanged(function, [(*path, ("test", None))], 1)
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


# --- By the kind of the statement -----------------------------------------------------------------


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
    if names_bound(target) <= function.known_at(path):
        yield function.statement("= for +=", 1, path, StatementEdit(instead=(added,)))
    for length in range(1, len(path)):
        if isinstance(function.at[path[:length]], ast.For | ast.While):
            zero = ast.Assign([copy_of(target)], _zero_like(function, statement), lineno=line)
            places = {
                path: StatementEdit(instead=(added,)),
                path[:length]: StatementEdit(before=(zero,)),
            }
            yield function.statements("sum from zero", 2, places, line)
    yield function.value("zero", 3, (*path, ("value", None)), ast.Constant(0))
    if any(isinstance(function.at[path[:n]], ast.For | ast.While) for n in range(1, len(path))):
        for new in _extremes(target, statement.value, function):
            yield function.statement("not kept", 2, path, StatementEdit(instead=(new,)))


def _extremes(target: ast.expr, value: ast.expr, function: Ingredients) -> Iterator[ast.Assign]:
    """The larger or the smaller of what a target holds and a value, if the text names those."""
    called = {ast.unparse(node.func) for node, _ in function.nodes if isinstance(node, ast.Call)}
    for name in sorted(called & {"max", "min"}):
        if name not in names_in(value):
            call = ast.Call(
                ast.Name(name, ast.Load()), [expression(ast.unparse(target)), value], []
            )
            yield ast.Assign([copy_of(target)], call, lineno=value.lineno)


def _zero_like(function: Ingredients, statement: ast.Assign) -> ast.Constant:
    """A zero of the type that is stored: a plain 0 would make a float32 sum one of float64, which
    may be right where the student's own type is not."""
    kind = function.kind_of(statement.value)
    zero: Any = np.float32(0) if kind == T.FLOAT32 else 0
    return ast.Constant(zero)


@_of_statement.register
def _of_addition(statement: ast.AugAssign, function: Ingredients, path: Path) -> Iterator[Edit]:
    target, value = statement.target, statement.value
    new: ast.stmt = ast.Assign([copy_of(target)], value, lineno=statement.lineno)
    yield function.statement("+= for =", 1, path, StatementEdit(instead=(new,)))
    if not isinstance(statement.op, ast.Add):
        new = ast.AugAssign(copy_of(target), ast.Add(), value)
        yield function.statement("operator", 1, path, StatementEdit(instead=(new,)))
    for extreme in _extremes(target, value, function):
        yield function.statement("combined", 1, path, StatementEdit(instead=(extreme,)))


@_of_statement.register
def _of_break(statement: ast.Break, function: Ingredients, path: Path) -> Iterator[Edit]:
    """`continue` for `break`, where a loop counts by itself."""
    loops = [function.at[path[:length]] for length in range(1, len(path))]
    around = [loop for loop in loops if isinstance(loop, ast.For | ast.While)]
    if around and isinstance(around[-1], ast.For):
        change = StatementEdit(instead=(ast.Continue(),))
        yield function.statement("ends the loop", 1, path, change)


@_of_statement.register
def _of_if(statement: ast.If, function: Ingredients, path: Path) -> Iterator[Edit]:
    body, first = statement.body, statement.body[0]
    compares = (node for node in ast.walk(statement.test) if isinstance(node, ast.Compare))
    takes = any(T.is_float(function.kind_of(node.left)) for node in compares)  # the larger one
    cost = 2 if takes else 1
    yield function.statement("guard left out", cost, path, StatementEdit(instead=tuple(body)))
    if statement.orelse:
        return
    if isinstance(first, ast.Assign):
        target, usual = first.targets[0], function.first_value(first.targets[0])
        value = ast.Constant(0) if usual in (None, first.value) else usual
        zero = ast.Assign([copy_of(target)], value, lineno=first.lineno)
        new: ast.stmt = ast.If(statement.test, body, [zero])
        yield function.statement("else missing", 2, path, StatementEdit(instead=(new,)))
    match statement.test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt()], comparators=[end]) if (
            function.cuda
        ):
            threads = " * ".join(f"{function.cuda}.blockDim.{axis}" for axis in "xyz")
            turns = expression(f"range({name}, {ast.unparse(end)}, {threads})")
            new = ast.For(ast.Name(name, ast.Store()), turns, body, [], lineno=statement.lineno)
            yield function.statement("only once", 2, path, StatementEdit(instead=(new,)))


def _guarded_store(function: Ingredients, statement: ast.stmt, path: Path) -> Iterator[Edit]:
    """A store, or a call as that of an atomic operation, only where its elements are."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as place]) | ast.AugAssign(target=place):
            tests = function.tests_of_indices(place)
        case ast.Expr(value=ast.Call()):
            tests = function.tests_of_indices(statement)
        case _:
            return
    if tests:
        guarded = ast.If(expression(" and ".join(tests)), [statement], [])
        change = StatementEdit(instead=(guarded,))
        yield function.statement("guard missing", 2, path, change)


# --- Statements moved -----------------------------------------------------------------------------


def _moved_out(
    function: Ingredients, block: ast.For | ast.While | ast.If, path: Path
) -> Iterator[Edit]:
    """The last statement of a block behind it, or the first one before it."""
    first, last = block.body[0], block.body[-1]
    out = {
        (*path, ("body", len(block.body) - 1)): GONE,
        path: StatementEdit(after=(last,)),
    }
    yield function.statements(f"in the {_noun(block)}", 1, out, last.lineno)
    out = {(*path, ("body", 0)): GONE, path: StatementEdit(before=(first,))}
    yield function.statements(f"in the {_noun(block)}", 1, out, first.lineno)


def _moved_in(
    function: Ingredients, block: ast.For | ast.While | ast.If, place: StatementPlace
) -> Iterator[Edit]:
    """The statement behind a block at its end, or the one before it at its beginning."""
    last: Path = (*place.path, ("body", len(block.body) - 1))
    first: Path = (*place.path, ("body", 0))
    if place.following:
        change = StatementEdit(after=(place.following.statement,))
        yield from _moved(function, f"behind the {_noun(block)}", place.following, last, change)
    if place.previous:
        change = StatementEdit(before=(place.previous.statement,))
        yield from _moved(function, f"before the {_noun(block)}", place.previous, first, change)


def _noun(block: ast.For | ast.While | ast.If) -> str:
    return "branch" if isinstance(block, ast.If) else "loop"


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
    if isinstance(place.statement, BLOCKS) and not isinstance(other.statement, BLOCKS):
        yield function.statements("too late", 2, past, other.statement.lineno)
    else:
        yield function.statements("order", 2, past, place.statement.lineno)
