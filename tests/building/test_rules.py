"""Every rule for notebooks, their questions and their outputs can be broken, and then says so."""

import dataclasses

import pytest
from every_case import every_case
from lesson_rules.quick_checks import quiz_rules
from lesson_rules.rules import common_rules, is_empty, lesson_rules, solution_rules, words

from course_lib.building.notebook import code, markdown, new, source
from course_lib.building.outputs import blemishes
from course_lib.curriculum import TASKS, lesson
from course_lib.questions import predictions, quick_checks


def by_id(notebook, name):
    return next(cell for cell in notebook["cells"] if cell["id"] == name)


def test_good_notebooks_keep_every_rule(course, second, lesson_notebook, solution_notebook):
    assert list(common_rules(lesson_notebook)) == []
    assert list(common_rules(solution_notebook)) == []
    assert list(lesson_rules(do_first(), second)) == []
    assert list(lesson_rules(lesson_notebook, course.lessons[0])) == ["it places no task"]
    assert list(solution_rules(solution_notebook, course.lessons[0])) == []


LONG = "\n".join(f"x{i} = {i}" for i in range(13))


@every_case(("cell", "why"), [
    (code(LONG), "13 lines"),
    (markdown("word " * 121), "121 words"),
    (markdown("# A title"), "first level"),
    (markdown("![](picture.png)"), "without alt text"),
    (markdown("<details>\n<summary>Hint</summary>"), "fold is not closed"),
    (markdown("x", "predcit"), "nothing knows the tag 'predcit'"),
    (code("# nbval_check_output\n1"), "by a tag"),
    (code("1", "nbval-check-output", "nbval-ignore-output"), "both compared and ignored"),
    (code("1", "nbval-check-output") | {"execution_count": 1}, "nothing is printed"),
    (code("%timeit f()", "computed"), "reads a clock"),
])  # fmt: skip
def test_a_broken_common_rule_is_named(cell, why):
    (complaint,) = common_rules(new([cell]))
    assert why in complaint


HEADER = "# 02 · Do first\n\nOne small kernel, about 10 minutes. You type it."
SETUP = 'import sys\nsys.path += [".."]\nimport course_lib\ncourse_lib.start("02")'


def do_first(task="put_seven"):
    """A lesson whose student types: with a task, and all that one from 02 on has to have."""
    return new([
        markdown(HEADER, "launch", id="launch"),
        code(SETUP, "setup", id="setup"),
        code(f"# TASK {task}\n{TASKS[task].given}", "task", id="task"),
        code('course_lib.predict("02-x", ...)', "predict", id="guess"),
        code("print(3)", "break", "nbval-check-output", id="break"),
        code("assert 1 + 2 == 3", "count", id="count"),
        markdown("**You can now teach** how a kernel writes one number.", id="teach"),
        markdown("**Next:** [lesson 03](03_third.ipynb)", "next", id="next"),
    ])  # fmt: skip


@pytest.fixture
def second(course):
    return dataclasses.replace(course.lessons[0], number="02")


def fill(name, text):
    return lambda notebook: by_id(notebook, name).update(source=text)


def crowd(notebook):
    notebook["cells"][2:2] = [markdown("Read on.", id=f"read-{n}") for n in range(6)]


@pytest.mark.parametrize(("damage", "why"), [
    (fill("launch", f"{HEADER}\n\n- Read\n- Write"), "the header is the title and one line"),
    (fill("setup", f"import os\nimport re\n{SETUP}"), "6 lines of setup; 5 are enough"),
    (crowd, "8 cells stand before the first task"),
    (fill("guess", "print(8)"), "placed by `# PREDICT NN-name`"),
    (lambda notebook: notebook["cells"].remove(by_id(notebook, "teach")), "You can now teach"),
    (lambda notebook: by_id(notebook, "count")["metadata"].clear(), "tagged `count`"),
    (fill("count", "print(3)"), "asserts nothing"),
    (lambda notebook: notebook["cells"].pop(), "does not lead on"),
])  # fmt: skip
def test_a_damaged_do_first_lesson_is_named(second, damage, why):
    notebook = do_first()
    damage(notebook)
    (complaint,) = lesson_rules(notebook, second)
    assert why in complaint


def test_words_are_what_is_read_and_code_is_what_helps():
    assert is_empty('@cuda.jit\ndef f(x):\n    """Says."""\n    ...  # one line')
    assert is_empty("# write a kernel")
    assert not is_empty("def f(x):\n    i = cuda.grid(1)\n    ...")
    assert words("See [lesson 03](../notebooks/03_coalescing.ipynb), now: 2 * 3.") == 6
    assert words("```\nx = 1\n```\ntwo words") == 2
    assert words("<details><summary>Hint 1</summary></details>") == 2


def change(name, old, new):
    def apply(notebook):
        cell = by_id(notebook, name)
        assert old in source(cell)
        cell["source"] = source(cell).replace(old, new)

    return apply


def drop(name):
    return lambda notebook: notebook["cells"].remove(by_id(notebook, name))


@pytest.mark.parametrize(("damage", "why"), [
    (change("answer", "# EXERCISE mat_add", "# EXERCISE mat_sub"), "answers mat_sub instead"),
    (change("answer", "def mat_add", "def add"), "defines no function of that name"),
    (change("answer", "(A, B, C)", "(A, B)"), "should read mat_add(A, B, C)"),
    (change("answer", '"""C = A + B, element by element."""', "pass"), "needs a docstring"),
    (change("answer", "BEGIN", "START"), "nothing between markers"),
    (drop("check"), "after the answer: one cell, tagged `check`"),
    (drop("hint-2"), "2 hints"),
    (change("hint-2", "Hint 2", "Hint 3"), "in this order"),
    (change("hint-3", "the idea", "the code"), "instead of 'Hint 3: the idea'"),
    (change("hint-1", "Think", "<summary>Hint 2: again</summary> Think"), "share a cell"),
    (change("hint-1", "Think", "```\ncode\n```\nThink"), "shows code"),
])  # fmt: skip
def test_a_damaged_solution_is_named(course, solution_notebook, damage, why):
    damage(solution_notebook)
    complaints = list(solution_rules(solution_notebook, course.lessons[0]))
    assert len(complaints) == 1 and why in complaints[0]


def asking(*names, tag="quiz"):
    return [code(f'course_lib.quiz.ask("{name}")', tag, id=name) for name in names]


def predicting(*names):
    return [code(f'course_lib.predict("{name}", ...)', "predict", id=f"p-{name}") for name in names]


NUMBER = "12"
WHOLE = [*asking(*quick_checks(NUMBER)), *predicting(*predictions(NUMBER))]
QUIZ = asking(*quick_checks(NUMBER))


@every_case(("cells", "complaints"), [
    (WHOLE, []),
    ([*WHOLE, WHOLE[0]], [f"{WHOLE[0]['id']!r} is asked 2 times"]),
    ([*WHOLE, *asking("04-bk")], ["lesson 12 has no question '04-bk'"]),
    ([code("\n".join(map(source, QUIZ)), "quiz", id="all"), *WHOLE[len(QUIZ) :]], []),
    (WHOLE[1:], [f"{WHOLE[0]['id']!r} is written, and no cell asks it"]),
    ([*WHOLE, code("x = 19", "quiz", id="x")], ["cell x: nothing but lines as"]),
    ([*WHOLE[1:], *asking(WHOLE[0]["id"], tag="")], ["not tagged `quiz`", "no cell asks it"]),
])  # fmt: skip
def test_what_is_amiss_is_named(cells, complaints):
    found = list(quiz_rules(new(cells), lesson(NUMBER)))
    assert len(found) == len(complaints)
    assert all(words in complaint for words, complaint in zip(complaints, found, strict=True))


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": [text]}


def picture(alt: str) -> dict:
    data = {"image/png": "iVBOR", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    return {"output_type": "display_data", "data": data, "metadata": {"image/png": {"alt": alt}}}


def complaints(output: dict, *names: str) -> list[str]:
    cell = code("1", *names, id="here") | {"outputs": [output], "execution_count": 1}
    return list(blemishes(new([cell])))


@every_case(("output", "why"), [
    (stream("<Kernel at 0x7f3a12bc40>"), "address in memory"),
    (stream("see /tmp/ipykernel_123/4.py"), "path of this machine"),
    (stream("C:\\Users\\me"), "path of this machine"),
    (stream("median 1.25 ms"), "a time"),
    (stream("took 3 s."), "a time"),
    (stream("12,000 µs"), "a time"),
    (stream("Warning: old", "stderr"), "stderr"),
    ({"output_type": "error", "ename": "ValueError", "evalue": ""}, "exception is stored"),
    (picture(""), "without alt text"),
    (picture("a plot"), "without alt text"),
])  # fmt: skip
def test_what_may_not_be_stored(output, why):
    (complaint,) = complaints(output)
    assert complaint.startswith("cell here: ") and why in complaint
