"""The lines to suspect for a fact about wrong numbers, the likeliest first."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from course_lib.diagnosis.provenance.copies import Site
from course_lib.diagnosis.provenance.facts import (
    BEFORE,
    INDEPENDENT,
    MISSING,
    MOVED,
    ONLY,
    READS_OTHER,
    START,
    SURPLUS,
    TIMES,
    UNWRITTEN,
    WEIGHTED,
    Fact,
    facts_of,
)
from course_lib.diagnosis.provenance.tables import Experiment
from course_lib.diagnosis.source.nodes import variables_in
from course_lib.diagnosis.source.source import Source


@dataclass
class Suspects:
    """Where in a text the cause of a fact may stand."""

    found: Experiment
    source: Source

    def lines(self, fact: Fact) -> tuple[int, ...]:
        """Each line once, the likeliest first."""
        kinds = {
            UNWRITTEN: (self.guards, self.indices_of_stores, self.stores, self.loops),
            MOVED: (self.indices_of_stores, self.stores, self.loads, self.indices_of_loads),
            BEFORE: (self.own_output, self.sums, self.stores),
            START: (self.starts, self.stores, self.sums),
            READS_OTHER: (self.loads, self.indices_of_loads),
            SURPLUS: (self.starts, self.loops, self.loads, self.sums),
            MISSING: (self.loops, self.guards_of_sums, self.sums, self.loads),
            ONLY: (self.sums, self.starts, self.loops, self.loads),
            TIMES: (self.sums, self.loops, self.starts, self.stores),
            INDEPENDENT: (self.loads, self.sums, self.stores),
            WEIGHTED: (self.sums, self.loads, self.stores),
        }
        order = kinds.get(fact.kind, (self.loads, self.sums))
        return tuple(dict.fromkeys(line for lines in order for line in lines(fact)))

    # --- places, by what was seen of them ---------------------------------------------------

    @cached_property
    def feeding(self) -> list[Site]:
        """The loads and stores that feed wrong elements, those that feed most of them first."""
        wrong = self.found.wrong & np.isfinite(self.found.got)
        fed = [(int((elements & wrong).sum()), site) for site, elements in self.found.sites]
        return [site for count, site in sorted(fed, key=lambda each: -each[0]) if count]

    def _loads(self, fact: Fact) -> list[Site]:
        """Of an input, and of the arrays that it is staged in: the last on the way first."""
        wanted = set(fact.arrays)
        for array in fact.arrays:
            wanted |= self.source.staged(array)
        own = [each for each in self.feeding if each.array in wanted and not each.is_store]
        return sorted(own, key=lambda each: each.array in fact.arrays)

    def loads(self, fact: Fact) -> Iterator[int]:
        return (each.line for each in self._loads(fact))

    def indices_of_loads(self, fact: Fact) -> Iterator[int]:
        """Where the variables in their indices get their values."""
        return self._definitions(each.node for each in self._loads(fact))

    def _stores(self) -> list[ast.Subscript]:
        return self.source.accesses(self.source.parameters[-1], store=True)

    def stores(self, fact: Fact) -> Iterator[int]:
        return (each.lineno for each in self._stores())

    def indices_of_stores(self, fact: Fact) -> Iterator[int]:
        return self._definitions(self._stores())

    def guards(self, fact: Fact) -> Iterator[int]:
        return (line for each in self._stores() for _, line in self.source.conditions(each))

    def guards_of_sums(self, fact: Fact) -> Iterator[int]:
        return (
            line
            for each in (*self._sums, *(site.node for site in self._loads(fact)))
            for _, line in self.source.conditions(each)
        )

    def own_output(self, fact: Fact) -> Iterator[int]:
        """Where the output is read."""
        loads = self.source.accesses(self.source.parameters[-1], store=False)
        return (each.lineno for each in loads)

    @property
    def _sums(self) -> list[ast.Assign | ast.AugAssign]:
        return self.source.additions()

    def sums(self, fact: Fact) -> Iterator[int]:
        return (each.lineno for each in self._sums)

    def starts(self, fact: Fact) -> Iterator[int]:
        return (each.lineno for name in self.source.sums() for each in self.source.starts(name))

    def loops(self, fact: Fact) -> Iterator[int]:
        """The loops around what adds up, from the inside out, and where their bounds are set."""
        for statement in self._sums or self._stores():
            for loop in reversed(self.source.loops_around(statement)):
                yield loop.lineno
                head = loop.iter if isinstance(loop, ast.For) else loop.test
                yield from self._definitions([head])

    def _definitions(self, nodes: Iterable[ast.AST]) -> Iterator[int]:
        """Where the variables in expressions get their values, and those in these values."""
        waiting = [name for node in nodes for name in sorted(variables_in(node))]
        seen: set[str] = set()
        for name in waiting:
            if name in seen:
                continue
            seen.add(name)
            for statement in self.source.assignments(name):
                yield statement.lineno
                if statement.value is not None:
                    waiting += sorted(variables_in(statement.value))


def explained(found: Experiment) -> list[Fact]:
    """What is wrong with the numbers of a launch, each fact with the lines to suspect."""
    suspects = Suspects(found, found.launcher.source)
    return [replace(fact, lines=suspects.lines(fact)) for fact in facts_of(found)]
