"""Syntax trees of an answer: what a piece of one names, and where its functions access arrays."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, overload

from course_lib.emulator.language.kernel import every_node

# Functions that access arrays several elements at a time: where each array stands among the
# arguments, with its index behind it, and whether it is written.
WIDE_ACCESSES: Mapping[str, tuple[tuple[int, bool], ...]] = {
    "load4": ((0, False),),
    "store4": ((0, True),),
    "store2": ((0, True),),
    "cp_async16": ((0, True), (2, False)),
    "cp_async4": ((0, True), (2, False)),
}
Assignment = ast.Assign | ast.AugAssign | ast.AnnAssign
Node = TypeVar("Node", bound=ast.AST)
Other = TypeVar("Other", bound=ast.AST)
THREAD, BLOCK = {"threadIdx"}, {"blockIdx", "blockDim", "grid", "gridsize", "gridDim"}


def outside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression, without those that only compute an index."""
    yield node
    indices = _indices_in(node)
    for child in ast.iter_child_nodes(node):
        if child not in indices:
            yield from outside(child)


def _indices_in(node: ast.AST) -> list[ast.expr]:
    """The children of a node that say which elements it is about."""
    if isinstance(node, ast.Subscript):
        return [node.slice]
    if isinstance(node, ast.Call) and last_name(node.func).startswith(FRAGMENTS):
        return node.args[1:]
    return [index for _, index, _ in wide_accesses(node)]


def part_of(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement gives a variable: for `y, x = a, b` and "x", that is b."""
    value = getattr(statement, "value", None)
    for target in statement.targets if isinstance(statement, ast.Assign) else []:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for element, part in zip(target.elts, value.elts, strict=False):
                if isinstance(element, ast.Name) and element.id == name:
                    return part
    return value


def set_to(statement: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """The variables that a statement sets, each with what it is set to."""
    for target in statement.targets:
        for part in flat(target):
            if isinstance(part, ast.Name):
                yield part.id, part_of(statement, part.id) or statement.value


def set_by(statement: ast.Assign) -> set[str]:
    """The variables, and the arrays of which elements are set."""
    roots = (root_name(node) for target in statement.targets for node in flat(target))
    return {name for name in roots if name}


def _makes_array(value: ast.expr) -> bool:
    """Is it `cuda.shared.array(…)` or `cuda.local.array(…)`?"""
    names = names_in(value.func) if isinstance(value, ast.Call) else set()
    return "array" in names and bool(names & {"shared", "local"})


def names_in(node: ast.AST) -> set[str]:
    """Every variable and attribute name in a piece of the tree."""
    parts = nodes_in(node, ast.Name, ast.Attribute)
    return {part.id if isinstance(part, ast.Name) else part.attr for part in parts}


def names_bound(node: ast.AST) -> frozenset[str]:
    """The variables to which a piece of the tree gives values."""
    return _names_with(node, ast.Store)


def names_read(node: ast.AST) -> frozenset[str]:
    """The variables whose values a piece of the tree uses."""
    return _names_with(node, ast.Load)


def _names_with(node: ast.AST, context: type[ast.expr_context]) -> frozenset[str]:
    return frozenset(part.id for part in nodes_in(node, ast.Name) if isinstance(part.ctx, context))


def last_name(function: ast.AST) -> str:
    """ "load4" of `intrinsics.load4` or of `load4`; "" for anything else."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def wide_accesses(node: ast.AST) -> Iterator[tuple[str, ast.expr, bool]]:
    """The arrays that a call accesses several elements at a time: name, flat index, is it written.

    Nothing where a node is no such call.
    """
    if not isinstance(node, ast.Call):
        return
    for place, is_written in WIDE_ACCESSES.get(last_name(node.func), ()):
        match node.args[place : place + 2]:
            case [ast.Name(id=array), index]:
                yield array, index, is_written


def root_name(target: ast.AST) -> str | None:
    """The variable behind `C[y, x]` or `acc`."""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


@overload
def nodes_in(tree: ast.AST, one: type[Node], /) -> list[Node]: ...
@overload
def nodes_in(tree: ast.AST, one: type[Node], two: type[Other], /) -> list[Node | Other]: ...
def nodes_in(tree: ast.AST, *kinds: type[ast.AST]) -> list[Any]:
    """The nodes of one kind, or of two, in a piece of the tree, the outer ones first."""
    return [node for node in every_node(tree) if isinstance(node, kinds)]


def has(tree: ast.AST, *kinds: type[ast.AST]) -> bool:
    """Is there a node of one of these kinds in a piece of the tree?"""
    return any(isinstance(node, kinds) for node in every_node(tree))


def target_of(statement: Assignment) -> ast.expr:
    """What a statement sets; of several targets the first."""
    return statement.targets[0] if isinstance(statement, ast.Assign) else statement.target


def head_of(branch: ast.If | ast.IfExp | ast.For | ast.While) -> ast.expr:
    """What decides whether, or how often, something is done."""
    return branch.iter if isinstance(branch, ast.For) else branch.test


def indices_of(access: ast.Subscript) -> Sequence[ast.expr]:
    """The index expressions: two for `A[y, x]`, and for `A[y][x]` those of the last."""
    return access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]


def flat(target: ast.AST) -> Iterator[ast.AST]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from flat(element)
    else:
        yield target


def variables_in(node: ast.AST) -> set[str]:
    """The variables in an expression; the x of `cuda.threadIdx.x` is none."""
    return {part.id for part in nodes_in(node, ast.Name)}


def is_number(value: ast.AST) -> bool:
    """Is it `cuda.threadIdx.x` and nothing else, perhaps in another type?"""
    if isinstance(value, ast.Call) and len(value.args) == 1:
        value = value.args[0]
    return isinstance(value, ast.Attribute)


def is_constant(node: ast.expr) -> bool:
    """A number, perhaps in a type: `0`, `float32(1)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Constant | ast.UnaryOp)


def asks_about_elements(test: ast.AST, function: ast.AST) -> bool:
    """Does every comparison in a test compare an element of an array, or a variable that holds one?

    Such a test is no bounds check. A variable that is an index, too, holds a place.
    """
    indices = (node.slice for node in nodes_in(function, ast.Subscript))
    places = set().union(*map(variables_in, indices))
    held = {
        name
        for node in nodes_in(function, ast.Assign, ast.AugAssign)
        if _reads_element(node.value)
        for name in names_bound(node) - places
    }
    parts: Sequence[ast.AST] = nodes_in(test, ast.Compare) or [test]
    return all(_reads_element(part) or variables_in(part) & held for part in parts)


def _reads_element(node: ast.AST) -> bool:
    """Not so `A.shape[0]`, nor `rows[:, None]`, which gives a tile another axis."""
    return any(
        isinstance(part.value, ast.Name | ast.Subscript)
        and not all(map(_is_whole_axis, indices_of(part)))
        for part in nodes_in(node, ast.Subscript)
    )


def _is_whole_axis(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and index.value is None)


def multiplies(node: ast.AST) -> bool:
    """Is it a product of numbers, and not one of thread and block numbers?"""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    elements = any(isinstance(part, ast.Subscript) for part in outside(node))
    return elements or not names_in(node) & {"threadIdx", "blockIdx"}


# --- The functions of an answer: arrays, and the loops and tests around accesses ------------------
# Also the ways to the nodes of a tree, by which a copy of it can be changed.


Path = tuple[tuple[str, int | None], ...]  # from a function to one of its nodes
# How the names of functions begin that bring fragments to tensor cores, and that multiply them.
FRAGMENTS, PRODUCTS = "ldmatrix_x", "mma_m"


@dataclass(frozen=True)
class AnswerTree:
    """The functions of an answer: the kernel first, then its device functions.

    Attributes:
        functions: their syntax trees; line numbers are those of the cell, file or text.
        parameters: the kernel's own names for the exercise's arrays, in order.
        constants: the numbers outside the functions that they use, by name.
    """

    functions: tuple[ast.FunctionDef, ...]
    parameters: tuple[str, ...] = ()
    constants: Mapping[str, object] = field(default_factory=dict, repr=False)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for function in self.functions:
            for node in ast.walk(function):
                for child in ast.iter_child_nodes(node):
                    self.parents[child] = node

    @property
    def kernel(self) -> ast.FunctionDef:
        return self.functions[0]

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of every function, the outer ones first."""
        return tuple(node for function in self.functions for node in ast.walk(function))

    def walk(self) -> Iterator[ast.AST]:
        return iter(self.nodes)

    @overload
    def all(self, one: type[Node], /) -> list[Node]: ...
    @overload
    def all(self, one: type[Node], two: type[Other], /) -> list[Node | Other]: ...
    def all(self, *kinds: type[Any]) -> list[Any]:
        """The expressions or statements of one kind, or of two, in the order of their lines."""
        found: list[Any] = [node for node in self.nodes if isinstance(node, kinds)]
        return sorted(found, key=lambda node: node.lineno)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def accesses(self, array: str, store: bool) -> list[ast.Subscript]:
        """Where an array is read, or written, by this name.

        A wide access stands here as one of its first element, with its flat index.
        """
        wanted = ast.Store if store else ast.Load
        return [
            node
            for node in self._subscripts.get(array, ())
            if isinstance(node.ctx, wanted) or self._is_augmented(node)
        ]

    def store_lines(self, arrays: Collection[str]) -> set[int]:
        """The lines that write one of these arrays."""
        return {node.lineno for array in arrays for node in self.accesses(array, store=True)}

    @cached_property
    def _subscripts(self) -> dict[str, list[ast.Subscript]]:
        """The accesses of each array, in the order of the text."""
        found: dict[str, list[ast.Subscript]] = {}
        for node in self.walk():
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                found.setdefault(node.value.id, []).append(node)
            for array, index, is_written in wide_accesses(node):
                context = ast.Store() if is_written else ast.Load()
                access = ast.Subscript(ast.Name(array, ast.Load()), index, context)
                self.parents[access] = node
                found.setdefault(array, []).append(ast.copy_location(access, node))
        for accesses in found.values():
            accesses.sort(key=lambda node: (node.lineno, node.col_offset))
        return found

    def calls(self, functions: Collection[str]) -> bool:
        """Is one of these called, by its last name?"""
        return any(last_name(call.func) in functions for call in self.all(ast.Call))

    def _is_augmented(self, node: ast.AST) -> bool:
        """`C[i] += x` reads C as well as it writes it."""
        parent = self.parents.get(node)
        return isinstance(parent, ast.AugAssign) and parent.target is node

    def shared_names(self) -> set[str]:
        """The variables that hold shared arrays."""
        return {
            name
            for node in self.all(ast.Assign)
            for name, value in set_to(node)
            if "shared" in names_in(value)
        }

    def handed_over(self, array: str) -> list[ast.Call]:
        """The calls of device functions that get an array as an argument."""
        functions = {function.name for function in self.functions}
        return [
            call
            for call in self.all(ast.Call)
            if isinstance(call.func, ast.Name) and call.func.id in functions
            if any(
                isinstance(argument, ast.Name) and argument.id == array for argument in call.args
            )
        ]

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function around a node."""
        return next(
            (ancestor for ancestor in self.ancestors(node) if ancestor in self.functions), None
        )

    def calls_by_name(self, function: str) -> list[ast.Call]:
        """The calls of a device function, in the order of their lines."""
        return [call for call in self.all(ast.Call) if root_name(call.func) == function]

    def fragments(self, array: str) -> list[ast.Call]:
        """Where tensor cores get numbers of a shared array: `ldmatrix_x4(array, …)`."""
        return [
            call
            for call in self.all(ast.Call)
            if last_name(call.func).startswith(FRAGMENTS)
            if call.args and root_name(call.args[0]) == array
        ]

    def products(self) -> list[ast.stmt]:
        """The kernel's statements in which tensor cores multiply, there or in what is called."""
        waiting = [call for call in self.all(ast.Call) if last_name(call.func).startswith(PRODUCTS)]
        found: dict[ast.stmt, None] = {}
        seen: set[ast.FunctionDef | None] = {self.kernel}
        for call in waiting:
            function, statement = self.function_of(call), self.statement(call)
            if function is self.kernel and statement is not None:
                found[statement] = None
            elif function not in seen and function is not None:
                seen.add(function)
                waiting += self.calls_by_name(function.name)
        return sorted(found, key=lambda statement: statement.lineno)

    def own_arrays(self) -> dict[str, ast.Call]:
        """The variables that hold shared or local arrays, each with the call that makes it."""
        return {
            name: value
            for node in self.all(ast.Assign)
            for name, value in set_to(node)
            if isinstance(value, ast.Call) and _makes_array(value)
        }

    def makes_array(self, statement: ast.stmt | None) -> bool:
        """Does a statement make a shared or a local array, or several?"""
        return isinstance(statement, ast.Assign) and any(
            _makes_array(value) for _, value in set_to(statement)
        )

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node belongs to."""
        if isinstance(node, ast.stmt):
            return node
        return next(
            (ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, ast.stmt)), None
        )

    def at_line(self, line: int) -> ast.stmt | None:
        """The innermost statement on a line."""
        found = [
            node
            for node in self.walk()
            if isinstance(node, ast.stmt)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        return min(found, key=lambda n: (n.end_lineno or 0) - n.lineno, default=None)

    def loops(self) -> list[ast.For | ast.While]:
        """All loops, in the order of their lines."""
        return self.all(ast.For, ast.While)

    def loops_around(self, node: ast.AST) -> list[ast.For | ast.While]:
        """The loops around a node, outermost first."""
        around = [
            ancestor
            for ancestor in self.ancestors(node)
            if isinstance(ancestor, (ast.For, ast.While))
        ]
        return around[::-1]

    def conditions(self, node: ast.AST) -> list[tuple[ast.expr, int]]:
        """The tests that decide whether a node is reached, innermost first, with their lines."""
        found: list[tuple[ast.expr, int]] = []
        inner = node
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, (ast.If, ast.IfExp)) and inner is not ancestor.test:
                found.append((ancestor.test, ancestor.test.lineno))
            found += self._early_exits(ancestor, inner)
            inner = ancestor
        return found

    def _early_exits(self, block: ast.AST, inner: ast.AST) -> list[tuple[ast.expr, int]]:
        """Tests before a statement of a block that leave the kernel, or skip a loop's round."""
        for name in ("body", "orelse"):
            statements = getattr(block, name, None)
            if isinstance(statements, list) and inner in statements:
                before = statements[: statements.index(inner)]
                return [
                    (statement.test, statement.lineno)
                    for statement in reversed(before)
                    if isinstance(statement, ast.If)
                    and isinstance(statement.body[-1], (ast.Return, ast.Continue, ast.Break))
                ]
        return []


def copy_of(node: Node) -> Node:
    """A copy of a tree. `copy.deepcopy` takes five times as long: it remembers every part.

    What others have hung onto its nodes stays behind: where IPython shows a traceback, each node
    gets its `parent`, also the few that all trees of a Python process share.
    """
    new = ast.AST.__new__(type(node))  # without arguments, Python 3.15 refuses a call
    for name in (*node._fields, *node._attributes):
        if not hasattr(node, name):
            continue
        value = getattr(node, name)
        if isinstance(value, list):
            value = [copy_of(child) if isinstance(child, ast.AST) else child for child in value]
        elif isinstance(value, ast.AST):
            value = copy_of(value)
        setattr(new, name, value)
    return new


def node_at(tree: ast.AST, path: Path) -> Any:
    """The node at the end of a path."""
    for name, number in path:
        value = getattr(tree, name)
        tree = value if number is None else value[number]
    return tree


def with_others(node: Node, path: Path, others: Sequence[ast.AST]) -> Node:
    """A tree with others in place of the node at the end of a path: one, or any number of
    statements. What they leave as it is belongs to both trees."""
    (name, number), rest, new = path[0], path[1:], copy(node)
    old = getattr(node, name)
    if number is None:
        setattr(new, name, with_others(old, rest, others) if rest else others[0])
        return new
    placed = [with_others(old[number], rest, others)] if rest else others
    block = [*old[:number], *placed, *old[number + 1 :]]
    if not block and name == "body":
        block = [ast.copy_location(ast.Pass(), old[number])]
    setattr(new, name, block)
    return new


def walk(node: ast.AST, path: Path = ()) -> Iterator[tuple[ast.AST, Path]]:
    """All nodes of a function with the ways to them, in the order of the text."""
    yield node, path
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            for number, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from walk(child, (*path, (name, number)))
        elif isinstance(value, ast.AST):
            yield from walk(value, (*path, (name, None)))
