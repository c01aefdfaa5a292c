"""A quick check: its card, and how an answer to it is judged."""

import base64
import json
import re

import pytest
from every_case import every_case

from course_lib.questions import lessons, of_lesson
from course_lib.questions.card import html_of, text_of
from course_lib.questions.judging import CannotRead, judge, number_from
from course_lib.questions.kinds import (
    Choice,
    Choose,
    FillIn,
    Misread,
    Number,
    Suspect,
    Trap,
    WhichLine,
)

BYTES = Number(
    id="99-bytes", asks="How many?", value=lambda: 1024, unit="bytes", why="It is {answer}.",
    other="Count them.", within=0.01, slips=(Trap(lambda: 256, "Those are floats."),),
)  # fmt: skip
LETTER = Choose(id="99-letter", asks="Which?", choices=(
    Choice("one", "First."),
    Choice("two", "Second.", right=True),
))  # fmt: skip
WORD = FillIn(
    id="99-word", asks="What?", accepts=("cuda.syncthreads()",), why="All wait.",
    other="Look again.", misread=(Misread(("cuda.syncwarp()",), "A warp waits."),),
)  # fmt: skip
LINE = WhichLine(
    id="99-line", asks="Which?", code="a = 1\n\nb = 2\nc = 3\n", line="b =", why="It is b.",
    innocent="Not this one.", suspects=(Suspect("c =", "It looks like it."),), proof=lambda: 3,
)  # fmt: skip


@every_case(
    ("text", "number"),
    [
        ("1024", 1024), ("1,024", 1024), ("1 024", 1024), ("1_024", 1024), ("12,345", 12345),
        ("0.25", 0.25), ("0,25", 0.25), ("1,5", 1.5), (".5", 0.5), ("-3", -3), ("1e9", 1e9),
        ("1/4", 0.25), ("1 / 4", 0.25), ("8 bytes", 8), ("8bytes", 8),
        (" 8 ", 8), ("1,234.5", 1234.5),
    ],
)  # fmt: skip
def test_a_number_is_read_as_people_write_it(text, number):
    assert number_from(text, "bytes") == number


@every_case("text", ["", "x", "8 KiB", "1/0", "1/", "nan", "inf", "1e999", "3 x", "1/2/3"])
def test_what_is_no_number_is_not_guessed(text):
    assert number_from(text, "bytes") is None


@every_case(("question", "given", "right", "why"), [
    (BYTES, 1024, True, "It is 1,024."),
    (BYTES, 1030.0, True, "It is 1,024."),
    (BYTES, "1,024 bytes", True, "It is 1,024."),
    (BYTES, 256, False, "Those are floats."),
    (BYTES, 1050, False, "Count them."),
    (LETTER, "b", True, "Second."),
    (LETTER, " (B) ", True, "Second."),
    (LETTER, "a", False, "First."),
    (WORD, "CUDA.syncthreads ();", True, "All wait."),
    (WORD, "`cuda.syncwarp()`", False, "A warp waits."),
    (WORD, "sleep", False, "Look again."),
    (WORD, 3, False, "Look again."),
    (LINE, 3, True, "It is b."),
    (LINE, "line 3", True, "It is b."),
    (LINE, 4, False, "It looks like it."),
    (LINE, 1, False, "Not this one."),
])  # fmt: skip
def test_a_verdict_has_the_reason_of_its_answer(question, given, right, why):
    verdict = judge(question, given)
    assert (verdict.right, verdict.why) == (right, why)


@pytest.mark.parametrize(("question", "given", "said"), [
    (BYTES, "many", "'many' is not a number"),
    (BYTES, None, "in bytes"),
    (BYTES, True, "not a number"),
    (BYTES, float("nan"), "not a number"),
    (BYTES, ..., "in place of the three dots"),
    (LETTER, "c", "There are: a, b"),
    (LETTER, 7, "the letter of your choice in quotes"),
    (WORD, "", "quotation marks"),
    (LINE, 2, "There are: 1, 3, 4 (blank lines"),
    (LINE, "the third", "no line 'the third'"),
])  # fmt: skip
def test_what_is_no_answer_is_said_kindly(question, given, said):
    with pytest.raises(CannotRead) as complaint:
        judge(question, given)
    assert said in str(complaint.value)


def test_a_part_that_two_lines_hold_names_none():
    with pytest.raises(ValueError, match="stands in 3 lines"):
        LINE.number_of("=")


EVERY = {name: question for number in lessons() for name, question in of_lesson(number).items()}


def data_of(page: str) -> dict:
    return json.loads(re.search(r'class="ml-data">(.*?)</script>', page)[1])


@every_case("name", EVERY)
def test_no_answer_stands_in_clear(name):
    question = EVERY[name]
    page, text = html_of(question), text_of(question)
    hidden = [why for _, _, why in question.rows()] + [question.otherwise(), question.hint]
    for reason in filter(None, hidden):
        assert reason not in page and reason not in text
    sheet = json.loads(base64.b64decode(data_of(page)["sheet"]))
    assert [tuple(row) for row in sheet["rows"]] == question.rows()
    without_script = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    for word in ("right", "wrong"):
        assert f'="{word}' not in without_script
    assert len(page) < 40_000 and html_of(question) == page


@every_case("name", EVERY)
def test_everything_to_be_operated_has_a_name(name):
    question = EVERY[name]
    page = html_of(question)
    inputs = len(re.findall("<input", page))
    assert inputs == len(re.findall(r"<label>(?:Your answer: )?<input", page)) > 0
    expected = 1 if isinstance(question, Number | FillIn) else len(question.rows())
    assert inputs == expected
    assert page.count('aria-live="polite"') == page.count("<legend>") == 1
    assert ' id="' not in page, "two copies on a page would share it"
    assert f'course_lib.quiz.answer("{name}", ...)' in text_of(question)


def test_words_from_outside_stay_words():
    question = Choose(
        id="99-tags",
        asks="Is `a < b` & <b>bold</b>?",
        choices=(Choice("</script><img src=x>", "No.", right=True), Choice("b", "</script>")),
    )
    page = html_of(question)
    assert "<code>a &lt; b</code> &amp; &lt;b&gt;" in page and "<img" not in page
    assert page.count("</script>") == 2
    assert "  a) </script><img src=x>" in text_of(question)
