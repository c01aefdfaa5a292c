"""Results of parts of the keys, put together by their log-sum-exps."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea


def _merged(parts: Any, L: Any, weights: Any = None) -> Any:
    """The parts' outputs mixed by these weights, those of a softmax if none are given."""
    import numpy as np  # the registry is read without it, too

    shares = np.exp(L - L.max()) if weights is None else weights
    return shares @ parts / shares.sum()


def _walk(parts: Any, L: Any, total_shrinks: bool, mixed_shrinks: bool) -> Any:
    """Part by part, if one of the two sums keeps what the old maximum made of it."""
    import numpy as np

    top, total, mixed = -np.inf, 0.0, np.zeros(parts.shape[1])
    for row, score in zip(parts, L, strict=True):
        new = max(top, score)
        factor, share = np.exp(top - new), np.exp(score - new)
        total = total * (factor if total_shrinks else 1) + share
        mixed = mixed * (factor if mixed_shrinks else 1) + share * row
        top = new
    return mixed / total


def _with_first_maximum(parts: Any, L: Any) -> Any:
    """Part by part, if the first L stays the maximum that sums are shrunk from."""
    import numpy as np

    total, mixed = 1.0, parts[0]
    for row, score in zip(parts[1:], L[1:], strict=True):
        new = max(L[0], score)
        factor, share = np.exp(L[0] - new), np.exp(score - new)
        total, mixed = total * factor + share, mixed * factor + share * row
    return mixed / total


def _exp(x: Any) -> Any:
    import numpy as np

    return np.exp(x)


TASK = Task(
    id="merge_parts",
    title="Put the parts together",
    lesson="11b",
    position=6,
    parameters=("O", "L", "out"),
    output="out",
    grid=(1,),
    block=(32,),
    shapes=("6,32", "6", "32"),
    other_sizes=({"6": 9},),
    reference=_merged,
    offsets={"L": -110},  # exp(L) is 0 in float32
    rises={"L": 200},  # exp(L[i] - L[0]) is infinite
    falls={"L": 50_000},
    asks=("coalesced", "float32"),
    wrong_ideas=(
        WrongIdea(
            lambda parts, L: _walk(parts, L, True, False),
            "when a larger L turns up, your kernel does not rescale the parts that it has already "
            "mixed",
            "By which factor do you have to multiply everything that was added up with the old "
            "maximum?",
            place=("load", "O", "last"),
        ),
        WrongIdea(
            lambda parts, L: _walk(parts, L, False, True),
            "when a larger L turns up, your kernel does not rescale the sum of the shares",
            "By which factor do you have to multiply everything that was added up with the old "
            "maximum?",
            place=("divisor",),
        ),
        WrongIdea(
            lambda parts, L: _walk(parts, L, False, False),
            "when a larger L turns up, your kernel rescales nothing",
            "By which factor do you have to multiply everything that was added up with the old "
            "maximum?",
            place=("divisor",),
        ),
        WrongIdea(
            _with_first_maximum,
            "the maximum never changes after the first part",
            "Which line of your loop should store the new maximum?",
        ),
        WrongIdea(
            lambda parts, L: _merged(parts, L, _exp(L - L.max()) * ([2] + [1] * (len(L) - 1))),
            "the first part counts twice",
            "Which parts has a thread already added before its loop begins?",
            place=("load", "O", "last"),
        ),
        WrongIdea(
            lambda parts, L: parts.mean(axis=0),
            "your kernel gives all parts the same weight",
            "A part whose keys match well has a large log-sum-exp. Should its share be larger or "
            "smaller than the shares of the other parts?",
        ),
        WrongIdea(
            lambda parts, L: _merged(parts, L, L),
            "your kernel uses the logarithms themselves as weights",
            "L[i] is the logarithm of the sum of the weights in part i. How do you get this sum "
            "back from L[i]?",
            place=("sum",),
        ),
        WrongIdea(
            lambda parts, L: _exp(L) @ parts,
            "your kernel never divides by the sum of all weights",
            "The shares of the six parts must add up to 1.",
        ),
        WrongIdea(
            lambda parts, L: _exp(L - L.max()) @ parts,
            "your kernel never divides by the sum of all weights",
            "The shares of the six parts must add up to 1.",
        ),
        WrongIdea(
            lambda parts, L: _exp(L - L.max()) @ parts / L[-1],
            "your kernel divides by the last L instead of the sum of all weights",
            "The shares of the six parts must add up to 1. What do the weights of the parts add up "
            "to before you divide?",
            place=("store",),
        ),
        WrongIdea(
            lambda parts, L: parts[-1],
            "only the last part is left in the result",
            "Which results of the earlier parts should a thread keep when it goes on to the next "
            "part?",
        ),
        WrongIdea(
            lambda parts, L: parts.sum(axis=0),
            "your kernel adds up the parts without weights",
            "Each O[i] is the finished output for the keys of part i. What share of the result "
            "should part i have?",
        ),
        WrongIdea(
            lambda parts, L: _merged(parts, L, _exp(-L)),
            "a part with a larger log-sum-exp gets a smaller share",
            "A larger L[i] should give part i a larger weight. Which sign should L[i] have in the "
            "exponent?",
            place=("exponential", "first"),
        ),
        WrongIdea(
            lambda parts, L: parts[L.argmax()],
            "the result contains only the part with the largest log-sum-exp",
            "The other parts have smaller shares, but they count as well. Where does your kernel "
            "add them to the result?",
        ),
    ),
    formula="out = one query's attention to all keys",
    hints=(
        "The weights of part i add up to exp(L[i]). To get the share of part i, by which sum do "
        "you have to divide exp(L[i])?",
        "Six scores become six shares that add up to 1, and the shares weight six rows. Which "
        "operation turns scores into such shares?",
        "The result is softmax(L) @ O. You have written each step of a softmax before, including "
        "the maximum.",
    ),
    given='''\
import math


@cuda.jit
def merge_parts(O, L, out):
    """out = the attention of one query to all keys. Part i has seen some of the keys. O[i] is its
    output, and L[i] is its log-sum-exp. There may be any number of parts. Thread x computes column
    x."""
    ...
''',
    answer='''\
import math


@cuda.jit
def merge_parts(O, L, out):
    """out = the attention of one query to all keys. Part i has seen some of the keys. O[i] is its
    output, and L[i] is its log-sum-exp. There may be any number of parts. Thread x computes column
    x."""
    x = cuda.threadIdx.x
    top, total, mixed = float32(-math.inf), float32(0), float32(0)
    for i in range(L.shape[0]):
        new = max(top, L[i])
        share = math.exp(L[i] - new)
        total = total * math.exp(top - new) + share
        mixed = mixed * math.exp(top - new) + share * O[i, x]
        top = new
    out[x] = mixed / total
''',
    another='''\
import math


@cuda.jit
def merge_parts(O, L, out):
    """out = the attention of one query to all keys. Part i has seen some of the keys. O[i] is its
    output, and L[i] is its log-sum-exp. There may be any number of parts. Thread x computes column
    x."""
    x = cuda.threadIdx.x
    top = L[0]
    for i in range(1, L.shape[0]):
        top = max(top, L[i])
    total, mixed = float32(0), float32(0)
    for i in range(L.shape[0]):
        total += math.exp(L[i] - top)
        mixed += math.exp(L[i] - top) * O[i, x]
    out[x] = mixed / total
''',
    compared="This version has two loops. With so few parts, it can afford to find the "
    "maximum first.",
    par=9,
    meaning="You have applied attention once more, to parts instead of keys: **softmax(L) @ O**. "
    "If the keys are divided into parts, a single query can keep many SMs busy.",
)
