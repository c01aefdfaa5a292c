"""Packs the part of the course that a browser tab needs into one file, always the same bytes.

`python -m course_lib.tab.bundle course.tar.gz` does it by hand. It is a tar and no zip: hundreds of
small modules, much like each other, are a quarter smaller when they are compressed together.

What is needed is found by following the imports at the top of each module; a module that is
imported later, inside a function, is packed where it stands in `LATER`, and is none of a tab's
business where it does not.
"""

from __future__ import annotations

import ast
import gzip
import io
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1]
NAME = "course.tar.gz"
FIRST = ("course_lib.tab.compiled", "course_lib.tab.requests")
# Imported when they are needed, or found by looking into their package.
LATER = (
    "course_lib.exercises",
    "course_lib.tasks",
    "course_lib.tab.checks",
    "course_lib.tab.play",
)
PACKAGES = ("course_lib.exercises", "course_lib.tasks")
DATA = (".css", ".js", ".json")


def write(target: Path) -> int:
    """Write the file; returns its size in bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as packed:
        for path in files():
            # A checkout on Windows may end its lines in another way.
            content = path.read_bytes().replace(b"\r\n", b"\n")
            if path.suffix == ".py":
                content = without_docstrings(content)
            entry = tarfile.TarInfo(path.relative_to(LIBRARY.parent).as_posix())
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return target.write_bytes(gzip.compress(plain.getvalue(), mtime=0))


def without_docstrings(text: bytes) -> bytes:
    """A module without what only its readers need; every statement keeps its line."""
    lines = text.split(b"\n")
    for node in _blocks(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            docstring = node.body[0]
            first, last = docstring.lineno - 1, (docstring.end_lineno or 0) - 1
            before, after = (
                lines[first][: docstring.col_offset],
                lines[last][docstring.end_col_offset :],
            )
            lines[first : last + 1] = [before + b'""' + after, *[b""] * (last - first)]
    return b"\n".join(lines)


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """A node and the statements in it; expressions, most of a tree, hold none."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _blocks(child)


def files() -> list[Path]:
    """The modules that a tab needs, and the data beside them, in an order that is always the same.

    Data lies beside the module that reads it: what a packed package holds is packed with it.
    """
    modules = _needed()
    packages = {path.parent for path in modules if path.name == "__init__.py"} - {LIBRARY}
    data = {
        path
        for package in packages
        for path in package.iterdir()
        if path.suffix in DATA and path.is_file()
    }
    return sorted(modules | data, key=lambda path: path.relative_to(LIBRARY).as_posix())


def _needed() -> set[Path]:
    waiting, found = [*FIRST, *LATER], set()
    for package in PACKAGES:
        folder = _path(package)
        assert folder is not None
        waiting += [f"{package}.{path.stem}" for path in folder.parent.glob("*.py")]
    while waiting:
        path = _path(waiting.pop())
        if path is not None and path not in found:
            found.add(path)
            waiting += _imported(path)
    return found


def _path(module: str) -> Path | None:
    """The file of a module of ours; None if the name stands for something else."""
    first, *rest = module.split(".")
    if first != LIBRARY.name:
        return None
    place = LIBRARY.joinpath(*rest)
    candidates = (place / "__init__.py", place.with_suffix(".py"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _imported(path: Path) -> Iterator[str]:
    """What a file imports whenever it is imported itself, each package above it included."""
    for node in _at_the_top(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _at_the_top(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports outside functions, but for those that only types need."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, (ast.If, ast.Try)):
            waiting += ast.iter_child_nodes(node)


if __name__ == "__main__":
    [name] = sys.argv[1:] or [NAME]
    print(f"{name}: {write(Path(name)):,} bytes")
