"""The softmax of every row, one thread a row: where the climb of lesson 10c begins."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea


def _exp(X: Any) -> Any:
    import numpy as np  # the registry is read without it, too

    return np.exp(X)


def terms_of_rows(X: Any) -> Any:
    """The exponential of each number, less the largest one of its row."""
    return _exp(X - X.max(axis=1, keepdims=True))


def softmax_of_rows(X: Any) -> Any:
    """The softmax of each row of a matrix."""
    return _over(X, terms_of_rows(X).sum(axis=1, keepdims=True))


def _over(X: Any, sums: Any) -> Any:
    """What each term is if it is divided by these sums instead of those of the rows."""
    return terms_of_rows(X) / sums


def over_sums_of(X: Any, threads: int, divisor_of: Any) -> Any:
    """What is stored if so many threads take turns at the columns of a row, and each divides by
    what `divisor_of` makes of the sums of all of them (rows by threads)."""
    import numpy as np

    terms, own = terms_of_rows(X), np.arange(X.shape[1]) % threads
    sums = np.stack([terms[:, own == thread].sum(axis=1) for thread in range(threads)], axis=1)
    with np.errstate(divide="ignore"):
        return terms / np.broadcast_to(divisor_of(sums), sums.shape)[:, own]


def with_own_tops(X: Any, threads: int, tops_of: Any) -> Any:
    """What is stored if so many threads take turns at the columns of a row, and `tops_of` makes
    what each takes for the row's maximum of the maxima of all of them (rows by threads)."""
    import numpy as np

    own = np.arange(X.shape[1]) % threads
    tops = [X[:, own == thread].max(axis=1, initial=-np.inf) for thread in range(threads)]
    terms = _exp(X - tops_of(np.stack(tops, axis=1))[:, own])
    return terms / terms.sum(axis=1, keepdims=True)


def _first_total(X: Any) -> Any:
    """The sum of each row if every term that is added is of the first column."""
    return X.shape[1] * terms_of_rows(X)[:, :1]


# What wrong answers to any kernel that computes a softmax row by row usually give.
IDEAS_OF_ROWS = (
    WrongIdea(
        terms_of_rows,
        "your kernel does not divide the terms of a row by their sum",
        "The numbers in each row of Y have to add up to 1.",
        place=("store",),
        code="wrong-formula",
    ),
    WrongIdea(
        lambda X: terms_of_rows(X) * terms_of_rows(X).sum(axis=1, keepdims=True),
        "your kernel multiplies each term by the sum of its row",
        "The numbers in each row of Y have to add up to 1.",
        place=("store",),
    ),
    WrongIdea(
        lambda X: X / terms_of_rows(X).sum(axis=1, keepdims=True),
        "your kernel divides the numbers of X by the sum instead of dividing their exponentials",
        "Each number of Y is one term of the sum, divided by the whole sum. Which term belongs in "
        "the numerator?",
        place=("store",),
    ),
    WrongIdea(
        lambda X: _exp(X) / terms_of_rows(X).sum(axis=1, keepdims=True),
        "your kernel does not subtract the largest number of the row in the numerator, so exp(X) "
        "may be 0 or infinite",
        "A row has a single `top`: each term of the sum is exp(X[row, j] - top).",
        place=("exponential",),
    ),
    WrongIdea(
        lambda X: softmax_of_rows(X.T).T,
        "your kernel computes the softmax of each column instead of each row",
        "Along which axis of X should the maximum and the sum run?",
        place=("exponential",),
    ),
    WrongIdea(
        lambda X: _over(X, terms_of_rows(X).sum()),
        "your kernel divides each term by the sum of the whole matrix",
        "Which elements of X contribute a term to the sum for Y[2, 5]?",
        place=("sum",),
    ),
    WrongIdea(
        lambda X: X / X.sum(axis=1, keepdims=True),
        "your kernel does not take exponentials",
        "All elements of Y have to be positive, even those whose element of X is negative.",
        place=("store",),
    ),
    WrongIdea(
        lambda X: _over(X, X.sum(axis=1, keepdims=True)),
        "your kernel adds up the numbers of X instead of their exponentials",
        "Which terms does the sum consist of, and what is divided by the sum?",
        place=("sum",),
    ),
    WrongIdea(
        lambda X: softmax_of_rows(-X),
        "the largest number of a row gets the smallest weight",
        "The largest number of a row should get the largest weight. Check the sign of "
        "the exponent.",
        place=("exponential",),
    ),
    WrongIdea(
        lambda X: _over(X, _exp(X[:, -1:] - X.max(axis=1, keepdims=True))),
        "only the last term is left in the sum",
        "`=` replaces the old sum. Which operator adds a term to the sum?",
        place=("sum",),
    ),
    WrongIdea(
        lambda X: _over(X, 1 + terms_of_rows(X).sum(axis=1, keepdims=True)),
        "each sum is too large by 1",
        "What does the sum contain before the first term is added?",
        place=("sum",),
    ),
    WrongIdea(
        lambda X: _over(X, _first_total(X)),
        "your kernel adds the term of the first column again and again",
        "Which index should change in each iteration of the loop that adds up the terms?",
        place=("sum",),
    ),
)

TASK = Task(
    id="softmax_naive",
    title="A softmax with one thread per row",
    lesson="10c",
    position=1,
    parameters=("X", "Y"),
    output="Y",
    grid=("M",),
    block=(32,),
    shapes=("M,N", "M,N"),
    reference=softmax_of_rows,
    offsets={"X": -120},  # exp(X) is 0 in float32
    rises={"X": -240},  # exp(X[row, 0] - X[row, -1]) is infinite
    falls={"X": 50_000},  # so that no finite number does for -inf
    before=-1.0,  # a 0 that is stored is none that was there before
    asks=("bounds", "float32"),
    rung="thread_a_row",
    ladder="row softmax",
    wrong_ideas=IDEAS_OF_ROWS,
    formula="Y[row, j] = exp(X[row, j] - top) / the sum of these over the row",
    hints=(
        "Write three loops over the columns, one after the other. What does the first loop have "
        "to find before the second can begin?",
        "The first loop finds the largest number, and the second adds up exp(X[row, j] - top). "
        "The third computes each of these terms once more and divides it by the sum.",
    ),
    given='''\
import math


@cuda.jit
def softmax_naive(X, Y):
    """Y[row, j] = exp(X[row, j] - top) / total, where top is the largest number of the row and
    total is the sum of exp(X[row, k] - top). Each thread computes one row, in blocks of 32. X may
    have any size."""
    ...
''',
    answer='''\
import math


@cuda.jit
def softmax_naive(X, Y):
    """Y[row, j] = exp(X[row, j] - top) / total, where top is the largest number of the row and
    total is the sum of exp(X[row, k] - top). Each thread computes one row, in blocks of 32. X may
    have any size."""
    row = cuda.grid(1)
    if row < X.shape[0]:
        top, total = float32(-math.inf), float32(0)
        for j in range(X.shape[1]):
            top = max(top, X[row, j])
        for j in range(X.shape[1]):
            total += math.exp(X[row, j] - top)
        for j in range(X.shape[1]):
            Y[row, j] = math.exp(X[row, j] - top) / total
''',
    another='''\
import math


@cuda.jit
def softmax_naive(X, Y):
    """Y[row, j] = exp(X[row, j] - top) / total, where top is the largest number of the row and
    total is the sum of exp(X[row, k] - top). Each thread computes one row, in blocks of 32. X may
    have any size."""
    row = cuda.grid(1)
    if row >= X.shape[0]:
        return
    top = X[row, 0]
    for j in range(1, X.shape[1]):
        top = max(top, X[row, j])
    total = float32(0)
    for j in range(X.shape[1]):
        total += math.exp(X[row, j] - top)
    share = float32(1) / total
    for j in range(X.shape[1]):
        Y[row, j] = math.exp(X[row, j] - top) * share
''',
    compared="This version divides once per row, and then multiplies each number by the result, "
    "because a division takes many instructions.",
    par=9,
    meaning="Your kernel is right for any matrix. It loads each number of X three times and "
    "stores one number of Y for it.",
)
