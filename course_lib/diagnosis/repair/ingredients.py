"""What a change can be made of: the names, numbers and sizes that a function has at a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np

from course_lib.diagnosis.repair.edit import Edit, StatementEdit
from course_lib.diagnosis.source.tree import (
    Path,
    indices_of,
    names_bound,
    names_read,
    nodes_in,
    part_of,
    walk,
    wide_accesses,
)
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing

Array = np.ndarray
ALIKE = 1e-5  # so far apart, results in float32 are off by the same factor
DIGITS = ".6g"  # of a number that follows from them
WIDE = 4  # elements that one wide access takes
REGISTERS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


class CommonDeviation(NamedTuple):
    """What all wrong results have to be multiplied by, or what has to be added to them, where that
    is one number for all; else 1 and 0."""

    factor: float = 1.0
    term: float = 0.0

    @classmethod
    def of(cls, got: Sequence[float] | Array, wanted: Sequence[float] | Array) -> CommonDeviation:
        """Of results, all of them wrong and finite, and what they should be."""
        values, right = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
        if not values.size:
            return cls()
        with np.errstate(all="ignore"):
            factors, terms = right / values, right - values
        factor = float(factors.flat[0]) if _is_one_number(factors) else 1.0
        return cls(factor or 1.0, float(terms.flat[0]) if _is_one_number(terms) else 0.0)


def _is_one_number(numbers: Array) -> bool:
    spread = np.ptp(numbers) if np.isfinite(numbers).all() else np.inf
    return bool(spread <= ALIKE * np.abs(numbers).max())


NO_DEVIATION = CommonDeviation()


class Ingredients:
    """One function whose types are known, and what its text offers for changes of itself.

    Args:
        typing: of the function.
        constants: the whole numbers around the function that it names.
        more: numbers that are not in the text, and may be meant.
        deviation: of the results, if all are off in the same way.
        fields: those of the records that a plain function is given, as texts: "device.warp_size".

    Attributes:
        nodes: of the function, each with the way to it, in the order of the text.
        arrays: the names of arrays, and how many axes they have.
        whole: the names of whole numbers.
        real: the names of other numbers.
        bounds: those of `whole` that say how many, and not where.
        sides: the constants and numbers that may be the side of a block or tile.
        sizes: the lengths of the parameters' axes, as texts.
        cuda: what the text calls the module `cuda`; "" if it does not name it.
    """

    def __init__(
        self,
        typing: Typing,
        constants: Sequence[str],
        more: Sequence[int] = (),
        fields: Sequence[str] = (),
        deviation: CommonDeviation = NO_DEVIATION,
    ) -> None:
        tree, parameters = typing.kernel.tree, typing.kernel.parameters
        assert isinstance(tree, ast.FunctionDef)
        self.tree, self.typing, self.more, self.fields = tree, typing, more, fields
        self.deviation = deviation
        self.constants = frozenset(constants)
        self.nodes = list(walk(tree))
        self.at = {path: node for node, path in self.nodes}
        kinds = {
            node.id: typing.types[node]
            for node, _ in self.nodes
            if isinstance(node, ast.Name) and node in typing.types
        }
        self.arrays = {name: k.ndim for name, k in kinds.items() if isinstance(k, T.ArrayType)}
        self.whole = sorted(name for name, kind in kinds.items() if T.is_integer(kind))
        self.whole += sorted(constants)
        self.real = sorted(name for name, kind in kinds.items() if T.is_float(kind))
        self.variables = names_bound(tree)
        self.bounds = self.constants | (_made_of_sizes(tree) & {*self.whole})
        self.sizes = [
            f"{name}.shape[{axis}]"
            for name in parameters
            for axis in range(self.arrays.get(name, 0))
        ]
        self._known: dict[Path, frozenset[str]] = {}
        _note_known(self._known, tree.body, (("body", None),), frozenset(parameters))

    @cached_property
    def sides(self) -> list[str]:
        numbers = {
            str(node.value)
            for node, _ in self.nodes
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 2
        }
        if any(any(wide_accesses(node)) for node, _ in self.nodes):
            numbers.add(str(WIDE))
        return [*sorted(self.constants), *sorted(numbers)]

    @cached_property
    def names_two(self) -> bool:
        """Does a 2 stand in the text, as the width of a halo does?"""
        return any(isinstance(node, ast.Constant) and node.value == 2 for node, _ in self.nodes)

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of the text, the sides of its own arrays, and how many cells those have."""
        shapes = self.typing.layouts.values()
        lengths = {length for shape in shapes for length in (*shape, prod(shape))} | {*self.more}
        return sorted({int(side) for side in self.sides if side.isdigit()} | lengths)

    def needed(self, number: int | float) -> list[int | float]:
        """The numbers with which the results would be right, if this one enters them as a factor, a
        divisor or a term. A whole number stays whole."""
        factor, term = self.deviation
        if self.deviation == NO_DEVIATION:
            return []
        found = {float(f"{other:{DIGITS}}") for other in (number * factor, number / factor,
                                                         number + term, number - term)}  # fmt: skip
        if type(number) is int:
            return sorted(int(other) for other in found if other.is_integer())
        return sorted(found)

    @cached_property
    def cuda(self) -> str:
        for node, _ in self.nodes:
            match node:
                case ast.Attribute(value=ast.Attribute(value=module, attr=name)):
                    if name in REGISTERS:
                        return ast.unparse(module)
        return "cuda" if "cuda" in self.typing.kernel.namespace else ""

    # --- what has a value at a place ------------------------------------------------------------

    def known_at(self, path: Path) -> frozenset[str]:
        """The names that have a value where a node stands."""
        while path not in self._known:
            if not path:
                return frozenset()
            path = path[:-1]
        return self._known[path] | self.constants

    def whole_at(self, path: Path) -> list[str]:
        known = self.known_at(path)
        return [name for name in self.whole if name in known]

    def places_at(self, path: Path) -> list[str]:
        """The whole variables with a value there that say where, and not how many."""
        return [name for name in self.whole_at(path) if name not in self.bounds]

    def bounds_at(self, path: Path) -> frozenset[str]:
        return self.bounds & {*self.whole_at(path)}

    def knows(self, node: ast.AST, path: Path) -> bool:
        """Have all variables in a new part of the text a value there?"""
        return names_read(node) & self.variables <= self.known_at(path)

    # --- what stands at a place -----------------------------------------------------------------

    def kind_of(self, node: ast.AST) -> T.Type:
        """The type of an expression; one that has none is like the value of a statement."""
        return self.typing.types.get(node, T.Static(None))

    def is_whole(self, node: ast.AST) -> bool:
        return T.is_integer(self.kind_of(node))

    def is_read(self, node: ast.AST, path: Path) -> bool:
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

    def makes_an_array(self, statement: ast.stmt) -> bool:
        return any(node in self.typing.layouts for node in ast.walk(statement))

    def tests_of_indices(self, node: ast.AST) -> list[str]:
        """That each index in a part of the text lies inside its array, as texts."""
        found = {
            f"{ast.unparse(index)} < {ast.unparse(part.value)}.shape[{axis}]"
            for part in nodes_in(node, ast.Subscript)
            if isinstance(part.value, ast.Name)
            for axis, index in enumerate(indices_of(part))
            if part.value.id in self.arrays and self.is_whole(index)
        }
        return sorted(found)

    def starts_of_indices(self, node: ast.AST) -> list[str]:
        """That each index in a part of the text is not negative, where something is subtracted."""
        found = {
            f"0 <= {ast.unparse(index)}"
            for part in nodes_in(node, ast.Subscript)
            if isinstance(part.value, ast.Name) and part.value.id in self.arrays
            for index in indices_of(part)
            if self.is_whole(index) and not isinstance(index, ast.Constant)
            if any(isinstance(op, ast.Sub) for op in ast.walk(self.first_value(index) or index))
        }
        return sorted(found)

    def first_value(self, node: ast.AST) -> ast.expr | None:
        """What a variable is set to first; None of other expressions, and of parameters."""
        return self._first_values.get(node.id) if isinstance(node, ast.Name) else None

    @cached_property
    def _first_values(self) -> dict[str, ast.expr | None]:
        found: dict[str, ast.expr | None] = {}
        for node, _ in self.nodes:
            if isinstance(node, ast.Assign):
                for name in names_bound(node):
                    found.setdefault(name, part_of(node, name))
        return found

    # --- changes --------------------------------------------------------------------------------

    def line(self, path: Path) -> int:
        """Of the expression or statement at a place."""
        node = self.at[path]
        assert isinstance(node, ast.expr | ast.stmt)
        return node.lineno

    def value(self, kind: str, cost: int, path: Path, new: str | ast.expr) -> Edit:
        """The change that puts another expression, or what a text says, in place of one."""
        return self.values(kind, cost, {path: expression(new) if isinstance(new, str) else new})

    def values(
        self, kind: str, cost: int, new: Mapping[Path, ast.expr], line: int | None = None
    ) -> Edit:
        """The change that puts others in place of several expressions, told at a line, or the
        first of theirs."""
        return Edit(kind, line or min(map(self.line, new)), cost, self.tree, {**new})

    def exchanged(self, places: Mapping[str, Sequence[Path]], cost: int) -> Iterator[Edit]:
        """Two of these texts in each other's place, wherever they stand; a size is no register."""
        for one, two in combinations(sorted(places), 2):
            if (".shape" in one) == (".shape" in two):
                new = dict.fromkeys(places[one], expression(two))
                new |= dict.fromkeys(places[two], expression(one))
                yield self.values("exchange", cost, new)

    def statement(self, kind: str, cost: int, path: Path, change: StatementEdit) -> Edit:
        """The change of what happens around one statement."""
        return self.statements(kind, cost, {path: change}, self.line(path))

    def statements(
        self, kind: str, cost: int, changes: dict[Path, StatementEdit], line: int
    ) -> Edit:
        """The change of what happens around several statements, told at a line."""
        return Edit(kind, line, cost, self.tree, {}, changes)


@lru_cache(maxsize=10_000)
def expression(text: str) -> ast.expr:
    """The tree of an expression: edits share it, and put copies into the answers' trees."""
    return ast.parse(text, mode="eval").body


def named(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _made_of_sizes(tree: ast.FunctionDef) -> frozenset[str]:
    """The variables that are worked out from shapes and constants alone, and never changed."""
    assigned = nodes_in(tree, ast.Assign, ast.AugAssign)
    variables = names_bound(tree)
    changed = frozenset().union(
        *(names_bound(node) for node in assigned if isinstance(node, ast.AugAssign)),
        *(names_bound(loop.target) for loop in nodes_in(tree, ast.For)),
    )
    found: frozenset[str] = frozenset()
    for node in assigned:
        plain = not isinstance(node.value, ast.Constant) and not any(
            map(_is_of_a_thread, ast.walk(node.value))
        )
        if plain and names_read(node.value) & variables <= found:
            found |= names_bound(node)
    return found - changed


def _is_of_a_thread(node: ast.AST) -> bool:
    """May it be another number in another thread: a call, a register, an element?"""
    match node:
        case ast.Call():
            return True
        case ast.Attribute(attr=name):
            return name in REGISTERS
        case ast.Subscript(value=value):
            return not isinstance(value, ast.Attribute)
    return False


def _note_known(
    known_at: dict[Path, frozenset[str]],
    block: Sequence[ast.stmt],
    path: Path,
    known: frozenset[str],
) -> frozenset[str]:
    """Note for each statement which names have a value there; returns those behind the last.

    The last part of `path` names the block.
    """
    *above, (name, _) = path
    for number, statement in enumerate(block):
        here: Path = (*above, (name, number))
        known_at[here] = known
        inside: Path = (*here, ("body", None))
        match statement:
            case ast.If():
                one = _note_known(known_at, statement.body, inside, known)
                two = _note_known(known_at, statement.orelse, (*here, ("orelse", None)), known)
                known = one & two
            case ast.For():
                _note_known(known_at, statement.body, inside, known | names_bound(statement.target))
            case ast.While():
                _note_known(known_at, statement.body, inside, known)
            case _:
                known |= names_bound(statement)
    return known
