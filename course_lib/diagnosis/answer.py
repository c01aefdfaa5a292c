"""An answer as it is examined: its kernel, and whether there is one yet."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.words import tell
from course_lib.emulator import Kernel, kernel_from
from course_lib.wording.findings import Finding


@dataclass(frozen=True)
class Answer:
    """A kernel, and what stands around it.

    Attributes:
        kernel: its syntax tree.
        native: the object to launch on a real GPU, if the answer came as one and there is one.
        run_native: launches it: run_native(kernel, grid, block, *arrays).
    """

    kernel: Kernel
    native: object = None
    run_native: Callable[..., object] | None = None


def source_of(kernel: Kernel) -> Source:
    """The kernel's syntax tree with those of the device functions that it calls."""
    functions, waiting, constants = [], [kernel], {}
    while waiting:
        each = waiting.pop(0)
        if not isinstance(each.tree, ast.FunctionDef) or each.tree in functions:
            continue
        functions.append(each.tree)
        names = {node.id for node in ast.walk(each.tree) if isinstance(node, ast.Name)}
        for name in sorted(names & each.namespace.keys()):
            called = each.namespace[name]
            if isinstance(called, (int, float, np.number)):
                constants[name] = called
            if isinstance(called, Kernel):
                waiting.append(called)
            elif hasattr(called, "py_func"):
                waiting.append(kernel_from(called))
    return Source(tuple(functions), kernel.parameters, constants)


def _is_empty(kernel: Kernel) -> bool:
    """Does it neither write an element nor call anything that might?"""
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return False
    return not any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(kernel.tree))


def _is_a_result(value: ast.expr | None) -> bool:
    """Is it anything but None, that a `return` returns?"""
    return value is not None and getattr(value, "value", ...) is not None


def _nothing_written(kernel: Kernel, output: str) -> Finding:
    """The finding for a kernel that writes no element."""
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Return) and _is_a_result(node.value):
            return tell("returned", node.lineno, output=output)
        if isinstance(node, ast.Name) and node.id == output and isinstance(node.ctx, ast.Store):
            return tell("rebound", node.lineno, output=output)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare):
            return tell("compared", node.lineno)
    kind = "empty" if kernel.is_empty else "no store"
    return tell(kind, kernel.tree.lineno, kernel=kernel.name, output=output)


def missing(exercise: Exercise, kernel: Kernel) -> Finding | None:
    """The finding for an answer that is not there yet."""
    wanted = exercise.parameters
    fits = len(kernel.parameters) == len(wanted)
    if _is_empty(kernel) and (fits or kernel.is_empty):
        output = (kernel.parameters or exercise.parameters)[-1]
        return _nothing_written(kernel, output)
    if not fits:
        own, line = ", ".join(kernel.parameters), kernel.tree.lineno
        words = {"kernel": kernel.name, "own_parameters": own, "signature": exercise.signature}
        return tell("other parameters", line, **words)
    return None
