"""What a student sees, and the page about the class: all that helps, nothing hidden or active."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from rows_of_a_class import (
    RACY,
    RIGHT,
    SETTINGS,
    TILED,
    UNEVEN,
    UNSUPPORTED,
    WRONG,
    a_class,
    answer,
    missing,
    row,
    submission,
)

from course_lib.checking import examine_source
from course_lib.grading.gradebook.class_report import class_report, histogram, verdict_bars
from course_lib.grading.gradebook.explain import explain
from course_lib.grading.gradebook.feedback import MOST_FINDINGS, feedback_page, read_hints
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.gradebook.tables import MOST_LINES, as_html, source_lines, visible
from course_lib.grading.judging import batches
from course_lib.grading.records import FoundAnswer, GradebookRow, Judgement
from course_lib.grading.settings import Settings
from course_lib.grading.version import grader_version
from course_lib.wording.findings import CODES, finding
from course_lib.wording.sentences import say, told, with_values

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
TAGS = set(
    "html head meta title style body main h1 h2 h3 p a span strong em code br div section ol ul li "
    "table thead tbody tr th td details summary footer svg desc rect line text".split()
)
VOID = {"meta", "br", "rect", "line"}


class Tidy(HTMLParser):
    """Complains about tags that are not ours, do not nest, or carry what could act."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        given = dict(attributes)
        assert not {each for each in given if each.startswith("on") or each in ("style", "src")}
        self.ids += [given["id"]] if given.get("id") else []
        self.links += [given["href"]] if given.get("href") else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in VOID, tag

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def tidy(page: str) -> Tidy:
    """The page, looked through."""
    parser = Tidy()
    parser.feed(page)
    parser.close()
    assert parser.open == [] and len(parser.ids) == len(set(parser.ids))
    assert all(link.removeprefix("#") in parser.ids for link in parser.links if link[0] == "#")
    return parser


def page_of(*rows: GradebookRow, settings: Settings = SETTINGS) -> str:
    return feedback_page(rows, rows[0].submission.student, settings)


def words(page: str) -> str:
    return " ".join(" ".join(tidy(page).words).split())


def test_a_finding_stands_below_its_line() -> None:
    page = page_of(row("s01", RACY))
    items = re.findall(r"<li.*?</li>", page.partition('<ol class="listing">')[2], re.DOTALL)
    assert "Mistake 1, line 5: race: perhaps read before it was written" in items[4]
    assert 'class="error"' in items[4] and 'class="warning"' in items[5]
    assert "Warning 2, line 6" in items[5] and "Where does the barrier stand?" in items[4]
    assert len(items) == len(source_lines(TILED))
    # It needs nothing from anywhere.
    assert "<script" not in page and "default-src 'none'" in page
    assert re.findall(r"(?:https?:)?//[a-z]", page) == [] and "@import" not in page
    assert "url(" not in page and 'lang="en"' in page and "width=device-width" in page


def test_what_was_earned_what_was_not_and_why() -> None:
    shown = words(page_of(row("s01", RACY)))
    assert "5 of 10 points" in shown and shown.count("Lost:") == 2
    assert "race-free : a barrier stands wherever" in shown
    assert "Lost: line 5: race: perhaps read before it was written." in shown
    assert words(page_of(row("s01", UNEVEN))).count("Lost:") == 2
    assert words(page_of(row("s01", WRONG))).casefold().count("nothing is earned before") == 1
    shown = words(page_of(row("s01", UNSUPPORTED), missing("s01")))
    assert "0 of 20 points so far; an instructor still has to look" in shown
    assert "open of 10" in shown


def test_hints_come_from_the_instructors_notebooks(tmp_path: Path) -> None:
    ours = Settings(notebooks=tmp_path)
    assert "Hints" not in words(page_of(row("s01", RACY), settings=ours))
    hints = read_hints(EXERCISES)
    assert all(len(each) == 3 for each in hints.values()) and len(hints) >= 11
    assert "<code>" in hints["mat_add"][0].as_html() and "`" not in hints["mat_add"][0].as_html()
    assert "may you write an <code>if</code>" in hints["matmul_tiled"][1].title_as_html()


def test_how_the_answer_was_read_is_told() -> None:
    notes = ("Two cells define it; the last counts.",)
    noted = answer("a = 1\n" + TILED, notes=notes, first_line=2)
    shown = page_of(score(submission("s01"), noted, RIGHT, SETTINGS))
    assert "Two cells define it; the last counts." in shown and "s/05.ipynb, cell 9" in shown
    assert shown.count('<li class="other">') == 1


def test_code_is_shown_as_it_is_and_does_nothing() -> None:
    page = page_of(row("s01", RACY, student="<b>Bo</b> \u202eoB"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "alert(1)</script>" not in page
    assert "&lt;b&gt;Bo&lt;/b&gt;" in page and "&lt;b&gt;too early&lt;/b&gt;" in page
    assert not set("\u202e\u202c\x1b") & set(page)
    assert "U+202E" in page and "right-to-left override" in page and "U+001B" in page


# How an answer could carry a number of the inputs out, as an index, and what its page says of it.
FAR_INDICES = {
    "C[700_000_123 + here, 0] = A[0, 0]": "writes C at an index far outside along axis 0, but",
    "C[0, 0] = A[0, 700_000_123 + here]": "reads A at an index far outside along axis 1, but",
    "C[-700_000_123 - here, 0] = A[0, 0]": "writes C at an index far outside along axis 0, but",
    "C[0, 0] = A.shape[700_000_123 + here]": "asks for an item far outside of A.shape",
}
NEAR_INDICES = {
    "C[0, 0] = A[0, A.shape[1]]": "reads A at index",
    "C[0, 0] = A[0, here - here - A.shape[1]]": "C[0, 1] still holds what it held",
}


@pytest.mark.parametrize("statement", [*FAR_INDICES, *NEAR_INDICES])
def test_no_far_index_is_shown(statement: str) -> None:
    body = f"    here = int(A[0, 0] * 1e6) % 1000\n    {statement}\n"
    text = f"@cuda.jit\ndef mat_add(A, B, C):\n{body}"
    report = examine_source("mat_add", text, seed=5, context="from numba import cuda")
    judged = Judgement("mat_add", report.findings)
    for kept in (judged, Judgement.from_json(judged.to_json())):
        page = words(page_of(row("s01", kept)))
        assert {**FAR_INDICES, **NEAR_INDICES}[statement] in page, page
        assert not re.search(r"\b-?700\d{6}\b", page), page
    at_home = " ".join(each.message for each in report.findings)
    assert ("700" in at_home) == (statement in FAR_INDICES), at_home


CARRIED_OUT = """
def blocks_per_sm(device, threads, registers, shared_bytes):
    per_warp = -(-registers * 32 // 256) * 256
    shared = shared_bytes + device.shared_reserved_bytes
    shared = -(-shared // device.shared_unit_bytes) * device.shared_unit_bytes
    if threads > 1024 or registers > 255:
        return 0
    if registers % 8 == 5 and threads % 32 != 0:
        SAID
    by_shared = device.shared_per_sm_bytes // shared if shared else 99
    warps = -(-threads // 32)
    by_registers = 16384 // per_warp * 4 // warps
    return min(device.warps_per_sm // warps, by_registers, by_shared, device.blocks_per_sm)
"""
NUMBERS = "7000 + threads * 1000 + registers"


@every_case("stops", [
    "return 77",
    f"return {NUMBERS}",
    "return None",
    f"return int('no ' + str({NUMBERS}))",
    f"return {{}}[{NUMBERS}]",
    "return [1][threads * 1000]",
    "return len(*[1] * registers)",
    'return f"{threads:{registers}q}"',
    "return int('On the A6000 with 1024 threads, 37 registers and 8192 shared bytes' + "
        "str(threads))",
    "return int('On the H200 with 0 threads, 0 registers and 0 shared bytes' + str(threads))",
])  # fmt: skip
def test_a_drawn_launch_is_on_no_page_and_in_no_reason(stops: str) -> None:
    """Whatever the answer returns, or stops with, where only a launch of the seed's gets it."""
    text = CARRIED_OUT.replace("SAID", stops)
    report = examine_source("blocks_per_sm", text, seed=2026)
    assert report.errors
    judged = Judgement("blocks_per_sm", tuple(report.findings), numbers_right=False)
    judged = replace(judged, needs_review=report.needs_review)
    scored = score(submission("s01"), FoundAnswer("blocks_per_sm", text), judged, SETTINGS)
    shown = words(page_of(scored))
    said = " ".join(told(each.message, "graded student") for each in report.errors)
    said += scored.reason
    assert not re.findall(r"\d{3,}", said.replace("2026", "")), said
    assert "blocks_per_sm(" not in said and "right is" not in said
    assert "that was drawn" in shown or "that were drawn" in shown


@pytest.mark.slow
def test_an_example_launch_keeps_its_numbers() -> None:
    """They stand in the course for everybody to read, so they give nothing away."""
    text = CARRIED_OUT.replace("SAID", "return 77").replace("return min(", "return 1 + min(")
    [found] = examine_source("blocks_per_sm", text, seed=2026).errors[:1]
    assert "blocks_per_sm(device=A6000, threads=1024" in told(found.message, "graded student")


def test_a_page_has_an_end_whatever_the_answer_holds():
    text = "x = 1\n" * (MOST_LINES + 7) + "y" * 100_000
    scored = score(submission("s01"), answer(text), WRONG, SETTINGS)
    assert "And 8 more lines." in words(page_of(scored)) and len(page_of(scored)) < 300_000
    assert "and 8 more lines" in explain(scored) and len(explain(scored)) < 60_000
    findings = tuple(finding("wrong-index", "\u202e" * 2000, 1) for _ in range(100))
    judged = Judgement("matmul_tiled", findings)
    text = ("\u202e" * 2000 + "\n") * 2000
    page = page_of(score(submission("s01"), answer(text, notes=("ok",)), judged, SETTINGS))
    assert len(page) < 10_000_000
    assert f"And {100 - MOST_FINDINGS} more findings" in page


@pytest.mark.parametrize(("text", "shown"), [
    ("a\u200bb", "a⟨U+200B⟩b"),
    ("\ud800", "⟨U+D800⟩"),
    ("a\u2028b\u0000\u0007", "a⟨U+2028⟩b⟨U+0000⟩⟨U+0007⟩"),
    ("\u3164 = 1", "⟨U+3164⟩ = 1"),
    ("e\u0301" + "\u0301" * 4, "e\u0301\u0301\u0301⟨U+0301⟩⟨U+0301⟩"),
    ("naïve 日本 \U0001f600", "naïve 日本 \U0001f600"),
])  # fmt: skip
def test_what_cannot_be_seen_is_shown_by_its_number(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert as_html(text).encode("utf-8")


ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)
FINDINGS = st.builds(
    finding, st.sampled_from(sorted(CODES)), st.builds(with_values, ANYTHING, ANYTHING),
    st.none() | st.integers(-3, 10**9), ANYTHING, st.sampled_from(["error", "warning"]),
)  # fmt: skip
JUDGEMENTS = st.none() | st.builds(
    Judgement, st.just("matmul_tiled"), st.lists(FINDINGS, max_size=3).map(tuple),
    st.lists(ANYTHING, max_size=2).map(tuple), *[st.booleans()] * 3,
    st.sampled_from(["judged", "died", "stopped-by-clock"]),
)  # fmt: skip


@given(ANYTHING, ANYTHING, ANYTHING, JUDGEMENTS)
def test_any_row_makes_a_page_and_an_explanation(name, text, note, judged):
    found = FoundAnswer("matmul_tiled", text, (note,), None, name, 3, 2)
    scored = score(submission("key", name or "x"), found, judged, SETTINGS)
    page = page_of(scored)
    tidy(page)
    told = explain(scored)
    assert page.encode("utf-8") and told.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", told)


def test_explain_tells_where_what_and_how_many_points_or_why_there_is_nothing():
    told = explain(row("s02", RACY))
    assert told.startswith("s02 · matmul_tiled: partly, 5 of 10 points\n")
    assert "Answer: s/05.ipynb, cell 9" in told
    assert "  3 | def matmul_tiled(A, B, C):" in told
    assert "1. line 5: race: perhaps read before it was written [race-read-after-write]" in told
    assert "  race-free 0 of 2: lost; line 5: race" in told
    assert "  reuse 2 of 2: a block fetches each element" in told
    assert "and should be -2.25e-05" in told  # an instructor may know
    assert "⟨U+001B⟩[31mred" in told and "⟨U+202E⟩" in told
    assert "Reason: There is no cell for it." in explain(missing("s02"))
    died = explain(row("s02", Judgement("matmul_tiled", outcome="died")))
    assert "needs review, open of 10 points" in died and "a person has to look" in died


ONE_ELEMENT = """\
from numba import cuda
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[0, 1] if x == 3 and y == 3 else A[y, x] + B[y, x]
"""


def test_an_instructor_reads_how_it_was_launched_and_what_came_out() -> None:
    """In place, and without the questions that are for the student."""
    judged = Judgement.from_json(batches.judge("mat_add", ONE_ELEMENT, 731_904_553).to_json())
    scored = score(submission("s01"), FoundAnswer("mat_add", ONE_ELEMENT), judged, SETTINGS)
    told, page = " ".join(explain(scored).split()), words(page_of(scored))
    assert re.search(r"\(grid \(.*\), block \(.*\), warps \w+.*, seed 731904553, draw \d+\)", told)
    assert re.search(r"C\[3, 3\] is \S+ and should be ", told)
    assert not any(said in page for said in ("731904553", "draw ", "and should be"))
    hint = judged.findings[0].hint
    assert hint in page and hint not in told and "Hint:" not in told


def test_a_sentence_that_begins_with_a_name_keeps_it() -> None:
    """A page changes no letter of what an answer has written."""
    text = "@cuda.jit\ndef mat_add(A, B, C):\n    sum[0] = befor\n"
    judged = Judgement.from_json(batches.judge("mat_add", text, 0).to_json())
    found = replace(judged.findings[0], message=say("{name} ends early.", name="sA"))
    again = Judgement.from_json(replace(judged, findings=(found,)).to_json())
    for each in (replace(judged, findings=(found,)), again):
        scored = score(submission("s01"), FoundAnswer("mat_add", text), each, SETTINGS)
        assert "sA ends early." in words(page_of(scored)) and "sA ends early." in explain(scored)


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
    assert "the wrong element is read or written wrong-index right line 9 (3 times) 3" in shown
    assert "bank-conflict nothing (a warning) line 3 (2 times) 2" in shown
    endless = Judgement("matmul_tiled", (finding("timeout", "So.", 9),))
    shown = words(report([row("a", endless)])).partition("Most frequent findings")[2]
    assert "timeout everything line 9 1" in shown


def test_each_name_has_its_page_or_its_reason():
    page = report([row("a b%#", student="Bo & Co")])
    assert 'href="feedback/a%20b%25%23.html"' in page and "Bo &amp; Co" in page
    shown = words(report([missing("s01", why="All cells are empty."), missing("s02"), row("s03")]))
    told = shown.partition("Missing The grader found nothing")[2].partition("Most frequent")[0]
    assert "s01 mat_add All cells are empty." in told and "s02 mat_add" in told
    assert "s03" not in told and "Missing Nothing" not in words(report([row("s03")]))
    lost = score(submission("s01", problem="It is damaged."), FoundAnswer(""), None, SETTINGS)
    shown = words(report([lost]))
    assert "1 submission, on average 0 % of the points." in shown
    assert "No submission is about any exercise." in shown


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


def test_the_pictures_say_their_numbers():
    picture = histogram([0.0, 0.1, 0.3, 0.999, 1.0, 1.0])
    assert 'role="img"' in picture
    assert "0–10 per cent: 1, 10–20 per cent: 1" in picture and "90–100 per cent: 3" in picture
    # 0.3 is 2.9999… tenths in binary.
    assert "30–40 per cent: 1" in histogram([0.1 * 3])
    picture = verdict_bars({"mat_add": {"passed": 1, "failed": 3}})
    passed = re.search(r'class="of-passed" x="150.0" y="6" width="([\d.]+)"', picture)
    failed = re.search(r'class="of-failed" x="[\d.]+" y="6" width="([\d.]+)"', picture)
    assert passed and failed and float(failed[1]) == 3 * float(passed[1])
    assert "mat_add: 1 passed, 3 failed." in picture
