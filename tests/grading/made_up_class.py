"""A class made up by a seed that takes both tests: for tests, and for the guide's example.

Each student has an ability, which grows, and each item a difficulty; chance decides, as in the
Rasch model. The notebooks are those of a release, filled in.
"""

import json
from pathlib import Path

import numpy as np

from course_lib.grading.learning.forms import FORMS
from course_lib.questions.kinds import Choose, Question, WhichLine

GROWTH = 1.1  # of an ability, from test to test, on average
TILED = """\
    part = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    total = float32(0)
    for start in range(0, z.shape[0], 64):
        if start + t < z.shape[0]:
            part[t] = z[start + t]
        cuda.syncthreads()
        if i < y.shape[0]:
            for k in range(min(64, z.shape[0] - start)):
                other = part[k]
                total += {term}
        cuda.syncthreads()
    if i < y.shape[0]:
        y[i] = total
"""
NAIVE = """\
    i = cuda.grid(1)
    if i < y.shape[0]:
        total = float32(0)
        for j in range(z.shape[0]):
            other = z[j]
            total += {term}
        y[i] = total
"""
TERMS = {"distance_sum": "abs(x[i] - other)", "square_sum": "(x[i] - other) ** 2"}
KINDS = {TILED: 1.0, NAIVE: 0.6, "": 0.0}  # what is written for a kernel, and what it earns


def kernel(name: str, body: str) -> str:
    head = f"# EXERCISE {name}\n@cuda.jit\ndef {name}(x, z, y):\n"
    return head + (body.format(term=TERMS[name]) or "    ...\n")


def key_to(item: Question) -> str:
    """The right answer, as one writes it."""
    match = next(match for match, right, _ in item.rows() if right)
    return f"{round(sum(match) / 2)}" if isinstance(match, list) else match


def answer(item: Question, is_right: bool, random: np.random.Generator) -> str:
    """An answer as somebody writes it: bare, or with a reason; in places none at all."""
    key, others = key_to(item), ["1", "2", "3", "64"]
    if isinstance(item, (Choose, WhichLine)):
        others = list(item.lettered() if isinstance(item, Choose) else item.lines())
    if not is_right:
        key = str(random.choice([other for other in [*others, ""] if other != key]))
    return str(random.choice([key, f"**{key}**", f"{key}, because it is so"])) if key else ""


def write_class(
    release: Path, folder: Path, students: int, seed: int = 1
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Write FOLDER/pretest and FOLDER/posttest.

    Returns:
        By form: which items each student has right (students x items), and the kernels' shares.
    """
    random = np.random.default_rng(seed)
    ability = random.normal(-0.4, 1.2, students)
    made = {}
    for form in FORMS.values():
        given = json.loads((release / f"exercises/{form.name}.ipynb").read_text(encoding="utf-8"))
        hardness = np.linspace(-1.2, 1.4, len(form.items))
        right = random.random((students, len(form.items))) < 1 / (
            1 + np.exp(hardness - ability[:, None])
        )
        bodies = [TILED if able > 1 else NAIVE if able > 0 else "" for able in ability]
        made[form.name] = right.astype(int), np.array([KINDS[body] for body in bodies])
        (folder / form.name).mkdir(parents=True, exist_ok=True)
        for student, body in enumerate(bodies):
            texts = {"# EXERCISE": kernel(form.exercise.id, body)}
            for item, is_right in zip(form.items, right[student], strict=True):
                mark = f"<!-- QUESTION {item.id} -->"
                texts[mark] = f"{mark}\n{answer(item, bool(is_right), random)}"
            path = folder / form.name / f"Student {student:02}.ipynb"
            path.write_text(json.dumps(_filled_in(given, texts)), encoding="utf-8")
        ability = ability + random.normal(GROWTH, 0.4, students)
    return made


def _filled_in(notebook: dict, texts: dict[str, str]) -> dict:
    """With these texts in the place of the cells that begin so."""
    cells = [
        {**cell, "source": next((new for at, new in texts.items() if text.startswith(at)), text)}
        for cell in notebook["cells"]
        for text in ["".join(cell["source"])]
    ]
    return {**notebook, "cells": cells}
