"""Quick checks from a code cell: shown, answered in words, and never a traceback."""

import IPython.display
import pytest

import course_lib
from course_lib import quiz


@pytest.fixture(autouse=True)
def _fresh_session(monkeypatch):
    monkeypatch.setattr(quiz, "_wrong_tries", quiz.Counter())


def test_asking_shows_a_card_and_the_question_as_text(monkeypatch):
    shown = []
    monkeypatch.setattr(IPython.display, "display", shown.append)
    assert course_lib.quiz.ask("03-lane") is None
    (card,) = shown
    bundle = card._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/html"].startswith('<div class="ml ml-quiz')
    assert bundle["text/plain"] == repr(card)
    assert repr(card).startswith("Quick check 03-lane\n\nA block has 16 × 16 threads.")


def test_a_wrong_answer_is_told_why_and_the_second_one_gets_a_hint(capsys):
    quiz.answer("03-lane", 83)
    first = capsys.readouterr().out
    assert (
        first.startswith("Not yet. That is the thread's number in its block.")
        and "Hint" not in first
    )
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


def test_asking_for_an_unknown_question_names_near_ones(capsys):
    quiz.ask("03-lan")
    assert "Did you mean 03-lane" in capsys.readouterr().out
