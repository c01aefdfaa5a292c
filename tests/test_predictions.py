"""Guesses and quick checks in a code cell: asked, judged, told in words; never a traceback."""

import re

import IPython.display
import pytest

import course_lib
from course_lib import questions, quiz
from course_lib.questions.kinds import Choice, Choose, Number, Trap
from course_lib.questions.reveals import revealed, told

DRAWN = []
THREADS = Number(
    id="00-writers", asks="Four threads run `out[2] = 7`. How many of them write?", unit="threads",
    value=lambda: 131_072, slips=(Trap(lambda: 1, "Every thread runs the whole kernel."),),
    reveal="All {answer} do, {each} time each.", facts=lambda: {"each": 1},
    spoilers=("all of them",), figure=lambda: DRAWN.append("drawn") or "a picture",
)  # fmt: skip
SHARE = Number(
    id="00-share", asks="What share is it?", unit="%", value=lambda: 33.2, within=0.2,
    other="Divide.", reveal="It is {answer} %.",
)  # fmt: skip
FASTER = Choose(id="00-faster", asks="Which is faster?", choices=(
    Choice("By rows", "Neighbours are side by side."),
    Choice("By columns.", "", right=True),
    Choice("Neither.", "One is."),
), reveal="The answer is: {answer}.")  # fmt: skip


@pytest.fixture(autouse=True)
def _asked(monkeypatch):
    known = {each.id: each for each in (THREADS, SHARE, FASTER)}
    monkeypatch.setattr(quiz, "find", lambda name: known.get(name) or questions.find(name))
    monkeypatch.setattr(quiz, "_wrong_tries", quiz.Counter())
    DRAWN.clear()


@pytest.fixture
def shown(monkeypatch):
    found = []
    monkeypatch.setattr(IPython.display, "display", found.append)
    return found


@pytest.mark.parametrize("name", ["00-writers", "00-share", "00-faster"])
def test_without_a_guess_one_line_asks_and_gives_nothing_away(capsys, shown, name):
    assert course_lib.predict(name, ...) is None
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and said.startswith("Your guess first: replace the dots ")
    assert not re.search(r"\d|rows|columns", said)
    assert shown == [] and DRAWN == []


def test_a_guess_is_judged_then_comes_the_reveal_then_the_picture(capsys, shown):
    course_lib.predict("00-writers", 8)
    reveal, picture = shown
    assert reveal.paragraphs == (
        "You said 8; it is 131,072, 16,384 times as many.",
        "All 131,072 do, 1 time each.",
    )
    bundle = reveal._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/markdown"] == bundle["text/plain"] == "\n\n".join(reveal.paragraphs)
    assert picture == "a picture" and DRAWN == ["drawn"]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("question", "guess", "said"), [
    (THREADS, 1, "131,072 times as many. Every thread runs the whole kernel."),
    (THREADS, 131_072, "You said 131,072, and 131,072 it is."),
    (THREADS, "131 072 threads", "You said 131,072, and 131,072 it is."),
    (THREADS, 262_144, "it is 131,072, so your guess was too high by a factor of 2."),
    (THREADS, 131_000, "You said 131,000; it is 131,072, 72 more."),
    (THREADS, 0, "it is 131,072, 131,072 more."),
    (THREADS, 131_073, "it is 131,072, 1 fewer."),
    (SHARE, 30, "You said 30, which is close: it is 33.2."),
    (SHARE, 10, "You said 10; it is 33.2, about 3.3 times as much. Divide."),
    (SHARE, 50, "You said 50; it is 33.2, 16.8 less. Divide."),
    (SHARE, 1, "about 33 times as much. Divide."),
    (FASTER, "a", "You said a; it is b: By columns. Neighbours are side by side."),
    (FASTER, "B)", "You said b, which is right."),
])  # fmt: skip
def test_a_guess_is_told_how_far_off_it_is(question, guess, said):
    assert told(question, guess)[0].endswith(said)


def test_a_reveal_names_the_right_choice_and_nothing_unknown():
    assert revealed(FASTER) == "The answer is: By columns."
    with pytest.raises(KeyError, match="nobody"):
        revealed(Number(id="00-x", asks="?", unit="", value=lambda: 1, reveal="{nobody} knows"))


@pytest.mark.parametrize(("name", "guess", "said"), [
    ("00-writers", "many", "'many' is not a number that I can read"),
    ("00-faster", "e", "There is no choice 'e' here. There are: a, b, c."),
    ("00-nothing", 1, "There is no question '00-nothing'."),
    ("05-padding", 1, "'05-padding' is a quick check: course_lib.quiz.ask"),
])  # fmt: skip
def test_what_is_no_guess_is_told_in_a_line_and_reveals_nothing(capsys, shown, name, guess, said):
    course_lib.predict(name, guess)
    assert said in capsys.readouterr().out
    assert shown == []


def test_asking_shows_a_card_and_the_question_as_text(shown, capsys):
    assert course_lib.quiz.ask("03-lane") is None
    (card,) = shown
    bundle = card._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/html"].startswith('<div class="ml ml-quiz')
    assert bundle["text/plain"] == repr(card)
    assert repr(card).startswith("Quick check 03-lane\n\nA block has 16 × 16 threads.")
    quiz.ask("03-lan")
    assert "Did you mean 03-lane" in capsys.readouterr().out


def test_a_wrong_answer_is_told_why_and_the_second_one_gets_a_hint(capsys):
    quiz.answer("03-lane", 83)
    first = capsys.readouterr().out
    assert first.startswith("Not yet. That is the thread's number in its block.")
    assert "Hint" not in first
    quiz.answer("03-lane", 1)
    assert "\nHint: Five whole rows" in capsys.readouterr().out
    quiz.answer("03-lane", "19")
    assert capsys.readouterr().out.startswith("Right. Threads are numbered along x first")


@pytest.mark.parametrize(("name", "given", "said"), [
    ("03-lanes", 1, "There is no question '03-lanes'. Did you mean 03-lane"),
    ("lane", 1, "There is no question 'lane'."),
    (3, 1, "There is no question '3'."),
    ("03-lane", "?", "'?' is not a number"),
    ("12-steps", "e", "There is no choice 'e' here. There are: a, b, c, d."),
])  # fmt: skip
def test_nothing_ends_in_a_traceback(capsys, name, given, said):
    quiz.answer(name, given)
    assert said in capsys.readouterr().out
