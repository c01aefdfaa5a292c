"""A small class of students, and a way to judge it without starting kernels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from course_lib.grading.judging import batches
from course_lib.grading.judging.executors import Workplace
from course_lib.grading.judging.worker import Batch, BatchResult
from course_lib.grading.records import FoundAnswer, Submission

REPOSITORY = Path(__file__).resolve().parents[2]

RIGHT = """\
# EXERCISE mat_add
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
"""
WRONG = RIGHT.replace("+ B[y, x]", "- B[y, x]")
UNBOUNDED = RIGHT.replace("y < C.shape[0]", "y <= C.shape[0]")


def notebook(*cells: str) -> str:
    """A notebook of code cells, as a student hands it in."""
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "metadata": {}, "source": cell, "outputs": []}
                for cell in ("from numba import cuda", *cells)
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def write_class(folder: Path, answers: Mapping[str, str]) -> Path:
    """A folder with one notebook for each student."""
    folder.mkdir(parents=True, exist_ok=True)
    for student, text in answers.items():
        (folder / f"{student}.ipynb").write_text(notebook(text), encoding="utf-8")
    return folder


def submission(student: str) -> Submission:
    return Submission(student=student, key=student)


def answer(text: str, exercise: str = "mat_add") -> FoundAnswer:
    return FoundAnswer(exercise, text=text)


def threads(width: int = 2) -> Workplace:
    """A workplace in this process."""
    return Workplace(
        lambda: ThreadPoolExecutor(width), lambda pool: pool.shutdown(cancel_futures=True), width
    )


def judge_here(job: str) -> str:
    """`worker.run_batch` without nbval: no kernel, no child process."""
    batch = Batch.from_json(job)
    judgements = {
        item.number: batches.judge(
            item.exercise, item.text, batch.seed, batch.tasks[item.exercise].context
        )
        for item in batch.items
    }
    return BatchResult(judgements).to_json()
