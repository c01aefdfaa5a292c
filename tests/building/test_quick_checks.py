"""A lesson without its quick checks is told what is missing."""

from every_case import every_case
from lesson_rules.quick_checks import quiz_rules

from course_lib.building.notebook import code, new, source
from course_lib.curriculum import lesson
from course_lib.questions import predictions, quick_checks


def asking(*names, tag="quiz"):
    return [code(f'course_lib.quiz.ask("{name}")', tag, id=name) for name in names]


def predicting(*names):
    return [code(f'course_lib.predict("{name}", ...)', "predict", id=f"p-{name}") for name in names]


NUMBER = "12"
WHOLE = [*asking(*quick_checks(NUMBER)), *predicting(*predictions(NUMBER))]
QUIZ = asking(*quick_checks(NUMBER))


@every_case(
    ("cells", "complaints"),
    [
        (WHOLE, []),
        ([*WHOLE, WHOLE[0]], [f"{WHOLE[0]['id']!r} is asked 2 times"]),
        ([*WHOLE, *asking("04-bk")], ["lesson 12 has no question '04-bk'"]),
        ([code("\n".join(map(source, QUIZ)), "quiz", id="all"), *WHOLE[len(QUIZ) :]], []),
        (WHOLE[1:], [f"{WHOLE[0]['id']!r} is written, and no cell asks it"]),
        ([*WHOLE, code("x = 19", "quiz", id="x")], ["cell x: nothing but lines as"]),
        ([*WHOLE[1:], *asking(WHOLE[0]["id"], tag="")], ["not tagged `quiz`", "no cell asks it"]),
    ],
)
def test_what_is_amiss_is_named(cells, complaints):
    found = list(quiz_rules(new(cells), lesson(NUMBER)))
    assert len(found) == len(complaints)
    assert all(words in complaint for words, complaint in zip(complaints, found, strict=True))
