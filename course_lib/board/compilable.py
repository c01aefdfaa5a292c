"""Make a function that Numba can compile of a kernel's text, without executing that text.

What a name outside the function stands for is worked out by the emulator's reader, which follows
imports of known modules and simple numbers. Of the text itself only `def` statements are run, with
decorators, defaults and annotations taken off: they build functions, and nothing of a body runs.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import importlib
import linecache
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from course_lib.compiled_counts.launch import NotCounted
from course_lib.emulator import Kernel, load_program
from course_lib.emulator.language.names import Reference
from course_lib.intrinsics import unrolled

# What names of these modules stand for is handed to the compiler; they hold nothing of a student's.
MODULES = ("numba", "numpy", "math", "course_lib.intrinsics")


@dataclass(frozen=True)
class TextKernel:
    """A kernel's text, as the emulator reads it, and as a function for the compiler."""

    read: Kernel
    function: FunctionType


def function_of(name: str, text: str) -> TextKernel:
    """The kernel called `name` of a text.

    Raises:
        KernelRejected: if there is none, or it cannot be read.
        NotCounted: for what cannot be compiled apart from its text.
    """
    kernel = load_program(text).kernel(name)
    file = f"<entry {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    # `unrolled` reads the source; without a time, Python's cache keeps one that is in no file.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return TextKernel(kernel, _function(kernel, file))


def _function(kernel: Kernel, file: str) -> FunctionType:
    tree = copy.deepcopy(kernel.tree)
    if isinstance(tree, ast.Lambda) or tree.args.defaults or tree.args.kw_defaults:
        raise NotCounted(
            f"{kernel.name} has default values or is a lambda, so it can't be compiled on its own."
        )
    tree.decorator_list, tree.returns = [], None
    for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
        argument.annotation = None
    names = {
        name: _value(value, file)
        for name, value in kernel.namespace.items()
        if value is not kernel and name in _names_in(kernel)
    }
    module = ast.fix_missing_locations(ast.Module([tree], type_ignores=[]))
    exec(compile(module, file, "exec"), names)
    function = names[kernel.name]
    assert isinstance(function, FunctionType)
    return unrolled(function) if kernel.is_unrolled else function


def _names_in(kernel: Kernel) -> set[str]:
    return {node.id for node in ast.walk(kernel.tree) if isinstance(node, ast.Name)}


def _value(value: Any, file: str) -> Any:
    """What a name stands for, to Numba: a function of the text becomes a device function."""
    if isinstance(value, Reference):
        return _named(value.path)
    if not isinstance(value, Kernel):
        return value
    from numba import cuda

    return cuda.jit(device=True)(_function(value, file))


def _named(path: str) -> Any:
    """The module or function of this dotted name."""
    home = next((name for name in MODULES if f"{path}.".startswith(f"{name}.")), None)
    if home is None:
        raise NotCounted(f"{path} can't be passed to the compiler; only {', '.join(MODULES)} can.")
    parts = path.removeprefix(home).strip(".").split(".")
    found = importlib.import_module(home)
    if home == "numba":
        importlib.import_module("numba.cuda")
    return functools.reduce(getattr, filter(None, parts), found)
