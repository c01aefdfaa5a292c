"""What the types of a kernel, and of all functions that it calls, say about it as a whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from course_lib.emulator.budget import MAX_DEPTH_OF_CALLS
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.language import types as T
from course_lib.emulator.language.names import DeviceArray


def all_typings(typing: Typing, seen: set[int]) -> Iterator[Typing]:
    """A kernel's typing and those of all functions that it calls."""
    if id(typing) in seen:
        return
    seen.add(id(typing))
    yield typing
    for target in typing.calls.values():
        if isinstance(target, Typing):
            yield from all_typings(target, seen)


@lru_cache(maxsize=8)
def bytes_per_lane(typing: Typing) -> int:
    """What the local arrays and the variables of one thread take, at most."""
    total = 0
    for each in all_typings(typing, set()):
        leaves: dict[str, int] = {}
        for node, kind in each.types.items():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                several = kind.leaves if isinstance(kind, T.TupleType) else 1
                leaves[node.id] = max(several, leaves.get(node.id, 0))
        at_once = MAX_DEPTH_OF_CALLS // each.levels if each.levels else 1
        total += 8 * sum(leaves.values()) * at_once
        for call, shape in each.layouts.items():
            if ast.unparse(call.func).endswith("local.array"):
                array = each.types[call]
                assert isinstance(array, T.ArrayType)
                total += int(np.prod(shape, dtype=object)) * (array.dtype.itemsize + 4)
    return total


def device_arrays(typing: Typing) -> dict[DeviceArray, str]:
    """The devices' arrays that a kernel finds outside, and what it calls them."""
    return {
        constant: ast.unparse(node)
        for each in all_typings(typing, set())
        for node, constant in each.constants.items()
        if isinstance(constant, DeviceArray)
    }


def float64_arrays(typing: Typing) -> set[int]:
    """The lines that make shared or local arrays of float64."""
    return {
        call.lineno
        for each in all_typings(typing, set())
        for call in each.layouts
        if getattr(each.types[call], "dtype", None) == T.FLOAT64
    }


@lru_cache(maxsize=8)
def may_lack_values(typing: Typing) -> bool:
    """Whether there is memory, or a variable, that may be read before it is written.

    So may the value of a lane that gives none, in a shuffle.
    """
    return any(
        each.layouts or each.uncertain or any(map(_is_shuffle, each.calls))
        for each in all_typings(typing, set())
    )


def _is_shuffle(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2].startswith("shfl_")


@lru_cache(maxsize=8)
def fence_lines(typing: Typing) -> tuple[int, ...]:
    """The lines that order a thread's writes for other blocks to see."""
    return tuple(
        call.lineno
        for each in all_typings(typing, set())
        for call in each.calls
        if ast.unparse(call.func).endswith(("threadfence", "threadfence_system"))
    )


@lru_cache(maxsize=8)
def written_names(typing: Typing) -> frozenset[str] | None:
    """The parameters that the kernel stores into; None if that cannot be told from the names."""
    names: set[str] = set()
    for each in all_typings(typing, set()):
        targets, own_arrays = _store_targets(each)
        for target in targets:
            if not isinstance(target, ast.Name) or each is not typing:
                return None
            if target.id not in each.kernel.parameters and target.id not in own_arrays:
                return None
            names.add(target.id)
    return frozenset(names)


def _store_targets(typing: Typing) -> tuple[list[ast.expr], set[str]]:
    """What a function stores into, and the names that only ever stand for arrays of its own."""
    targets: list[ast.expr] = []
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(typing.kernel.tree):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            targets.append(node.value)
        elif isinstance(node, ast.Call) and node.args and _stores(typing, node):
            targets.append(node.args[0])
        elif isinstance(node, ast.Assign):
            for name in node.targets:
                if isinstance(name, ast.Name):
                    values.setdefault(name.id, []).append(node.value)
    layouts = typing.layouts
    own = {name for name, given in values.items() if all(value in layouts for value in given)}
    return targets, own


def _stores(typing: Typing, call: ast.Call) -> bool:
    """Whether a call changes the array that is its first argument."""
    function = typing.types.get(call.func)
    stores = (".atomic.", ".random.xoroshiro128p_", "intrinsics.store4", "intrinsics.cp_async16")
    return isinstance(function, T.Static) and any(each in str(function.value) for each in stores)
