"""A dot product in chunks, with the running total after each: sums may stop and go on."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea

CHUNK = 4
_WHICH = (
    "If `start` is 8, which values of k belong to the chunk, and which ones does your loop use?"
)


def _of_each_chunk(x: Any, y: Any) -> Any:
    return (x * y).reshape(-1, CHUNK).sum(axis=1)


def _chunk(x: Any) -> Any:
    """An array with a row for each chunk."""
    return x.reshape(-1, CHUNK)


TASK = Task(
    id="running_totals",
    title="A dot product in chunks",
    lesson="04",
    position=2,
    parameters=("x", "y", "totals"),
    output="totals",
    grid=(1,),
    block=(1,),
    shapes=("12", "12", "3"),
    other_sizes=({"12": 20, "3": 5},),
    reference=lambda x, y: _of_each_chunk(x, y).cumsum(),
    asks=("bounds", "float32"),
    wrong_ideas=(
        WrongIdea(
            _of_each_chunk,
            "each total is the sum of only its own chunk",
            "What should `total` still contain from the earlier chunks, and where should it start "
            "from zero?",
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: _of_each_chunk(x, y)[[0, 0, 0]].cumsum(),
            "every iteration adds the first chunk again",
            _WHICH,
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: _of_each_chunk(x, y)[[0, 0, 0]],
            "your kernel only ever adds the first chunk",
            _WHICH,
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: _of_each_chunk(x, y).cumsum().cumsum(),
            "every iteration adds the earlier chunks once more",
            _WHICH,
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: (x * y)[None].sum(axis=1)[[0, 0, 0]].cumsum(),
            "every iteration adds all of x and y",
            _WHICH,
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: _chunk(x * y)[:, :-1].sum(axis=1).cumsum(),
            "the last product of every chunk is missing",
            _WHICH,
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: _chunk(x * y)[:, 1:].sum(axis=1).cumsum(),
            "the first product of every chunk is missing",
            _WHICH,
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: _chunk(x * y)[:, 0].cumsum(),
            "your kernel adds only the first product of every chunk",
            _WHICH,
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: CHUNK * _chunk(x * y)[:, 0].cumsum(),
            "your kernel adds the first product of every chunk four times",
            "Which index should change in each iteration of your inner loop?",
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: _chunk(x * y)[:, -1],
            "each total is only the last product of its chunk instead of a sum",
            "`=` replaces the products that came before. Which operator adds a product to the "
            "earlier ones?",
            place=("sum",),
        ),
        WrongIdea(
            lambda x, y: (_chunk(x) + _chunk(y)).sum(axis=1).cumsum(),
            "your kernel adds x and y instead of multiplying them",
            "Which operation combines x[k] and y[k] in a dot product?",
        ),
    ),
    formula="totals[c] = the sum of x[k] * y[k] over the first c + 1 chunks of four",
    hints=(
        "`start` is 0, then 4, then 8. Write a loop that adds up the four products of the chunk "
        "that begins there.",
        "The total must not be set to zero again for each chunk. Where in the kernel should "
        "`total` be set to zero?",
    ),
    given='''\
@cuda.jit
def running_totals(x, y, totals):
    """totals[0] = x[0]*y[0] + … + x[3]*y[3], totals[1] continues up to k = 7, and so on."""
    for start in range(0, x.shape[0], 4):
        total = float32(0)
        ...
        totals[start // 4] = total
''',
    answer='''\
@cuda.jit
def running_totals(x, y, totals):
    """totals[0] = x[0]*y[0] + … + x[3]*y[3], totals[1] continues up to k = 7, and so on."""
    total = float32(0)
    for start in range(0, x.shape[0], 4):
        for k in range(start, start + 4):
            total += x[k] * y[k]
        totals[start // 4] = total
''',
    another='''\
@cuda.jit
def running_totals(x, y, totals):
    """totals[0] = x[0]*y[0] + … + x[3]*y[3], totals[1] continues up to k = 7, and so on."""
    total = float32(0)
    for start in range(0, x.shape[0], 4):
        for k in range(4):
            total += x[start + k] * y[start + k]
        totals[start // 4] = total
''',
    compared="In this version, k counts from 0 within each chunk. You will count in the same way "
    "within a tile.",
    par=3,
    meaning="You can interrupt a sum anywhere and continue it later, as long as the total is kept.",
)
