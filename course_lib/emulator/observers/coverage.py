"""What goes unnoticed in a launch: elements out of reach, sums that wrap, lines without effect."""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.emulator.budget import LaunchShape
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.machine.events import AtomicUpdate, Observer
from course_lib.emulator.observers.findings import finding_of
from course_lib.emulator.observers.meter import Meter
from course_lib.emulator.observers.values_in_text import assigned
from course_lib.emulator.state.lanes import WARP_SIZE, Mask, Value
from course_lib.emulator.state.memory import Allocation, ArrayView
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

# --- Arrays that are read only in part, as the launch has a single thread along an axis -----------
# A kernel may ask for an axis that a launch does not have, and be right: for one row, the row's
# number is 0. So the array has to be larger along the index that follows from that axis.


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


SUMS = ast.Add | ast.Sub
ADDED: dict[Callable[..., Any], int] = {np.add: 1, np.subtract: -1}


class WrapNotes(Observer):
    """Notes which stores and sums of integers lose the upper bits of a value, with one of these.

    `wrapped` are the stores, `summed` the sums by atomic operations, by line.
    """

    def __init__(self) -> None:
        self.wrapped: dict[int, tuple[str, np.dtype, int]] = {}
        self.summed: dict[int, tuple[str, np.dtype, int]] = {}

    def converted(self, view: ArrayView, value: Value, mask: Mask, line: int) -> None:
        dtype = view.allocation.dtype
        if dtype.kind != "i" or value.dtype.kind != "i" or value.dtype.itemsize <= dtype.itemsize:
            return
        range_, active = np.iinfo(dtype), True if mask.array is None else mask.array
        outside = ((value < range_.min) | (value > range_.max)) & active
        if np.any(outside):
            example = np.broadcast_to(value, outside.shape)[outside][0]
            self.wrapped.setdefault(line, (view.name, dtype, int(example)))

    def updates(
        self, allocation: Allocation, place: np.ndarray, update: AtomicUpdate, line: int
    ) -> None:
        dtype, sign = allocation.dtype, ADDED.get(update.combine)
        if dtype.kind != "i" or dtype.itemsize > 4 or sign is None or line in self.summed:
            return
        cells, of_lane = np.unique(place, return_inverse=True)
        sums = allocation.storage[cells].astype(np.int64)
        np.add.at(sums, of_lane, sign * update.operands[0].astype(np.int64))
        range_ = np.iinfo(dtype)
        outside = (sums < range_.min) | (sums > range_.max)
        if np.any(outside):
            self.summed[line] = allocation.name, dtype, int(sums[outside][0])


def wrapped_sums(notes: WrapNotes, typings: Sequence[Typing]) -> Iterator[Finding]:
    """Sums that leave the type of the array that they go to; a hash wraps on purpose."""
    if not notes.wrapped and not notes.summed:
        return
    adding = {line for typing in typings for line in _lines_of_sums(typing.kernel.tree)}
    for line, (array, dtype, value) in (*notes.wrapped.items(), *notes.summed.items()):
        if line in adding or line in notes.summed:
            with np.errstate(over="ignore"):
                kept = int(np.int64(value).astype(dtype))
            yield finding_of(
                "numerical-overflow",
                "{value} does not fit into an element of {array}, which holds {dtype}, so it "
                "becomes {kept}.",
                line,
                "How large can this sum grow, and which type holds it?",
                "warning",
                array=array,
                dtype=str(dtype),
                value=f"{value:,}",
                kept=f"{kept:,}",
            )


def _lines_of_sums(tree: ast.AST) -> Iterator[int]:
    """The lines that store a sum: one that is made there, or a variable that is one."""
    made: defaultdict[str, list[ast.AugAssign | ast.Assign]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            made[node.target.id].append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            made[node.targets[0].id].append(node)
    sums = {name for name, statements in made.items() if _is_sum(name, statements)}
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign | ast.Assign):
            is_sum = isinstance(node.value, ast.Name) and node.value.id in sums
            if is_sum or isinstance(_operator(node), SUMS):
                yield node.lineno


def _is_sum(name: str, statements: Sequence[ast.AugAssign | ast.Assign]) -> bool:
    """Is something added to a variable, and nothing else done with what it is already?"""
    changes = [
        statement
        for statement in statements
        if isinstance(statement, ast.AugAssign) or _names(name, statement.value)
    ]
    return bool(changes) and all(
        isinstance(_operator(change), SUMS)
        and not any(
            isinstance(part, ast.BinOp) and part is not change.value and _names(name, part)
            for part in ast.walk(change.value)
        )
        for change in changes
    )


def _names(name: str, value: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))


def _operator(statement: ast.AugAssign | ast.Assign) -> ast.operator | None:
    if isinstance(statement, ast.AugAssign):
        return statement.op
    return statement.value.op if isinstance(statement.value, ast.BinOp) else None


def left_out(
    meter: Meter, typings: Sequence[Typing], shape: LaunchShape, values: Mapping[str, Any]
) -> Iterator[Finding]:
    """What the launch is too small to write or to read whole, and statements without effect."""
    trees = tuple(dict.fromkeys(typing.kernel.tree for typing in typings))
    yield from _without_effect(trees)
    yield from list(_not_written(meter, trees, shape)) or read_in_part(
        meter, trees[0], shape, values
    )


def _not_written(meter: Meter, trees: tuple[Tree, ...], shape: LaunchShape) -> Iterator[Finding]:
    for array, traffic in meter.arrays.items():
        touched = meter.touched[array]
        if not traffic.store_requests or touched.updated.any():
            continue
        # What a kernel reads, too, need not be its output, unless it reads just what it writes.
        if traffic.load_requests and not np.array_equal(touched.loaded, touched.stored):
            continue
        if touched.stored.size == math.prod(traffic.shape) and not touched.stored.all():
            written, line = touched.stored.reshape(traffic.shape), next(iter(traffic.stored_at))
            in_place = traffic.load_requests > 0
            yield from _unwritten(array, written, in_place, line, trees, shape)


def _unwritten(
    array: str,
    written: np.ndarray,
    in_place: bool,
    line: int,
    trees: tuple[Tree, ...],
    shape: LaunchShape,
) -> Iterator[Finding]:
    """Why elements of an output were never written, where it is the launch that lacks threads."""
    threads = [grid * block for grid, block in zip(shape.grid, shape.block, strict=True)]
    facts = {
        "array": array,
        "all": f"{written.size:,}",
        "missing": f"{written.size - int(written.sum()):,}",
    }
    asked = _axis_that_lacks(trees, tuple(count == 1 for count in threads))
    ends = np.argwhere(written).max(axis=0) + 1
    if asked is not None and any(
        end == 1 < size for end, size in zip(ends.tolist(), written.shape, strict=True)
    ):
        axis, line = asked
        yield finding_of(
            "incomplete-output",
            "The kernel uses a thread's index along {axis}, but this launch has a single "
            "thread along {axis}. So {missing} of the {all} elements of {array} were never "
            "written.",
            line,
            "How many axes do the grid and the block have here?",
            "warning",
            axis=axis,
            **facts,
        )
    elif not in_place and _ends_with_the_threads(written, threads, shape.block):
        yield finding_of(
            "incomplete-output",
            "The launch has only {threads} threads, and the written part of {array} ends "
            "where they end. So {missing} of its {all} elements were never written.",
            line,
            "How many blocks do you need so that the last elements are covered, too?",
            "warning",
            threads=" x ".join(f"{count:,}" for count in threads if count > 1) or "1",
            **facts,
        )


@lru_cache(maxsize=16)
def _axis_that_lacks(trees: tuple[Tree, ...], single: tuple[bool, ...]) -> tuple[str, int] | None:
    """An axis along which the kernel asks for places, and the launch has one; and the line."""
    for tree in trees:
        for node in ast.walk(tree):
            for place, axis in enumerate(AXES[1:], 1):
                if single[place] and _asks_along(node, axis, place):
                    return axis, node.lineno  # type: ignore[attr-defined]
    return None


def _asks_along(node: ast.AST, axis: str, place: int) -> bool:
    """Is it `cuda.grid(2)`, or `cuda.threadIdx.y`?"""
    if isinstance(node, ast.Attribute) and node.attr == axis:
        return ast.unparse(node.value).endswith(("threadIdx", "blockIdx"))
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("cuda.grid"):
        return False
    counts = [given.value for given in node.args if isinstance(given, ast.Constant)]
    return any(isinstance(count, int) and count > place for count in counts)


def _ends_with_the_threads(
    written: np.ndarray, threads: Sequence[int], block: Sequence[int]
) -> bool:
    """Is what was written a corner of the array that one more block would have made whole?

    So it is where a number of blocks was rounded down. An array that is larger by far is a buffer.
    """
    places = np.argwhere(written)
    ends = places.max(axis=0) + 1
    if len(places) != math.prod(ends.tolist()):
        return False  # with gaps, or not from the first element on
    of_axes = dict(zip((*threads, math.prod(threads)), (*block, math.prod(block)), strict=True))
    sides = zip(ends.tolist(), written.shape, strict=True)
    return math.prod(threads) >= WARP_SIZE and all(
        end in of_axes and size < end + of_axes[end] for end, size in sides if end < size
    )


@lru_cache(maxsize=16)
def _without_effect(trees: tuple[Tree, ...]) -> tuple[Finding, ...]:
    """Statements that are a value and nothing else, such as a function that is not called."""
    return tuple(_statements_without_effect(trees))


ONLY_NAMED = "This line only names {value}, and does nothing with it."
ONLY_COMPUTED = "This line computes {value} and does nothing with it."


def _statements_without_effect(trees: tuple[Tree, ...]) -> Iterator[Finding]:
    for tree in trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call | ast.Constant):
                continue
            value = ast.unparse(node.value)
            barrier = value.endswith("syncthreads")
            named = isinstance(node.value, ast.Attribute | ast.Name)
            yield finding_of(
                "no-effect",
                ONLY_NAMED if named else ONLY_COMPUTED,
                node.lineno,
                "What do the parentheses of a call do?"
                if named
                else "Should this value be assigned to a variable or to an element?",
                "error" if barrier else "warning",
                value=value,
            )
