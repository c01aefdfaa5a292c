"""A prediction of a lesson: placed by one line, asked above its guess, never revealed there."""

import importlib

import pytest
from lesson_rules.quick_checks import quiz_rules

from course_lib.building.notebook import BuildError, code, new, source
from course_lib.building.placed import solved, with_placed
from course_lib.curriculum import LESSONS
from course_lib.questions import quick_checks
from course_lib.questions.kinds import Choice, Choose, Number

NUMBER = Number(
    id="00-writers", asks="Four threads run `out[2] = 7`. How many write?",
    code="@cuda.jit\ndef put_seven(out):\n    out[2] = 7\n", unit="threads", value=lambda: 4,
    reveal="All {answer}.", spoilers=("all four",),
)  # fmt: skip
CHOICE = Choose(id="00-faster", asks="Which?", choices=(
    Choice("Rows.", "No."),
    Choice("Columns.", "Yes.", right=True),
), reveal="Those.")  # fmt: skip


@pytest.fixture(autouse=True)
def _written(monkeypatch):
    """Lesson 00 of the real course asks these two, and a quick check."""
    module = importlib.import_module("course_lib.questions.lesson_00")
    check = next(each for each in module.QUESTIONS if not each.is_prediction)
    monkeypatch.setattr(module, "QUESTIONS", (check, NUMBER, CHOICE))


def placed(*names):
    return [code(f"# PREDICT {name}", id=f"here-{name}") for name in names]


def test_a_guess_that_an_author_left_is_taken_out_with_what_it_was_told():
    once = with_placed(placed("00-writers"), "00")
    guess = 'course_lib.predict("00-writers", 4)'
    once[1] |= {"source": guess, "outputs": ["All 4."], "execution_count": 3}
    again = with_placed(once, "00")[1]
    assert source(again).endswith("...)")
    assert (again["outputs"], again["execution_count"]) == ([], None)


def test_the_right_guesses_can_be_put_in():
    cells = with_placed(placed("00-writers", "00-faster"), "00")
    guesses = [source(each) for each in solved(cells) if each["cell_type"] == "code"]
    right = {"00-writers": "4.0", "00-faster": '"b"'}
    assert guesses == [f'course_lib.predict("{name}", {guess})' for name, guess in right.items()]


@pytest.mark.parametrize(("names", "lesson", "said"), [
    (["00-nobody"], "00", "cell here-00-nobody: lesson 00 has no prediction 00-nobody"),
    (["00-writers"], "01", "lesson 01 has no prediction 00-writers"),
    (["00-writers"] * 2, "00", "the prediction 00-writers is there twice"),
])  # fmt: skip
def test_an_author_s_error_is_named(names, lesson, said):
    with pytest.raises(BuildError, match=said):
        with_placed(placed(*names), lesson)


def quick_check():
    name = next(iter(quick_checks("00")))
    return code(f'course_lib.quiz.ask("{name}")', "quiz", id="quiz")


@pytest.mark.parametrize(("cell", "said"), [
    (code('course_lib.quiz.ask("00-faster")', "quiz", id="q"), "is a prediction: place it by"),
    (code('x = 1\ncourse_lib.predict("00-faster", 1)', id="q"), "has a cell of its own"),
    (code("x = 1", id="q"), "no `# PREDICT 00-faster` places it"),
])  # fmt: skip
def test_a_prediction_out_of_place_is_named(cell, said):
    notebook = new([*with_placed(placed("00-writers"), "00"), quick_check(), cell])
    assert any(said in complaint for complaint in quiz_rules(notebook, LESSONS[0]))
