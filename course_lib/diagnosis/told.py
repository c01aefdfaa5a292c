"""Tables of words: what is told of each kind of thing, and the finding that a row makes of facts.

Whoever finds something out hands over its kind, the line and the facts; the sentences lie in the
`words` of each folder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from course_lib.findings import Finding, Severity, finding
from course_lib.sentences import say


@dataclass(frozen=True)
class Row:
    """What is told of one kind of thing.

    Attributes:
        code: the finding's code; "" where it stays that of the finding that is told anew.
        message, hint: templates (see `sentences.say`).
        severity: where it is not the usual one of the code.
    """

    code: str
    message: str
    hint: str = ""
    severity: Severity | None = None


class Words(dict[str, Row]):
    """A table of words by kind; called with a kind, it tells."""

    def __call__(self, kind: str, at: int | None, /, **facts: Any) -> Finding:
        """The finding of a kind at a line."""
        row = self[kind]
        message, hint = (say(words, **facts) for words in (row.message, row.hint))
        return finding(row.code, message, at, hint, row.severity)

    def again(self, kind: str, found: Finding, at: int | None = None, /, **facts: Any) -> Finding:
        """A finding told in other words, in which it is {seen}; what is not given stays."""
        row, facts = self[kind], {"seen": found.message, **facts}
        return replace(
            found,
            code=row.code or found.code,
            severity=row.severity or found.severity,
            message=say(row.message, **facts) if row.message else found.message,
            hint=say(row.hint, **facts) if row.hint else found.hint,
            line=at or found.line,
        )
