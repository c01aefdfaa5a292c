"""Nobody is stuck: an answer is offered, shown and owed; ours stands in where one is needed."""

import inspect

import numpy as np
import pytest
from numba import cuda, float32

import course_lib
from course_lib import shown_answers as helping
from course_lib.curriculum import TASKS
from course_lib.host import runtime
from course_lib.student import progress
from course_lib.wording.errors import PlainError

assert float32  # the answers below use it


pytestmark = pytest.mark.usefixtures("session_of_its_own")


@cuda.jit
def unguarded(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10


@cuda.jit
def guarded(a, out):
    i = cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10


@cuda.jit
def still_given(a, out):
    """out[i] = a[i] + 10, for each of the four elements."""
    i = cuda.threadIdx.x  # noqa: F841
    ...


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_three_failures_in_a_row_offer_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    offer = 'Stuck? course_lib.show_answer("add_ten_guarded") shows an answer.'
    course_lib.check("add_ten_guarded", still_given)
    for _ in range(2):
        course_lib.check("add_ten_guarded", unguarded)
        assert "Stuck?" not in said(capsys)
    course_lib.check("add_ten_guarded", unguarded)
    assert offer in said(capsys)
    course_lib.check("add_ten_guarded", guarded)
    course_lib.check("add_ten_guarded", unguarded)
    assert "Stuck?" not in said(capsys)


def test_an_answer_is_shown_and_asked_for_again(capsys: pytest.CaptureFixture[str]) -> None:
    runtime.start("00")
    course_lib.show_answer("add_ten_guarded")
    assert TASKS["add_ten_guarded"].answer.strip() in said(capsys)
    again = 'unaided, in a cell of your own, and run course_lib.check("add_ten_guarded", add_ten'
    for lesson in ("00", ""):
        runtime.start(lesson)
        assert "unaided" not in said(capsys)
    runtime.start("01")
    assert again in said(capsys)
    course_lib.check("add_ten_guarded", helping.ours("add_ten_guarded"))
    runtime.start("01")
    assert again in said(capsys), "ours is nobody's own answer"
    course_lib.check("add_ten_guarded", guarded)
    said(capsys)
    runtime.start("02")
    assert "unaided" not in said(capsys)


def test_what_is_graded_is_never_shown_nor_offered_nor_replaced(capsys):
    course_lib.show_answer("matmul_tiled")
    text = said(capsys)
    assert text.startswith("matmul_tiled is graded") and text.count("\n") == 1
    course_lib.show_answer("add_ten_garded")
    assert "Did you mean add_ten_guarded" in said(capsys)
    assert progress.entries() == {}
    for _ in range(4):
        with pytest.raises(PlainError):
            course_lib.check("mat_add", unguarded)
    assert "Stuck?" not in said(capsys)
    with pytest.raises(PlainError, match="is graded"):
        course_lib.yours_or_ours("mat_add", guarded)


def test_what_passes_is_the_students_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert course_lib.yours_or_ours("add_ten_guarded", guarded) is guarded
    assert said(capsys) == "add_ten_guarded: yours, since it passes.\n"


@pytest.mark.parametrize(("yours", "why"), [
    (unguarded, "does not pass yet (line {}, read outside an array)"),
    (still_given, "is not written yet"),
    (None, "does not pass yet"),
])  # fmt: skip
def test_ours_stands_in_and_says_why(yours, why, capsys):
    line = inspect.getsourcelines(unguarded.py_func)[1] + 3
    kernel = course_lib.yours_or_ours("add_ten_guarded", yours)
    text = said(capsys)
    assert text.startswith("add_ten_guarded: ours stands in, since yours " + why.format(line))
    assert text.count("\n") == 1
    a, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert not course_lib.emulate(kernel)[1, 8](a, out).errors
    assert out.tolist() == [10, 11, 12, 13]


# Its source is the task's answer, which passes as text: tests/tasks. A few pass as objects here.
JUDGED_AS_OBJECTS = {name for number, name in enumerate(TASKS) if number % 16 == 0}


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda each: each.id)
def test_ours_is_a_real_object_with_a_source(task) -> None:
    answer = course_lib.yours_or_ours(task.id)
    if not task.kind.is_function:
        assert set(answer) == set(task.names_to_define)
        return
    function = getattr(answer, "py_func", answer)
    assert inspect.getsource(function).strip() in task.answer
    assert hasattr(answer, "targetoptions") == task.kind.is_launched
    if task.id in JUDGED_AS_OBJECTS:
        assert course_lib.examine(task.id, answer).passed
