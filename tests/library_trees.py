"""The library's modules as syntax trees: parsed once for all tests that read the source."""

import ast
from functools import cache
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1] / "course_lib"


@cache
def trees() -> dict[Path, ast.Module]:
    """Every module of the library, in the order of its paths."""
    return {path: tree_of(path) for path in sorted(LIBRARY.rglob("*.py"))}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))
