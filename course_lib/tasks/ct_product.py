"""The product of lesson 05 in cuTile: the tiles stay yours, the barriers do not."""

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.registry.kinds import CUTILE

TASK = Task(
    id="ct_product",
    title="The product, in cuTile",
    lesson="13",
    kind=CUTILE,
    position=7,
    parameters=("A", "B", "C"),
    output="C",
    constants={"TM": 16, "TN": 16, "TK": 16},
    other_constants=(
        {"TM": 16, "TN": 32, "TK": 16},
        {"TM": 32, "TN": 16, "TK": 16},
        {"TM": 16, "TN": 16, "TK": 32},
    ),
    grid=("M", "N"),
    block=("TM", "TN"),
    shapes=("M,K", "K,N", "M,N"),
    reference=lambda A, B: A @ B,
    formula="C = A @ B",
    wrong_ideas=(
        WrongIdea(
            lambda A, B: 2 * (A @ B),
            "each element of C is twice what it should be",
            "What does your kernel add to the sum besides the product of the two tiles?",
        ),
    ),
    hints=(
        "As in lesson 05, load one tile of A and one tile of B for each step along k, and keep a "
        "running sum.",
        "Program (i, j) needs tile (i, k) of A and tile (k, j) of B. What are the shapes of these "
        "two tiles?",
        "`ct.mma(a, b, acc)` returns the new sum: `acc = ct.mma(a, b, acc)`. Elements past the "
        "edge have to be zeros.",
    ),
    given='''\
@ct.kernel
def ct_product(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """C = A @ B. Program (i, j) computes tile (i, j) of C, which is TM x TN, in steps of TK along
    k."""
    i, j = ct.bid(0), ct.bid(1)
    ...
''',
    answer='''\
@ct.kernel
def ct_product(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """C = A @ B. Program (i, j) computes tile (i, j) of C, which is TM x TN, in steps of TK along
    k."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(TM, TK))):
        a = ct.load(A, index=(i, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(k, j), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    ct.store(C, index=(i, j), tile=acc)
''',
    another='''\
@ct.kernel
def ct_product(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """C = A @ B. Program (i, j) computes tile (i, j) of C, which is TM x TN, in steps of TK along
    k."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.cdiv(A.shape[1], TK)):
        a = ct.load(A, index=(i, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(k, j), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
        acc += a @ b
    ct.store(C, index=(i, j), tile=acc)
''',
    compared="This version uses `a @ b` instead of `ct.mma`, and computes the number of steps from "
    "the shape. The product is the same.",
    par=6,
    meaning="In cuTile, the kernel of lesson 05 takes six lines. It declares no shared memory and "
    "contains no barrier, and it requests the same number of bytes.",
)
