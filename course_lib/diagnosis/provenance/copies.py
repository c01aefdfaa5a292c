"""Copies of one launch that differ in one number each, run as the blocks of one launch.

A launch costs NumPy about the same for one lane or for thousands. So each copy is a z of the grid,
and has its own arrays; in some, one place of the text loads or stores 0, or one test is decided.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal

import numpy as np

from course_lib.diagnosis.repair.edit import Edit, Function
from course_lib.diagnosis.repair.schemata import schemata
from course_lib.diagnosis.source.tree import flat, root_name, walk, wide_accesses
from course_lib.emulator import Budget, Kernel
from course_lib.emulator.budget import EmulationOptions, LaunchShape
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.launch import run_unwatched, typing_for
from course_lib.emulator.run import LANES_AT_ONCE

Array = np.ndarray
MOST_LANES = 200_000  # of one launch; more copies than that are launched one after the other
Kind = Literal["load", "store", "test"]
OF_A_WIDE_LOAD = 4  # numbers
LAST_OF_A_STORE = 2  # the place of its numbers among the arguments; copies have more of those
ZERO: ast.expr = ast.Constant(0)
ZEROS = ast.Tuple([ast.Constant(0)] * OF_A_WIDE_LOAD, ast.Load())


@dataclass(frozen=True, eq=False)
class TextSite:
    """A place in the text, and what stands there in one copy: 0 for a number that is loaded from
    an array or stored in it, True or False for a test."""

    node: ast.expr
    kind: Kind
    edit: Edit
    array: str = ""
    instead: bool | None = None

    @property
    def line(self) -> int:
        return self.node.lineno


@dataclass
class LaunchCopies:
    """Launches copies of a kernel's launch; `budget` is what all of one launch may use."""

    kernel: Kernel
    grid: Sequence[int]
    block: Sequence[int]
    schedule: str
    budget: Budget

    @property
    def lanes(self) -> int:
        """Threads of one copy."""
        return prod(self.grid) * prod(self.block)

    def results(
        self, arguments: Sequence[Sequence[Any]], sites: Sequence[Sequence[TextSite]] = ()
    ) -> Array:
        """What each copy leaves in the output; a copy is a row of arguments, the output last.

        `sites`: copy n has something else at all of sites[n].
        """
        size = max(1, MOST_LANES // self.lanes)
        left, kernel = [], schemata(self.kernel, (), self.kernel.parameters)
        for start in range(0, len(arguments), size):
            variants = [[site.edit for site in group] for group in sites[start : start + size]]
            if variants:
                kernel = schemata(self.kernel, variants, self.kernel.parameters)
            left.append(self._launched(kernel, arguments[start : start + size]))
        return np.concatenate(left)

    def _launched(self, kernel: Kernel, arguments: Sequence[Sequence[Any]]) -> Array:
        stacked = [np.stack(copies) for copies in zip(*arguments, strict=True)]
        shape = LaunchShape.of_copies(self.grid, self.block, len(arguments))
        # Blocks that do not fit side by side run one after the other, each with steps of its own.
        pieces = 1 + self.lanes * len(arguments) // LANES_AT_ONCE
        budget = replace(self.budget, steps=self.budget.steps * pieces)
        options = EmulationOptions(self.schedule, counters=False, races=False, budget=budget)
        run_unwatched(typing_for(kernel, stacked), stacked, shape, options)
        return stacked[-1]


def sites_of(typing: Typing) -> list[TextSite]:
    """Where a kernel and its device functions load and store numbers, and what they test."""
    found: dict[tuple[ast.AST, str, bool | None], TextSite] = {}
    for function in _with_callees(typing):
        for site in _in_function(function.kernel.tree):
            if site.node in function.waiting:  # every thread has to reach a barrier
                continue
            if site.kind == "test" or _are_floats(function.types.get(site.node)):
                found.setdefault((site.node, site.kind, site.instead), site)
    return list(found.values())


def _are_floats(kind: Any) -> bool:
    """A floating-point number, or a tuple of as many as `load4` returns?"""
    if isinstance(kind, T.TupleType):
        return len(kind.items) == OF_A_WIDE_LOAD and all(map(T.is_float, kind.items))
    return T.is_float(kind)


def _with_callees(typing: Typing) -> list[Typing]:
    found = [typing]
    for function in found:
        callees = (called for called in function.calls.values() if isinstance(called, Typing))
        found += [called for called in callees if called not in found]
    return found


def _in_function(tree: Function) -> Iterator[TextSite]:
    paths = dict(walk(tree))

    def site(
        node: ast.expr,
        kind: Kind,
        array: str | None = "",
        instead: bool | None = None,
        new: ast.expr = ZERO,
    ) -> TextSite:
        new = new if instead is None else ast.Constant(instead)
        edit = Edit(kind, node.lineno, 0, tree, {paths[node]: new})
        return TextSite(node, kind, edit, array or "", instead)

    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield site(node, "load", root_name(node))
        for array, _, is_written in wide_accesses(node):
            if isinstance(node, ast.Call) and len(node.args) <= LAST_OF_A_STORE + 1:
                numbers = node.args[LAST_OF_A_STORE] if is_written else node
                yield site(numbers, "store" if is_written else "load", array, new=ZEROS)
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Tuple):
            for whole in node.targets:
                new = ZEROS if isinstance(whole, ast.Tuple) else ZERO
                for target in flat(whole):
                    if isinstance(target, ast.Subscript):
                        yield site(node.value, "store", root_name(target), new=new)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            yield site(node.value, "store", root_name(node.target))
        if isinstance(node, ast.If | ast.IfExp):
            for instead in (True, False):
                yield site(node.test, "test", instead=instead)
