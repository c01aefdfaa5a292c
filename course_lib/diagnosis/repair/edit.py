"""A small change to a function: which parts of the text it puts others in place of."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from course_lib.diagnosis.source.tree import (
    Node,
    Path,
    copy_of,
    names_bound,
    names_read,
    node_at,
    nodes_in,
    with_others,
)
from course_lib.emulator import Kernel

Function = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False)
class StatementEdit:
    """What happens around one statement; with `instead`, it is left out."""

    before: tuple[ast.stmt, ...] = ()
    instead: tuple[ast.stmt, ...] | None = None
    after: tuple[ast.stmt, ...] = ()

    @property
    def put_in(self) -> tuple[ast.stmt, ...]:
        return (*self.before, *(self.instead or ()), *self.after)


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
        is_given: it changes a line that every student is given.
    """

    kind: str
    line: int
    cost: int
    tree: Function
    values: dict[Path, ast.expr] = field(default_factory=dict)
    statements: dict[Path, StatementEdit] = field(default_factory=dict)
    more: Edit | None = None
    is_given: bool = False

    @property
    def paths(self) -> list[Path]:
        """Where the text is changed."""
        return [*self.values, *self.statements]

    @property
    def parts(self) -> list[Edit]:
        return [self, *(self.more.parts if self.more else ())]

    @property
    def lines(self) -> set[int]:
        """Of all places that it changes."""
        nodes = [node_at(part.tree, path) for part in self.parts for path in part.paths]
        return {node.lineno for node in nodes if isinstance(node, ast.expr | ast.stmt)}

    @cached_property
    def is_of_a_loop(self) -> bool:
        """May it make a loop longer?"""
        return any(_is_of_a_loop(part.tree, path) for part in self.parts for path in part.paths)

    @cached_property
    def loads(self) -> bool:
        """Does what it puts in load an element of an array, and stands nowhere else?"""
        return any(
            not isinstance(node.value, ast.Attribute) and node not in _subscripts_of(part.tree)
            for part in self.parts
            for new in (
                *part.values.values(),
                *chain(*(change.put_in for change in part.statements.values())),
            )
            for node in nodes_in(new, ast.Subscript)
        )

    def apart(self, other: Edit) -> bool:
        """Do two changes touch parts of the text of which none lies in another?"""
        return self.tree is not other.tree or not any(
            one[: len(two)] == two or two[: len(one)] == one
            for one in self.paths
            for two in other.paths
        )

    def and_also(self, other: Edit) -> Edit:
        """Both changes as one, told at the first."""
        one, two = (self, other) if self.line <= other.line else (other, self)
        cost = one.cost + two.cost + (one.kind != two.kind)
        return replace(one, cost=cost, more=two)

    def applied(self, kernel: Kernel) -> Kernel:
        """A kernel with the change made, in itself or in a function that it calls."""
        of_tree: dict[Function, Edit] = {}
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

    def _in_one(self, kernel: Kernel, tree: Function) -> Kernel:
        if kernel.tree is tree:
            return replace(kernel, tree=self.changed())
        names = {
            name: self._in_one(called, tree)
            for node in nodes_in(kernel.tree, ast.Name)
            if isinstance(called := kernel.namespace.get(name := node.id), Kernel)
        }
        around: Any = ChainMap(names, kernel.namespace)  # type: ignore[arg-type]
        return replace(kernel, namespace=around) if names else kernel

    def changed(self) -> Function:
        """The function with the change made; what the change leaves as it is belongs to both."""
        tree = self.tree
        for path, value in self.values.items():
            tree = with_others(tree, path, [_placed(value, node_at(self.tree, path))])
        # Later statements first, so that the places of earlier ones stay.
        for path in sorted(self.statements, reverse=True):
            change, there = self.statements[path], node_at(tree, path)
            kept = (there,) if change.instead is None else change.instead
            put_in = [*change.before, *kept, *change.after]
            others = [new if new is there else _placed(new, there) for new in put_in]
            tree = with_others(tree, path, others)
        return tree


def first_that_repairs(
    edits: Iterable[Edit], attempts: Callable[[Edit], Iterator[tuple[bool, int]]], steps: int
) -> Edit | None:
    """The first change with which every attempt is right; each takes some of all steps there are.

    `attempts` makes those of one change, one by one: was it right, and what did it take?
    """
    for edit in edits:
        for is_right, taken in attempts(edit):
            steps -= taken
            if not is_right:
                break
        else:
            return edit
        if steps <= 0:
            break
    return None


def _placed(new: Node, there: ast.AST) -> Node:
    """A copy of a new part of the text; where it names no line, it gets that of a place."""
    copied = copy_of(new)
    if isinstance(new, ast.expr) or not hasattr(new, "lineno"):
        ast.copy_location(copied, there)
    return ast.fix_missing_locations(copied)


@lru_cache(maxsize=8)
def _subscripts_of(tree: Function) -> frozenset[ast.Subscript]:
    return frozenset(nodes_in(tree, ast.Subscript))


def _is_of_a_loop(tree: Function, path: Path) -> bool:
    """Does what stands there decide when a loop ends?"""
    for length, (name, _) in enumerate(path):
        match node_at(tree, path[:length]), name:
            case (
                (ast.For(), "iter")
                | (ast.While(), "test")
                | (ast.If(body=[*_, ast.Break()]), "test")
            ):
                return True
        match node_at(tree, path[: length + 1]):
            case ast.Assign() | ast.AugAssign() as assignment:
                return _moves_a_loop(tree, assignment)
            case ast.Break() | ast.Return() | ast.If(body=[*_, ast.Break()]):
                if length + 1 == len(path):
                    return True
    return False


@lru_cache(maxsize=256)
def _moves_a_loop(tree: Function, assignment: ast.Assign | ast.AugAssign) -> bool:
    return not _loop_variables(tree).isdisjoint(names_bound(assignment))


@lru_cache(maxsize=8)
def _loop_variables(tree: Function) -> frozenset[str]:
    """The variables by which loops end, and those that these are worked out from."""
    found: frozenset[str] = frozenset()
    for node in ast.walk(tree):
        match node:
            case (
                ast.For(iter=head)
                | ast.While(test=head)
                | ast.If(test=head, body=[*_, ast.Break()])
            ):
                found |= names_read(head)
    before: frozenset[str] = frozenset()
    while found != before:
        before = found
        for node in nodes_in(tree, ast.Assign, ast.AugAssign):
            if names_bound(node) & found:
                found |= names_read(node.value)
    return found
