"""A grid of three axes is explained as one of two: `split_k`, its parts along z and along y."""

from dataclasses import replace

import pytest
from sampling import few

from course_lib.checking import JUDGES, TypedAnswer, load_program, names_around, nobody
from course_lib.curriculum import TASKS, Task
from course_lib.diagnosis.report import Report

ALONG_Y = replace(TASKS["split_k"], wrong_ideas=())
ALONG_Z = replace(
    ALONG_Y, block=(16, 16, 1), grid=("N", 1, 4),
    answer=ALONG_Y.answer.replace("blockIdx.y", "blockIdx.z"),
)  # fmt: skip
IMPORTS = "from numba import cuda, float32\n"
# What is changed in the answer, and the code that it is told.
SLIPS = {
    "A.shape[1] + 3) // 4": ("A.shape[1]) // 4", "wrong-loop-bound"),
    "range(part * length, min((part + 1) * length,": ("range(0, min(length,", "wrong-index"),
    "part * length, min": ("part, min", "wrong-loop-bound"),
    "total += A": ("total = A", "accumulator-error"),
    "        cuda.atomic": ("            cuda.atomic", "accumulator-error"),
}


def judged(task: Task, old: str, new: str) -> Report:
    text = IMPORTS + task.answer.replace(old, new)
    program = load_program(text, surroundings=names_around(""))
    return JUDGES[task.kind].of_text(task, TypedAnswer(program, ""), None, 0, nobody)


@pytest.mark.parametrize("slip", few(SLIPS))
def test_the_cause_is_the_same_along_z(slip: str) -> None:
    new, code = SLIPS[slip]
    along_y, along_z = (judged(task, slip, new).findings for task in (ALONG_Y, ALONG_Z))
    assert [str(each) for each in along_z] == [str(each) for each in along_y]
    assert along_z[0].code == code


def test_a_right_answer_passes_along_z() -> None:
    assert judged(ALONG_Z, "", "").passed
