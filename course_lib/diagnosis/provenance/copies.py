"""Copies of one launch that differ in one number each, run as the blocks of one launch.

A launch costs NumPy about the same for one lane or for thousands. So each copy is a z of the grid,
and has its own arrays; in some, one place of the text loads or stores 0, or one test is decided.
"""

from __future__ import annotations

import ast
from collections import ChainMap, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal

import numpy as np

from course_lib.diagnosis.source.nodes import flat, root_name
from course_lib.emulator import Budget, Kernel
from course_lib.emulator.functions.choice import CHOOSE
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import Reference
from course_lib.emulator.options import EmulationOptions, LaunchShape
from course_lib.emulator.run import LANES_AT_ONCE
from course_lib.emulator.unwatched import run_unwatched, typing_for

Array = np.ndarray
MOST_LANES = 200_000  # of one launch; more copies than that are launched one after the other
_CHOOSE, _BLOCK = "<choose>", "<blockIdx>"  # names that no text can have
Chosen = dict[ast.AST, list[tuple[int, bool | int]]]  # at which nodes which copies have what


@dataclass(frozen=True, eq=False)
class Site:
    """A place in the text, and what stands there in one copy: 0 for a number that is loaded from
    an array or stored in it, True or False for a test."""

    node: ast.expr
    kind: Literal["load", "store", "test"]
    array: str = ""
    instead: bool | None = None

    @property
    def line(self) -> int:
        return self.node.lineno


@dataclass
class Copies:
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

    def results(self, arguments: Sequence[Sequence[Any]]) -> Array:
        """What each copy leaves in the output; a copy is a row of arguments, the output last."""
        size = max(1, MOST_LANES // self.lanes)
        kernel = with_own_arrays(self.kernel, ())
        parts = [arguments[n : n + size] for n in range(0, len(arguments), size)]
        return np.concatenate([self._launched(kernel, part) for part in parts])

    def changed(self, arguments: Sequence[Sequence[Any]], sites: Sequence[Sequence[Site]]) -> Array:
        """The same, where copy n has something else at all of sites[n]."""
        size = max(1, MOST_LANES // self.lanes)
        parts = [slice(n, n + size) for n in range(0, len(sites), size)]
        return np.concatenate(
            [
                self._launched(with_own_arrays(self.kernel, sites[part]), arguments[part])
                for part in parts
            ]
        )

    def _launched(self, kernel: Kernel, arguments: Sequence[Sequence[Any]]) -> Array:
        stacked = [np.stack(each) for each in zip(*arguments, strict=True)]
        wide, high, *_ = (*self.grid, 1)
        x, y, z, *_ = (*self.block, 1, 1)
        shape = LaunchShape((wide, high, len(arguments)), (x, y, z), 0)
        # Blocks that do not fit side by side run one after the other, each with steps of its own.
        pieces = 1 + self.lanes * len(arguments) // LANES_AT_ONCE
        budget = replace(self.budget, steps=self.budget.steps * pieces)
        options = EmulationOptions(self.schedule, counters=False, races=False, budget=budget)
        run_unwatched(typing_for(kernel, stacked), stacked, shape, options)
        return stacked[-1]


def sites_of(typing: Typing) -> list[Site]:
    """Where a kernel and its device functions load and store numbers, and what they test."""
    found: dict[tuple[ast.AST, str, bool | None], Site] = {}
    for each in _with_callees(typing):
        for site in _in_function(each.kernel.tree):
            if site.node in each.waiting:  # every thread has to reach a barrier
                continue
            if site.kind == "test" or T.is_float(each.types.get(site.node)):  # type: ignore[arg-type]
                found.setdefault((site.node, site.kind, site.instead), site)
    return list(found.values())


def _with_callees(typing: Typing) -> list[Typing]:
    found = [typing]
    for each in found:
        callees = (called for called in each.calls.values() if isinstance(called, Typing))
        found += [called for called in callees if called not in found]
    return found


def _in_function(tree: ast.AST) -> Iterator[Site]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield Site(node, "load", root_name(node) or "")
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Tuple):
            for target in (each for whole in node.targets for each in flat(whole)):
                if isinstance(target, ast.Subscript):
                    yield Site(node.value, "store", root_name(target) or "")
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            yield Site(node.value, "store", root_name(node.target) or "")
        if isinstance(node, ast.If | ast.IfExp):
            for instead in (True, False):
                yield Site(node.test, "test", instead=instead)


# --- the text of the copies -------------------------------------------------------------------


def with_own_arrays(kernel: Kernel, sites: Sequence[Sequence[Site]]) -> Kernel:
    """A kernel whose blocks of z = n have copy n of every array, and changes at sites[n]."""
    numbers: Chosen = defaultdict(list)
    for number, of_copy in enumerate(sites):
        for site in of_copy:
            numbers[site.node].append((number, 0 if site.instead is None else site.instead))
    changed = _rewritten(kernel, numbers, {})
    tree = changed.tree
    assert isinstance(tree, ast.FunctionDef)
    parameters = tuple(f"<all {name}>" for name in kernel.parameters)
    for name, whole in zip(reversed(kernel.parameters), reversed(parameters), strict=True):
        index = ast.Attribute(ast.Name(_BLOCK, ast.Load()), "z", ast.Load())
        own = ast.Subscript(ast.Name(whole, ast.Load()), index, ast.Load())
        tree.body.insert(0, ast.Assign([ast.Name(name, ast.Store())], own))
    for argument, whole in zip(tree.args.args, parameters, strict=True):
        argument.arg = whole
    _place(tree, kernel.tree)
    return replace(changed, parameters=parameters, declared=None, jit_call=None)


def _rewritten(kernel: Kernel, numbers: Chosen, done: dict[Kernel, Kernel]) -> Kernel:
    """A kernel that chooses at these nodes, and calls device functions that do."""
    if kernel not in done:
        names: dict[str, Any] = {
            _CHOOSE: Reference(CHOOSE),
            _BLOCK: Reference("numba.cuda.blockIdx"),
        }
        tree = _copied(kernel.tree, numbers)
        done[kernel] = replace(kernel, tree=tree, namespace=ChainMap(names, kernel.namespace))  # type: ignore[arg-type]
        for node in ast.walk(kernel.tree):
            called = kernel.namespace.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(called, Kernel) and numbers:
                names[node.id] = _rewritten(called, numbers, done)  # type: ignore[attr-defined]
    return done[kernel]


def _copied(node: Any, numbers: Chosen) -> Any:
    new = type(node)()
    for name, value in vars(node).items():
        if isinstance(value, list):
            value = [_copied(e, numbers) if isinstance(e, ast.AST) else e for e in value]
        elif isinstance(value, ast.AST):
            value = _copied(value, numbers)
        setattr(new, name, value)
    if not numbers.get(node):
        return new
    arguments: list[ast.expr] = [new]
    for number, other in numbers[node]:
        arguments += [ast.Constant(number), ast.Constant(other)]
    call = ast.Call(ast.Name(_CHOOSE, ast.Load()), arguments, [])
    _place(call, node)
    return call


def _place(tree: ast.AST, where: ast.AST) -> None:
    """Give the new nodes of a tree the line of an old one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
            ast.copy_location(node, where)
