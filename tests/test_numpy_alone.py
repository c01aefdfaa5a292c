"""Checking needs NumPy alone, so that it also runs where nothing else is: in a browser."""

from pathlib import Path

import pytest
from child import python
from sampling import marks
from stored_answers import right_answers, right_answers_to, wrong_answers_to

ROOT = Path(__file__).parents[1]
# Everything that is not Python's own, NumPy or ours is as good as not installed.
SCRIPT = """
import sys, threading

class OnlyNumPy:
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package not in {*sys.stdlib_module_names, "numpy", "course_lib"}:
            raise ModuleNotFoundError(f"{name} is not here", name=name)

def refuse(self):
    raise RuntimeError("can't start new thread")

sys.meta_path.insert(0, OnlyNumPy())
threading.Thread.start = refuse
import course_lib
from course_lib import quiz
for argument in sys.argv[1:]:
    exercise, path = argument.split("=", 1)
    report = course_lib.examine_source(exercise, open(path, encoding="utf-8").read(), debug=True)
    print(report)
"""


def a_right_one(exercise: str) -> str:
    return next(iter(right_answers_to(exercise).values()))


def examined_alone(folder: Path, answers: dict[str, str]) -> str:
    arguments = []
    for exercise, text in answers.items():
        (folder / f"{exercise}.py").write_text(text, encoding="utf-8")
        arguments.append(f"{exercise}={folder / exercise}.py")
    return python("-c", SCRIPT, *arguments).stdout


@pytest.mark.slow
def test_a_right_and_a_wrong_answer_are_judged(tmp_path: Path) -> None:
    wrong = wrong_answers_to("matmul_tiled")["second_barrier_missing"]
    said = examined_alone(tmp_path, {"mat_add": a_right_one("mat_add"), "matmul_tiled": wrong})
    assert "mat_add: passed" in said
    assert "matmul_tiled: not yet" in said


@pytest.mark.parametrize("half", [pytest.param(n, marks=marks(n, slow=2)) for n in range(2)])
def test_every_exercise_is_judged(tmp_path: Path, half: int) -> None:
    exercises = sorted({exercise for exercise, _ in right_answers()})[half::2]
    answers = {exercise: a_right_one(exercise) for exercise in exercises}
    assert examined_alone(tmp_path, answers).count(": passed") == len(answers) >= 6
