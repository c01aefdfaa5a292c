"""The errors of grading that an instructor sees as one sentence."""

from __future__ import annotations


class CannotGrade(Exception):
    """The instructor gave something that cannot be used; the message says what, and the mend."""
