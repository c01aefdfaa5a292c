"""The verdict: short, the cause first, the same every time."""

from course_lib.diagnosis.report import MOST_LINES, WIDTH, Report
from course_lib.wording.findings import finding


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
        "Line 12: the loop is too short or too long [wrong-loop-bound]",
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
