"""Every small change to a kernel: another name, number, operator, comparison, index, statement."""

from __future__ import annotations

import ast
from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np

from course_lib.diagnosis.repairs.change import Path, copy_of, node_at
from course_lib.diagnosis.source.nodes import indices_of
from course_lib.emulator import Kernel
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


@lru_cache(maxsize=8)
def _loop_variables(tree: ast.FunctionDef) -> frozenset[str]:
    """The variables by which loops end, and those that these are worked out from."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            found |= _loaded(node.iter)
        if isinstance(node, ast.While):
            found |= _loaded(node.test)
    before: set[str] = set()
    while found != before:
        before = set(found)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AugAssign) and bound_in(node) & found:
                found |= _loaded(node.value)
    return frozenset(found)


def _is_of_a_loop(tree: ast.FunctionDef, path: Path) -> bool:
    node: Any = tree
    for name, number in path:
        if isinstance(node, ast.For) and name == "iter":
            return True
        if isinstance(node, ast.While) and name == "test":
            return True
        node = getattr(node, name) if number is None else getattr(node, name)[number]
        if isinstance(node, ast.Assign | ast.AugAssign):
            return not _loop_variables(tree).isdisjoint(bound_in(node))
        if isinstance(node, ast.Break | ast.Return):
            return True
    return False


def made_of_sizes(tree: ast.FunctionDef) -> frozenset[str]:
    """The variables that are worked out from shapes and constants alone, and never changed."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AugAssign)]
    counted = [node.target for node in ast.walk(tree) if isinstance(node, ast.For)]
    variables = bound_in(tree)
    changed = frozenset().union(
        *(bound_in(each) for each in assigned if isinstance(each, ast.AugAssign)),
        *map(bound_in, counted),
    )
    found: set[str] = set()
    for node in assigned:
        value = node.value
        plain = not isinstance(value, ast.Constant) and not any(
            isinstance(part, ast.Call)
            or (isinstance(part, ast.Attribute) and part.attr in REGISTERS)
            or (isinstance(part, ast.Subscript) and not isinstance(part.value, ast.Attribute))
            for part in ast.walk(value)
        )
        if plain and _loaded(value) & variables <= found:
            found |= bound_in(node)
    return frozenset(found - changed)


def _put_in(edit: StatementEdit) -> tuple[ast.stmt, ...]:
    return (*edit.before, *(edit.instead or ()), *edit.after)


@dataclass(frozen=True, eq=False)
class Edit:
    """One small change to one function, perhaps in several places at once.

    Attributes:
        kind: a word for what is changed.
        line: where it is told.
        cost: how far it is from what was written; smaller ones are likelier.
        tree: the function.
        values: the expressions that stand in place of others, by the paths of these.
        statements: what happens around statements, by their paths.
        more: another change that is made as well.
    """

    kind: str
    line: int
    cost: int
    tree: ast.FunctionDef
    values: dict[Path, ast.expr] = field(default_factory=dict)
    statements: dict[Path, StatementEdit] = field(default_factory=dict)
    more: Edit | None = None

    @property
    def parts(self) -> list[Edit]:
        return [self, *(self.more.parts if self.more else ())]

    @cached_property
    def is_of_a_loop(self) -> bool:
        """May it make a loop longer?"""
        return any(
            _is_of_a_loop(part.tree, path)
            for part in self.parts
            for path in (*part.values, *part.statements)
        )

    @cached_property
    def loads(self) -> bool:
        """Does what it puts in load an element of an array?"""
        return any(
            isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Attribute)
            for part in self.parts
            for new in (*part.values.values(), *chain(*map(_put_in, part.statements.values())))
            for node in ast.walk(new)
        )

    def apart(self, other: Edit) -> bool:
        """Do two changes touch parts of the text of which none lies in another?"""
        mine, theirs = ([*each.values, *each.statements] for each in (self, other))
        return self.tree is not other.tree or not any(
            one[: len(two)] == two or two[: len(one)] == one for one in mine for two in theirs
        )

    def and_also(self, other: Edit) -> Edit:
        """Both changes as one, told at the first."""
        one, two = (self, other) if self.line <= other.line else (other, self)
        cost = one.cost + two.cost + (one.kind != two.kind)
        return replace(one, cost=cost, more=two)

    def applied(self, kernel: Kernel) -> Kernel:
        """A kernel with the change made, in itself or in a function that it calls."""
        of_tree: dict[ast.FunctionDef, Edit] = {}
        for part in self.parts:
            known = of_tree.get(part.tree, replace(part, values={}, statements={}, more=None))
            of_tree[part.tree] = replace(
                known,
                values=known.values | part.values,
                statements=known.statements | part.statements,
            )
        for tree, whole in of_tree.items():
            kernel = whole._in_one(kernel, tree)
        return kernel

    def _in_one(self, kernel: Kernel, tree: ast.FunctionDef) -> Kernel:
        if kernel.tree is tree:
            return replace(kernel, tree=self.changed())
        names = {
            name: self._in_one(called, tree)
            for node in ast.walk(kernel.tree)
            if isinstance(node, ast.Name)
            and isinstance(called := kernel.namespace.get(name := node.id), Kernel)
        }
        around: Any = ChainMap(names, kernel.namespace)  # type: ignore[arg-type]
        return replace(kernel, namespace=around) if names else kernel

    def changed(self) -> ast.FunctionDef:
        """A copy of the function with the change made."""
        new = copy_of(self.tree)
        for path, value in self.values.items():
            owner, (name, number) = node_at(new, path[:-1]), path[-1]
            placed = ast.copy_location(copy_of(value), node_at(self.tree, path))
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

    def __init__(
        self, typing: Typing, constants: Sequence[str], given: Collection[str] = ()
    ) -> None:
        tree = typing.kernel.tree
        assert isinstance(tree, ast.FunctionDef)
        self.tree, self.typing = tree, typing
        lines = enumerate(typing.kernel.source.splitlines(), typing.kernel.first_line)
        self.given = {number for number, line in lines if line.strip() in given}
        self.nodes = list(_walk(tree))
        self.at = {path: node for node, path in self.nodes}
        self.arrays = {
            name: kind.ndim for name, kind in self._names().items() if isinstance(kind, T.ArrayType)
        }
        names = self._names()
        self.known: dict[Path, frozenset[str]] = {}
        self._note_known(tree.body, (), "body", frozenset(typing.kernel.parameters))
        self.constants = frozenset(constants)
        self.variables = bound_in(tree)
        self.whole = sorted(n for n, k in names.items() if _is_whole(k)) + sorted(constants)
        self.bounds = frozenset({*constants, *(made_of_sizes(tree) & {*self.whole})})
        self.real = sorted(n for n, k in names.items() if isinstance(k, np.dtype) and k.kind == "f")
        numbers = {
            str(node.value)
            for node, _ in self.nodes
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 2
        }
        self.sides = [*sorted(constants), *sorted(numbers)]
        self.cuda = next(
            (
                ast.unparse(node.value.value)
                for node, _ in self.nodes
                if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Attribute)
                and node.value.attr in REGISTERS
            ),
            "cuda" if "cuda" in typing.kernel.namespace else "",
        )
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
                    inside = known | bound_in(target)
                    self._note_known(statement.body, here, "body", inside)
                case ast.While():
                    self._note_known(statement.body, here, "body", known)
                case _:
                    known |= bound_in(statement)
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

    def places_at(self, path: Path) -> list[str]:
        """The whole variables with a value there that say where, and not how many."""
        return [name for name in self.whole_at(path) if name not in self.bounds]

    def all(self) -> list[Edit]:
        """Every change, the likeliest first; each text once."""
        found = [
            *self._of_expressions(),
            *self._of_statements(),
            *self._together(),
            *self._guarded_loads(),
        ]
        return [
            edit for edit in found if edit.line not in self.given and self._has_all_values(edit)
        ]

    def _has_all_values(self, edit: Edit) -> bool:
        """Does every variable that a statement reads have a value where the statement is put?"""
        for path, change in edit.statements.items():
            known = self.known_at(path)
            for statement in change.before + (change.instead or ()):
                if _loaded(statement) & self.variables - bound_in(statement) - known:
                    return False
        return True

    # --- helpers ------------------------------------------------------------------------------

    def line(self, path: Path) -> int:
        while not hasattr(self.at[path], "lineno"):
            path = path[:-1]
        return int(self.at[path].lineno)

    def value(self, kind: str, cost: int, path: Path, new: ast.expr) -> Edit:
        return Edit(kind, self.line(path), cost, self.tree, {path: new})

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
        if node in self.typing.waiting:  # every thread has to reach a barrier
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
                        cost = 1 if (other in self.bounds) == (name in self.bounds) else 3
                        yield self.value("name", cost, path, ast.Name(other, ast.Load()))
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
                for side in (f"{self.cuda}.blockDim.{axis}", *self.sides):
                    text = f"{ast.unparse(node)} * {side}"
                    yield self.value("factor", 3, path, expression(text))
                for side in self.sides if register.endswith("Dim") else ():
                    yield self.value("register", 2, path, expression(side))
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
        if isinstance(parent, ast.Call) and ast.unparse(parent.func).endswith(("grid", "gridsize")):
            return True
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
        text, places = ast.unparse(node), self.places_at(path)
        for sign in "+-":
            yield self.value("off by one", 2, path, expression(f"({text}) {sign} 1"))
        for name in places:
            yield self.value("term", 3, path, expression(f"({text}) + {name}"))
            yield self.value("term", 3, path, expression(f"({text}) - {name}"))
            for side in self.sides:
                yield self.value("term", 4, path, expression(f"({text}) + {name} * {side}"))
        for side in self.sides:
            yield self.value("term", 3, path, expression(f"({text}) + {side}"))
        for side in {*self.sides, *(self.bounds & {*self.whole_at(path)})} - {text}:
            yield self.value("factor", 3, path, expression(f"({text}) * {side}"))
        for axis in "xy" if self.cuda else "":
            for side in (f"{self.cuda}.blockDim.{axis}", *self.sides):
                new = expression(f"({text}) + {self.cuda}.blockIdx.{axis} * {side}")
                yield self.value("block", 3, path, new)
        for size in self.sizes:
            if size != text:
                yield self.value("size", 2, path, expression(size))

    def _more_clauses(self, node: ast.expr, path: Path) -> Iterator[Edit]:
        for clause in self._inside_of(self.at[path[:-1]]):
            new = ast.BoolOp(ast.And(), [node, expression(clause)])
            yield self.value("clause missing", 2, path, new)
        for name in self.places_at(path):
            for bound in (*(self.bounds & {*self.whole_at(path)}), *self.sizes):
                new = ast.BoolOp(ast.And(), [node, expression(f"{name} < {bound}")])
                yield self.value("clause missing", 3, path, new)

    def _inside_of(self, node: ast.AST) -> list[str]:
        """That each index in a part of the text lies inside its array, as texts."""
        found = {
            f"{ast.unparse(index)} < {ast.unparse(part.value)}.shape[{axis}]"
            for part in ast.walk(node)
            if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
            for axis, index in enumerate(indices_of(part))
            if part.value.id in self.arrays
        }
        return sorted(found)

    def _guarded_loads(self) -> Iterator[Edit]:
        """`A[i, j]` only where there is one, else 0: each by itself, and all of one array."""
        every: dict[str, dict[Path, ast.expr]] = defaultdict(dict)
        for node, path in self.nodes:
            if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
                continue
            if not T.is_float(self.kind_of(node)) or not isinstance(node.value, ast.Name):
                continue
            clauses = self._inside_of(node)
            if clauses and isinstance(self.at[path[:-1]], ast.Assign):
                guarded = ast.IfExp(expression(" and ".join(clauses)), node, ast.Constant(0.0))
                every["all"][path] = every[node.value.id][path] = guarded
                yield self.value("guard missing", 2, path, guarded)
        for paths in every.values():
            if len(paths) > 1:
                yield Edit("guard missing", self.line(next(iter(paths))), 3, self.tree, paths)

    def _registers_exchanged(self, paths: Sequence[Path], cost: int) -> Iterator[Edit]:
        """Two of threadIdx.x, blockIdx.y, … in each other's place: below some nodes."""
        found: dict[str, list[Path]] = defaultdict(list)
        for node, below in self.nodes:
            if any(below[: len(path)] == path for path in paths):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                    if node.value.attr in REGISTERS:
                        found[ast.unparse(node)].append(below)
        for one, two in combinations(sorted(found), 2):
            new = {way: expression(two) for way in found[one]}
            new |= {way: expression(one) for way in found[two]}
            yield Edit("exchange", min(map(self.line, new)), cost, self.tree, new)

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
                if number and not isinstance(statement, ast.For | ast.While | ast.If):
                    before = (*path, (name, number - 1))
                    yield from self._registers_exchanged([before, here], 2)
                yield from self._moved(block, path, name, number)

    def one(self, kind: str, cost: int, path: Path, edit: StatementEdit) -> Edit:
        return Edit(kind, self.line(path), cost, self.tree, {}, {path: edit})

    def _of_statement(self, statement: ast.stmt, path: Path) -> Iterator[Edit]:
        if not isinstance(statement, ast.For | ast.While | ast.If | ast.FunctionDef):
            yield from self._registers_exchanged([path], 1)
        if not self._makes_an_array(statement) and not isinstance(statement, ast.For | ast.While):
            yield self.one("left out", 2, path, StatementEdit(instead=()))
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
                if isinstance(self.kind_of(value), np.dtype):
                    added = ast.AugAssign(
                        copy_of(target), ast.Add(), value, lineno=statement.lineno
                    )
                    yield self.one("= for +=", 1, path, StatementEdit(instead=(added,)))
                    yield from self._added_up(added, target, path)
                    yield self.value("zero", 3, (*path, ("value", None)), ast.Constant(0))
            case ast.While(test=test, body=body):
                for name in sorted(_loaded(test) & self.variables & {*self.whole_at(path)}):
                    last: Path = (*path, ("body", len(body) - 1))
                    step = StatementEdit(after=(_statement(f"{name} += 1"),))
                    yield Edit("step missing", statement.lineno, 2, self.tree, {}, {last: step})
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

    def _added_up(
        self, added: ast.stmt, target: ast.Name | ast.Subscript, path: Path
    ) -> Iterator[Edit]:
        """`=` for `+=`, and a zero before each of the loops around it."""
        for length in range(1, len(path)):
            if isinstance(self.at[path[:length]], ast.For | ast.While):
                zero = ast.Assign([copy_of(target)], ast.Constant(0), lineno=added.lineno)
                places = {
                    path: StatementEdit(instead=(added,)),
                    path[:length]: StatementEdit(before=(zero,)),
                }
                yield Edit("= for +=", self.line(path), 2, self.tree, {}, places)

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

    def _moved(self, block: list[ast.stmt], path: Path, name: str, number: int) -> Iterator[Edit]:
        statement = block[number]
        here: Path = (*path, (name, number))
        gone = StatementEdit(instead=())
        if isinstance(statement, ast.For | ast.While | ast.If) and statement.body:
            inner = statement.body
            last: Path = (*here, ("body", len(inner) - 1))
            first: Path = (*here, ("body", 0))
            out = {last: gone, here: StatementEdit(after=(inner[-1],))}
            yield Edit("in the loop", inner[-1].lineno, 1, self.tree, {}, out)
            out = {first: gone, here: StatementEdit(before=(inner[0],))}
            yield Edit("in the loop", inner[0].lineno, 2, self.tree, {}, out)
            if number + 1 < len(block) and not self._makes_an_array(block[number + 1]):
                after = block[number + 1]
                into = {last: StatementEdit(after=(after,)), (*path, (name, number + 1)): gone}
                yield Edit("behind the loop", after.lineno, 1, self.tree, {}, into)
            if number and not self._makes_an_array(block[number - 1]):
                before = block[number - 1]
                into = {first: StatementEdit(before=(before,)), (*path, (name, number - 1)): gone}
                yield Edit("before the loop", before.lineno, 1, self.tree, {}, into)
        if number + 1 < len(block) and not isinstance(block[number + 1], ast.For | ast.While):
            after = block[number + 1]
            if self._makes_an_array(after) or self._makes_an_array(statement):
                return
            past = {here: StatementEdit(before=(after,)), (*path, (name, number + 1)): gone}
            yield Edit("order", statement.lineno, 2, self.tree, {}, past)

    # --- the same change in several places ----------------------------------------------------

    def _together(self) -> Iterator[Edit]:
        yield from self._registers_exchanged([()], 2)
        yield from self._on_both_axes()
        yield from self._alike_comparisons()
        yield from self._exchanges()

    def _on_both_axes(self) -> Iterator[Edit]:
        """What two neighbours lack that are worked out one after the other, as a row and a column:
        the place of the block, or a factor."""
        made = [
            (node, path)
            for node, path in self.nodes
            if path and isinstance(node, ast.expr) and self._is_a_whole_value(node, path)
        ]
        for (one, here), (two, there) in pairwise(made):
            if here[:-2] != there[:-2] and len(here) != len(there):
                continue
            texts = (ast.unparse(one), ast.unparse(two))
            ways = [(f"({{}}) * {side}",) * 2 for side in self.sides]
            kinds = ["factor"] * len(ways)
            for side in ("blockDim", *self.sides) if self.cuda else ():
                for axes in ("xy", "yx"):
                    sides = [
                        f"{self.cuda}.blockDim.{a}" if side == "blockDim" else side for a in axes
                    ]
                    block = [
                        f"({{}}) + {self.cuda}.blockIdx.{a} * {s}"
                        for a, s in zip(axes, sides, strict=True)
                    ]
                    ways.append((block[0], block[1]))
                    kinds.append("block")
            for kind, (first, second) in zip(kinds, ways, strict=True):
                new = {
                    here: expression(first.format(texts[0])),
                    there: expression(second.format(texts[1])),
                }
                yield Edit(kind, self.line(here), 3, self.tree, new)

    def _is_a_whole_value(self, node: ast.expr, path: Path) -> bool:
        """Is it what a whole variable is set to, alone or as one of several?"""
        if not _is_whole(self.kind_of(node)):
            return False
        if path[-1][0] == "elts":
            path = path[:-1]
        return path[-1][0] == "value" and isinstance(self.at[path[:-1]], ast.Assign)

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
                    yield Edit("comparison", self.line(paths[0]), 2, self.tree, new)

    def _exchanges(self) -> Iterator[Edit]:
        """Two indices, two names of one statement, or of the whole function, exchanged."""
        for node, path in self.nodes:
            if isinstance(node, ast.Tuple) and len(node.elts) == 2 and path[-1][0] == "slice":
                one, two = node.elts
                places = ((*path, ("elts", 0)), (*path, ("elts", 1)))
                yield Edit(
                    "indices",
                    self.line(path),
                    1,
                    self.tree,
                    dict(zip(places, (two, one), strict=True)),
                )
        for node, path in self.nodes:
            if isinstance(node, ast.stmt):
                yield from self._names_exchanged(node, path)
        yield from self._targets_exchanged()

    def _names_exchanged(self, node: ast.stmt, path: Path) -> Iterator[Edit]:
        reads: dict[str, list[Path]] = defaultdict(list)
        for other, below in self.nodes:
            if below[: len(path)] == path and isinstance(other, ast.Name):
                if other.id in self.whole and self._is_read(other, below):
                    reads[other.id].append(below)
        everywhere = [
            name
            for name in reads
            if all(name in self.known_at(p) for q in reads.values() for p in q)
        ]
        for one, two in combinations(sorted(everywhere), 2):
            new: dict[Path, ast.expr] = {p: ast.Name(two, ast.Load()) for p in reads[one]}
            new |= {p: ast.Name(one, ast.Load()) for p in reads[two]}
            line = min(self.line(p) for p in new)
            yield Edit("exchange", line, 2 if path else 3, self.tree, new)
        for one in sorted(reads):
            if len(reads[one]) > 1:
                for two in self.whole:
                    alike = (two in self.bounds) == (one in self.bounds) and two != one
                    if alike and all(two in self.known_at(p) for p in reads[one]):
                        new = {p: ast.Name(two, ast.Load()) for p in reads[one]}
                        yield Edit("name", self.line(reads[one][0]), 3, self.tree, new)

    def _targets_exchanged(self) -> Iterator[Edit]:
        for node, path in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                target = node.targets[0]
                if len(target.elts) == 2:
                    turned = ast.Tuple([copy_of(each) for each in target.elts[::-1]], ast.Store())
                    new = ast.Assign([turned], node.value, lineno=node.lineno)
                    yield self.one("targets", 1, path, StatementEdit(instead=(new,)))


def bound_in(node: ast.AST) -> frozenset[str]:
    return frozenset(
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


def _loaded(node: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


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
