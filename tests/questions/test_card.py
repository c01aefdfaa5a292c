"""The card of a quick check: nothing in clear, the same every time, usable without a mouse."""

import base64
import json
import re

from every_case import every_case

from course_lib.questions import lessons, of_lesson
from course_lib.questions.card import html_of, text_of
from course_lib.questions.kinds import Choice, Choose, FillIn, Number

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
