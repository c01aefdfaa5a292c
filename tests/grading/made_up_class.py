"""A class made up by a seed, which takes both tests: for tests, and for the guide's example.

    python tests/grading/made_up_class.py RELEASE FOLDER [STUDENTS] [SEED]

fills in the two notebooks of a release as FOLDER/pre and FOLDER/post. Each student has an ability,
which grows, and each item a difficulty; chance decides, as in the Rasch model.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_lib.grading.learning.forms import FORMS
from course_lib.questions.kinds import Choose, Question, WhichLine

GROWTH = 1.1  # of every ability, from test to test, on average
KERNEL = """\
# EXERCISE {name}
@cuda.jit
def {name}(x, z, y):
    part = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    total = float32(0)
    for start in range(0, z.shape[0], 64):
        if start + t < z.shape[0]:
            part[t] = z[start + t]
        cuda.syncthreads()
        if i < y.shape[0]:
            for k in range(min(64, z.shape[0] - start)):
                total += {tiled}
        cuda.syncthreads()
    if i < y.shape[0]:
        y[i] = total
"""
NAIVE = """\
# EXERCISE {name}
@cuda.jit
def {name}(x, z, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        total = float32(0)
        for j in range(z.shape[0]):
            total += {plain}
        y[i] = total
"""
TERMS = {
    "distance_sum": ("abs(x[i] - part[k])", "abs(x[i] - z[j])"),
    "square_sum": ("(x[i] - part[k]) ** 2", "(x[i] - z[j]) ** 2"),
}
SHARES = {"tiled": 1.0, "naive": 0.6, "": 0.0}  # of a kernel's points


@dataclass
class MadeUpClass:
    """What everybody has answered, and what of it is right."""

    names: list[str]
    right: dict[str, np.ndarray]  # by form: students x items, 0 or 1
    kernels: dict[str, list[float]]  # by form: shares of the points


def kernel(name: str, kind: str) -> str:
    tiled, plain = TERMS[name]
    text = {"tiled": KERNEL, "naive": NAIVE, "": "# EXERCISE {name}\n"}[kind]
    return text.format(name=name, tiled=tiled, plain=plain)


def key_to(item: Question) -> str:
    """The right answer, as one writes it."""
    match = next(match for match, right, _ in item.rows() if right)
    return f"{round(sum(match) / 2)}" if isinstance(match, list) else match


def answer(item: Question, is_right: bool, random: np.random.Generator) -> str:
    """An answer as somebody writes it: bare, with a bracket, or with a reason; or none at all."""
    key = key_to(item)
    if not is_right and random.random() < 0.15:
        return ""
    if not is_right:
        others = list(item.lettered()) if isinstance(item, Choose) else ["1", "2", "3", "64"]
        others = list(item.lines()) if isinstance(item, WhichLine) else others
        key = str(random.choice([other for other in others if other != key]))
    return str(random.choice([key, f"**{key}**", f"{key}, because it is so"]))


def fill_in(notebook: dict, said: dict[str, str], kernel_text: str) -> dict:
    """A notebook of a release with these answers, by item, in the place of what is given."""
    cells = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        for item, words in said.items():
            if text.startswith(f"<!-- QUESTION {item} -->") and words:
                text = f"<!-- QUESTION {item} -->\n{words}"
        cells.append({**cell, "source": kernel_text if "# EXERCISE" in text else text})
    return {**notebook, "cells": cells}


def write_class(release: Path, folder: Path, students: int = 40, seed: int = 1) -> MadeUpClass:
    """Write a notebook for each student and form."""
    random = np.random.default_rng(seed)
    names = [f"Student {number:02}" for number in range(students)]
    ability = random.normal(-0.4, 1.2, students)
    made = MadeUpClass(names, {}, {})
    for form, place in (("pretest", "pre"), ("posttest", "post")):
        given = json.loads((release / f"exercises/{form}.ipynb").read_text(encoding="utf-8"))
        items = FORMS[form].items
        hardness = np.linspace(-1.2, 1.4, len(items))
        chance = 1 / (1 + np.exp(hardness - ability[:, None]))
        right = (random.random(chance.shape) < chance).astype(int)
        kinds = np.where(ability > 1, "tiled", np.where(ability > 0, "naive", ""))
        made.right[form], made.kernels[form] = right, [SHARES[str(kind)] for kind in kinds]
        for student, name in enumerate(names):
            said = {
                item.id: answer(item, bool(right[student, number]), random)
                for number, item in enumerate(items)
            }
            text = kernel(FORMS[form].exercise.id, str(kinds[student]))
            path = folder / place / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(fill_in(given, said, text)), encoding="utf-8")
        ability = ability + random.normal(GROWTH, 0.4, students)
    return made


if __name__ == "__main__":
    write_class(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
