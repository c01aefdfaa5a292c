"""Functions for arrays in a kernel: `cuda.shared.array`, `cuda.local.array`, and array methods."""

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    supported,
)
from course_lib.emulator.language.names import Reference
from course_lib.emulator.language.operators import negation_type
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.indices import seen_as, seen_wider_or_narrower
from course_lib.emulator.state.memory import ArrayView, MadeArray, contiguous_strides
from course_lib.wording.sentences import say


def _array_typing(arguments: Arguments, keywords: Keywords) -> Typed:
    shape = arguments[0] if arguments else keywords.get("shape")
    dtype = arguments[1] if len(arguments) > 1 else keywords.get("dtype")
    need(shape is not None and dtype is not None, "needs a shape and a dtype")
    need(len(arguments) <= 3, "takes a shape, a dtype and an alignment")
    need(set(keywords) <= {"shape", "dtype", "alignment"}, "takes shape, dtype and alignment")
    _check_alignment(arguments[2] if len(arguments) > 2 else keywords.get("alignment"))
    assert shape is not None and dtype is not None
    if shape.literal is None:
        raise T.LiteralNeeded(
            "needs a shape that is constant when the kernel is compiled (a number, or the "
            "name of a constant; neither an argument nor an expression)"
        )
    kind = T.ArrayType(static_dtype(dtype.type), _axes(shape.literal))
    return Typed(kind, shape.literal)


def _check_alignment(alignment: Typed | None) -> None:
    """Refuse an alignment that Numba refuses."""
    if alignment is None or alignment.type == T.Static(None):
        return
    size = alignment.literal
    need(isinstance(size, int), "needs a constant integer as its alignment")
    assert isinstance(size, int)
    power_of_two = size > 0 and size & (size - 1) == 0
    need(power_of_two and size % 8 == 0, "needs an alignment of 8, 16, 32 or another power of two")


def _axes(shape: object) -> int:
    sizes = shape if isinstance(shape, tuple) else (shape,)
    need(all(type(size) is int for size in sizes), "needs a shape of whole numbers")
    supported(
        min(sizes, default=0) >= 0,
        "cannot make an array of negative size here",
        "Which size do you mean?",
    )
    return len(sizes)


def static_dtype(kind: T.Type) -> np.dtype:
    """The dtype that an argument names: float32, np.float32, "float32" or A.dtype.

    Raises TypingError if it names none.
    """
    value = kind.value if isinstance(kind, T.Static) else None
    if isinstance(value, Reference) and value.dtype is not None:
        return value.dtype
    if isinstance(value, np.dtype):
        known = T.is_number_type(value) or T.is_record_type(value)
        need(known, say("needs a numeric type, not {kind}", kind=value))
        return value
    if isinstance(value, str) and value in T.DTYPES:
        return T.DTYPES[value]
    raise T.TypingError(say("needs a dtype such as float32 or np.float32, not {kind}", kind=kind))


def _make_array(space: str) -> Intrinsic:
    """An array; a shared one is the same at every execution of the call."""

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        typed = _array_typing(arguments, keywords)
        sizes = typed.literal if isinstance(typed.literal, tuple) else (typed.literal,)
        need(space == "shared" or 0 not in sizes, "needs at least one element")
        return typed

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> ArrayView:
        kind = machine.typing.types[node]
        assert isinstance(kind, T.ArrayType)
        shape = machine.typing.layouts[node]
        name = _target_name(machine.statement, node) or f"{space} array"
        aligned = max(_alignment(machine, node), kind.dtype.itemsize)
        made = MadeArray(node, name, shape, kind.dtype, node.lineno, aligned)
        if space == "local":
            return machine.memory.make_local(made)
        if shape == (0,):
            return machine.memory.dynamic_shared(made, machine.dynamic_shared_bytes)
        return machine.memory.make_shared(made)

    return Intrinsic(typing, run)


def _target_name(statement: ast.stmt | None, made: ast.Call) -> str | None:
    """The name that the running statement gives an array, also as one of several."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name), *_]):
            return name
        case ast.Assign(targets=[ast.Tuple(elts=names), *_], value=ast.Tuple(elts=values)):
            named = zip(names, values, strict=False)
            return next((ast.unparse(name) for name, value in named if value is made), None)
    return None


def _alignment(machine: Machine, node: ast.Call) -> int:
    """The alignment that the call asks for, in bytes; 1 if it asks for none."""
    by_name = [keyword.value for keyword in node.keywords if keyword.arg == "alignment"]
    given = [machine.evaluate(argument) for argument in node.args[2:] or by_name]
    return 1 if not given or given[0] is None else int(given[0])


INTRINSICS["numba.cuda.shared.array"] = _make_array("shared")
INTRINSICS["numba.cuda.local.array"] = _make_array("local")


# --- Methods of whole arrays: `a.sum()`, `a.fill(0)`, `np.mean(a)` and others ---------------------
# Each is a loop that every thread runs by itself, as in Numba, and it is written here in the
# kernel language: so it is typed, counted and checked for races and bounds like any other loop.
# Its lines are those of the call.


# `items` is the array itself, or `.flat` of one with several axes; `start` a sum of nothing.
_TEXTS = {
    "sum": """
        def sum(items, start):
            total = start
            for item in items:
                total += item
            return total
    """,
    "var": """
        def var(items, start):
            total = start
            for item in items:
                total += item
            mean = total / len(items)
            squares = 0.0
            for item in items:
                apart = abs(item - mean)
                squares += apart * apart
            return squares / len(items)
    """,
    "any": """
        def any(items, start):
            for item in items:
                if item:
                    return True
            return False
    """,
    "all": """
        def all(items, start):
            for item in items:
                if not item:
                    return False
            return True
    """,
    "argmax": """
        def argmax(items, start):
            best = items[0]
            place = 0
            if best == best:
                for i in range(1, len(items)):
                    item = items[i]
                    if item != item:
                        return i
                    if item > best:
                        best = item
                        place = i
            return place
    """,
    "item": """
        def item(items, start):
            if len(items) != 1:
                raise ValueError("only an array with one element is one number")
            return items[0]
    """,
    "fill": """
        def fill(items, value):
            for i in range(len(items)):
                items[i] = value
    """,
    "max": """
        def max(items, start):
            best = items[0]
            for item in items:
                best = item if item > best else best
            return best
    """,
}
# Those that differ from another one in its name and in a single place.
for _name, _like, _there, _here in (
    ("prod", "sum", "+= item", "*= item"),
    ("mean", "sum", "return total", "return total / len(items)"),
    ("std", "var", "squares / len(items)", "(squares / len(items)) ** 0.5"),
    ("min", "max", "item > best", "item < best"),
    ("argmin", "argmax", "item > best", "item < best"),
):
    _TEXTS[_name] = _TEXTS[_like].replace(f"def {_like}", f"def {_name}").replace(_there, _here)
METHODS = frozenset(_TEXTS) - {"min", "max"}
# Functions of NumPy and Python that do the same; of Python's, for arrays with one axis.
FUNCTIONS = {f"numpy.{name}": name for name in METHODS - {"fill", "item"}} | {
    "builtins.sum": "sum",
    "builtins.min": "min",
    "builtins.max": "max",
}


def written_out(name: str, line: int) -> ast.FunctionDef:
    """The function that does what a method does, as if written in one line of the kernel."""
    return function_in_one_line(textwrap.dedent(_TEXTS[name]), line)


def function_in_one_line(text: str, line: int) -> ast.FunctionDef:
    """The function that a text of ours defines, as if all of it were written in one line."""
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
    return tree


def start_of(name: str, dtype: np.dtype, is_python: bool) -> object:
    """What a method begins with: 0 or 1 of the type in which Numba adds and multiplies.

    A mean of integers is added up as floats; Python's `sum` begins with the integer 0.
    """
    if is_python:
        return 0
    if dtype.kind in "iub":
        kind = T.FLOAT64 if name in ("mean", "var", "std") else negation_type(dtype)
    else:
        kind = dtype
    return kind.type(1 if name == "prod" else 0)


def view_as(dtype: np.dtype, is_array: bool) -> Intrinsic:
    """`.view(dtype)` of an array, or of a number; whoever types the call knows the type."""
    if is_array:
        return Intrinsic(
            _typed_before, lambda machine, node, values: _view(values[0], dtype, machine, node)
        )
    return Intrinsic(_typed_before, lambda machine, node, values: values[0].view(dtype))


def _view(array: ArrayView, dtype: np.dtype, machine: Machine, node: ast.Call) -> ArrayView:
    now, wanted = array.allocation.dtype.itemsize, dtype.itemsize
    if now == wanted:
        return seen_as(array, dtype)
    whole = array.allocation
    if whole.space != "global" or whole.written_in is not None or whole.within is not None:
        message = "The emulator cannot view {now} as {wanted} here."
        hint = (
            "It can do so in arrays that are passed in. Elsewhere, it can do so only between "
            "types of the same size."
        )
        raise rejection("unsupported", message, node, hint, now=whole.dtype, wanted=dtype)
    if wanted > now:
        no_whole_one = array.shape[-1] * np.int64(now) % np.int64(wanted) != 0
        said = say("ValueError (bytes that make no whole number of {dtype})", dtype=dtype)
        _end(machine, no_whole_one, said, node)
        misaligned = array.offset * np.int64(now) % np.int64(wanted) != 0
        _end(machine, misaligned, say("a misaligned address (of {dtype})", dtype=dtype), node)
    return seen_wider_or_narrower(array, dtype)


def _reshaped(
    array: ArrayView, lengths: Sequence[Any], machine: Machine, node: ast.Call
) -> ArrayView:
    """A contiguous array under another shape; a length of -1 follows from the other lengths.

    Lanes end for which there is none, as in Numba.
    """
    shape = list(lengths[0]) if isinstance(lengths[0], tuple) else list(lengths)
    shape = [machine.convert(length, T.INT64) for length in shape]
    open_axes = [length < 0 for length in shape]
    several = sum((axis.astype(np.int64) for axis in open_axes), np.int64(0)) > 1
    given: Any = np.int64(1)
    for length, is_open in zip(shape, open_axes, strict=True):
        given = given * np.where(is_open, np.int64(1), length)
    rest = array.size // np.maximum(given, 1)
    shape = [np.where(is_open, rest, n)[()] for n, is_open in zip(shape, open_axes, strict=True)]
    size: Any = np.int64(1)
    for length in shape:
        size = size * length
    said = "ValueError (the new shape has another number of elements)"
    _end(machine, several | (size != array.size), said, node)
    if any(np.ndim(length) and np.min(length) != np.max(length) for length in shape[1:]):
        message = "The threads of this launch give an array different shapes."
        raise rejection("unsupported", message, node, "Index the array as it is.")
    inner = [int(np.max(length)) for length in shape[1:]]
    within = array.allocation.dtype.itemsize // array.allocation.spacing
    strides = tuple(step * within for step in contiguous_strides((1, *inner)))
    return replace(array, shape=tuple(shape), strides=strides[: len(shape)])


def _end(machine: Machine, wrong: Any, what: str, node: ast.Call) -> None:
    """The active lanes for which it is `wrong` raise an exception, which ends them."""
    failed = machine.active.where(wrong)
    if not failed.empty:
        machine.observers.raised(what, failed, node.lineno)
        machine.end(failed)


def _typed_before(*_: object) -> Typed:
    raise AssertionError("a method is typed where it is called")


RESHAPE = Intrinsic(
    _typed_before, lambda machine, node, values: _reshaped(values[0], values[1:], machine, node)
)
