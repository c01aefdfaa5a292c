"""A product whose first matrix is stored transposed: lesson 03 once more, unaided."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="transposed_product",
    title="The product of a transposed matrix",
    lesson="05b",
    position=1,
    parameters=("A", "B", "C"),
    block=(16, 16),
    shapes=("K,M", "K,N", "M,N"),
    reference=lambda a, b: a.T @ b,
    asks=("bounds", "coalesced", "float32"),
    formula="C = A.T @ B",
    hints=(
        "Start from the kernel of lesson 03, and change its loop. Along which axis of A does the "
        "sum run?",
        "The element `[row, k]` of A.T is the element `[k, row]` of A.",
        "k begins at 0, and the loop body ends with `k += 1`.",
    ),
    given='''\
@cuda.jit
def transposed_product(A, B, C):
    """C = A.T @ B, where A is K × M, with coalesced accesses. Each block has 16 × 16 threads."""
    ...
''',
    answer='''\
@cuda.jit
def transposed_product(A, B, C):
    """C = A.T @ B, where A is K × M, with coalesced accesses. Each block has 16 × 16 threads."""
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        k = 0
        while k < A.shape[0]:
            total += A[k, row] * B[k, column]
            k += 1
        C[row, column] = total
''',
    wrong_ideas=(
        WrongIdea(
            lambda a, b: a[1:].T @ b[1:],
            "the products of k = 0 are missing from every sum",
            "With which value of k does the sum begin?",
        ),
        WrongIdea(
            lambda a, b: a[:-1].T @ b[:-1],
            "the products of the last k are missing from every sum",
            "What is k when the loop ends, and for which values of k has it added the product?",
        ),
        WrongIdea(
            lambda a, b: a[-1:].T @ b[-1:],
            "only the product of the last k is left in each sum",
            "What should `total` still contain from the earlier iterations of the loop?",
        ),
    ),
    another='''\
@cuda.jit
def transposed_product(A, B, C):
    """C = A.T @ B, where A is K × M, with coalesced accesses. Each block has 16 × 16 threads."""
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[0]):
            total += A[k, row] * B[k, column]
        C[row, column] = total
''',
    compared="This version uses `range`, which is shorter. Is `range` as fast as `while`?",
    par=8,
    meaning="Your kernel reads down the columns of A, and all lanes with the same row read the "
    "same number at once. These reads are as cheap as in lesson 03.",
)
