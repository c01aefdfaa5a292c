"""The softmax of long rows in cuTile, online: a new maximum rescales the sum so far."""

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.registry.kinds import CUTILE


def _softmax(x):
    import numpy as np

    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _exponentials(x):
    import numpy as np

    return np.exp(x - x.max(axis=1, keepdims=True))


TASK = Task(
    id="ct_softmax",
    title="The softmax of each row, online, in cuTile",
    lesson="13",
    kind=CUTILE,
    position=11,
    parameters=("x", "out"),
    output="out",
    constants={"TM": 8, "TN": 16},
    other_constants=({"TM": 16, "TN": 8},),
    falls={"x": 50_000},  # so that no finite number does for -inf
    rises={"x": -2000.0},  # rows of one tile lie so far apart that a maximum of all is no maximum
    grid=("M",),
    block=("TM",),
    shapes=("M,N", "M,N"),
    reference=_softmax,
    formula="out = the softmax of each row of x",
    wrong_ideas=(
        WrongIdea(
            _exponentials,
            "your kernel does not divide the exponentials of a row by their sum",
            "What must the numbers in each row of a softmax add up to?",
        ),
    ),
    hints=(
        "Write two loops over the tiles of the rows. The first finds the maximum and the sum, and "
        "the second stores the result.",
        "When `top` rises to `new`, the old sum is too large by the factor exp(new - top).",
        "Elements past the edge need a value that is never the maximum, and whose exp(…) adds 0 "
        "to the sum.",
    ),
    given='''\
@ct.kernel
def ct_softmax(x, out, TM: ct.Constant[int], TN: ct.Constant[int]):
    """out = the softmax of each row of x, which is M x N. Program i computes TM rows, one tile of
    TM x TN after another."""
    i = ct.bid(0)
    top = ct.full((TM, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((TM, 1), dtype=ct.float32)
    ...
''',
    answer='''\
@ct.kernel
def ct_softmax(x, out, TM: ct.Constant[int], TN: ct.Constant[int]):
    """out = the softmax of each row of x, which is M x N. Program i computes TM rows, one tile of
    TM x TN after another."""
    i = ct.bid(0)
    top = ct.full((TM, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((TM, 1), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(TM, TN))):
        tile = ct.load(x, index=(i, k), shape=(TM, TN), padding_mode=ct.PaddingMode.NEG_INF)
        new = ct.maximum(top, ct.max(tile, axis=1, keepdims=True))
        total = total * ct.exp(top - new) + ct.sum(ct.exp(tile - new), axis=1, keepdims=True)
        top = new
    for k in range(ct.num_tiles(x, axis=1, shape=(TM, TN))):
        tile = ct.load(x, index=(i, k), shape=(TM, TN))
        ct.store(out, index=(i, k), tile=ct.exp(tile - top) / total)
''',
    another='''\
@ct.kernel
def ct_softmax(x, out, TM: ct.Constant[int], TN: ct.Constant[int]):
    """out = the softmax of each row of x, which is M x N. Program i computes TM rows, one tile of
    TM x TN after another."""
    i = ct.bid(0)
    top = ct.full((TM, 1), -math.inf, dtype=ct.float32)
    total = ct.zeros((TM, 1), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(TM, TN))):
        tile = ct.load(x, index=(i, k), shape=(TM, TN), padding_mode=ct.PaddingMode.NEG_INF)
        top = ct.maximum(top, ct.max(tile, axis=1, keepdims=True))
    for k in range(ct.num_tiles(x, axis=1, shape=(TM, TN))):
        tile = ct.load(x, index=(i, k), shape=(TM, TN), padding_mode=ct.PaddingMode.NEG_INF)
        total = total + ct.sum(ct.exp(tile - top), axis=1, keepdims=True)
    for k in range(ct.num_tiles(x, axis=1, shape=(TM, TN))):
        tile = ct.load(x, index=(i, k), shape=(TM, TN))
        ct.store(out, index=(i, k), tile=ct.exp(tile - top) / total)
''',
    compared="This version takes three passes instead of two. It finds the maximum first, so it "
    "never has to rescale a sum.",
    par=8,
    meaning="FlashAttention is built on this way of rescaling a sum. Here you wrote it in a "
    "language without threads.",
)
