"""A matrix product with one element: the sum along K, by one thread."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="one_dot_product",
    title="A product with one element",
    lesson="02",
    position=2,
    parameters=("A", "B", "C"),
    grid=(1, 1),
    block=(1, 1),
    shapes=("1,K", "K,1", "1,1"),
    family="product",
    sizes=((1, 1, 37), (1, 1, 33), (1, 1, 5)),
    asks=("float32",),
    formula="C[0, 0] = the sum of A[0, k] * B[k, 0] over all k",
    hints=(
        "The row of A contains `A[0, 0]`, `A[0, 1]`, …, and the column of B contains `B[0, 0]`, "
        "`B[1, 0]`, …",
        "K is the length of the row of A. Which entry of `A.shape` tells you this length?",
        "Write a loop over all k. Each iteration adds one product to `total`.",
    ),
    given='''\
@cuda.jit
def one_dot_product(A, B, C):
    """C[0, 0] = A[0, 0] * B[0, 0] + A[0, 1] * B[1, 0] + …, where A is 1 × K and B is K × 1."""
    total = float32(0)
    ...
    C[0, 0] = total
''',
    answer='''\
@cuda.jit
def one_dot_product(A, B, C):
    """C[0, 0] = A[0, 0] * B[0, 0] + A[0, 1] * B[1, 0] + …, where A is 1 × K and B is K × 1."""
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[0, k] * B[k, 0]
    C[0, 0] = total
''',
    another='''\
@cuda.jit
def one_dot_product(A, B, C):
    """C[0, 0] = A[0, 0] * B[0, 0] + A[0, 1] * B[1, 0] + …, where A is 1 × K and B is K × 1."""
    total = float32(0)
    k = 0
    while k < B.shape[0]:
        total += A[0, k] * B[k, 0]
        k += 1
    C[0, 0] = total
''',
    compared="This version uses a `while` loop that ends where B ends.",
    par=2,
    meaning="`total` belongs to the thread and stays in a register. It begins as `float32(0)`, "
    "because a plain `0.0` is a float64 in Numba and would turn the whole sum into float64.",
)
