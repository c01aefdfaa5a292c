"""What type inference finds out about one function, for the machine to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from course_lib.emulator.budget import PARTS_PER_STEP
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    Atomic,
    Barrier,
    Beside,
    Cast,
    GroupWait,
    Intrinsic,
    WaitFunction,
)
from course_lib.emulator.language.kernel import Kernel, every_node


@dataclass(frozen=True)
class Slot:
    """Where the value of a parameter comes from."""

    # the number of the argument that is given, those by name counted last; None if it is the
    # `default`
    argument: int | None = None
    item: int | None = None  # the item of that argument, if that is a tuple behind a `*`
    # the value that the function has for a parameter that is not given
    default: np.generic | None = None


Slots = tuple[Slot | tuple[Slot, ...], ...]


@dataclass(eq=False)
class Typing:
    """The types of one function for one set of argument types."""

    kernel: Kernel  # the function
    types: dict[ast.AST, T.Type] = field(default_factory=dict)  # the type of every expression
    # for an operator, the type to which its operands are converted first
    operands: dict[ast.AST, np.dtype] = field(default_factory=dict)
    # the value of every expression that is known when the kernel is compiled
    constants: dict[ast.AST, Any] = field(default_factory=dict)
    # what each call calls
    calls: dict[ast.Call, Intrinsic | Cast | Typing] = field(default_factory=dict)
    # where the parameters of a called function come from, unless simply by place
    slots: dict[ast.AST, Slots] = field(default_factory=dict)
    # calls that stand for another expression, such as `operator.add(a, b)`
    rewritten: dict[ast.AST, ast.expr] = field(default_factory=dict)
    # the calls of methods, and what they are given: first what stands before the dot
    methods: dict[ast.AST, list[ast.expr]] = field(default_factory=dict)
    # the attributes and subscripts that name a field of records, and which
    fields: dict[ast.AST, str] = field(default_factory=dict)
    # the shape of every shared or local array
    layouts: dict[ast.Call, tuple[int, ...]] = field(default_factory=dict)
    own: frozenset[str] = frozenset()  # the names that the function gives values to, itself
    # names that some path reaches without a value
    uncertain: set[ast.AST] = field(default_factory=set)
    # subscripts with indices that are negative on purpose, and on which axes; None for a subscript
    # of `.flat`
    special: dict[ast.AST, tuple[int, ...] | None] = field(default_factory=dict)
    # subscripts that are parts of arrays to be written
    parts: set[ast.AST] = field(default_factory=set)
    # the operands of comparisons of tuples that are the shape of an array
    shapes: set[ast.AST] = field(default_factory=set)
    # conditional operands that touch no memory, which may be computed for all lanes
    pure: set[ast.AST] = field(default_factory=set)
    # what the function returns; Static(None) for nothing
    return_type: T.Type = field(default_factory=lambda: T.Static(None))
    # how many levels deeper each call of a function by itself lies; 0 if it has none
    levels: int = 0
    # what statements cost, as far as that was asked
    weights: dict[ast.stmt, int] = field(default_factory=dict)
    # the functions that evaluate expressions, as far as they have been made, and `places` those
    # that find the elements of subscripts; see machine/expressions.py
    prepared: dict[ast.AST, Any] = field(default_factory=dict)
    places: dict[ast.AST, Any] = field(default_factory=dict)

    def arguments_of(self, node: ast.Call) -> list[ast.expr]:
        """What a call is given, by place; a method's owner is its first argument."""
        return self.methods.get(node, node.args)

    def weight(self, statement: ast.stmt) -> int:
        """How many steps a statement costs, the statements within it not counted."""
        weight = self.weights.get(statement)
        if weight is None:
            weight = self.weights[statement] = 1 + _parts(statement) // PARTS_PER_STEP
        return weight

    @cached_property
    def waiting(self) -> frozenset[ast.AST]:
        """The nodes at which lanes pause, or with a call of a function in which they do."""
        found: set[ast.AST] = set(self.spins)

        def waits(node: ast.AST) -> bool:
            within = [waits(child) for child in ast.iter_child_nodes(node)]
            if any(within) or _waits(self.calls.get(node), set()):  # type: ignore[call-overload]
                found.add(node)
            return node in found

        if found or any(_waits(target, set()) for target in self.calls.values()):
            waits(self.kernel.tree)
        return frozenset(found)

    @cached_property
    def functions(self) -> tuple[Typing, ...]:
        """This function, and all that it calls, also by way of others; asked when all are typed."""
        found: dict[Typing, None] = {}

        def find(function: Typing) -> None:
            found[function] = None
            for target in function.calls.values():
                if isinstance(target, Typing) and target not in found:
                    find(target)

        find(self)
        return tuple(found)

    @property
    def meets_grid(self) -> bool:
        """Has the function a barrier at which all blocks wait for each other?"""
        targets = self.calls.values()
        return any(isinstance(target, Barrier) and target.scope == "grid" for target in targets)

    @cached_property
    def spins(self) -> frozenset[ast.While]:
        """The loops that do nothing but wait for what others do by an atomic operation."""
        loops = [node for node in self.kernel.nodes if isinstance(node, ast.While)]
        return frozenset(loop for loop in loops if self._only_asks(loop))

    def _only_asks(self, part: ast.AST) -> bool:
        """Are there atomic operations in it whose results it looks at, and no other writes?"""
        asks = False
        for function, tree in self.with_called(part):
            for node in every_node(tree):
                if isinstance(node, ast.Subscript | ast.Attribute):
                    if isinstance(node.ctx, ast.Store):
                        return False
                elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    if isinstance(function.calls.get(node.value), Atomic):
                        return False
                elif isinstance(node, ast.Call):
                    asks = asks or isinstance(function.calls.get(node), Atomic)
        return asks

    @property
    def waits_for_others(self) -> bool:
        """Are there such loops, or functions that wait for what others or a copy will do?"""
        return bool(self.spins) or any(
            isinstance(target, WaitFunction) and not isinstance(target, GroupWait)
            for target in self.calls.values()
        )

    @property
    def uses_engine(self) -> bool:
        """Does it start what goes on beside the threads, or wait for it?"""
        return any(isinstance(target, Beside | WaitFunction) for target in self.calls.values())

    def is_beside(self, part: ast.AST) -> bool:
        """Do its threads wait for others than their block in a part, or keep the engine busy?

        That counts in functions that it calls, too.
        """
        return any(
            node in function.spins or isinstance(function.calls.get(node), Beside | WaitFunction)  # type: ignore[call-overload]
            for function, tree in self.with_called(part)
            for node in every_node(tree)
        )

    def with_called(self, part: ast.AST) -> Iterator[tuple[Typing, ast.AST]]:
        """A part of this function, and all functions that are called from there, each once."""
        seen, left = {self}, [(self, part)]
        while left:
            function, tree = left.pop()
            yield function, tree
            calls = [node for node in every_node(tree) if isinstance(node, ast.Call)]
            targets = {function.calls.get(call) for call in calls}
            called = {target for target in targets if isinstance(target, Typing)} - seen
            seen |= called
            left += [(target, target.kernel.tree) for target in called]

    @cached_property
    def taken_apart(self) -> frozenset[ast.AST]:
        """The expressions that may be worked out before their statement runs: see `settle`."""
        found: set[ast.AST] = set()
        for statement in self.kernel.nodes if self.waiting else ():
            parts = [
                child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)
            ]
            if isinstance(statement, ast.stmt) and self.waiting.intersection(parts):
                found.update(part for child in parts for part in ast.walk(child))
        return frozenset(found)


def _waits(target: Intrinsic | Cast | Typing | None, seen: set[int]) -> bool:
    """Does whoever calls this have to wait for others? `seen`: functions that were looked at."""
    if not isinstance(target, Typing):
        return isinstance(target, Barrier | WaitFunction)
    if id(target) in seen:
        return False
    seen.add(id(target))
    return bool(target.spins) or any(_waits(call, seen) for call in target.calls.values())


def _parts(statement: ast.stmt) -> int:
    """How many expressions there are in a statement, but not in the statements within it."""
    waiting = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]
    count = 0
    for node in waiting:
        count += 1
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return count
