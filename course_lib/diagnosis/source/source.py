"""An answer's source: the line to blame once the slip is known.

Numbers say what went wrong; the source says only where that is written. A function that cannot tell
returns None, and the finding has no line.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from course_lib.diagnosis.source.tree import (
    has,
    indices_of,
    multiplies,
    names_in,
    nodes_in,
    outside,
    root_name,
    target_of,
)
from course_lib.diagnosis.source.variables import Variables


class Source(Variables):
    """The functions of an answer, and where their sums are made."""

    def additions(self) -> list[ast.Assign | ast.AugAssign]:
        """The statements that combine elements, deepest in loops first: where the sum is made."""
        tiles = self.shared_names()
        found = []
        for node in self.all(ast.Assign, ast.AugAssign):
            collects = isinstance(node, ast.AugAssign) or any(map(multiplies, outside(node.value)))
            if collects and root_name(target_of(node)) not in tiles and self._uses_elements(node):
                found.append(node)
        found.sort(key=lambda node: (-len(self.loops_around(node)), node.lineno))
        return found

    def _uses_elements(self, statement: ast.Assign | ast.AugAssign) -> bool:
        arrays = self.shared_names() | set(self.parameters)
        names = {node.id for node in outside(statement.value) if isinstance(node, ast.Name)}
        values = (self.value_of(name) for name in names)
        kept = (assign.value for name in names for assign in self.local_stores(name))
        copied = {
            part.id
            for value in (*values, *kept)
            if value
            for part in outside(value)
            if isinstance(part, ast.Name)
        }
        return bool((names | copied) & arrays)

    def line_of_index(self, access: ast.expr, axes: Sequence[int] = ()) -> int:
        """The line of an access, or of what works out its index (along these axes) and serves no
        other access."""
        indices = _indices_at(access)
        wanted = [indices[axis] for axis in axes if axis < len(indices)] or indices
        lines = {self._worked_out_for(index, access) for index in wanted}
        line = lines.pop() if len(lines) == 1 else None
        return line or access.lineno

    def origin_of_index(self, access: ast.Subscript, axes: Sequence[int]) -> int | None:
        """The line of the bound of the loop that counts an index (along one axis) and nothing but
        indices, or of the variable that it is, if a size is tested for each index of this access
        and it serves no other; None if there is no such line."""
        indices = indices_of(access)
        index = indices[axes[0]] if axes and axes[0] < len(indices) else None
        if not isinstance(index, ast.Name):
            return None
        whole = self.function_of(access) or self.kernel
        compared = {part for test in nodes_in(whole, ast.Compare) for part in ast.walk(test)}
        names = [node for node in nodes_in(whole, ast.Name) if isinstance(node.ctx, ast.Load)]
        reads = {node for node in names if node.id == index.id and node not in compared}
        counted = {part for one in nodes_in(whole, ast.Subscript) for part in indices_of(one)}
        for loop in self.loops_around(access):
            if isinstance(loop, ast.For) and index.id in names_in(loop.target):
                return bound_line(self, loop) if reads <= counted else None
        tests = [
            part for test, _ in self.conditions(access) for part in nodes_in(test, ast.Compare)
        ]
        of_sizes = [test for test in tests if self.everything_behind(test) & {"shape", "size"}]
        is_guarded = len(of_sizes) >= len(indices)
        made = self.last_assignment(index) if is_guarded else None
        if made is None or has(made.value or index, ast.Call):
            return None  # the number of a thread is no mistake
        return made.lineno if reads == {index} else None

    def _worked_out_for(self, index: ast.expr, access: ast.expr) -> int | None:
        """The line of the variable that an index is, if only this line and comparisons read it."""
        if not isinstance(index, ast.Name):
            return None
        for loop in self.loops_around(access):
            match loop:
                case ast.For(target=ast.Name(index.id), iter=ast.Call(args=[_, _, *_])):
                    return loop.lineno
        made = self.last_assignment(index)
        if made is None:
            return None
        whole = self.function_of(access) or self.kernel
        nodes = [node for node in ast.walk(whole) if node not in (access, made)]
        compared = [node for node in nodes if isinstance(node, ast.Compare)]
        aside = {part for node in (access, *compared) for part in ast.walk(node)}
        stores = [
            node
            for node in nodes
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        ]
        stored = {part for store in stores for part in ast.walk(store.slice)}
        others = (
            node
            for node in nodes
            if isinstance(node, ast.Name) and node.id == index.id and node not in aside
            if isinstance(node.ctx, ast.Load) and self.last_assignment(node) is made
            if node.lineno != access.lineno or node in stored
        )
        return None if any(others) else made.lineno

    def local_stores(self, name: str) -> list[ast.Assign]:
        """Where elements of a thread's own array are set."""
        value = self.value_of(name)
        if value is None or "local" not in names_in(value):
            return []
        statements = (self.statement(access) for access in self.accesses(name, store=True))
        return [statement for statement in statements if isinstance(statement, ast.Assign)]

    def sums(self) -> list[str]:
        """The variables (or arrays) that sums are collected in."""
        names = []
        for statement in self.additions():
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                name = root_name(target)
                if name and name not in names:
                    names.append(name)
        return names


def _indices_at(access: ast.expr) -> Sequence[ast.expr]:
    """The indices of an access along each axis; a flat one, as `row * N + col`, has two."""
    match access:
        case ast.Subscript():
            indices = indices_of(access)
        case ast.Call(args=[ast.Name(), index, *_]):
            indices = (index,)
        case _:
            indices = ()
    match indices:
        case [ast.BinOp(ast.BinOp(row, ast.Mult(), _), ast.Add(), column)]:
            return row, column
    return indices


def bound_line(source: Source, loop: ast.For | ast.While) -> int:
    """The line of a loop, or of the variable that holds its bound and is no index as well."""
    if isinstance(loop, ast.For):
        arguments = loop.iter.args if isinstance(loop.iter, ast.Call) else [loop.iter]
        bounds = arguments[:1] if len(arguments) == 1 else arguments[1:2]
    else:
        bounds = [part for test in nodes_in(loop.test, ast.Compare) for part in test.comparators]
    return _worked_out_at(source, bounds) or loop.lineno


def _worked_out_at(source: Source, bounds: Sequence[ast.expr]) -> int | None:
    """The line of the first of some variables that is computed in one place."""
    for bound in bounds:
        if (
            isinstance(bound, ast.Name)
            and isinstance(source.value_of(bound.id), (ast.BinOp, ast.Call))
            and not _is_an_index(source, bound.id)
        ):
            return source.assignments(bound.id)[0].lineno
    return None


def _is_an_index(source: Source, name: str) -> bool:
    """Does a variable also say which elements of an input or of the output are meant?"""
    return any(
        name in names_in(access.slice)
        for array in source.parameters
        for store in (False, True)
        for access in source.accesses(array, store)
    )
