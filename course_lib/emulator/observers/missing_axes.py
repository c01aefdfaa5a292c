"""Arrays that are read or updated only in part, as the launch has a single thread along an axis.

A kernel may ask for an axis that a launch does not have, and be right: for one row, the row's
number is 0. So the array has to be larger along the index that follows from that axis.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.emulator.observers.meter import Meter
from course_lib.emulator.observers.values_in_text import assigned
from course_lib.emulator.options import LaunchShape
from course_lib.emulator.state.memory import ArrayView
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

AXES = "xyz"
Tree = ast.FunctionDef | ast.Lambda
Origins = Mapping[str, frozenset[int]]  # the axes that a variable follows from


def read_in_part(
    meter: Meter, tree: Tree, shape: LaunchShape, values: Mapping[str, Any]
) -> Iterator[Finding]:
    """The first array of which only the beginning was reached, along an axis without threads.

    Args:
        meter: what was read, and what atomic operations updated.
        tree: the launched kernel.
        shape: the launch.
        values: of the kernel's parameters.
    """
    counts = [grid * block for grid, block in zip(shape.grid, shape.block, strict=True)]
    single = frozenset(axis for axis, count in enumerate(counts) if count == 1)
    origins = origins_of(tree)
    for node, does in ((node, does) for part in ast.walk(tree) for node, does in _accesses(part)):
        name, indices = _indices(node)
        if name not in meter.arrays:
            continue
        touched, sizes = meter.touched[name], meter.arrays[name].shape
        reached = touched.loaded if does == "read" else touched.updated
        if reached.size != np.prod(sizes, dtype=int) or len(indices) != len(sizes):
            continue
        reached = reached.reshape(sizes)
        for place, index in enumerate(indices):
            axes = axes_of(index, origins)
            if not axes & single or not _only_begins(reached, place):
                continue
            tests = list(_bounds(tree, single, origins))
            alone = axes <= single or bool(tests)
            if alone and not any(_is_one(bound, tree, values) for bound in tests):
                axis = AXES[min(axes & single)]
                yield _finding(axis, name, index, reached, does, node.lineno)
                return


def _accesses(part: ast.AST) -> Iterator[tuple[ast.Subscript, str]]:
    """The element that is read or updated, and which."""
    match part:
        case ast.Subscript(ctx=ast.Load()):
            yield part, "read"
        case ast.Call(args=[array, index, *_]) if ".atomic." in ast.unparse(part.func):
            yield ast.copy_location(ast.Subscript(array, index, ast.Load()), part), "updated"


def _finding(
    axis: str, array: str, index: ast.expr, reached: np.ndarray, does: str, line: int
) -> Finding:
    return finding(
        "wrong-index",
        say(
            "The index {index} of {array} uses a thread's position along {axis}, but this "
            "launch has a single thread along {axis}. So {missing} of the {all} elements "
            "of {array} were never {does}.",
            index=ast.unparse(index),
            array=array,
            axis=axis,
            missing=f"{reached.size - int(reached.sum()):,}",
            all=f"{reached.size:,}",
            does=does,
        ),
        line,
        "How many axes do the grid and the block have here?",
        "warning",
    )


def _only_begins(reached: np.ndarray, place: int) -> bool:
    """Was an array reached from its first element on, and not to its half, along an axis?"""
    others = tuple(axis for axis in range(reached.ndim) if axis != place)
    along = np.atleast_1d(reached.any(axis=others))
    end = int(along.sum())
    return end > 0 and bool(along[:end].all()) and 2 * end <= len(along)


@lru_cache(maxsize=16)
def origins_of(tree: Tree) -> Origins:
    """The axes from which each variable of a kernel follows."""
    origins: dict[str, frozenset[int]] = {}
    while True:
        before = dict(origins)
        for node in ast.walk(tree):
            for value, targets in assigned(node):
                for place, target in enumerate(targets):
                    axes = axes_of(value, origins)
                    if isinstance(value, ast.Tuple) and len(value.elts) == len(targets) > 1:
                        axes = axes_of(value.elts[place], origins)
                    elif _is_grid(value) and len(targets) > 1:
                        axes = frozenset([place])
                    if isinstance(target, ast.Name):
                        origins[target.id] = origins.get(target.id, frozenset()) | axes
        if origins == before:
            return origins


def axes_of(value: ast.expr, origins: Origins) -> frozenset[int]:
    """The axes from which an expression follows: those of the threads, and of the blocks."""
    match value:
        case ast.Subscript(slice=ast.Constant(int(axis))) if _is_grid(value.value):
            return frozenset([axis])
        case ast.Attribute(value=owner, attr=("x" | "y" | "z") as axis):
            is_place = ast.unparse(owner).endswith(("threadIdx", "blockIdx"))
            return frozenset([AXES.index(axis)]) if is_place else frozenset()
        case ast.Name(name):
            return origins.get(name, frozenset())
        case ast.Call(args=[ast.Constant(int(count))]) if _is_grid(value):
            return frozenset(range(count))
    parts = (part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
    return frozenset[int]().union(*(axes_of(part, origins) for part in parts))


def _is_grid(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith("cuda.grid")


def _indices(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """An array's name and its indices, written as `a[i, j]` or as `a[i][j]`."""
    indices: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        inner = node.slice
        indices = [*(inner.elts if isinstance(inner, ast.Tuple) else [inner]), *indices]
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), indices


def _bounds(tree: Tree, single: frozenset[int], origins: Origins) -> Iterator[ast.expr]:
    """What the index along an axis without threads is compared with."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        left, right = node.left, node.comparators[0]
        for index, bound in ((left, right), (right, left)):
            axes = axes_of(index, origins)
            if axes and axes <= single and not axes_of(bound, origins):
                yield bound


def _is_one(bound: ast.expr, tree: Tree, values: Mapping[str, Any]) -> bool:
    """Is a bound 1 in this launch? Then there is nothing for a second thread to do."""
    match bound:
        case ast.Constant(number):
            return number == 1
        case ast.Name(name) if name in values:
            return bool(np.ndim(values[name]) == 0 and values[name] == 1)
        case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(int(axis))):
            array = values.get(name)
            return isinstance(array, ArrayView) and array.shape[axis] == 1
        case ast.Name(name):
            for node in ast.walk(tree):
                for value, targets in assigned(node):
                    for place, target in enumerate(targets):
                        if isinstance(target, ast.Name) and target.id == name:
                            item: ast.expr = ast.Subscript(value, ast.Constant(place), ast.Load())
                            return _is_one(item if len(targets) > 1 else value, tree, values)
    return False
