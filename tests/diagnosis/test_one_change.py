"""Each kind of small change is found from a wrong function to its right one; none is made up."""

from __future__ import annotations

import ast
import random

import pytest
from every_case import every_case

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.diagnosis.functions import called_function
from course_lib.diagnosis.repairs.change import Change, Original
from course_lib.diagnosis.repairs.one_change import changes

HEAD = "from numba import cuda, float32\n"
LOOP = "def f(a, b):\n    for k in range(a):\n        b += k\n"
# Kind of change, code and line of it; the wrong function, and what stands there in the right one.
OF_FUNCTIONS = [
    ("brackets", "wrong-formula", 2, "def f(a, b, c):\n    return a * b + c", "a * (b + c)"),
    (
        "brackets",
        "wrong-formula",
        2,
        "def f(a, b, c):\n    return 4 * a * b + c",
        "4 * (a * b + c)",
    ),
    ("precedence", "wrong-formula", 2, "def f(a, b):\n    return a + b % 32", "(a + b) % 32"),
    (
        "precedence",
        "wrong-formula",
        2,
        "def f(a, b):\n    return a + b << 16 + 1 << 62",
        "a + (b << 16) + (1 << 62)",
    ),
    ("turned", "wrong-formula", 2, "def f(a, b):\n    return a - b", "b - a"),
    ("turned", "wrong-formula", 2, "def f(a, b):\n    return a / b", "b / a"),
    ("factor", "wrong-formula", 2, "def f(a, b):\n    return a + b", "a // 8 + b"),
    ("operator", "wrong-formula", 2, "def f(a, b):\n    return a // b", "a / b"),
    ("rounding", "wrong-formula", 2, "def f(a, b):\n    return a // b", "-(-a // b)"),
    ("rounding", "wrong-formula", 2, "def f(a, b):\n    return round(a / b)", "a / b"),
    ("call", "wrong-formula", 2, "def f(a, b):\n    return min(a, b)", "max(a, b)"),
    ("surplus", "wrong-formula", 2, "def f(a, b):\n    return 4 * a * b", "a * b"),
    ("surplus", "wrong-formula", 2, "def f(a, b):\n    return a + b - 1", "a + b"),
    ("surplus", "wrong-index", 2, "def f(a, b):\n    return g(4 * a, 4 * b)", "g(a, b)"),
    ("factor", "wrong-formula", 2, "def f(a, b):\n    return a * b", "a * b * 8"),
    ("name", "wrong-formula", 2, "def f(a, b):\n    return a * a", "a * b"),
    ("number", "wrong-formula", 2, "def f(a, b):\n    return a // 32", "a // 8"),
    ("number", "wrong-formula", 2, "def f(a, b):\n    return a // 32", "a // b"),
    ("comparison", "wrong-bounds-check", 2, "def f(a, b):\n    return a < b", "a <= b"),
    ("opposite", "wrong-formula", 2, "def f(a, b):\n    return a < b", "a > b"),
    ("indices", "wrong-index", 2, "def f(a, b):\n    return A[a, b]", "A[b, a]"),
]
WHOLE = [  # the same, with the whole right function
    ("indentation", 4, f"{LOOP}    b *= 2\n    return b", f"{LOOP}        b *= 2\n    return b"),
    ("indentation", 4, f"{LOOP}        return b", f"{LOOP}    return b"),
    ("number", 2, "def f(a):\n    for k in range(31):\n        a += k",
     "def f(a):\n    for k in range(32):\n        a += k"),
    ("step", 2, "def f(a):\n    for k in range(0, a, 2):\n        a += k",
     "def f(a):\n    for k in range(1, a, 2):\n        a += k"),
    ("number", 2, "def f(a):\n    while a < 32:\n        a += 1",
     "def f(a):\n    while a < 31:\n        a += 1"),
    ("number", 2, "def f(a):\n    if a < 3:\n        a += 3",
     "def f(a):\n    if a < 4:\n        a += 4"),
    ("branch", 2, "def f(a, b):\n    if a < b:\n        c = a\n    return c",
     "def f(a, b):\n    if a < b:\n        c = a\n    else:\n        c = 0\n    return c"),
    ("comparison", 2, "def f(a, b):\n    return a < 3 and b < 3",
     "def f(a, b):\n    return a <= 3 and b <= 3"),
]  # fmt: skip


def between(wrong: str, right: str) -> list[Change]:
    """The changes that lead from one text to the other."""
    function = ast.parse(wrong).body[0]
    assert isinstance(function, ast.FunctionDef)
    wanted = ast.unparse(ast.parse(right))
    every = changes(Original(function, numbers=[8]))
    return [each for each in every if ast.unparse(each.tree) == wanted]


@every_case(("kind", "code", "line", "wrong", "value"), OF_FUNCTIONS)
def test_a_formula_is_led_to_the_right_one(
    kind: str, code: str, line: int, wrong: str, value: str
) -> None:
    head, _ = wrong.split("return ")
    found = between(wrong, f"{head}return {value}")
    assert (kind, code, line) in [(each.kind, each.code, each.line) for each in found]


@every_case(("kind", "line", "wrong", "right"), WHOLE)
def test_a_function_is_led_to_the_right_one(kind: str, line: int, wrong: str, right: str) -> None:
    assert (kind, line) in [(each.kind, each.line) for each in between(wrong, right)]


def test_a_change_in_a_loop_may_be_right_by_chance() -> None:
    wrong = "def f(a):\n    for k in range(4):\n        a += k + 1 % 3\n    return a - 1"
    function = ast.parse(wrong).body[0]
    assert isinstance(function, ast.FunctionDef)
    in_loop = {each.line: each.in_loop for each in changes(Original(function, numbers=[8]))}
    assert in_loop[3] and not in_loop[4]


def spoilt(task_id: str, count: int) -> list[str]:
    """Our answer with one small change, or with two, drawn at random: most of them are wrong."""
    draw = random.Random(task_id)
    task, texts = TASKS[task_id], []
    for number in range(count):
        function = ast.parse(task.answer).body[0]
        for _ in range(1 + number % 2):
            assert isinstance(function, ast.FunctionDef)
            every = list(changes(Original(function, [3])))
            function = draw.choice(every).tree
        texts.append(HEAD + ast.unparse(function))
    return texts


@pytest.mark.parametrize("task_id", ["bank_of", "flop_per_byte"])
def test_what_is_reported_repairs_the_answer(task_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of the repaired answer are right; what it costs, nobody asked of the change."""
    reported: list[Change] = []
    search = called_function.change_that_repairs

    def watched(*arguments: object) -> Change | None:
        change = search(*arguments)
        reported.extend([change] if change else [])
        return change

    for text in spoilt(task_id, 8):
        with monkeypatch.context() as patch:
            patch.setattr(called_function, "change_that_repairs", watched)
            examine_source(task_id, text)
    assert reported
    for change in reported:
        report = examine_source(task_id, HEAD + ast.unparse(change.tree))
        assert report.numbers_right, f"{change.says}\n{report}"
