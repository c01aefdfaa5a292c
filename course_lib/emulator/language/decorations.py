"""What a decorator says that Numba does not take: options that it has not, types by wrong names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from course_lib.emulator.errors import rejection
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import Reference
from course_lib.emulator.language.near_names import did_you_mean
from course_lib.emulator.language.types import DTYPES
from course_lib.sentences import say

# Of any version of numba-cuda; one that a version lacks is no slip of the student's.
OPTIONS = frozenset(
    """boundscheck cache chip debug device extensions fastmath forceinline func_or_sig inline
    launch_bounds lineinfo link lto max_registers opt shared_memory_carveout signature
    target""".split()
)


def refuse_decoration(kernel: Kernel) -> None:
    """Refuse a decorator with which Numba would compile nothing.

    Raises:
        KernelRejected: with `compile-error`, at the decorator.
    """
    decorators = list(getattr(kernel.tree, "decorator_list", ()))
    for call in (*decorators, *([kernel.jit_call] if kernel.jit_call else [])):
        if not isinstance(call, ast.Call) or not _is_cuda_jit(call, kernel):
            continue
        for option in call.keywords:
            if option.arg and option.arg not in OPTIONS:
                message = say("@cuda.jit has no option {name}.", name=option.arg)
                raise rejection("compile-error", message, call, did_you_mean(option.arg, OPTIONS))
        for name in _types_named(call):
            meant = did_you_mean(name, DTYPES)
            if meant:
                message = say("In this signature, {name} is no type.", name=name)
                raise rejection("compile-error", message, call, meant)


def _is_cuda_jit(call: ast.Call, kernel: Kernel) -> bool:
    try:
        result: bool = evaluate_constant(call.func, kernel.namespace) == Reference("numba.cuda.jit")
        return result
    except NotConstant:
        return False


def _types_named(call: ast.Call) -> Iterator[str]:
    """The names in signatures that are written as texts, but for those of known types."""
    first = call.args[0] if call.args else None
    for text in first.elts if isinstance(first, ast.List) else [first]:
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            try:
                tree = ast.parse(text.value, mode="eval")
            except SyntaxError:
                continue
            names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            yield from (name for name in names if name not in DTYPES)
