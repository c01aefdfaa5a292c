"""A layer in one kernel, in cuTile: product of float16, bias and ReLU before the one store."""

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.registry.kinds import CUTILE


def _layer(A, B, bias):
    import numpy as np

    return np.maximum(A @ B + bias, 0)


TASK = Task(
    id="ct_bias_relu",
    title="Product, bias and ReLU in one kernel, in cuTile",
    lesson="13",
    kind=CUTILE,
    position=9,
    parameters=("A", "B", "bias", "C"),
    output="C",
    dtypes={"A": "float16", "B": "float16"},
    constants={"TM": 16, "TN": 16, "TK": 16},
    other_constants=(
        {"TM": 16, "TN": 32, "TK": 16},
        {"TM": 32, "TN": 16, "TK": 16},
        {"TM": 16, "TN": 16, "TK": 32},
    ),
    grid=("M", "N"),
    block=("TM", "TN"),
    shapes=("M,K", "K,N", "N", "M,N"),
    reference=_layer,
    formula="C = max(A @ B + bias, 0)",
    wrong_ideas=(
        WrongIdea(
            lambda A, B, bias: A @ B + bias,
            "the result still contains negative numbers",
            "Which function returns the larger of each element of a tile and 0?",
        ),
        WrongIdea(
            lambda A, B, bias: (A @ B).clip(0),
            "the bias is missing from every element",
            "Which tile of `bias` holds the biases of the columns that this program computes?",
        ),
        WrongIdea(
            lambda A, B, bias: (A @ B).clip(0) + bias,
            "the bias is added after the ReLU instead of before it",
            "Which comes first in the formula, the bias or the ReLU?",
        ),
    ),
    hints=(
        "After the loop, the program already has its tile of A @ B, so it only has to load the "
        "bias.",
        "Tile j of `bias` has TN numbers, one for each column. When you add this tile, cuTile "
        "broadcasts it over the rows.",
        "A and B are float16, but `ct.mma` adds their products into a tile of float32.",
    ),
    given='''\
@ct.kernel
def ct_bias_relu(A, B, bias, C, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """C = max(A @ B + bias, 0), where bias has one number for each column of C. A and B are
    float16, and bias and C are float32."""
    i, j = ct.bid(0), ct.bid(1)
    ...
''',
    answer='''\
@ct.kernel
def ct_bias_relu(A, B, bias, C, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """C = max(A @ B + bias, 0), where bias has one number for each column of C. A and B are
    float16, and bias and C are float32."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(TM, TK))):
        a = ct.load(A, index=(i, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(k, j), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    added = ct.load(bias, index=(j,), shape=(TN,))
    ct.store(C, index=(i, j), tile=ct.maximum(acc + added, 0.0))
''',
    another='''\
@ct.kernel
def ct_bias_relu(A, B, bias, C, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """C = max(A @ B + bias, 0), where bias has one number for each column of C. A and B are
    float16, and bias and C are float32."""
    i, j = ct.bid(0), ct.bid(1)
    added = ct.load(bias, index=(j,), shape=(TN,))
    acc = ct.broadcast_to(ct.reshape(added, (1, TN)), (TM, TN))
    for k in range(ct.num_tiles(A, axis=1, shape=(TM, TK))):
        a = ct.load(A, index=(i, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(k, j), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    ct.store(C, index=(i, j), tile=ct.where(acc > 0.0, acc, 0.0))
''',
    compared="In this version, the sums start from the bias instead of 0, so nothing has to be "
    "added at the end.",
    par=7,
    meaning="This kernel writes C once. Three separate kernels would have read and written C two "
    "more times.",
)
