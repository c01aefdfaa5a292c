"""Put findings beside the lines that they are about, where it is certain which these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from course_lib.findings import Finding
from course_lib.verdicts.typed import FunctionListing


@dataclass
class Marked:
    """A function with what is said of its lines.

    Attributes:
        listing: the function's text.
        said: findings by the number of their line.
        others: lines that a finding of another line names as well, as the second one of a race.
    """

    listing: FunctionListing
    said: dict[int, list[Finding]] = field(default_factory=dict)
    others: set[int] = field(default_factory=set)


def placed(
    findings: Sequence[Finding], listings: Sequence[FunctionListing]
) -> tuple[list[Marked], list[Finding]]:
    """The functions with findings on their lines, and the findings that have no place.

    Numbers of lines are those of a cell. Where a kernel and the function that it calls stand in
    two cells, and both have a line of that number, nobody can say which is meant.
    """
    marked = [Marked(each) for each in listings]
    elsewhere = []
    for each in findings:
        home = _only(marked, each.line)
        if home is None or each.line is None:
            elsewhere.append(each)
            continue
        home.said.setdefault(each.line, []).append(each)
        other = _only(marked, each.other_line)
        if other is not None and each.other_line is not None and each.other_line != each.line:
            other.others.add(each.other_line)
    return [each for each in marked if each.said], elsewhere


def _only(marked: Sequence[Marked], line: int | None) -> Marked | None:
    """The one function that has this line."""
    homes = [each for each in marked if line is not None and each.listing.has(line)]
    return homes[0] if len(homes) == 1 else None
