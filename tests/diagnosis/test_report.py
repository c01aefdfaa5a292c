"""The verdict: short, the cause first, the same every time; where numbers are wrong is named."""

import numpy as np
from every_case import every_case

from course_lib.diagnosis.faults.symptoms import keep_causes, once
from course_lib.diagnosis.launches.outcome import Geometry, Outcome, by_how_much, where
from course_lib.diagnosis.number_patterns import equal_in_both
from course_lib.diagnosis.report import MOST_LINES, WIDTH, Report
from course_lib.wording.findings import Finding, finding


def error(number: int = 12) -> object:
    return finding(
        "wrong-loop-bound",
        "Right except the last 5 steps of k: the partial tile is left out.",
        number,
        "How many tiles does the loop visit when K = 37?",
    )


def test_a_passed_report_says_what_holds() -> None:
    report = Report("mat_add", (), ("right on all 6 shapes", "no races"), 5, 5)
    assert report.passed
    assert str(report) == (
        "mat_add: passed (5 of 5 points)\nHolds: right on all 6 shapes; no races."
    )


def test_a_failed_report_names_line_cause_and_next_step() -> None:
    text = str(Report("matmul_tiled", (error(),), (), 0, 10))  # type: ignore[arg-type]
    assert text.splitlines() == [
        "matmul_tiled: not yet (0 of 10 points)",
        "Line 12: the loop does not make the right steps [wrong-loop-bound]",
        "  Right except the last 5 steps of k: the partial tile is left out.",
        "  Hint: How many tiles does the loop visit when K = 37?",
    ]


def test_a_long_report_is_cut_short_and_says_so() -> None:
    findings = tuple(error(number) for number in range(20))
    text = str(Report("matmul_tiled", findings, ("something holds",), 0, 10))  # type: ignore[arg-type]
    assert len(text.splitlines()) <= MOST_LINES
    assert "And 17 more; mend these first." in text


def test_lines_stay_short() -> None:
    long = finding("wrong-result", "word " * 60, 3, "word " * 40)
    report = Report("mat_add", (long,), ("a fact",) * 20, 0, 1)
    assert max(map(len, str(report).splitlines())) <= WIDTH


def test_a_warning_does_not_fail() -> None:
    report = Report("mat_add", (finding("bank-conflict", "Two turns.", 4),), (), 1, 1)
    assert report.passed
    assert "Line 4: shared-memory bank conflicts (a warning) [bank-conflict]" in str(report)


def test_an_unjudged_answer_says_so() -> None:
    report = Report("mat_add", (finding("unsupported", "Not known here."),), needs_review=True)
    assert "could not be judged" in str(report)
    assert "The answer: the emulator cannot run this" in str(report)


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


def outcome(got: np.ndarray) -> Outcome:
    """Of a product of two matrices that hold 1 alone."""
    ones = np.ones(got.shape, np.float32)
    sizes = Geometry(16, 16)
    room = np.full(got.shape, 1e-5)
    return Outcome((ones, ones), ones @ ones.astype(np.float64), got, room, sizes, -7.25e3)


def test_not_a_number_is_never_right() -> None:
    got = np.full((4, 4), 4, np.float32)
    got[2, 3] = np.nan
    assert np.argwhere(~outcome(got).right).tolist() == [[2, 3]]


@every_case(("chosen", "words"), [
    (np.s_[:, :], "every element"),
    (np.s_[2, 3], "element [2, 3]"),
    (np.s_[-1, :], "the last row"),
    (np.s_[:, 30:], "the last 10 columns"),
    (np.s_[4:7, :], "rows 4 to 6"),
    (np.s_[::2, :], "every second row"),
    (np.s_[16:32, 16:32], "rows 16 to 31 of columns 16 to 31"),
    (np.s_[3:5, 7:9], "rows 3 to 4 of columns 7 to 8"),
])  # fmt: skip
def test_a_place_is_named(chosen: object, words: str) -> None:
    mask = np.zeros((35, 40), bool)
    mask[chosen] = True
    assert str(where(mask, Geometry(16, 16))) == words


def test_two_bands_are_named() -> None:
    mask = np.ones((35, 40), bool)
    mask[:16, :16] = False
    assert str(where(mask, Geometry(16, 16))) == "the last 19 rows and the last 24 columns"


def test_all_but_one_are_named() -> None:
    sizes = Geometry(16, 16)
    mask = np.ones((35, 40), bool)
    mask[4, 12] = False
    assert str(where(mask, sizes)) == "every element but [4, 12]"
    mask[4] = False
    assert str(where(mask, sizes)) == "every row but row 4"


def test_the_edges_are_named_together() -> None:
    mask = np.zeros((35, 40), bool)
    mask[-1] = mask[:, -2:] = True
    assert str(where(mask, Geometry(16, 16))) == "the last row and the last 2 columns"


def test_an_example_shows_both_numbers() -> None:
    got = np.full((2, 2), 7, np.float32)
    assert by_how_much(outcome(got)) == "C[0, 0] is 7 and should be 2"


@every_case(("first", "second", "depends"), [
    ([1, 2], [1, 2], False),
    ([1, 2], [1, 3], True),
    ([0, 0], [0, 0], True),
    ([np.nan, 2], [np.nan, 2], True),
    ([-7.25e3, 2], [np.nan, 2], False),
])  # fmt: skip
def test_zeros_and_not_a_number_are_no_hardcoded_answer(first, second, depends) -> None:
    room = np.full(2, 1e-3)
    sizes = Geometry(1, 16)
    one, other = (
        Outcome((), room, np.array(got, np.float32), room, sizes, -7.25e3)
        for got in (first, second)
    )
    assert equal_in_both(one, other) is not depends
