"""Faults of the emulator and the cause of wrong numbers -> what is told of them: causes alone."""

from every_case import every_case

from course_lib.diagnosis.faults.symptoms import keep_causes, once
from course_lib.wording.findings import Finding, finding

READ = finding("out-of-bounds-read", "…", 3, cell="A")
WRITE = finding("out-of-bounds-write", "…", 3, cell="C")
TWICE = finding("race-write-after-write", "…", 9, cell="C[0, 0]")
RACE = finding("race-read-after-write", "…", 9, other_line=5, cell="sA[0, 0]")
APART, LATER = finding("barrier-divergence", "…", 8), finding("barrier-divergence", "…", 12)
SLOW = finding("uncoalesced-load", "…", 3)
INDEX, SUM = finding("wrong-index", "…", 4), finding("accumulator-error", "…", 2)
MISSING = finding("incomplete-output", "…", 7)


@every_case(("faults", "cause", "told"), [
    ([READ, TWICE], INDEX, [INDEX]),
    ([RACE], INDEX, [RACE]),  # numbers are worth nothing where shared memory is in disorder
    ([WRITE], MISSING, [WRITE]),
    ([], MISSING, [MISSING]),
    ([WRITE], SUM, [WRITE, SUM]),  # a wrong sum excuses no missing test
    ([APART, LATER, RACE], None, [APART]),
    ([SLOW], INDEX, [INDEX, SLOW]),
])  # fmt: skip
def test_causes_are_told(faults: list[Finding], cause: Finding | None, told: list[Finding]) -> None:
    assert keep_causes(faults, cause, "C") == told


def test_one_missing_barrier_is_told_once() -> None:
    first, second = (finding("race-write-after-read", "…", n, other_line=9) for n in (5, 6))
    assert once([first, second]) == [first]
