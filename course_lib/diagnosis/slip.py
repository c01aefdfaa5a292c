"""An explanation of wrong numbers, and where in the source it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.source.source import Source


@dataclass(frozen=True)
class Slip:
    """An explanation of wrong numbers.

    Attributes:
        code: the finding's code.
        message: what the output equals instead, and what that means.
        hint: what to look at next; never the solution.
        place: where in the source to look: a kind ("load", "store", "sum", "start", "integer"; all
            of them stand in places/locate.py) and what that kind asks for, as the array.
        values: a sentence with numbers that come from the inputs; see `sentences.with_values`.
    """

    code: str
    message: str
    hint: str = ""
    place: tuple[str, ...] = ()
    values: str = ""


@dataclass(frozen=True)
class Evidence:
    """What the line behind a slip is looked for in.

    Attributes:
        source: the answer.
        trail: what it did in the launch that shows the slip.
        names: the kernel's own for the arrays, the output last.
    """

    source: Source
    trail: Trail
    names: Sequence[str]
