"""The page about the class."""

import re

from rows_of_a_class import SETTINGS, UNSUPPORTED, a_class, missing, row, submission
from test_feedback import tidy, words

from course_lib.grading.gradebook.class_report import class_report, histogram, verdict_bars
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.records import FoundAnswer, Judgement
from course_lib.grading.version import grader_version
from course_lib.wording.findings import finding


def report(rows=None, seed: int = 41) -> str:
    return class_report(a_class() if rows is None else rows, SETTINGS, seed)


def test_it_counts_every_verdict() -> None:
    page = report()
    tidy(page)
    shown = words(page)
    assert "5 submissions, on average" in shown and "1 with points still open" in shown
    # passed, partly, failed, missing, needs review, mean
    assert "matmul_tiled 1 2 1 0 1 5.2 of 10" in shown
    assert "mat_add 0 0 0 5 0 0.0 of 10" in shown
    # What decides the grades, and what a person has to look at.
    assert "Seed 41," in shown and grader_version() in shown
    assert "right 3, bounds 1, shared-memory 1, race-free 2, reuse 2, float32 1" in shown
    part = shown.partition("Needs review")[2]
    assert "s05 matmul_tiled Line 2: The emulator does not support" in part
    assert "threadIdx" not in page and "alert(1)" not in page
    assert "every answer could be judged" in words(report([row("s01")]))
    assert "unsupported" not in words(report([row("s01", UNSUPPORTED)]))  # it costs nothing yet


def test_frequent_findings_come_first_once_per_answer() -> None:
    def judged(*lines: int) -> Judgement:
        found = [finding("bank-conflict", "So.", line) for line in lines]
        return Judgement("matmul_tiled", (finding("wrong-index", "So.", 9), *found))

    rows = [row("a", judged(3, 3, 4)), row("b", judged(3)), row("c", judged())]
    shown = words(report(rows)).partition("Most frequent findings")[2]
    assert shown.index("wrong-index") < shown.index("bank-conflict")
    assert "a wrong index wrong-index right line 9 (3 times) 3" in shown
    assert "bank-conflict nothing (a warning) line 3 (2 times) 2" in shown


def test_what_leaves_nothing_to_judge_costs_everything() -> None:
    endless = Judgement("matmul_tiled", (finding("timeout", "So.", 9),))
    shown = words(report([row("a", endless)])).partition("Most frequent findings")[2]
    assert "timeout everything line 9 1" in shown


def test_each_name_leads_to_its_page() -> None:
    page = report([row("a b%#", student="Bo & Co")])
    assert 'href="feedback/a%20b%25%23.html"' in page and "Bo &amp; Co" in page


def test_whoever_is_not_in_a_platforms_file_is_named_with_the_reason() -> None:
    known = row("s01", platform="canvas", platform_id="5")
    unsure = row("s03", UNSUPPORTED, platform="canvas", platform_id="6")
    twice = [row(key, platform="canvas", platform_id="7") for key in ("s04", "s05")]
    shown = words(report([known, row("s02"), unsure, *twice]))
    told = shown.partition("Not in canvas.csv")[2].partition("Most frequent findings")[0]
    assert "s02 no number of this platform" in told
    assert "s03 points are still open: matmul_tiled" in told
    assert told.count("shares a number with another submission") == 2
    assert "s01" not in told and "moodle.csv" not in shown
    assert "canvas.csv" not in words(report([known]))


def test_every_missing_row_stands_on_it_with_its_reason() -> None:
    shown = words(report([missing("s01", why="All cells are empty."), missing("s02"), row("s03")]))
    told = shown.partition("Missing The grader found nothing")[2].partition("Most frequent")[0]
    assert "s01 mat_add All cells are empty." in told and "s02 mat_add" in told
    assert "s03" not in told and "Missing Nothing" not in words(report([row("s03")]))


def test_a_submission_about_nothing_has_its_line() -> None:
    lost = score(submission("s01", problem="It is damaged."), FoundAnswer(""), None, SETTINGS)
    shown = words(report([lost]))
    assert "1 submission, on average 0 % of the points." in shown
    assert "No submission is about any exercise." in shown


def test_the_histogram_says_its_numbers_in_words() -> None:
    picture = histogram([0.0, 0.1, 0.3, 0.999, 1.0, 1.0])
    assert 'role="img"' in picture
    assert "0–10 per cent: 1, 10–20 per cent: 1" in picture and "90–100 per cent: 3" in picture
    # 0.3 is 2.9999… tenths in binary.
    assert "30–40 per cent: 1" in histogram([0.1 * 3])


def test_the_bars_share_the_width_by_verdict() -> None:
    picture = verdict_bars({"mat_add": {"passed": 1, "failed": 3}})
    passed = re.search(r'class="of-passed" x="150.0" y="6" width="([\d.]+)"', picture)
    failed = re.search(r'class="of-failed" x="[\d.]+" y="6" width="([\d.]+)"', picture)
    assert passed and failed and float(failed[1]) == 3 * float(passed[1])
    assert "mat_add: 1 passed, 3 failed." in picture
