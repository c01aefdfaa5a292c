"""The largest number so far and the sum of exponentials below it, in one pass."""

from collections.abc import Callable
from typing import Any

from course_lib.registry.exercise import Task, WrongIdea


def _walk(s: Any, step: Callable[[float, float, float, float], tuple[float, float]]) -> Any:
    """What is kept after each score; `step` makes (top, total) of top, total, new and score."""
    import numpy as np  # the registry is read without it, too

    top, total, kept = -np.inf, 0.0, []
    for score in s:
        top, total = step(top, total, max(top, score), score)
        kept.append((total, top))
    return np.array(kept)


def _exp(x: float) -> Any:
    import numpy as np

    return np.exp(x)


TASK = Task(
    id="one_pass",
    title="Maximum and sum in one pass",
    lesson="11",
    position=2,
    parameters=("s", "kept"),
    output="kept",
    grid=(1, 1),
    block=(1, 1),
    shapes=("12", "12,2"),
    other_sizes=({"12": 20},),
    reference=lambda s: _walk(
        s, lambda top, total, new, score: (new, total * _exp(top - new) + _exp(score - new))
    ),
    visits={"s": 5},  # some write `s[i]` several times in an iteration
    falls={"s": 50_000},  # so that no finite number does for -inf
    rises={"s": 12},  # the first scores lie below 0
    wrong_ideas=(
        WrongIdea(
            lambda s: _walk(
                s,
                lambda top, total, new, score: (
                    new,
                    total * _exp(new - top) + _exp(score - new),
                ),
            ),
            "before the first score `top` is -inf, so exp(… - top) is infinite",
            "An exponent becomes infinite if -inf is subtracted in it. In which exponent does your "
            "kernel subtract the old maximum?",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s: _walk(
                s,
                lambda top, total, new, score: (
                    max(new, 0.0),
                    total * _exp(max(top, 0.0) - max(new, 0.0)) + _exp(score - max(new, 0.0)),
                ),
            ),
            "`top` is 0 if all scores so far are below 0",
            "`top` has to start with a value below every possible score. Which float is below all "
            "others?",
            place=("largest", "first"),
        ),
        WrongIdea(
            lambda s: _walk(s, lambda top, total, new, score: (top, total * _exp(top - new) + 1)),
            "`top` stays -inf forever",
            "Which line of your loop should store the new maximum in `top`?",
        ),
        WrongIdea(
            lambda s: _walk(s, lambda top, total, new, score: (new, total + _exp(score - new))),
            "the terms added before a new maximum still use the old maximum",
            "Each old term is exp(s[j] - top) and should become exp(s[j] - new). By which factor "
            "do you have to multiply the sum of these terms?",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s: _walk(s, lambda top, total, new, score: (new, total * _exp(top - new) + 1)),
            "your kernel adds 1 for every new score",
            "The term of a new maximum is exp(0) = 1. What is the term of a smaller score?",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s: _walk(
                s,
                lambda top, total, new, score: (
                    new,
                    total * _exp(top - new) + (_exp(score - new) if score <= top else 0),
                ),
            ),
            "when a new maximum appears, your kernel rescales the old terms, but it does not add a "
            "term for the new maximum itself",
            "What is exp(s[i] - top) if s[i] is the new top?",
            place=("exponential", "first"),
        ),
        WrongIdea(
            lambda s: _walk(
                s,
                lambda top, total, new, score: (
                    new,
                    total * _exp(top - new) + (1 if score > top else 0),
                ),
            ),
            "your kernel adds a term only for a new maximum",
            "Which term should your kernel add for a score that is not a new maximum?",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s: _walk(s, lambda top, total, new, score: (new, total + _exp(score))),
            "your kernel never subtracts the maximum",
            "Which number has to be subtracted from s[j] in the exponent?",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s: _walk(s, lambda top, total, new, score: (new, _exp(score - new))),
            "only the last term is left in each sum",
            "What should `total` still contain from the earlier scores?",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s: _walk(
                s,
                lambda top, total, new, score: (new, (total + _exp(score - new)) * _exp(top - new)),
            ),
            "your kernel rescales the newest term together with the old ones",
            "The newest term is already computed with the new maximum. Rescale the old sum before "
            "you add this term.",
            place=("exponential",),
        ),
        WrongIdea(
            lambda s: _walk(
                s,
                lambda top, total, new, score: (
                    score,
                    total * _exp(top - score) + _exp(score - score),
                ),
            ),
            "`top` takes the value of every score, even of a smaller one",
            "`top` should be the largest score so far. Can the largest score so far ever become "
            "smaller?",
        ),
        WrongIdea(
            lambda s: _walk(
                s,
                lambda top, total, new, score: (
                    new,
                    total * _exp(score - new) + _exp(score - new),
                ),
            ),
            "your kernel multiplies the old sum by the newest term",
            "The old terms were computed with the old maximum. Which factor turns exp(s[j] - old) "
            "into exp(s[j] - new)?",
            place=("exponential",),
        ),
    ),
    formula="kept[i] = sum of exp(s[j] - top) for j up to i, and top",
    hints=(
        "Take the scores 1 and 3. After the first score, top is 1, and the sum is exp(1 - 1). "
        "After the second score, top is 3. What does the first term have to become?",
        "exp(1 - 3) is exp(1 - 1) * exp(1 - 3). The factor is exp(old top - new top), and it is "
        "the same for every term.",
        "Find the new maximum, rescale the old sum, and add the new term. Discard the old maximum "
        "only after that.",
    ),
    given='''\
import math


@cuda.jit
def one_pass(s, kept):
    """kept[i] holds two numbers. The first is the sum of exp(s[j] - top) over j = 0 … i, and the
    second is top, the largest of these s[j]. No score is read again once it has been used."""
    top, total = float32(-math.inf), float32(0)
    for i in range(s.shape[0]):
        ...
        kept[i, 0], kept[i, 1] = total, top
''',
    answer='''\
import math


@cuda.jit
def one_pass(s, kept):
    """kept[i] holds two numbers. The first is the sum of exp(s[j] - top) over j = 0 … i, and the
    second is top, the largest of these s[j]. No score is read again once it has been used."""
    top, total = float32(-math.inf), float32(0)
    for i in range(s.shape[0]):
        score = s[i]
        new = max(top, score)
        total = total * math.exp(top - new) + math.exp(score - new)
        top = new
        kept[i, 0], kept[i, 1] = total, top
''',
    another='''\
import math


@cuda.jit
def one_pass(s, kept):
    """kept[i] holds two numbers. The first is the sum of exp(s[j] - top) over j = 0 … i, and the
    second is top, the largest of these s[j]. No score is read again once it has been used."""
    top, total = float32(-math.inf), float32(0)
    for i in range(s.shape[0]):
        score = s[i]
        if score > top:
            total = total * math.exp(top - score) + float32(1)
            top = score
        else:
            total += math.exp(score - top)
        kept[i, 0], kept[i, 1] = total, top
''',
    compared="This version computes one exponential for each score instead of two, since one of "
    "the two exponents is always 0.",
    par=4,
    meaning="You need only one pass over a row, and you keep only two numbers, no matter how long "
    "the row is. This is the **online softmax**.",
)
