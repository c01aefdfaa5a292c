"""An answer as it is examined: its kernel, and whether there is one yet."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.diagnosis.source.source import Source
from course_lib.emulator import Kernel, kernel_from
from course_lib.findings import Finding, finding
from course_lib.sentences import say


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


def _why_nothing_is_written(kernel: Kernel, output: str) -> tuple[str, int, str]:
    """Message, line and hint for a kernel that writes no element."""
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Return) and _is_a_result(node.value):
            message = say(
                "A kernel returns nothing: its result has to be written into {output}.",
                output=output,
            )
            return (
                message,
                node.lineno,
                say("Which element of {output} belongs to this thread?", output=output),
            )
        if isinstance(node, ast.Name) and node.id == output and isinstance(node.ctx, ast.Store):
            message = say(
                "This gives the name {output} another meaning, for one thread; the array {output} "
                "stays as it was.",
                output=output,
            )
            return (
                message,
                node.lineno,
                say("Which element of {output} belongs to this thread?", output=output),
            )
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare):
            return (
                say("This line compares and stores nothing."),
                node.lineno,
                "A single = stores what stands on its right. Where should it go?",
            )
    hint = "Start with the index of the element that one thread works on."
    if kernel.is_empty:
        return (
            say("{kernel} is still empty: it writes nothing.", kernel=kernel.name),
            kernel.tree.lineno,
            hint,
        )
    message = say("{kernel} writes no element of {output}.", kernel=kernel.name, output=output)
    return (
        message,
        kernel.tree.lineno,
        say("Which line should write a number into {output}?", output=output),
    )


def missing(exercise: Exercise, kernel: Kernel) -> Finding | None:
    """The finding for an answer that is not there yet."""
    wanted = exercise.parameters
    fits = len(kernel.parameters) == len(wanted)
    if _is_empty(kernel) and (fits or kernel.is_empty):
        output = (kernel.parameters or exercise.parameters)[-1]
        return finding("missing-answer", *_why_nothing_is_written(kernel, output))
    if not fits:
        message = say(
            "{kernel} takes ({own_parameters}); the exercise calls {signature}.",
            kernel=kernel.name,
            own_parameters=", ".join(kernel.parameters),
            signature=exercise.signature,
        )
        return finding("invalid-launch", message, kernel.tree.lineno, "Compare the parameters.")
    return None
