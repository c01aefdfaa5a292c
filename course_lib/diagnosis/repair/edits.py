"""Every small change to a kernel: another name, number, operator, comparison, index, statement."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from course_lib.diagnosis.repairs.change import Path, copy_of, node_at
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
REGISTERS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@dataclass(frozen=True, eq=False)
class StatementEdit:
    """What happens around one statement; with `instead`, it is left out."""

    before: tuple[ast.stmt, ...] = ()
    instead: tuple[ast.stmt, ...] | None = None
    after: tuple[ast.stmt, ...] = ()


@dataclass(frozen=True, eq=False)
class Edit:
    """One small change, perhaps in several places at once.

    Attributes:
        kind: a word for what is changed.
        line: where it is told.
        cost: how far it is from what was written; smaller ones are likelier.
        values: the expressions that stand in place of others, by the paths of these.
        statements: what happens around statements, by their paths.
    """

    kind: str
    line: int
    cost: int
    values: dict[Path, ast.expr] = field(default_factory=dict)
    statements: dict[Path, StatementEdit] = field(default_factory=dict)

    def applied(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """A copy of the function with the change made."""
        new = copy_of(tree)
        for path, value in self.values.items():
            owner, (name, number) = node_at(new, path[:-1]), path[-1]
            placed = ast.copy_location(copy_of(value), node_at(tree, path))
            if number is None:
                setattr(owner, name, placed)
            else:
                getattr(owner, name)[number] = placed
        # Later statements first, so that the places of earlier ones stay.
        for path, edit in sorted(self.statements.items(), key=lambda each: each[0], reverse=True):
            block = getattr(node_at(new, path[:-1]), path[-1][0])
            number = path[-1][1]
            kept = [block[number]] if edit.instead is None else list(map(copy_of, edit.instead))
            made = [*map(copy_of, edit.before), *kept, *map(copy_of, edit.after)]
            block[number : number + 1] = made
        for node in ast.walk(new):
            if hasattr(node, "body") and isinstance(node.body, list) and not node.body:
                node.body.append(ast.Pass())
        return ast.fix_missing_locations(new)


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


class Edits:
    """All small changes to one function, whose types are known."""

    def __init__(self, tree: ast.FunctionDef, typing: Typing, constants: Sequence[str]) -> None:
        self.tree, self.typing = tree, typing
        self.nodes = list(_walk(tree))
        self.at = {path: node for node, path in self.nodes}
        self.arrays = {
            name: kind.ndim
            for name, kind in self._names().items()
            if isinstance(kind, T.ArrayType)
        }
        names = self._names()
        self.known: dict[Path, frozenset[str]] = {}
        self._note_known(tree.body, (), "body", frozenset(typing.kernel.parameters))
        self.constants = frozenset(constants)
        self.whole = sorted(n for n, k in names.items() if _is_whole(k)) + sorted(constants)
        self.real = sorted(n for n, k in names.items() if isinstance(k, np.dtype) and k.kind == "f")
        self.sizes = [
            f"{name}.shape[{axis}]"
            for name in typing.kernel.parameters
            for axis in range(self.arrays.get(name, 0))
        ]

    def _names(self) -> dict[str, T.Type]:
        """The names that hold one type wherever they stand."""
        kinds: dict[str, T.Type] = {}
        for node, _ in self.nodes:
            if isinstance(node, ast.Name) and node in self.typing.types:
                kinds[node.id] = self.typing.types[node]
        return kinds

    def _note_known(
        self, body: list[ast.stmt], path: Path, name: str, known: frozenset[str]
    ) -> frozenset[str]:
        """Note for each statement which names have a value there; returns those behind the last."""
        for number, statement in enumerate(body):
            here: Path = (*path, (name, number))
            self.known[here] = known
            match statement:
                case ast.If():
                    one = self._note_known(statement.body, here, "body", known)
                    two = self._note_known(statement.orelse, here, "orelse", known)
                    known = one & two
                case ast.For(target=target):
                    inside = known | _bound(target)
                    self._note_known(statement.body, here, "body", inside)
                case ast.While():
                    self._note_known(statement.body, here, "body", known)
                case _:
                    known |= _bound(statement)
        return known

    def known_at(self, path: Path) -> frozenset[str]:
        """The names that have a value where a node stands."""
        while path not in self.known:
            if not path:
                return frozenset()
            path = path[:-1]
        return self.known[path] | self.constants

    def whole_at(self, path: Path) -> list[str]:
        known = self.known_at(path)
        return [name for name in self.whole if name in known]

    def all(self) -> list[Edit]:
        """Every change, the likeliest first; each text once."""
        found = [*self._of_expressions(), *self._of_statements(), *self._together()]
        return sorted(found, key=lambda edit: edit.cost)

    # --- helpers ------------------------------------------------------------------------------

    def line(self, path: Path) -> int:
        while not hasattr(self.at[path], "lineno"):
            path = path[:-1]
        return int(self.at[path].lineno)

    def value(self, kind: str, cost: int, path: Path, new: ast.expr) -> Edit:
        return Edit(kind, self.line(path), cost, {path: new})

    def kind_of(self, node: ast.AST) -> T.Type | None:
        return self.typing.types.get(node)

    def _of_expressions(self) -> Iterator[Edit]:
        for node, path in self.nodes:
            if not path or not isinstance(node, ast.expr) or not self._is_read(node, path):
                continue
            yield from self._of_expression(node, path)

    def _is_read(self, node: ast.expr, path: Path) -> bool:
        """Is it a value that is computed when the kernel runs, and may be another one?"""
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return False
        for length in range(len(path)):
            name = path[length][0]
            parent = self.at[path[:length]]
            if name in ("decorator_list", "func", "args") and isinstance(parent, ast.FunctionDef):
                return False
            if isinstance(parent, ast.Call) and parent in self.typing.layouts:
                return False
        return True

    def _of_expression(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        parent, place = self.at[path[:-1]], path[-1][0]
        kind = self.kind_of(node)
        match node:
            case ast.Name(id=name) if _is_whole(kind):
                for other in self.whole_at(path):
                    if other != name:
                        yield self.value("name", 1, path, ast.Name(other, ast.Load()))
            case ast.Name(id=name) if name in self.real:
                for other in self.real:
                    if other != name and other in self.known_at(path):
                        yield self.value("name", 1, path, ast.Name(other, ast.Load()))
            case ast.Constant(value=number) if type(number) in (int, float) and place != "shape":
                if not self._is_axis(path):
                    for other in {0, 1, 2, number + 1, number - 1} - {number}:
                        new = ast.Constant(type(number)(other))
                        yield self.value("number", 1, path, new)
                    if type(number) is int:
                        for name in self.whole_at(path):
                            yield self.value("number", 2, path, ast.Name(name, ast.Load()))
            case ast.Subscript(value=ast.Attribute(attr="shape")) if _is_whole(kind):
                for size in self.sizes:
                    if size != ast.unparse(node):
                        yield self.value("size", 1, path, expression(size))
            case ast.Attribute(value=ast.Attribute(attr=register) as owner, attr=axis) if (
                register in REGISTERS
            ):
                for other in "xy":
                    if other != axis:
                        new = ast.Attribute(copy_of(owner), other, ast.Load())
                        yield self.value("axis", 1, path, new)
                for other in REGISTERS:
                    if other != register:
                        base = ast.Attribute(copy_of(owner.value), other, ast.Load())
                        new = ast.Attribute(base, axis, ast.Load())
                        yield self.value("register", 2, path, new)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                for other in COMPARISONS:
                    if not isinstance(op, other):
                        alike = type(op).__name__[:2] == other.__name__[:2]
                        new = ast.Compare(left, [other()], [right])
                        yield self.value("comparison", 1 if alike else 2, path, new)
            case ast.BoolOp(op=op, values=values):
                turned = ast.And() if isinstance(op, ast.Or) else ast.Or()
                yield self.value("and/or", 1, path, ast.BoolOp(turned, values))
                for number in range(len(values)):
                    rest = values[:number] + values[number + 1 :]
                    new = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                    yield self.value("clause left out", 2, path, new)
            case ast.IfExp(body=body, orelse=orelse, test=test):
                yield self.value("condition left out", 2, path, body)
                yield self.value("condition turned", 2, path, ast.IfExp(test, orelse, body))
            case ast.BinOp():
                yield from self._of_operator(node, path, kind)
            case ast.Call(args=[only]) if isinstance(kind, np.dtype) and place != "func":
                if isinstance(self.kind_of(only), np.dtype):
                    yield self.value("call left out", 2, path, only)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.arrays:
                for other, axes in self.arrays.items():
                    if other != name and axes == self.arrays[name]:
                        new = ast.Subscript(ast.Name(other, ast.Load()), index, ast.Load())
                        yield self.value("array", 2, path, new)
        if _is_whole(kind) and self._is_of_an_index(node, path, parent):
            yield from self._more_terms(node, path)
        if kind == T.BOOL and place == "test":
            yield from self._more_clauses(node, path)

    def _is_axis(self, path: Path) -> bool:
        """Is it the number in `A.shape[0]` or `cuda.grid(2)`?"""
        parent = self.at[path[:-1]]
        if isinstance(parent, ast.Subscript):
            return isinstance(parent.value, ast.Attribute)
        return isinstance(parent, ast.Call) and not isinstance(
            self.kind_of(parent), np.dtype | T.RangeType
        )

    def _of_operator(self, node: ast.BinOp, path: Path, kind: T.Type | None) -> Iterator[Edit]:
        left, op, right = node.left, node.op, node.right
        for other in OPERATORS:
            if not isinstance(op, other):
                yield self.value("operator", 2, path, ast.BinOp(left, other(), right))
        yield self.value("surplus", 2, path, left)
        yield self.value("surplus", 2, path, right)
        if isinstance(op, ast.Sub | ast.FloorDiv | ast.Mod | ast.Div):
            yield self.value("turned", 1, path, ast.BinOp(right, op, left))
        if isinstance(left, ast.BinOp):
            new = ast.BinOp(left.left, left.op, ast.BinOp(left.right, op, right))
            yield self.value("brackets", 1, path, new)
        if isinstance(right, ast.BinOp):
            new = ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right)
            yield self.value("brackets", 1, path, new)
        if isinstance(op, ast.FloorDiv) and _is_whole(kind):
            up = expression(f"-(-({ast.unparse(left)}) // ({ast.unparse(right)}))")
            yield self.value("rounding", 1, path, up)

    def _is_of_an_index(self, node: ast.expr, path: Path, parent: ast.AST) -> bool:
        """Is it a whole index, bound, side of a comparison, or value of a whole variable?"""
        place = path[-1][0]
        if isinstance(node, ast.Constant) and place != "args":
            return False
        if place in ("slice", "comparators", "value") or (
            place == "left" and isinstance(parent, ast.Compare)
        ):
            return True
        if place == "elts":
            return True
        return isinstance(parent, ast.Call) and isinstance(self.kind_of(parent), T.RangeType)

    def _more_terms(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        text, whole = ast.unparse(node), self.whole_at(path)
        for sign in "+-":
            yield self.value("off by one", 2, path, expression(f"({text}) {sign} 1"))
        for name in whole:
            yield self.value("term", 3, path, expression(f"({text}) + {name}"))
            yield self.value("term", 3, path, expression(f"({text}) - {name}"))
            yield self.value("factor", 3, path, expression(f"({text}) * {name}"))
        for name in whole:
            for other in whole:
                if name <= other:
                    new = expression(f"({text}) + {name} * {other}")
                    yield self.value("term", 4, path, new)
        for size in self.sizes:
            if size != text:
                yield self.value("size", 2, path, expression(size))

    def _more_clauses(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        whole = self.whole_at(path)
        for name in whole:
            for bound in (*whole, *self.sizes):
                if name != bound:
                    clause = expression(f"{name} < {bound}")
                    new = ast.BoolOp(ast.And(), [node, clause])
                    yield self.value("clause missing", 3, path, new)

    # --- statements ---------------------------------------------------------------------------

    def blocks(self) -> Iterator[tuple[Path, str, list[ast.stmt]]]:
        for node, path in self.nodes:
            for name in ("body", "orelse"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield path, name, block

    def _of_statements(self) -> Iterator[Edit]:
        for path, name, block in self.blocks():
            for number, statement in enumerate(block):
                here = (*path, (name, number))
                yield from self._of_statement(statement, here)
                yield from self._moved(block, path, name, number)

    def one(self, kind: str, cost: int, path: Path, edit: StatementEdit) -> Edit:
        return Edit(kind, self.line(path), cost, {}, {path: edit})

    def _of_statement(self, statement: ast.stmt, path: Path) -> Iterator[Edit]:
        if not self._makes_an_array(statement) and not isinstance(statement, ast.For | ast.While):
            yield self.one("left out", 2, path, StatementEdit(instead=()))
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
                if isinstance(self.kind_of(value), np.dtype):
                    added = ast.AugAssign(copy_of(target), ast.Add(), value)
                    yield self.one("= for +=", 1, path, StatementEdit(instead=(added,)))
                    yield self.value("zero", 3, (*path, ("value", None)), ast.Constant(0))
            case ast.AugAssign(target=target, op=op, value=value):
                new = ast.Assign([copy_of(target)], value, lineno=statement.lineno)
                yield self.one("+= for =", 1, path, StatementEdit(instead=(new,)))
                if not isinstance(op, ast.Add):
                    added = ast.AugAssign(copy_of(target), ast.Add(), value)
                    yield self.one("operator", 1, path, StatementEdit(instead=(added,)))
            case ast.If(body=body, orelse=orelse, test=test):
                yield self.one("guard left out", 2, path, StatementEdit(instead=tuple(body)))
                first = body[0]
                if not orelse and isinstance(first, ast.Assign):
                    target = copy_of(first.targets[0])
                    zero = ast.Assign([target], ast.Constant(0), lineno=first.lineno)
                    new = ast.If(test, body, [zero])
                    yield self.one("else missing", 2, path, StatementEdit(instead=(new,)))
        for store in self._stores(statement):
            index = store.slice
            indices = index.elts if isinstance(index, ast.Tuple) else [index]
            array = ast.unparse(store.value)
            tests = [f"{ast.unparse(i)} < {array}.shape[{n}]" for n, i in enumerate(indices)]
            guarded = ast.If(expression(" and ".join(tests)), [statement], [])
            yield self.one("guard missing", 3, path, StatementEdit(instead=(guarded,)))

    def _stores(self, statement: ast.stmt) -> list[ast.Subscript]:
        if not isinstance(statement, ast.Assign | ast.AugAssign):
            return []
        return [
            node
            for node in ast.walk(statement)
            if isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
        ][:1]

    def _makes_an_array(self, statement: ast.stmt) -> bool:
        return any(node in self.typing.layouts for node in ast.walk(statement))

    def _moved(
        self, block: list[ast.stmt], path: Path, name: str, number: int
    ) -> Iterator[Edit]:
        statement = block[number]
        here: Path = (*path, (name, number))
        gone = StatementEdit(instead=())
        if isinstance(statement, ast.For | ast.While | ast.If) and statement.body:
            inner = statement.body
            last: Path = (*here, ("body", len(inner) - 1))
            first: Path = (*here, ("body", 0))
            out = {last: gone, here: StatementEdit(after=(inner[-1],))}
            yield Edit("in the loop", inner[-1].lineno, 1, {}, out)
            out = {first: gone, here: StatementEdit(before=(inner[0],))}
            yield Edit("in the loop", inner[0].lineno, 2, {}, out)
            if number + 1 < len(block) and not self._makes_an_array(block[number + 1]):
                after = block[number + 1]
                into = {last: StatementEdit(after=(after,)), (*path, (name, number + 1)): gone}
                yield Edit("behind the loop", after.lineno, 1, {}, into)
            if number and not self._makes_an_array(block[number - 1]):
                before = block[number - 1]
                into = {first: StatementEdit(before=(before,)), (*path, (name, number - 1)): gone}
                yield Edit("before the loop", before.lineno, 1, {}, into)
        if number + 1 < len(block) and not isinstance(block[number + 1], ast.For | ast.While):
            after = block[number + 1]
            if self._makes_an_array(after) or self._makes_an_array(statement):
                return
            past = {here: StatementEdit(before=(after,)), (*path, (name, number + 1)): gone}
            yield Edit("order", statement.lineno, 2, {}, past)

    # --- the same change in several places ----------------------------------------------------

    def _together(self) -> Iterator[Edit]:
        yield from self._alike_comparisons()
        yield from self._exchanges()

    def _alike_comparisons(self) -> Iterator[Edit]:
        groups: dict[type, list[Path]] = defaultdict(list)
        for node, path in self.nodes:
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                groups[type(node.ops[0])].append(path)
        for usual, paths in groups.items():
            for other in COMPARISONS:
                if len(paths) > 1 and other is not usual:
                    new: dict[Path, ast.expr] = {}
                    for path in paths:
                        node = self.at[path]
                        assert isinstance(node, ast.Compare)
                        new[path] = ast.Compare(node.left, [other()], node.comparators)
                    yield Edit("comparison", self.line(paths[0]), 2, new)

    def _exchanges(self) -> Iterator[Edit]:
        """Two indices, two names of one statement, or of the whole function, exchanged."""
        for node, path in self.nodes:
            if isinstance(node, ast.Tuple) and len(node.elts) == 2 and path[-1][0] == "slice":
                one, two = node.elts
                places = ((*path, ("elts", 0)), (*path, ("elts", 1)))
                yield Edit("indices", self.line(path), 1, dict(zip(places, (two, one), strict=True)))
        for node, path in self.nodes:
            if isinstance(node, ast.stmt):
                yield from self._names_exchanged(node, path)
        yield from self._targets_exchanged()

    def _names_exchanged(self, node: ast.stmt, path: Path) -> Iterator[Edit]:
        reads: dict[str, list[Path]] = defaultdict(list)
        for other, below in self.nodes:
            if below[: len(path)] == path and isinstance(other, ast.Name):
                if isinstance(other.ctx, ast.Load) and other.id in self.whole:
                    reads[other.id].append(below)
        everywhere = [name for name in reads if all(name in self.known_at(p) for q in reads.values() for p in q)]
        for one, two in combinations(sorted(everywhere), 2):
            new: dict[Path, ast.expr] = {p: ast.Name(two, ast.Load()) for p in reads[one]}
            new |= {p: ast.Name(one, ast.Load()) for p in reads[two]}
            line = min(self.line(p) for p in new)
            yield Edit("exchange", line, 2 if path else 3, new)
        for one in sorted(reads):
            if len(reads[one]) > 1:
                for two in self.whole:
                    if two != one and all(two in self.known_at(p) for p in reads[one]):
                        new = {p: ast.Name(two, ast.Load()) for p in reads[one]}
                        yield Edit("name", self.line(reads[one][0]), 3, new)

    def _targets_exchanged(self) -> Iterator[Edit]:
        for node, path in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                target = node.targets[0]
                if len(target.elts) == 2:
                    turned = ast.Tuple([copy_of(each) for each in target.elts[::-1]], ast.Store())
                    new = ast.Assign([turned], node.value, lineno=node.lineno)
                    yield self.one("targets", 1, path, StatementEdit(instead=(new,)))


def _bound(node: ast.AST) -> frozenset[str]:
    return frozenset(
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


def _is_whole(kind: T.Type | None) -> bool:
    return isinstance(kind, np.dtype) and kind.kind in "iu"


def _walk(node: ast.AST, path: Path = ()) -> Iterator[tuple[ast.AST, Path]]:
    """All nodes of a function with the ways to them, in the order of the text."""
    yield node, path
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            for number, each in enumerate(value):
                if isinstance(each, ast.AST):
                    yield from _walk(each, (*path, (name, number)))
        elif isinstance(value, ast.AST):
            yield from _walk(value, (*path, (name, None)))
