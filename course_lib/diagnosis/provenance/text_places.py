"""Where a text does what facts about wrong numbers speak of: sums, stores, loops and tests."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from course_lib.diagnosis.provenance.copies import TextSite
from course_lib.diagnosis.provenance.dependence import Experiment
from course_lib.diagnosis.provenance.facts import Fact
from course_lib.diagnosis.source.source import Source, bound_line
from course_lib.diagnosis.source.tree import (
    BLOCK,
    THREAD,
    Assignment,
    flat,
    has,
    head_of,
    indices_of,
    is_constant,
    names_in,
    outside,
    set_by,
    target_of,
    variables_in,
)


@dataclass
class TextPlaces:
    """The parts of a text, those first that the copies of a launch show to feed wrong elements."""

    found: Experiment
    source: Source

    def _sites(self, kind: str) -> list[TextSite]:
        return [site for site in self.found.without if site.kind == kind]

    def _helpful_tests(self) -> list[int]:
        """Tests with which wrong elements are right, or written at all, if they are decided."""
        helped = {site: self.found.helped(site) for site in self._sites("test")}
        tests = sorted(filter(helped.get, helped), key=lambda site: -helped[site])
        return [line for site in tests for line in self.source.lines_of_test(site.node, site.line)]

    @cached_property
    def _feeding(self) -> list[TextSite]:
        """The loads that feed wrong elements, those that feed no others first."""
        shares = {site: self.found.feeds(site) for site in self._sites("load")}
        return sorted(
            (share for share in shares if shares[share]), key=lambda share: -shares[share]
        )

    @cached_property
    def _share_at(self) -> dict[int, float]:
        """The lines of loads and stores, and of what they feed the share that is wrong."""
        shares: dict[int, float] = {}
        for site in (*self._sites("load"), *self._sites("store")):
            shares[site.line] = max(shares.get(site.line, 0.0), self.found.feeds(site))
        return shares

    def _told_apart_by(self, fact: Fact) -> set[str]:
        """The inputs of which an element needs other cells than the one whose number it holds."""
        inputs = self.source.parameters[:-1]
        found = {
            name
            for number, name in enumerate(inputs)
            if self.found.differs(number, fact.element, fact.read)
        }
        return found or set(inputs)

    def _stores(self) -> list[ast.expr]:
        """Where the output is written."""
        stores = self.source.accesses(self.source.parameters[-1], store=True)
        return sorted(stores, key=lambda access: -self._share_at.get(access.lineno, 0.0))

    @cached_property
    def _sums(self) -> list[ast.stmt]:
        """The statements that combine what feeds wrong elements, those deepest in loops first."""
        found: list[ast.stmt] = [*self.source.additions(), *self.source.products()]
        for site in self._feeding:
            statement = self.source.statement(site.node)
            value = getattr(statement, "value", None)
            works_out = isinstance(value, ast.BinOp | ast.Call) and value is not site.node
            combines = isinstance(statement, ast.AugAssign) or works_out
            if isinstance(statement, Assignment) and combines and statement not in found:
                found.append(statement)
        return sorted(
            found,
            key=lambda addition: (
                -len(self.source.loops_around(addition)),
                -self._share_at.get(addition.lineno, 0.0),
            ),
        )

    def _resets(self, in_loops: bool = False) -> list[ast.stmt]:
        """Variables that are set anew in a loop, or to begin with: those used after it first."""
        found: list[tuple[int, ast.stmt]] = []
        for statement in self.source.all(ast.Assign):
            if not self._is_a_number(statement):
                continue
            loops = self.source.loops_around(statement)
            names = set_by(statement)
            if names & variables_in(statement.value) or self.source.makes_array(statement):
                continue
            within = set(map(id, ast.walk(loops[-1]))) if loops else set()
            loops = [loop for loop in loops if {*ast.walk(loop)} & {*self._sums}]
            after = any(
                node.id in names and isinstance(node.ctx, ast.Load)
                for node in self.source.all(ast.Name)
                if id(node) not in within
            )
            if loops or not in_loops:
                found.append((0 if loops and after else 2 if loops else 1, statement))
        return [statement for _, statement in sorted(found, key=lambda ranked: ranked[0])]

    def _is_a_number(self, statement: ast.Assign) -> bool:
        """Does it set what is added up, or hand it on?"""
        if names_in(statement.value) & (THREAD | BLOCK):
            return False
        names = set_by(statement) - self.source.shared_names()
        changed = {
            name
            for addition in self.source.additions()
            for name in variables_in(target_of(addition))
        }
        kept = set(self.source.sums()) | changed
        for store in self._stores():
            whole = self.source.statement(store)
            if isinstance(whole, Assignment) and whole.value:
                parts = outside(whole.value)
                kept |= {part.id for part in parts if isinstance(part, ast.Name)}
        return bool(names & kept)

    def _constants(self) -> list[ast.AST]:
        """Where a number, and no element of an array, is given to a sum or put into an array."""
        found: list[ast.AST] = [reset for reset in self._resets() if not has(reset, ast.Subscript)]
        for node in self.source.walk():
            if isinstance(node, ast.IfExp) and any(map(is_constant, (node.body, node.orelse))):
                found.append(node)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                found += [node] if is_constant(node.value) else []
        return found

    def _fillings(self) -> Iterator[int]:
        """Where shared arrays are filled, and the indices there."""
        shared = self.source.shared_names()
        stores = [
            node for name in sorted(shared) for node in self.source.accesses(name, store=True)
        ]
        yield from sorted(lines_of(stores))
        yield from self._definitions(stores)

    def _sums_in(self, loop: ast.For | ast.While) -> bool:
        return bool({*ast.walk(loop)} & {*self._sums})

    def _loops(self, nodes: Iterable[ast.AST]) -> Iterator[int]:
        """The loops around, and where their bounds are set."""
        for node in nodes:
            yield from self._heads(self._around(node))

    def _heads(self, loops: Iterable[ast.For | ast.While]) -> Iterator[int]:
        for loop in loops:
            yield bound_line(self.source, loop)
            yield loop.lineno
            yield from self._definitions([head_of(loop)])

    def _around(self, node: ast.AST) -> list[ast.For | ast.While]:
        """From the inside out."""
        return self.source.loops_around(node)[::-1]

    def _tests(self, nodes: Iterable[ast.AST]) -> Iterator[int]:
        for test, line in (found for node in nodes for found in self.source.conditions(node)):
            yield from self.source.lines_of_test(test, line)

    def _by_axis(
        self, nodes: Iterable[ast.expr], axes: Iterable[int], array: str | None = None
    ) -> list[ast.expr]:
        """Accesses, each after its indices of these axes, which are searched first."""
        found: list[ast.expr] = []
        for node in nodes:
            found.append(node)
            indices = indices_of(node) if isinstance(node, ast.Subscript) else ()
            if array is None or (
                isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == array
            ):
                found[-1:] = [indices[axis] for axis in axes if axis < len(indices)] + [node]
        return found

    def _definitions(self, nodes: Iterable[ast.AST]) -> Iterator[int]:
        """Where the variables in expressions get their values, and those in these values."""
        waiting = [name for node in nodes for name in sorted(variables_in(node))]
        seen: set[str] = set()
        counted: list[int] = []
        loops = {
            node.id: loop.lineno
            for loop in self.source.loops()
            if isinstance(loop, ast.For)
            for node in flat(loop.target)
            if isinstance(node, ast.Name)
        }
        for name in waiting:
            if name in seen:
                continue
            seen.add(name)
            if name in loops:
                counted.append(loops[name])
            for statement in self.source.assignments(name):
                if statement.value is not None and not self.source.makes_array(statement):
                    yield statement.lineno
                    waiting += sorted(variables_in(statement.value))
        yield from counted


def lines_of(nodes: Iterable[ast.AST]) -> Iterator[int]:
    return (node.lineno for node in nodes)  # type: ignore[attr-defined]
