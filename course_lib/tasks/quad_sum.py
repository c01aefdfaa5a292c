"""A sum over the four lanes that share a row of a fragment: a device function."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea


def _lanes(S: Any) -> Any:
    """What each of the 32 lanes hands in: two neighbours of a row."""
    return S.reshape(32, 2).sum(axis=1)


def _with(S: Any, *apart: int) -> Any:
    """A lane's own number and those of the lanes at these distances (lane ^ distance)."""
    import numpy as np  # the registry is read without it, too

    lane, held = np.arange(32), _lanes(S)
    return held + sum(held[lane ^ distance] for distance in apart)


def _down(S: Any, *steps: int) -> Any:
    """The same with shuffles down by each of these; past the last lane each keeps its own."""
    import numpy as np

    lane, held = np.arange(32), _lanes(S)
    for apart in steps:
        held = held + held[np.where(lane + apart < 32, lane + apart, lane)]
    return held


TASK = Task(
    id="quad_sum",
    title="A row in four lanes",
    lesson="11b",
    position=1,
    parameters=("S", "sums"),
    output="sums",
    grid=(1,),
    block=(32,),
    shapes=("8,8", "32"),
    reference=lambda S: _lanes(S).reshape(8, 4).sum(axis=1).repeat(4),
    wrong_ideas=(
        WrongIdea(
            _lanes,
            "each lane adds only its own two columns",
            "Which other lanes hold numbers of the same row, and how can a lane get these numbers?",
        ),
        WrongIdea(
            lambda S: _with(S, 1),
            "each lane has added the columns of only one other lane",
            "After one exchange, a lane has the numbers of two lanes. How many lanes share a row?",
        ),
        WrongIdea(
            lambda S: _with(S, 2),
            "each lane has added the columns of only one other lane",
            "After one exchange, a lane has the numbers of two lanes. How many lanes share a row?",
        ),
        WrongIdea(
            lambda S: _with(S, 1, 2),
            "the columns of lane ^ 3 are missing from the sum of each lane",
            "After the first exchange, a lane has two parts of the sum. Does your second exchange "
            "pass on both parts?",
        ),
        WrongIdea(
            lambda S: 2 * _with(S, 1),
            "each sum counts two lanes of the row twice and the other two not at all",
            "After the first exchange, two lanes of a row have the same sum. Which lanes of the "
            "row have the other sum?",
        ),
        WrongIdea(
            lambda S: _with(S, 1, 3) - _lanes(S),
            "each lane has the parts of two other lanes, but has lost its own",
            "What happens to a lane's own part of the sum when your kernel stores the part of "
            "another lane?",
        ),
        WrongIdea(
            lambda S: _with(S, 3) - _lanes(S),
            "each lane ends up with only the columns of lane ^ 3",
            "An exchange returns the part of the other lane. Where does your kernel add the lane's "
            "own part to it?",
        ),
        WrongIdea(
            lambda S: _with(S, 1, 4, 5),
            "each lane adds half of its own row to half of another row",
            "Lanes 0 to 3 share a row. In which bits do the numbers of these four lanes differ?",
        ),
        WrongIdea(
            lambda S: _with(S, 1, 2, 3, 4, 5, 6, 7),
            "each sum includes two rows",
            "Four lanes share a row. How many exchanges does it take to add up four parts?",
        ),
        WrongIdea(
            lambda S: _with(S, *range(1, 32)),
            "each sum includes all eight rows",
            "Four lanes share a row. How many exchanges does it take to add up four parts?",
        ),
        *(
            WrongIdea(
                lambda S, steps=steps: _down(S, *steps),
                "only every fourth lane has the sum of its row, because the others have added "
                "lanes of the next row",
                "All four lanes need the sum of the row, so each exchange must work in both "
                "directions.",
                place=("exchange", "read"),
            )
            for steps in ((1, 2), (2, 1))
        ),
    ),
    formula="sums[lane] = the sum of row lane // 4 of S",
    hints=(
        "Lanes 4 to 7 share row 1. First, each lane exchanges its part with lane ^ 1. Which parts "
        "of the row does a lane then have?",
        "After the first exchange, each lane has the sum of half the row: its own part plus the "
        "part of one other lane. Exchange these sums with lane ^ 2.",
    ),
    given='''\
@cuda.jit(device=True)
def quad_sum(part):
    """The sum of `part` over the four lanes that share a row: lanes 0 to 3, lanes 4 to 7, and so
    on. Each of the four lanes needs this sum."""
    ...
''',
    answer='''\
@cuda.jit(device=True)
def quad_sum(part):
    """The sum of `part` over the four lanes that share a row: lanes 0 to 3, lanes 4 to 7, and so
    on. Each of the four lanes needs this sum."""
    part += cuda.shfl_xor_sync(0xFFFFFFFF, part, 1)
    return part + cuda.shfl_xor_sync(0xFFFFFFFF, part, 2)
''',
    caller='''\
@cuda.jit
def caller(S, sums):
    """A lane holds two columns of a row, as in a fragment of C."""
    lane = cuda.threadIdx.x
    row, column = lane // 4, lane % 4 * 2
    sums[lane] = quad_sum(S[row, column] + S[row, column + 1])
''',
    another='''\
@cuda.jit(device=True)
def quad_sum(part):
    """The sum of `part` over the four lanes that share a row: lanes 0 to 3, lanes 4 to 7, and so
    on. Each of the four lanes needs this sum."""
    first, total = cuda.threadIdx.x // 4 * 4, float32(0)
    for lane in range(4):
        total += cuda.shfl_sync(0xFFFFFFFF, part, first + lane)
    return total
''',
    compared="In this version, each lane addresses all four lanes by their numbers. That takes "
    "four exchanges instead of two.",
    par=2,
    meaning="Two exchanges are enough, and nothing goes through memory. This is how a fast "
    "kernel finds the sum of a row or, with max instead of +, its maximum.",
)
