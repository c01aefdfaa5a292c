"""Line numbers that know their file, since a kernel may call functions of several files."""

from __future__ import annotations

import ast


class LineOfFile(int):
    """A line's number, equal to any other such number; `file` is what Python calls its file."""

    file: str

    def __new__(cls, number: int, file: str) -> LineOfFile:
        line = super().__new__(cls, number)
        line.file = file
        return line

    def __reduce__(self) -> tuple[type[LineOfFile], tuple[int, str]]:
        return LineOfFile, (int(self), self.file)


def note_file(tree: ast.AST, file: str) -> None:
    """Let all nodes of a function know where they stand."""
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = LineOfFile(node.lineno, file)
