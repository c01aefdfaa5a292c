"""Signatures that a function was declared with, `@cuda.jit("int64(int64)", …)`, and bad options.

A declared device function casts what it is called with, and what it returns, to these types; the
numbers of a declared kernel's launch are converted to them (see `arguments.as_declared`).
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import Reference, did_you_mean
from course_lib.emulator.language.types import DTYPES
from course_lib.wording.sentences import say

# The short names that Numba has for its types in a signature.
_SHORT = {
    **{f"{kind}{size}": np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{size}": np.dtype(f"f{size}") for size in (2, 4, 8)},
    **{f"c{size}": np.dtype(f"c{size}") for size in (8, 16)},
    "b1": T.BOOL,
}
_NOTHING = ("void", "none", "None")

Declared = np.dtype | T.ArrayType | None  # None is a type that is not read here


@dataclass(frozen=True)
class Signature:
    """Declared types. The result is None where none is declared, or no number is returned."""

    arguments: tuple[Declared, ...]
    result: np.dtype | None = None

    def cast(self, kinds: Sequence[T.Type]) -> tuple[T.Type, ...]:
        """The types of the parameters when the function is called with arguments of these.

        Raises TypingError if that cannot be.
        """
        if len(kinds) != len(self.arguments):
            raise T.TypingError(
                say("is declared with {arguments} argument(s)", arguments=len(self.arguments))
            )
        pairs = zip(kinds, self.arguments, strict=True)
        return tuple(_cast(kind, declared) for kind, declared in pairs)


def _cast(kind: T.Type, declared: Declared) -> T.Type:
    if declared is None:
        if T.is_scalar(kind):
            raise T.NotEmulated(
                "has a signature that the emulator cannot read",
                "Without a signature Numba works out the types by itself.",
            )
        return kind
    if isinstance(declared, T.ArrayType):
        fits = isinstance(kind, T.ArrayType) and declared.takes(kind)
    else:
        fits = T.is_scalar(kind)
    if not fits:
        said = say("is declared with {wanted} where it is given {kind}", wanted=declared, kind=kind)
        raise T.TypingError(said)
    return kind if isinstance(declared, T.ArrayType) else declared


def declared_signatures(kernel: Kernel) -> list[Signature]:
    """The signatures that a function was declared with; none if it has none.

    Raises KernelRejected with `unsupported`, for a signature that cannot be read here.
    """
    if kernel.declared is not None:
        return [
            Signature(tuple(map(_of_numba, kinds)), _result(_of_numba(kind), str(kind), None))
            for kinds, kind in kernel.declared
        ]
    for call in _jit_calls(kernel):
        if call.args:
            several = call.args[0].elts if isinstance(call.args[0], ast.List) else call.args[:1]
            return [_signature(declaration, kernel.namespace) for declaration in several]
    return []


def _jit_calls(kernel: Kernel) -> Iterator[ast.Call]:
    """Each `cuda.jit(…)` that decorates a function, or to which it was handed."""
    decorators = getattr(kernel.tree, "decorator_list", ())
    for call in (*decorators, *([kernel.jit_call] if kernel.jit_call else [])):
        with suppress(NotConstant):
            if isinstance(call, ast.Call):
                if evaluate_constant(call.func, kernel.namespace) == Reference("numba.cuda.jit"):
                    yield call


def _signature(node: ast.expr, names: Mapping[str, Any]) -> Signature:
    spelled, known = node, names
    try:
        if isinstance(node, ast.Constant | ast.Name):
            text = evaluate_constant(node, names)
            if not isinstance(text, str):
                raise _unreadable(node)
            spelled, known = ast.parse(text, mode="eval").body, {}
    except (NotConstant, SyntaxError):
        raise _unreadable(node) from None

    def kind(expression: ast.expr) -> Declared:
        return _type(expression, known)

    if isinstance(spelled, ast.Call):
        result = _result(kind(spelled.func), ast.unparse(spelled.func), node)
        return Signature(tuple(map(kind, spelled.args)), result)
    if isinstance(spelled, ast.Tuple):
        return Signature(tuple(map(kind, spelled.elts)))
    return Signature((kind(spelled),))


def _type(spelled: ast.expr, names: Mapping[str, Any]) -> Declared:
    if isinstance(spelled, ast.Subscript):
        axes = spelled.slice.elts if isinstance(spelled.slice, ast.Tuple) else [spelled.slice]
        element = _type(spelled.value, names)
        whole = all(isinstance(axis, ast.Slice) for axis in axes)
        if not whole or not isinstance(element, np.dtype):
            return None
        dense = [getattr(axis, "step", None) is not None for axis in axes]
        layout = "C" if dense[-1] else "F" if dense[0] else "A"
        return T.ArrayType(element, len(axes), layout=layout)
    if isinstance(spelled, ast.Name) and not names:
        return T.DTYPES.get(spelled.id, _SHORT.get(spelled.id))
    try:
        value = evaluate_constant(spelled, names)
    except NotConstant:
        return None
    return value.dtype if isinstance(value, Reference) else None


def _result(kind: Declared, name: str, node: ast.expr | None) -> np.dtype | None:
    """What a function is declared to return, if that is a number."""
    if kind is None and name.rpartition(".")[2] not in _NOTHING:
        raise _unreadable(node)
    return kind if isinstance(kind, np.dtype) else None


def types_of_numba(kinds: Sequence[Any]) -> list[T.Type]:
    """Numba's own types as those of the emulator.

    Raises KernelRejected if one of them is not supported here.
    """
    read = [_of_numba(kind) for kind in kinds]
    if None in read:
        raise _unreadable(None)
    return [kind for kind in read if kind is not None]


def _of_numba(kind: Any) -> Declared:
    """A type of Numba's own, such as `numba.float32[:]`, which prints as its name."""
    if hasattr(kind, "ndim") and hasattr(kind, "layout"):
        element = _of_numba(kind.dtype)
        if not isinstance(element, np.dtype):
            return None
        return T.ArrayType(element, kind.ndim, layout=kind.layout)
    return T.DTYPES.get(str(kind))


def _unreadable(node: ast.expr | None) -> KernelRejected:
    message = (
        "The emulator cannot read this signature. It supports only signatures of numbers and "
        "arrays."
    )
    hint = "Without a signature Numba works out the types by itself."
    return rejection("unsupported", message, node, hint)


# --- Options and types that a decorator of Numba does not take ------------------------------------


# Of any version of numba-cuda; one that a version lacks is no slip of the student's.
OPTIONS = frozenset(
    """boundscheck cache chip debug device extensions fastmath forceinline func_or_sig inline
    launch_bounds lineinfo link lto max_registers opt shared_memory_carveout signature
    target""".split()
)


def refuse_decoration(kernel: Kernel) -> None:
    """Refuse a decorator with which Numba would not compile the function.

    Raises KernelRejected with `compile-error`, at the decorator.
    """
    for call in _jit_calls(kernel):
        for option in call.keywords:
            if option.arg and option.arg not in OPTIONS:
                message = say("@cuda.jit has no option {name}.", name=option.arg)
                raise rejection("compile-error", message, call, did_you_mean(option.arg, OPTIONS))
        for name in _types_named(call):
            meant = did_you_mean(name, DTYPES)
            if meant:
                message = say("In this signature, {name} is not a type.", name=name)
                raise rejection("compile-error", message, call, meant)


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
