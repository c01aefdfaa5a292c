"""Where a slip is in the source, and what that makes of its finding."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a slip is, and what that makes of it."""

    line: int | None
    code: str = ""  # replaces the slip's code where the source shows more
    hint: str = ""  # and its hint
    message: str = ""  # and its message
