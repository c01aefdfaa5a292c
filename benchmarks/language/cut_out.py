"""Find the kernels in a file of a public project, and cut one out with what it needs.

No module of the project is imported: a kernel, the functions it calls and the constants it names
are taken out of the syntax tree, from its own file and from the project's other files that it
imports names from. Whatever else the file wants (CuPy, PyTorch, a GPU) is left behind.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

# Decorators that make a kernel: Numba's, and those that projects have written around it.
DECORATORS = re.compile(r"(?:\w+\.)*cuda\.jit\b|nb_cuda\.jit\b|compile_cupy\b")
PACKAGES = ("numba", "numpy", "math", "cmath", "operator", "enum", "collections", "typing")
Function = ast.FunctionDef


@dataclass(frozen=True)
class Found:
    """One kernel: its place, the hash of its text, and the names it takes from around it."""

    file: str
    kernel: str
    sha: str
    closes_over: tuple[str, ...]


def is_kernel(function: ast.AST) -> bool:
    """Whether a function is decorated as a kernel, and returns nothing."""
    if not isinstance(function, Function):
        return False
    texts = [ast.unparse(each) for each in function.decorator_list]
    if not any(DECORATORS.match(text) and "device=True" not in text for text in texts):
        return False
    returns = (each for each in own_nodes(function) if isinstance(each, ast.Return))
    return not any(each.value for each in returns)


def own_nodes(function: ast.AST) -> list[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    found: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, Function | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def names_of(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def bound_in(function: ast.AST) -> set[str]:
    """The names that a function binds: parameters, targets, imports, functions."""
    found: set[str] = set()
    if isinstance(function, Function):
        found.update(each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg))
    for node in own_nodes(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(each.asname or each.name.split(".")[0] for each in node.names)
    return found


def found_in(text: str, file: str) -> list[Found]:
    """The kernels of a file, in the order of the text."""
    found: list[tuple[int, Found]] = []

    def visit(node: ast.AST, path: tuple[str, ...], around: frozenset[str]) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, Function | ast.ClassDef):
                visit(child, path, around)
                continue
            if is_kernel(child):
                source = ast.get_source_segment(text, child) or ""
                sha = hashlib.sha256(source.encode()).hexdigest()[:12]
                free = (names_of(child) - bound_in(child)) & around
                name = ".".join([*path, child.name])
                found.append((child.lineno, Found(file, name, sha, tuple(sorted(free)))))
            inside = around | bound_in(child) if isinstance(child, Function) else around
            visit(child, (*path, child.name), frozenset(inside))

    visit(ast.parse(text), (), frozenset())
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]
