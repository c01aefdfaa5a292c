"""A histogram of five bins, in which many threads add to one counter: with atomics."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea

BINS = 5


def _counted(x: Any) -> Any:
    return [((b <= x) & (x < b + 1)).sum() for b in range(BINS)]


def _added_up(x: Any) -> Any:
    return [x[(b <= x) & (x < b + 1)].sum() for b in range(BINS)]


TASK = Task(
    id="histogram",
    title="Five counters for everybody",
    lesson="04",
    parameters=("x", "counts"),
    output="counts",
    grid=(4,),
    block=(256,),
    shapes=("1000", f"{BINS}"),
    other_sizes=({"1000": 1010},),
    offsets={"x": 2.5},
    reference=_counted,
    asks=("bounds", "race-free"),
    formula="counts[b] = how many numbers of x are in bin b, from b to below b + 1",
    wrong_ideas=(
        WrongIdea(
            lambda x: _counted(0 * x),
            "your kernel counts all numbers in bin 0",
            "If a thread's number is 1.7, which counter should the thread increase?",
            place=("store",),
            code="wrong-index",
        ),
        WrongIdea(
            _added_up,
            "your kernel adds each number to its counter instead of counting it once",
            "By how much should each number increase its counter?",
            place=("store",),
        ),
    ),
    hints=(
        "Which number of x belongs to this thread? If x has this number, in which bin is it?",
        "For a positive number, `int(x[i])` removes everything after the decimal point.",
    ),
    given='''\
@cuda.jit
def histogram(x, counts):
    """counts[b] = how many numbers of x are at least b and below b + 1. All counts start at 0."""
    ...
''',
    answer='''\
@cuda.jit
def histogram(x, counts):
    """counts[b] = how many numbers of x are at least b and below b + 1. All counts start at 0."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        b = int(x[i])
        cuda.atomic.add(counts, b, 1)
''',
    another='''\
@cuda.jit
def histogram(x, counts):
    """counts[b] = how many numbers of x are at least b and below b + 1. All counts start at 0."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        for b in range(counts.shape[0]):
            if b <= x[i] and x[i] < b + 1:
                cuda.atomic.add(counts, b, 1)
''',
    compared="This version uses a grid-stride loop, and its bins could have any width.",
    par=4,
    meaning="Your kernel computes a **histogram**. Threads that add to the same counter have to "
    "take turns.",
)
