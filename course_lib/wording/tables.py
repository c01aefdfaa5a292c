"""Tables of words: what is told of each kind of thing, and the finding that a row makes of facts.

Whoever finds something out hands over its kind, the line and the facts; the sentences lie in the
`words` of each folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from course_lib.wording.findings import Finding, Severity, finding
from course_lib.wording.sentences import Sentence, say

_FACT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Wording:
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


@dataclass(frozen=True)
class Words:
    """A table of words by kind; called with a kind, it tells.

    Attributes:
        rows: by kind.
        severity: of all findings of the table where a row has none; None for that of its code.
    """

    rows: Mapping[str, Wording]
    severity: Severity | None = None

    def __call__(self, kind: str, at: int | None, /, **facts: Any) -> Finding:
        """The finding of a kind at a line."""
        row = self.rows[kind]
        severity, hint = row.severity or self.severity, _said(row.hint, facts)
        return finding(row.code, self.says(kind, **facts), at, hint, severity)

    def says(self, kind: str, /, **facts: Any) -> Sentence:
        """The sentence alone."""
        return _said(self.rows[kind].message, facts)

    def again(self, kind: str, found: Finding, at: int | None = None, /, **facts: Any) -> Finding:
        """A finding told in other words, in which it is {seen}; what is not given stays."""
        row, facts = self.rows[kind], {"seen": found.message, **facts}
        return replace(
            found,
            code=row.code or found.code,
            severity=row.severity or found.severity,
            message=_said(row.message, facts) if row.message else found.message,
            hint=_said(row.hint, facts) if row.hint else found.hint,
            line=at or found.line,
        )


def _said(template: str, facts: Mapping[str, Any]) -> Sentence:
    """A sentence with the facts that it names, and no others."""
    return say(template, **{name: facts[name] for name in _FACT.findall(template)})
