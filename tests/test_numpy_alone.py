"""Checking needs NumPy alone, so that it also runs where nothing else is: in a browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from wrong_answers import wrong_answers_to

ROOT = Path(__file__).parents[1]
STYLES = ROOT / "tests" / "styles" / "answers"
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


def examined_alone(answers: dict[str, Path]) -> str:
    arguments = [f"{exercise}={path}" for exercise, path in answers.items()]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_right_and_a_wrong_answer_are_judged(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    text = wrong_answers_to(ROOT, "matmul_tiled")["second_barrier_missing"]
    wrong.write_text(text, encoding="utf-8")
    answers = {"mat_add": sorted((STYLES / "mat_add").glob("*.py"))[0], "matmul_tiled": wrong}
    said = examined_alone(answers)
    assert "mat_add: passed" in said
    assert "matmul_tiled: not yet" in said


@pytest.mark.slow
def test_every_exercise_is_judged() -> None:
    answers = {path.name: sorted(path.glob("*.py"))[0] for path in sorted(STYLES.iterdir())}
    assert examined_alone(answers).count(": passed") == len(answers)
