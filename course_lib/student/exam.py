"""Whether this copy of the course is an exam's: then a check says whether, and never why.

`course.py release --exam` writes the mark. It is a mark and no lock: who takes it away sees what
everyone sees at home. What counts is the grader's verdict, on launches that nobody has seen.
"""

from __future__ import annotations

from pathlib import Path

MARK = "EXAM"
WHY_NOT = "In an exam the check does not say why, and no answers are shown."


def is_on() -> bool:
    """Whether the mark lies beside course_lib."""
    return (Path(__file__).resolve().parents[2] / MARK).is_file()
