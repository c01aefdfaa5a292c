"""What stands around an answer in a tab: a lesson's imports, and functions of earlier tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from course_lib import callers, progress
from course_lib.checking import examine_source
from course_lib.curriculum import TASKS, Exercise, Task

INTRINSICS = (
    "cp_async16 cp_async_commit cp_async_wait ldmatrix_x2_trans ldmatrix_x4 ldmatrix_x4_trans "
    "load4 mma_m16n8k16_bf16 store4 unroll unrolled"
).split()
IMPORTS = f"{callers.HEAD}from course_lib.intrinsics import {', '.join(INTRINSICS)}\n"


@dataclass(frozen=True)
class Around:
    """The text around an answer, and a sentence on each function that comes from an earlier task.

    Attributes:
        context: as `examine_source` takes it.
        said: whose function it is, the student's or the course's.
    """

    context: str
    said: tuple[str, ...] = ()


def around(exercise: Exercise, more: str = "") -> Around:
    """What an answer to this exercise finds around it; `more` is what the page adds."""
    uses = exercise.uses if isinstance(exercise, Task) else ()
    passed = {name: _passed(name) for name in uses}
    said = tuple(
        f"{name}: yours, since you have passed it."
        if text
        else f"{name}: ours stands in, since you have not passed it yet."
        for name, text in passed.items()
    )
    ours = callers.used_by(exercise)
    return Around("\n".join(filter(None, (IMPORTS, ours, *passed.values(), more))), said)


def _passed(name: str) -> str:
    """The student's answer to an earlier task, if there is one that passes; "" otherwise."""
    known = progress.entry(name)
    return known.text if known.passed and _passes(name, known.text) else ""


@lru_cache(maxsize=len(TASKS))
def _passes(name: str, text: str) -> bool:
    """Does it pass? A record of progress that came from elsewhere may hold anything."""
    return examine_source(name, text, context=IMPORTS).passed
