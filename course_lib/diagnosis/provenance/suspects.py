"""The lines to suspect for a fact about wrong numbers, the likeliest first."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from course_lib.devices import WARP_SIZE
from course_lib.diagnosis.places import elements_of
from course_lib.diagnosis.provenance.dependence import Experiment
from course_lib.diagnosis.provenance.facts import MOST_OF, Fact, facts_of
from course_lib.diagnosis.provenance.text_places import (
    TextPlaces,
    lines_of,
)
from course_lib.diagnosis.source.tree import (
    BLOCK,
    Assignment,
    flat,
    indices_of,
    is_constant,
    is_number,
    names_in,
    target_of,
    variables_in,
)
from course_lib.wording.sentences import Line

LEAST_TILE = 8  # of which a tile is a multiple, where its side is not known


@dataclass
class Suspects(TextPlaces):
    """Where in a text the cause of a fact may stand; `meet`: two threads write one element."""

    meet: bool = False

    def lines(self, fact: Fact) -> tuple[int, ...]:
        """Each line of the answer once, the likeliest first."""
        lines = dict.fromkeys(self._in_order(fact))
        return tuple(line for line in lines if line < Line.FIRST_AROUND)

    def _in_order(self, fact: Fact) -> Iterator[int]:
        loads, stores = self._loads(fact), self._stores()
        match fact.kind:
            case "unwritten":
                yield from self._helpful_tests()
                yield from self._of_unwritten(stores)
                yield from lines_of(stores)
                yield from self._loops(stores)
                yield from self._tests(stores)
            case "not meant":
                yield from lines_of(stores)
                yield from self._tests(stores)
                yield from self._definitions(stores)
            case "not finite":
                healing = [site.node for site in self.found.unfinished]
                yield from self._helpful_tests()
                yield from lines_of(healing)
                yield from self._loops(healing)
                yield from self._definitions(healing)
                yield from self._tests(healing)
                yield from self._fillings()
            case "moved":
                if self.found.unwritten.any():
                    yield from self._of_stores_alone(stores, loads, fact.axes or ())
                    yield from self._definitions(self._by_axis(stores, fact.axes or ()))
                inputs = {*self.source.parameters[:-1]}
                if len(inputs) > 1 and self._told_apart_by(fact) == inputs:
                    # A load concerns one operand; whose sums a lane has, the hardware says.
                    own = [
                        statement
                        for statement in self._sums
                        if statement not in self.source.products()
                    ]
                    yield from lines_of(own)
                    yield from self._of_stores_alone(stores, loads, fact.axes or ())
                yield from self._careless_fillings(fact)
                yield from self._accesses(loads[:1], fact)
                yield from lines_of([*self._sums, *loads[1:]])
                yield from self._accesses(stores, fact)
                yield from self._definitions(loads)
                yield from self._fillings()
                yield from self._definitions(stores)
            case "reads other" | "paired" | "alias":
                yield from self._careless_fillings(fact)
                yield from self._accesses(loads, fact)
                yield from self._definitions(loads)
                yield from self._fillings()
                yield from lines_of(stores)
                yield from self._definitions(stores)
            case "start":
                # The number itself may stand there.
                yield from lines_of(
                    sorted(self._constants(), key=lambda constant: not _has(constant, fact.factor))
                )
                yield from lines_of([*stores, *self._sums])
            case "missing" | "only" | "surplus":
                yield from self._helpful_tests()
                if fact.kind == "missing" and self._is_within_tiles(fact):
                    yield from lines_of(self.source.products())
                if fact.kind == "only" or (fact.terms and fact.terms.kind in ("up to", "first")):
                    yield from lines_of(self._resets(in_loops=fact.kind == "missing"))
                yield from self._loops_of_sums(fact)
                yield from lines_of([*self._sums, *self._resets(in_loops=True)])
                yield from self._tests([*self._sums, *loads])
                yield from self._accesses(loads, fact)
                yield from self._definitions(loads)
                yield from lines_of(self.source.loops())
            case "unused":
                yield from self._helpful_tests()
                loads.sort(key=lambda load: not variables_in(load) & {*fact.arrays})
                yield from self._tests(loads)
                yield from self._loops(loads)
                yield from self._accesses(loads, fact)
                yield from self._definitions(loads)
            case "independent" if fact.is_of_nothing or self._is_all_the_same():
                yield from self._helpful_tests()
                if self.found.wrong.all():
                    yield from lines_of([*self._resets(in_loops=True), *self._sums])
                yield from self._loops_of_sums(fact)
                yield from self._accesses(loads, fact)
                yield from self._definitions(loads)
                yield from lines_of([*self._sums, *stores, *self.source.loops()])
            case "times":
                if fact.terms and fact.terms.kind in ("first", "last"):
                    yield from self._fillings()
                elif fact.terms and fact.terms.is_a_part:
                    yield from self._loops_of_sums(fact)
                yield from lines_of([*self._sums, *self._resets()])
                yield from self._loops_of_sums(fact)
                yield from lines_of([*stores, *loads])
            case "weighted":
                yield from lines_of([*self._sums, *loads, *stores])
            case _:
                yield from self._accesses(loads, fact)
                yield from lines_of([*self._sums, *stores])

    def _is_all_the_same(self) -> bool:
        """Does the same come out if all inputs are 0? Then nothing of them takes part."""
        return bool((self.found.got == self.found.got_zero).all())

    def _loads(self, fact: Fact) -> list[ast.expr]:
        """Of the arrays of a fact, and of those that they are staged in: the last on the way
        first, but the first where whole tiles are mixed up."""
        inputs = self.source.parameters[:-1]
        wanted = set(fact.arrays) if fact.kind != "moved" else self._told_apart_by(fact)
        staged = set().union(*(self.source.staged(array) for array in wanted))
        if not staged:  # by a function that gets what another one has loaded
            staged = {site.array for site in self._feeding} - set(inputs)
        loads = [site for site in self._feeding if site.array in wanted | staged]
        loads = loads or [*self._feeding]
        by_tiles = self._is_by_tiles(fact)
        loads.sort(
            key=lambda load: (
                self.found.feeds(load) < MOST_OF,  # what feeds right ones as well comes later
                (load.array in inputs) is not by_tiles,
            )
        )
        nodes: list[ast.expr] = [load.node for load in loads]
        fragments = [call for name in sorted(staged) for call in self.source.fragments(name)]
        nodes = [*nodes, *fragments] if by_tiles else [*fragments, *nodes]
        if fact.kind in ("reads other", "moved") and fact.axes and fact.arrays[0] in inputs:
            return self._by_axis(nodes, fact.axes or (), fact.arrays[0])
        return nodes

    def _accesses(self, accesses: Iterable[ast.expr], fact: Fact) -> Iterator[int]:
        """Each after the line that works out its index along the wrong axis, for it alone. What
        exchanges two axes may as well be the access itself."""
        pairs = enumerate(zip(fact.read, fact.right, strict=False))
        axes = fact.axes or tuple(axis for axis, (one, other) in pairs if one != other)
        for access in accesses:
            if len(axes) < 2:
                yield self.source.line_of_index(access, axes)
            yield access.lineno

    def _of_unwritten(self, stores: Sequence[ast.expr]) -> Iterator[int]:
        """What leaves elements out: an index that lacks the block, the loops and the numbers behind
        it."""
        accesses = self._by_axis(stores, self._unwritten_axes())
        indices = [index for index in accesses if index not in stores] or accesses
        behind = [self.source.everything_behind(index) for index in indices[:1]]
        if self._are_whole_tiles and behind and not behind[0] & BLOCK:
            used = variables_in(indices[0])
            made = (
                assignment for name in sorted(used) for assignment in self.source.assignments(name)
            )
            yield from lines_of(
                assignment
                for assignment in made
                if assignment.value and is_constant(assignment.value)
            )
        if self.meet:  # as many are written as should be, and not the right ones
            yield from self._by_numbering(self._definitions(indices))
        for loop in (loop for store in stores for loop in self._around(store)):
            if behind and isinstance(loop, ast.For) and behind[0] & variables_in(loop.target):
                yield loop.lineno
        yield from self._by_numbering(self._definitions(indices))

    def _is_by_tiles(self, fact: Fact) -> bool:
        step = self.found.launcher.step_tile or (LEAST_TILE if self.source.shared_names() else None)
        if fact.apart:
            return True
        if not step or fact.kind not in ("missing", "only", "times", "surplus"):
            return False
        terms = fact.terms
        return terms is None or (terms.kind in ("from", "up to") and terms.numbers[0] % step == 0)

    def _is_within_tiles(self, fact: Fact) -> bool:
        """Does a stretch of terms lack that begins or ends within a tile?"""
        terms, step = fact.terms, self.found.launcher.step_tile
        within = terms is not None and terms.kind == "stretch" and step is not None
        return within and any(number % step for number in terms.numbers)  # type: ignore[union-attr, operator]

    def _of_stores_alone(
        self, stores: Iterable[ast.expr], loads: Iterable[ast.expr], axes: Sequence[int]
    ) -> Iterator[int]:
        """Where what is stored is right, and the place is not: the store, or what it alone uses."""
        for store in stores:
            made = [
                assignment.lineno
                for name in sorted(variables_in(store) - {*self.source.parameters})
                for assignment in self.source.assignments(name)
                if not _is_used(name, loads, behind=assignment.lineno)
            ]
            indices = indices_of(store) if isinstance(store, ast.Subscript) else ()
            worked_out = any(not isinstance(index, ast.Name) for index in indices)
            alone = self.source.line_of_index(store, axes)
            made = made if alone == store.lineno else [alone, *made]
            yield from (store.lineno, *made) if worked_out else (*made, store.lineno)

    def _by_numbering(self, lines: Iterable[int]) -> list[int]:
        """Lines that number blocks first where whole tiles are unwritten, else those of threads."""
        wanted, other = (
            ("blockIdx", "threadIdx") if self._are_whole_tiles else ("threadIdx", "blockIdx")
        )
        made = {node.lineno: node for node in self.source.walk() if isinstance(node, Assignment)}
        text = {line: ast.unparse(node) for line, node in made.items()}
        plain = {
            line
            for line, node in made.items()
            if node.value and all(map(is_number, flat(node.value)))
        }
        return sorted(
            lines,
            key=lambda line: (
                line in plain,
                (other in text.get(line, "")) - (wanted in text.get(line, "")),
            ),
        )

    @cached_property
    def _are_whole_tiles(self) -> bool:
        """Does what is unwritten begin where a tile does?"""
        gaps = np.argwhere(self.found.unwritten.reshape(self.found.shape))
        first = gaps[0] if len(gaps) else ()
        tile: tuple[int, ...] = self.found.launcher.tile[::-1]
        if len(tile) < len(first):  # a row of threads may have a tile of any shape
            tile = (WARP_SIZE,) * len(first)
        return all(
            int(at) % side == 0 for at, side in zip(first, tile[-len(first) :], strict=False)
        )

    def _unwritten_axes(self) -> list[int]:
        """The axes along which whole slabs are unwritten; all, where there are none."""
        written = ~self.found.unwritten.reshape(self.found.shape)
        axes = range(written.ndim)
        others = [tuple(other_axis for other_axis in axes if other_axis != axis) for axis in axes]
        return [axis for axis in axes if not written.any(axis=others[axis]).all()] or [*axes]

    def _careless_fillings(self, fact: Fact) -> Iterator[int]:
        """Where a cell of an input is put into several cells of a tile, in every step or block."""
        wanted = self._told_apart_by(fact) if fact.kind == "moved" else {*fact.arrays}
        held = set().union(*map(self.source.held, wanted))
        for name in sorted(set().union(*(self.source.staged(array) for array in wanted))):
            for store in self.source.accesses(name, store=True):
                statement = self.source.statement(store)
                if not isinstance(statement, ast.Assign):
                    continue
                around = [loop for loop in self.source.loops_around(store) if self._sums_in(loop)]
                steps = {name for loop in around for name in self.source.steps_of(loop)}
                reads = [node for node in ast.walk(statement.value) if _reads(node, wanted | held)]
                is_one = bool(
                    (self.source.moves_with([store]) | steps) - self.source.moves_with(reads)
                )
                if reads and (is_one or self._lacks_the_block(fact, reads)):
                    yield statement.lineno

    def _lacks_the_block(self, fact: Fact, reads: Iterable[ast.AST]) -> bool:
        """Does every block of several load the same, where elements hold what belongs to others?"""
        several = prod(self.found.copies.grid) > 1
        behind = set().union(*map(self.source.everything_behind, reads))
        return fact.kind == "moved" and several and not behind & BLOCK

    def _loops_of_sums(self, fact: Fact) -> Iterator[int]:
        """Those along the sum first; where whole sums are missing, those along the elements."""
        some = fact.is_of_nothing and not self.found.wrong.all()
        places = [indices_of(store) for store in self._stores() if isinstance(store, ast.Subscript)]
        counted = set().union(*(variables_in(index) for indices in places for index in indices))
        elements = set().union(*(elements_of(self.source, array) for array in fact.arrays))
        for statement in sorted(
            self._sums, key=lambda statement: not names_in(statement) & elements
        ):
            target = target_of(statement) if isinstance(statement, Assignment) else statement
            own = counted | variables_in(
                target.slice if isinstance(target, ast.Subscript) else target
            )
            loops = self._around(statement)
            loops = loops[::-1] if self._is_by_tiles(fact) else loops
            of_elements = [
                loop
                for loop in loops
                if isinstance(loop, ast.For) and variables_in(loop.target) & own
            ]
            along = [loop for loop in loops if loop not in of_elements]
            yield from self._heads(of_elements if some else [*along, *of_elements])


def _has(node: ast.AST, number: float) -> bool:
    """Does this number stand in a text?"""
    return any(isinstance(part, ast.Constant) and part.value == number for part in ast.walk(node))


def _is_used(name: str, nodes: Iterable[ast.expr], behind: int) -> bool:
    """Does a variable occur in one of these behind a line?"""
    return any(name in variables_in(node) and node.lineno > behind for node in nodes)


def _reads(node: ast.AST, arrays: set[str]) -> bool:
    """Is it an element of one of these arrays, or a call that is given one?"""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and node.value.id in arrays
    return isinstance(node, ast.Call) and bool(arrays & set().union(*map(variables_in, node.args)))


def explained(found: Experiment, meet: bool = False) -> list[Fact]:
    """What is wrong with the numbers of a launch, each fact with the lines to suspect.

    `meet`: whether two threads write one element.
    """
    suspects = Suspects(found, found.launcher.source, meet)
    return [replace(fact, lines=suspects.lines(fact)) for fact in facts_of(found)]
