"""The student's own ladder: its rungs, counted alike for them and for the course's answers."""

import linecache
from pathlib import Path
from typing import Any

import pytest
from sampling import few

from course_lib import own_ladder as ladder
from course_lib.building.notebook import answer_cells, read, source
from course_lib.curriculum import EXERCISES, LESSONS, RUNGS, TASKS, Exercise
from course_lib.timing import Timing, TimingUnavailable

ROOT = Path(__file__).parents[1]
HEAD = "from numba import cuda, float32\nimport numpy as np\n"
ASKED = [each for each in (*TASKS.values(), *EXERCISES.values()) if each.rung]


pytestmark = pytest.mark.usefixtures("session_of_its_own")


def solution(exercise: Exercise) -> Any:
    """The course's answer as an object."""
    if exercise.id in TASKS:
        text = TASKS[exercise.id].answer
    else:
        stem = next(each.stem for each in LESSONS if each.number == exercise.lesson)
        cells = answer_cells(read(ROOT / "solutions" / f"{stem}.ipynb"))
        text = source(cells[exercise.id])
    return defined(text, exercise.id)


def defined(text: str, name: str) -> Any:
    filename = f"<answer {hash(text)}>"
    linecache.cache[filename] = (len(text), None, (HEAD + text).splitlines(True), filename)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(HEAD + text, filename, "exec"), names)
    return names[name]


@pytest.mark.parametrize("exercise", few(ASKED, 5))
def test_the_stored_counts_are_those_of_the_answer(exercise: Exercise) -> None:
    counted = ladder.counts_on_ladder(exercise, solution(exercise))
    assert counted
    assert {name: counted[name] for name in ladder.COLUMNS.values()} == ladder.REFERENCE[
        exercise.id
    ]


@pytest.mark.parametrize("name", ladder.LADDERS)
def test_a_ladder_has_the_rungs_that_a_student_writes_from_the_bottom_up(name: str) -> None:
    asked = [exercise.rung for exercise in ASKED if exercise.ladder == name]
    names = dict.fromkeys([*(rung.name for rung in RUNGS), *asked])
    rungs = [step.rung for step in ladder.whole_ladder(of=name)]
    assert rungs == [rung for rung in names if rung in asked]
    assert ladder.own_ladder(of=name) == ()


def test_a_wrong_kernel_and_one_that_cannot_run_count_nothing() -> None:
    exercise = EXERCISES["matmul_naive"]
    right = solution(exercise)
    assert ladder.counts_on_ladder(exercise, right, block=(2048, 2)) == {}
    zeros = "@cuda.jit\ndef zeros(A, B, C):\n    C[cuda.grid(2)] = 0\n"
    assert ladder.counts_on_ladder(exercise, defined(zeros, "zeros")) == {}
    assert ladder.counts_on_ladder(EXERCISES["mat_add"], right) == {}


def test_a_gpu_times_a_larger_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock itself is tested in test_timing.py, and needs a GPU."""
    kernel = solution(EXERCISES["matmul_tiled"])
    assert ladder.milliseconds_on_ladder(EXERCISES["matmul_tiled"], kernel) == {}
    asked = []

    def clock(kernel: object, grid: object, block: object, *matrices: Any, **more: Any) -> Timing:
        asked.append((kernel, grid, block, [each.shape for each in matrices]))
        return Timing("matmul_tiled", (3.0, 1.0, 2.0), 1, "NVIDIA X")

    monkeypatch.setattr("course_lib.host.runtime.on_gpu", lambda: True)
    monkeypatch.setattr("course_lib.host.runtime.device_name", lambda: "NVIDIA X")
    monkeypatch.setattr("course_lib.timing.time_kernel", clock)
    exercise = EXERCISES["matmul_tiled"]
    assert ladder.milliseconds_on_ladder(exercise, kernel) == {"NVIDIA X": 2.0}
    assert asked == [(kernel, (64, 64), (16, 16), [(1024, 1024)] * 3)]

    def refuse(*_: object, **__: object) -> None:
        raise TimingUnavailable("CuPy is missing")

    monkeypatch.setattr("course_lib.timing.time_kernel", refuse)
    assert ladder.milliseconds_on_ladder(exercise, kernel) == {}
