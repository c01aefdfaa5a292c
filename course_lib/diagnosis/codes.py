"""Groups of codes that conclusions are drawn from, and which array a finding is about."""

from __future__ import annotations

from course_lib.wording.findings import Finding
from course_lib.wording.sentences import facts_of

APART = "barrier-divergence"
RACES = ("race-", APART)
OUTSIDE = ("out-of-bounds-read", "out-of-bounds-write")
# What makes every number doubtful: as long as one of these is there, numbers explain nothing.
DISORDER = (
    "barrier-divergence",
    "race-read-after-write",
    "race-write-after-read",
    "race-write-after-write",
    "uninitialised-read",
    "timeout",
)


def array_of(cell: str) -> str:
    """The array of a cell: "A" for "A[3, 40]"."""
    return cell.split("[", 1)[0]


def is_misaligned(finding: Finding) -> bool:
    """Is it a wide access at an odd address? A GPU stops there: no number after it exists."""
    return finding.code == "wrong-index" and "size" in facts_of(finding.message)
