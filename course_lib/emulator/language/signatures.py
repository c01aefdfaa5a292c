"""Reads the signature that a device function was declared with: `@cuda.jit("int64(int64)", …)`.

A declared device function casts what it is called with, and what it returns, to these types.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.names import Reference
from course_lib.sentences import say

# The short names that Numba has for its types in a signature.
_SHORT = {
    **{f"{kind}{size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{size}": np.dtype(f"f{size}") for size in (2, 4, 8)},
    "b1": T.BOOL,
}
_NOTHING = ("void", "none")


@dataclass(frozen=True)
class Signature:
    """Declared types. None stands for an array, which is not cast, or for no declared result."""

    arguments: tuple[np.dtype | None, ...]
    result: np.dtype | None = None

    def cast(self, kinds: Sequence[T.Type]) -> tuple[T.Type, ...]:
        """The types of the parameters when the function is called with arguments of these.

        Raises:
            TypingError: if that cannot be.
        """
        if len(kinds) != len(self.arguments):
            raise T.TypingError(
                say("is declared with {arguments} argument(s)", arguments=len(self.arguments))
            )
        for kind, declared in zip(kinds, self.arguments, strict=True):
            if T.is_scalar(kind) != (declared is not None):
                wanted = "an array" if declared is None else declared
                raise T.TypingError(
                    say(
                        "is declared with {wanted} where it is given {kind}",
                        wanted=wanted,
                        kind=kind,
                    )
                )
        return tuple(each or kind for each, kind in zip(self.arguments, kinds, strict=True))


def declared_signatures(
    decorators: Sequence[ast.expr], names: Mapping[str, Any]
) -> list[Signature]:
    """The signatures in the decorator `cuda.jit`; none if it has none.

    Raises:
        KernelRejected: with `unsupported`, for a signature that cannot be read here.
    """
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and decorator.args and _is_cuda_jit(decorator, names):
            first = decorator.args[0]
            several = first.elts if isinstance(first, ast.List) else [first]
            return [_signature(each, names) for each in several]
    return []


def _is_cuda_jit(decorator: ast.Call, names: Mapping[str, Any]) -> bool:
    try:
        result: bool = evaluate_constant(decorator.func, names) == Reference("numba.cuda.jit")
        return result
    except NotConstant:
        return False


def _signature(node: ast.expr, names: Mapping[str, Any]) -> Signature:
    in_text = False
    spelled = node
    try:
        if isinstance(node, ast.Constant | ast.Name):
            text = evaluate_constant(node, names)
            spelled, in_text = ast.parse(str(text), mode="eval").body, True
    except (NotConstant, SyntaxError):
        raise _unreadable(node) from None

    def kind(each: ast.expr) -> np.dtype | None:
        return _type(each, {} if in_text else names, node)

    if isinstance(spelled, ast.Call):
        return Signature(tuple(map(kind, spelled.args)), kind(spelled.func))
    if isinstance(spelled, ast.Tuple):
        return Signature(tuple(map(kind, spelled.elts)))
    return Signature((kind(spelled),))


def _type(spelled: ast.expr, names: Mapping[str, Any], node: ast.expr) -> np.dtype | None:
    if isinstance(spelled, ast.Subscript):
        return None  # an array
    if isinstance(spelled, ast.Name) and not names:
        found = T.DTYPES.get(spelled.id, _SHORT.get(spelled.id))
        name = spelled.id
    else:
        try:
            value = evaluate_constant(spelled, names)
        except NotConstant:
            raise _unreadable(node) from None
        found = value.dtype if isinstance(value, Reference) else None
        name = str(value).rpartition(".")[2]
    if found is None and name not in _NOTHING:
        raise _unreadable(node)
    return found


def _unreadable(node: ast.expr) -> Exception:
    return rejection(
        "unsupported",
        "The emulator cannot read this signature: it knows those of numbers and arrays.",
        node,
        "Without a signature Numba works out the types by itself.",
    )
