"""The exceptions of the emulator."""

import ast
from collections.abc import Sequence
from typing import Any

from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say


class EmulatorError(Exception):
    """Base of what the emulator raises."""


class KernelRejected(EmulatorError):
    """The kernel cannot be run at all; `findings` says why.

    Shown in a notebook as its sentences alone, without a traceback.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = list(findings)
        super().__init__("; ".join(str(refusal) for refusal in self.findings))

    def _render_traceback_(self) -> list[str]:
        lines = []
        for refusal in self.findings:
            lines.append(f"{refusal.code}: {refusal}")
            if refusal.hint:
                lines.append(f"  {refusal.hint}")
        return lines


def rejection(
    code: str, message: str, node: ast.AST | int | None, hint: str = "", /, **facts: Any
) -> KernelRejected:
    """A KernelRejected with one finding at the line of `node`, whose message has these facts."""
    line = node if isinstance(node, int) or node is None else getattr(node, "lineno", None)
    said = say(message, **facts) if facts else message
    return KernelRejected([finding(code, said, line, hint, severity="error")])
