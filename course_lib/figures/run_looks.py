"""The measures and colours that all parts of the picture of a run share; lengths in inches."""

from __future__ import annotations

from course_lib.figures import style

LARGEST_CELL = 0.36
LEFT = 0.2  # where everything begins
TOP = 0.78  # below title and counts

_COLOURS = (style.SKY, style.ORANGE, style.GREEN, style.PURPLE)


def colour_of(block: int) -> str:
    """The colour of a block; neighbours differ."""
    return _COLOURS[block % len(_COLOURS)]
