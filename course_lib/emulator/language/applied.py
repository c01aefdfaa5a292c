"""Writes the kernel around a function that is applied to elements, as Numba does for a ufunc.

The kernel has the function's name and stands at its line, so that whatever is found in it is found
there, and counts are shown in the function's own text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from course_lib.emulator.language.frozen import frozen
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.parse import kernel_from, load_program

CORE = "applied"  # what the function is called in the kernel's text
Declared = tuple[Sequence[Any], Any]  # types of arguments and of the result, as Numba has them


def device_function(function: object, declared: Declared | None = None) -> Kernel:
    """A plain function as one of the device, with what names outside it stand for now.

    Raises:
        KernelRejected: if its text cannot be found.
    """
    signatures = [] if declared is None else [declared]
    kernel = replace(kernel_from(function), is_decorated=True, is_device=True, declared=signatures)
    return frozen(kernel)


def applied(core: Kernel, text: str, names: Mapping[str, Any]) -> Kernel:
    """The kernel in a text which calls `core`, under the name CORE; `names` are constants of it."""
    kernel = load_program(text, {CORE: core, **names}).kernel("kernel")
    for node in ast.walk(kernel.tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = core.tree.lineno  # type: ignore[attr-defined]
    kernel = replace(kernel, name=core.name, source=core.source, first_line=core.first_line)
    object.__setattr__(kernel, "compiled", {})
    return kernel
