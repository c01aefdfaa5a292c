"""Nothing that a lesson shows answers a later exercise or task when it is pasted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from passing import passes, without_cause
from pasted_functions import Asked, Shown, course, handed_in
from sampling import marks

from course_lib.building.notebook import code, dumps, markdown, new
from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, LESSONS, TASKS, Exercise, Task

ROOT = Path(__file__).resolve().parents[1]
# What a first attempt earns: right numbers on every shape; not what the exercise is about.
FIRST_ATTEMPT = ("right", "bounds", "float32")

SHOWN, ASKED = course(ROOT)
SLOW_ONE_IN = 6  # of those that are asked for; `--long` tries each of them


def gifts(shown: list[Shown], asked: Asked) -> Iterator[tuple[str, str]]:
    """The entry, with each earlier lesson that has a function which earns too much there."""
    entry = asked.entry
    for function in shown:
        for text in handed_in(function, entry) if function.place < asked.place else ():
            if earns_too_much(entry, text):
                yield entry.id, function.lesson


def earns_too_much(entry: Exercise, text: str) -> bool:
    """A task has no points, so what does not pass there earns nothing."""
    if isinstance(entry, Task):
        return passes(entry.id, text)
    report = without_cause(entry.id, text)
    most = sum(entry.points.get(name, 0) for name in FIRST_ATTEMPT)
    return report.passed or report.points > most


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(asked, id=asked.entry.id, marks=marks(number, slow=SLOW_ONE_IN))
        for number, asked in enumerate(ASKED)
    ],
)
def test_no_function_of_a_lesson_answers_what_comes_later(asked):
    assert not set(gifts(SHOWN, asked))


def test_everything_that_is_asked_is_tried():
    placed = {each.entry.id for each in ASKED}
    assert placed >= set(EXERCISES)
    assert {each.lesson for each in SHOWN} <= {each.number for each in LESSONS}
    assert [each.place for each in ASKED] == sorted(each.place for each in ASKED)


GUARDED = """\
@cuda.jit
def elsewhere(A, out, x):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        x[row, col] = both(A[row, col], out[row, col])
"""
HELPERS = """\
@cuda.jit(device=True)
def both(p, q):
    return p + q

def two(p, q):
    return 2

TEN = 10
"""
FACTORY = """\
def make(scale, by=np.int32, unused=0):
    twice = 2 * by(scale)
    @cuda.jit
    def made(a, out):
        out[0] = twice * TEN
"""


@pytest.fixture
def tiny(tmp_path):
    """A course whose first lesson shows a sum in two cells and in its words."""
    for lesson in LESSONS:
        for folder in ("notebooks", "exercises"):
            (tmp_path / folder).mkdir(exist_ok=True)
            path = tmp_path / folder / f"{lesson.stem}.ipynb"
            path.write_text(dumps(new([code("pass", id="x")])))
    cells = [
        code(HELPERS, id="helper"),
        code(GUARDED, id="kernel"),
        code(GUARDED, id="again"),
        markdown(f"```python\n{FACTORY}```\n\n```python\ndef cut(…\n```", id="words"),
        code(f"# TASK put_seven\n{TASKS['put_seven'].given}", id="task"),
    ]
    (tmp_path / f"notebooks/{LESSONS[0].stem}.ipynb").write_text(dumps(new(cells)))
    (tmp_path / f"exercises/{LESSONS[0].stem}.ipynb").write_text(
        dumps(new([code("# EXERCISE mat_add\n@cuda.jit\ndef mat_add(A, B, C):\n    pass")]))
    )
    return course(tmp_path)


def test_what_is_pasted_passes_under_its_new_names(tiny):
    shown, asked = tiny
    (text,) = handed_in(shown[2], EXERCISES["mat_add"])
    assert "C[row, col] = both(A[row, col], B[row, col])" in text
    assert examine_source("mat_add", text).passed
    assert list(gifts(shown, asked[1])) == [("mat_add", "00")]
    assert list(gifts(shown, asked[0])) == []
