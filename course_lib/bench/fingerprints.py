"""Which version of a kernel was measured: a number of its code alone, without words and layout.

A comment, a docstring or a line break may change, and the measurement still holds. Anything that
could change the machine code changes the fingerprint.
"""

from __future__ import annotations

import ast
import hashlib
import re
from typing import Any

LENGTH = 12  # hexadecimal digits
# What differs between versions of Python and says nothing about the code.
_OF_NO_MEANING = ("ctx", "kind", "type_comment")


def of_python(text: str) -> str:
    """The fingerprint of a Python file."""
    return _digest(repr(_skeleton(ast.parse(text))))


def of_cuda_c(text: str) -> str:
    """The fingerprint of a CUDA C++ file without string literals that hold comment marks."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    # A #pragma ends with its line; everywhere else a line break is a space.
    lines = [" ".join(line.split()) for line in code.splitlines()]
    kept = [f"\n{line}\n" if line.startswith("#") else f" {line} " for line in lines if line]
    return _digest(re.sub(r"[ ]+", " ", "".join(kept)))


def _skeleton(node: Any) -> Any:
    """A syntax tree as tuples, the same in every version of Python, without its docstrings."""
    if isinstance(node, list):
        return [_skeleton(child) for child in node if not _is_docstring(child)]
    if not isinstance(node, ast.AST):
        return node
    fields = [
        (name, _skeleton(value))
        for name, value in ast.iter_fields(node)
        if value is not None and value != [] and name not in _OF_NO_MEANING
    ]
    return type(node).__name__, fields


def _is_docstring(node: Any) -> bool:
    """A string that stands alone does nothing, at the top of a block or elsewhere."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
