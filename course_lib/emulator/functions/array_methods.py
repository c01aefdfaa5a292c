"""Methods of whole arrays that Numba has in kernels: `a.sum()`, `a.fill(0)`, `np.mean(a)` …

Each is a loop that every thread runs by itself, as in Numba, and it is written here in the kernel
language: so it is typed, counted and checked for races and bounds like any other loop. Its lines
are those of the call.
"""

from __future__ import annotations

import ast
import textwrap

import numpy as np

from course_lib.emulator.functions.intrinsics import Intrinsic, Typed
from course_lib.emulator.language import types as T
from course_lib.emulator.state.fields import seen_as

# `items` is the array itself, or `.flat` of one with several axes; `start` a sum of nothing.
_TEXTS = {
    "sum": """
        def sum(items, start):
            total = start
            for item in items:
                total += item
            return total
    """,
    "prod": """
        def prod(items, start):
            total = start
            for item in items:
                total *= item
            return total
    """,
    "mean": """
        def mean(items, start):
            total = start
            for item in items:
                total += item
            return total / len(items)
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
    "std": """
        def std(items, start):
            total = start
            for item in items:
                total += item
            mean = total / len(items)
            squares = 0.0
            for item in items:
                apart = abs(item - mean)
                squares += apart * apart
            return (squares / len(items)) ** 0.5
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
_TEXTS["argmin"] = (
    _TEXTS["argmax"].replace("argmax", "argmin").replace("item > best", "item < best")
)
_TEXTS["min"] = _TEXTS["max"].replace("max", "min").replace("item > best", "item < best")
METHODS = frozenset(_TEXTS) - {"min", "max"}
# Functions of NumPy and Python that do the same; of Python's, for arrays with one axis.
FUNCTIONS = {f"numpy.{name}": name for name in METHODS - {"fill", "item"}} | {
    "builtins.sum": "sum",
    "builtins.min": "min",
    "builtins.max": "max",
}


def written_out(name: str, line: int) -> ast.FunctionDef:
    """The function that does what a method does, as if it stood in one line of the kernel."""
    return function_in_one_line(textwrap.dedent(_TEXTS[name]), line)


def function_in_one_line(text: str, line: int) -> ast.FunctionDef:
    """The function that a text of ours defines, as if all of it stood in one line."""
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
        kind = T.FLOAT64 if name in ("mean", "var", "std") else T.negation_type(dtype)
    else:
        kind = dtype
    return kind.type(1 if name == "prod" else 0)


def view_as(dtype: np.dtype, is_array: bool) -> Intrinsic:
    """`.view(dtype)` of an array, or of a number; whoever types the call knows the type."""
    if is_array:
        return Intrinsic(_typed_before, lambda machine, node, values: seen_as(values[0], dtype))
    return Intrinsic(_typed_before, lambda machine, node, values: values[0].view(dtype))


def _typed_before(*_: object) -> Typed:
    raise AssertionError("a method is typed where it is called")
