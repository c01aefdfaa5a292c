"""Show a verdict, note what it means for the student's progress, and offer help."""

from course_lib.verdicts.showing import show
from course_lib.verdicts.typed import OURS

__all__ = ["OURS", "show"]
