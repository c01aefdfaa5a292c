"""A guess in a code cell: asked for, judged, and the run revealed only then; never a traceback."""

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
    monkeypatch.setattr(quiz, "find", lambda name: find_in(known, name))
    DRAWN.clear()


def find_in(known, name):
    return known[name] if name in known else questions.find(name)


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
