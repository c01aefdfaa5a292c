"""Copies of one launch that differ in one number each, run as the blocks of one launch.

A launch costs NumPy about the same for one lane or for thousands. So each copy is a z of the grid,
and has its own arrays; in some, what one place of the text loads or stores is another number.
"""

from __future__ import annotations

import ast
from collections import ChainMap, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from course_lib.diagnosis.source.nodes import flat, root_name
from course_lib.emulator import Budget, Kernel
from course_lib.emulator.functions.choice import CHOOSE
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import Reference
from course_lib.emulator.options import EmulationOptions, LaunchShape
from course_lib.emulator.unwatched import run_unwatched, typing_for

Array = np.ndarray
MOST_LANES = 200_000  # of one launch; more copies than that are launched one after the other
_CHOOSE, _BLOCK, _NOTHING, _MORE = "<choose>", "<blockIdx>", "<nothing>", "<more>"
# Names that no text can have; where a copy changes a number, 1 is added to it, elsewhere 0.
_NAMES: dict[str, Any] = {
    _CHOOSE: Reference(CHOOSE),
    _BLOCK: Reference("numba.cuda.blockIdx"),
    _NOTHING: np.float32(0),
    _MORE: np.float32(1),
}


@dataclass(frozen=True, eq=False)
class Site:
    """A place in the text where a number is loaded, or one that is about to be stored."""

    node: ast.expr
    array: str
    is_store: bool

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

    def changed(self, arguments: Sequence[Any], sites: Sequence[Site]) -> Array:
        """What is left in the output if the number at one of the sites is another; row by row."""
        size = max(1, MOST_LANES // self.lanes)
        parts = [sites[n : n + size] for n in range(0, len(sites), size)]
        return np.concatenate(
            [
                self._launched(with_own_arrays(self.kernel, part), [arguments] * len(part))
                for part in parts
            ]
        )

    def _launched(self, kernel: Kernel, arguments: Sequence[Sequence[Any]]) -> Array:
        stacked = [np.stack(each) for each in zip(*arguments, strict=True)]
        grid, block = ((*sizes, 1, 1)[:3] for sizes in (self.grid, self.block))
        shape = LaunchShape((grid[0], grid[1], len(arguments)), block, 0)
        options = EmulationOptions(
            self.schedule, counters=False, races=False, budget=self.budget
        )
        run_unwatched(typing_for(kernel, stacked), stacked, shape, options)
        return stacked[-1]


def sites_of(typing: Typing) -> list[Site]:
    """Where a kernel and its device functions load, or store, floating-point numbers."""
    found: dict[ast.AST, Site] = {}
    for each in _with_callees(typing):
        for site in _in_function(each.kernel.tree):
            if T.is_float(each.types.get(site.node)):
                found.setdefault(site.node, site)
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
            yield Site(node, root_name(node) or "", False)
        if isinstance(node, ast.Assign):
            for target in (each for target in node.targets for each in flat(target)):
                if isinstance(target, ast.Subscript) and not isinstance(node.value, ast.Tuple):
                    yield Site(node.value, root_name(target) or "", True)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            yield Site(node.value, root_name(node.target) or "", True)


# --- the text of the copies -------------------------------------------------------------------


def with_own_arrays(kernel: Kernel, sites: Sequence[Site]) -> Kernel:
    """A kernel whose blocks of z = n have copy n of every array, and another number at site n."""
    numbers: dict[ast.AST, list[int]] = defaultdict(list)
    for number, site in enumerate(sites):
        numbers[site.node].append(number)
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


def _rewritten(
    kernel: Kernel, numbers: dict[ast.AST, list[int]], done: dict[Kernel, Kernel]
) -> Kernel:
    """A kernel that chooses at these nodes, and calls device functions that do."""
    if kernel not in done:
        names = dict(_NAMES)
        tree = _copied(kernel.tree, numbers)
        done[kernel] = replace(kernel, tree=tree, namespace=ChainMap(names, kernel.namespace))  # type: ignore[arg-type]
        for node in ast.walk(kernel.tree):
            called = kernel.namespace.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(called, Kernel) and numbers:
                names[node.id] = _rewritten(called, numbers, done)  # type: ignore[attr-defined]
    return done[kernel]


def _copied(node: Any, numbers: dict[ast.AST, list[int]]) -> Any:
    new = type(node)()
    for name, value in vars(node).items():
        if isinstance(value, list):
            value = [_copied(e, numbers) if isinstance(e, ast.AST) else e for e in value]
        elif isinstance(value, ast.AST):
            value = _copied(value, numbers)
        setattr(new, name, value)
    if not numbers.get(node):
        return new
    arguments: list[ast.expr] = [ast.Name(_NOTHING, ast.Load())]
    for number in numbers[node]:
        arguments += [ast.Constant(number), ast.Name(_MORE, ast.Load())]
    call = ast.BinOp(new, ast.Add(), ast.Call(ast.Name(_CHOOSE, ast.Load()), arguments, []))
    _place(call, node)
    return call


def _place(tree: ast.AST, where: ast.AST) -> None:
    """Give the new nodes of a tree the line of an old one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
            ast.copy_location(node, where)
