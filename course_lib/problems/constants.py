"""An answer that is a few numbers: the constants of a text or of a check cell."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from course_lib.emulator import Program


@dataclass(frozen=True)
class Numbers:
    """The constants of an answer, with their lines where there is a text."""

    values: Mapping[str, object]
    lines: Mapping[str, int] = field(default_factory=dict)

    def line(self, *names: str) -> int | None:
        """The last line that sets one of these."""
        return max((self.lines[name] for name in names if name in self.lines), default=None)


def from_object(answer: object) -> Numbers:
    """The numbers of a check cell: a dict of constants."""
    return Numbers(dict(answer) if isinstance(answer, Mapping) else {})


def from_program(program: Program) -> Numbers:
    """The constants of an answer's text."""
    lines: dict[str, int] = {}
    for statement in ast.parse(program.source).body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                lines[node.id] = node.lineno
    return Numbers(program.constants, lines)
