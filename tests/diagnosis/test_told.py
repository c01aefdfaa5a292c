"""A wrong answer -> the code of its first error, its line, and words of what is said of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from stored_answers import Slip, read, right_answers, slips_in

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS

HEAD = """\
import math
import numpy as np
from numba import cuda, float32, int8, int16, uint8
"""
HERE = Path(__file__).parent
BASES = {name: task.answer for name, task in TASKS.items()}
BASES |= {f"{exercise}_{name}": text for (exercise, name), text in right_answers().items()}
BASES |= read((HERE / "told_bases.txt").read_text(encoding="utf-8"))


def cases() -> Iterator[object]:
    """An exercise and all wrong answers to it of one file."""
    for file, marks in (("told", []), ("told_slow", [pytest.mark.slow])):
        text = (HERE / f"{file}.txt").read_text(encoding="utf-8")
        for exercise, answers in slips_in(text, BASES).items():
            yield pytest.param(exercise, answers, id=f"{exercise}-{file}", marks=marks)


@pytest.mark.parametrize(("exercise", "answers"), [*cases()])
def test_the_cause_is_told_at_its_line(exercise: str, answers: list[Slip]) -> None:
    objections = [found for each in answers if (found := objection(exercise, each))]
    assert not objections, "\n\n".join(objections)


def objection(exercise: str, answer: Slip) -> str:
    """What is wrong with the report on an answer; empty if nothing is."""
    report = examine_source(exercise, HEAD + answer.text, seed=answer.seed, debug=True)
    if answer.code in ("passed", "nothing"):
        is_right = report.passed and (answer.code == "passed" or not report.findings)
        return "" if is_right else f"{answer.code} is expected:\n{answer.text}\n{report}"
    first, *others = report.findings if answer.flag == "warning" else report.errors
    line = None if answer.flag == "any line" else answer.line + HEAD.count("\n")
    is_told = (first.code, line) == (answer.code, line and first.line)
    is_alone = not others or answer.flag in ("first", "warning")
    is_said = all(holds(words, first.message, first.hint) for words in answer.says)
    if is_told and is_alone and is_said and report.passed == (answer.flag == "warning"):
        return ""
    return f"{answer.code} in line {line} is expected, {answer.says}:\n{answer.text}\n{report}"


def holds(words: str, message: str, hint: str) -> bool:
    """Whether a row that begins with ?, ?? or ?! is true of what is said."""
    sign, _, part = words.partition(" ")
    return (part in (hint if sign == "??" else message)) != (sign == "?!")
