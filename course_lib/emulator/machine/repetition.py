"""Tells that a `while` loop never ends, when what its end depends on is as it was before.

Whether a loop ends follows from some variables and arrays (`exits_of`) and from the lanes in it. If
these are as they were, and no other thread can change the arrays, it goes on for ever, whatever
else grows meanwhile. Where the text does not tell so much, all variables and all of memory count.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import Atomic, Cast
from course_lib.emulator.language.names import Reference
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import RunningLoop
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.memory import ArrayView

# --- What decides whether a loop ends -------------------------------------------------------------
# Exits are the loop's test and every jump in it, under the conditions around it. What these read,
# and what gives that its values within the loop, is followed backwards until nothing is added. What
# is stored into an array gives it values, too.


Jump = ast.Break | ast.Continue | ast.Return | ast.Raise | ast.Assert
# Functions that store nothing.
_BARRIERS = ("numba.cuda.sync", "numba.cuda.threadfence", "numba.cuda.nanosleep")
# Functions that give the same for the same, and do nothing else.
_PURE = ("math.", "builtins.", "numpy.", "operator.", "numba.cuda.grid", "numba.cuda.gridsize")
_SIZES = ("shape", "strides", "size", "ndim", "dtype", "itemsize", "nbytes")


@dataclass(frozen=True)
class LoopExits:
    """Attributes:
    names: the variables on which it depends whether a loop ends.
    read: those arrays among them whose elements count.
    stored: the arrays that the loop stores into; None if that cannot be told from the names.
    """

    names: frozenset[str]
    read: frozenset[str]
    stored: frozenset[str] | None


@lru_cache(maxsize=64)
def exits_of(loop: ast.While, typing: Typing) -> LoopExits | None:
    """What a loop's end depends on; None if that cannot be told from its text."""
    if typing.kernel.is_debugged:  # an exception may end it anywhere
        return None
    values: defaultdict[str, list[ast.expr]] = defaultdict(list)  # of each variable
    contents: defaultdict[str, list[ast.expr]] = defaultdict(list)  # of each array
    conditions = [loop.test]
    for node, around in _with_conditions(loop.body, ()):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return None
        if isinstance(node, Jump):
            conditions += around
        if isinstance(node, ast.Assert):
            conditions.append(node.test)
        for given, pairs in ((values, _given(node)), (contents, _stored_by(node, typing))):
            for name, value in pairs:
                given[name] += [value, *around]
    names: set[str] = set()
    read: set[str] = set()
    while conditions:
        seen = _read_by(conditions.pop(), typing)
        if seen is None:
            return None
        conditions += [value for name in seen[0] - names for value in values.get(name, ())]
        conditions += [value for name in seen[1] - read for value in contents.get(name, ())]
        names |= seen[0]
        read |= seen[1]
    stored = _stored(loop, typing)
    if stored is None or values.keys() & (read | stored) or stored - contents.keys():
        return LoopExits(frozenset(names), frozenset(read), None)
    return LoopExits(frozenset(names), frozenset(read), frozenset(stored))


def _with_conditions(
    body: list[ast.stmt], around: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.AST, tuple[ast.expr, ...]]]:
    """Every statement of a block and every part of one, with the conditions that it is under."""
    for statement in body:
        within = around
        match statement:
            case ast.If() | ast.While():
                within = (*around, statement.test)
            case ast.For():
                within = (*around, statement.iter)
        yield statement, around
        for field, part in ast.iter_fields(statement):
            if field in ("body", "orelse"):
                yield from _with_conditions(part, within)
            elif isinstance(part, ast.AST):
                yield from ((node, around) for node in ast.walk(part))


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The variables to which a node gives a value, each with what that follows from."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AugAssign(target=target, value=value):
            targets = [target]
            if isinstance(target, ast.Name):
                yield target.id, ast.Name(target.id, ast.Load())
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            targets = [target]
        case ast.For(target=target, iter=value):
            targets = [target]
        case _:
            return
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id, value


def _stored_by(node: ast.AST, typing: Typing) -> Iterator[tuple[str, ast.expr]]:
    """The arrays into which a node stores, each with what it follows from what is in them then."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pass
        case (
            ast.AugAssign(target=target, value=value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
        ):
            targets = [target]
        case ast.Call(args=[ast.Name(array), *given]) if isinstance(typing.calls.get(node), Atomic):
            yield from ((array, argument) for argument in given)
            return
        case _:
            return
    for part in (part for target in targets for part in ast.walk(target)):
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store):
            name = _array_of(part)
            if name is not None:
                yield from ((name, expression) for expression in (value, part))


def _read_by(expression: ast.expr, typing: Typing) -> tuple[set[str], set[str]] | None:
    """The variables that an expression reads, and the arrays; None if it may read more."""
    names: set[str] = set()
    arrays: set[str] = set()
    sizes: set[ast.AST] = set()
    for node in ast.walk(expression):
        match node:
            case ast.Attribute(value=owner, attr=name) if name in _SIZES:
                sizes.add(owner)
            case ast.Call(func=ast.Name(id="len"), args=[owner]):
                sizes.add(owner)
            case ast.Call() if not _is_pure(node, typing):
                return None
            case ast.Name():
                names.add(node.id)
                kind = typing.types.get(node)
                if isinstance(kind, T.ArrayType):
                    arrays |= set() if node in sizes else {node.id}
                elif not _is_a_number(kind):
                    return None
    return names, arrays


def _is_a_number(kind: T.Type | None) -> bool:
    """Is it one, or several, or no value at all, such as a module?"""
    if isinstance(kind, T.TupleType):
        return all(map(_is_a_number, kind.items))
    return kind is None or isinstance(kind, T.Static | T.RangeType) or T.is_scalar(kind)


def _is_pure(call: ast.Call, typing: Typing, also: tuple[str, ...] = ()) -> bool:
    """Does a call give the same for the same numbers, and do nothing else?"""
    target, function = typing.calls.get(call), typing.types.get(call.func)
    if isinstance(target, Typing) or call in typing.methods:
        return False
    named = function.value if isinstance(function, T.Static) else None
    is_known = isinstance(named, Reference) and named.path.startswith((*_PURE, *also))
    return isinstance(target, Cast) or is_known


def _stored(loop: ast.While, typing: Typing) -> set[str] | None:
    """The names of the arrays that a loop stores into; None if it may store elsewhere."""
    names: set[str] = set()
    for node in ast.walk(loop):
        match node:
            case (
                ast.Subscript(value=owner, ctx=ast.Store())
                | ast.Attribute(value=owner, ctx=ast.Store())
            ):
                pass
            case ast.Call(args=[owner, *_]) if isinstance(typing.calls.get(node), Atomic):
                pass
            case ast.Call() if not _is_pure(node, typing, _BARRIERS):
                return None
            case _:
                continue
        name = _array_of(owner)
        if name is None:
            return None
        names.add(name)
    return names


def _array_of(place: ast.expr) -> str | None:
    """The name of the array that an element or a part is of."""
    while isinstance(place, ast.Subscript | ast.Attribute):
        place = place.value
    return place.id if isinstance(place, ast.Name) else None


FIRST = 1024  # iterations before the state is looked at
LONGEST = 8  # iterations after which a state may come again


class Repetition:
    """Whether one running loop has come back to an earlier state."""

    def __init__(self, machine: Machine, loop: RunningLoop) -> None:
        self.machine, self.loop = machine, loop
        self.since = 0  # the iterations before this state was noted
        self.state: Any = None
        self.counts = (0, 0)
        self.exits: LoopExits | None = None

    def is_found(self, has_paused: bool) -> bool:
        """Whether the iteration that has ended will repeat forever; `has_paused`: others ran."""
        turns, unit = self.loop.turns, self.machine.unit
        if turns < FIRST:
            return False
        if turns == FIRST:
            self.exits = self._known_exits()
        may_differ = self.exits is None or (self.exits.read and not self.machine.is_alone)
        if has_paused and may_differ:
            self.since = 0
            return False
        if turns & (turns - 1) == 0:
            self.since, self.state, self.counts = turns, self._now(), (unit.reads, unit.writes)
            return False
        if not self.since or turns - self.since > LONGEST:
            return False
        reads, writes = self.counts  # what is written and never read again does not matter
        may_count = self.exits is not None or unit.reads == reads or unit.writes == writes
        return may_count and self._now() == self.state

    def _known_exits(self) -> LoopExits | None:
        """What the loop's end depends on, if all that changes it has one of these names."""
        assert not isinstance(self.loop.node, ast.For)
        exits = exits_of(self.loop.node, self.machine.typing)
        if exits is None or not exits.read:
            return exits
        if exits.stored is None:
            return None
        read, others = self._storage(exits.read), self._storage(exits.stored - exits.read)
        if any(value is None for value in (*read, *others)):
            return None
        pairs = ((one, other) for one in read for other in others)
        return None if any(np.may_share_memory(*pair) for pair in pairs) else exits

    def _storage(self, names: Iterable[str]) -> list[Any]:
        """Where the elements of these arrays lie; None for what is no array here."""
        arrays = (self.machine.frame.variables.get(name) for name in names)
        return [
            array.allocation.storage if isinstance(array, ArrayView) else None for array in arrays
        ]

    def _now(self) -> Any:
        variables = self.machine.frame.variables
        contents: list[Any] = []
        if self.exits is not None:
            variables = {name: variables.get(name) for name in self.exits.names}
            contents = self._storage(self.exits.read & (self.exits.stored or frozenset()))
        parts = (self.machine.active.full_array, *variables.items(), *contents)
        return _as_bytes(parts)


def _as_bytes(value: Any) -> Any:
    """Something that is equal only for the same bits."""
    match value:
        case np.ndarray() | np.generic():
            return value.dtype.str, value.shape, value.tobytes()
        case tuple():
            return tuple(map(_as_bytes, value))
        case str():
            return value
    return _Same(value)


class _Same:
    """Equal only for the very same object, which it keeps alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value
