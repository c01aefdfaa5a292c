"""Line numbers that know their file, since a kernel may call functions of several files."""

from __future__ import annotations

import ast


class LineOfFile(int):
    """A line's number; `file` is what Python calls its file.

    It differs from the same number of another file, and is equal to one that knows no file.
    """

    file: str

    def __new__(cls, number: int, file: str) -> LineOfFile:
        line = super().__new__(cls, number)
        line.file = file
        return line

    def __eq__(self, other: object) -> bool:
        return int(self) == other and self.file == getattr(other, "file", self.file)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __reduce__(self) -> tuple[type[LineOfFile], tuple[int, str]]:
        return LineOfFile, (int(self), self.file)


def note_file(tree: ast.AST, file: str) -> None:
    """Let all nodes of a function know where they stand."""
    lines: dict[int, LineOfFile] = {}
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            number = int(node.lineno)
            node.lineno = lines.setdefault(number, LineOfFile(number, file))


def holds(node: ast.AST, line: int | None) -> bool:
    """Whether a node begins at a line or above it, and ends there or below, in the same file."""
    first: int = getattr(node, "lineno", 0)
    last = getattr(node, "end_lineno", None) or first
    file = getattr(line, "file", None)
    is_there = file is None or getattr(first, "file", file) == file
    return is_there and line is not None and first <= line <= last
