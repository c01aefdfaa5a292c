"""Compiles the course before it is imported, so that this can be kept with Python's memory.

A tab keeps Python's memory as it is before NumPy comes, and starts from it the next time. What is
imported without NumPy is therefore imported here, and the rest is compiled.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import sys
from collections.abc import Iterable
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

_codes: dict[str, CodeType] = {}  # path -> what is compiled


class _Compiled(SourceFileLoader):
    """Loads a module from what is compiled already."""

    def get_code(self, fullname: str) -> CodeType | None:
        return _codes.get(self.path) or super().get_code(fullname)


def compile_all(folder: str) -> None:
    """Compile every module below a folder, and import what they need of the standard library."""
    for path in sorted(Path(folder).rglob("*.py")):
        tree = ast.parse(path.read_bytes(), str(path))
        _codes[str(path)] = compile(tree, str(path), "exec", dont_inherit=True)
        for node in tree.body:
            if isinstance(node, ast.Import):
                _import_standard(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                _import_standard([node.module])

    def finder(path: str) -> FileFinder:
        if not path.startswith(folder):
            raise ImportError(path)
        return FileFinder(path, (_Compiled, [".py"]))

    sys.path_hooks.insert(0, finder)
    sys.path_importer_cache.clear()


def _import_standard(names: Iterable[str]) -> None:
    for name in names:
        if name.split(".")[0] in sys.stdlib_module_names:
            with contextlib.suppress(ImportError):  # a browser lacks some
                importlib.import_module(name)
